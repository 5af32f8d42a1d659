"""Clients that send metrics (KIP-714): what they ask, and what Apache Kafka 4.3.1 answered."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.push_telemetry import PushTelemetryRequest

from tests.support.broker import Client
from tests.support.waiting import asked_until

INTERVAL_MS: Final = 800
NO_ID: Final = bytes(16)
RESERVED_ID: Final = bytes(15) + b"\1"
MIB: Final = 1 << 20
_CLIENT_METRICS: Final = 16
_SET, _DELETE = 0, 1

SETTINGS: Final[tuple[tuple[dict[str, str], str], ...]] = (
    ({"foo": "1"}, "INVALID_REQUEST"),
    ({"interval.ms": "100", "foo": "1"}, "INVALID_REQUEST"),
    ({"interval.ms": "99"}, "INVALID_REQUEST"),
    ({"interval.ms": "3600001"}, "INVALID_REQUEST"),
    ({"interval.ms": "x"}, "INVALID_CONFIG"),
    ({"interval.ms": ""}, "INVALID_CONFIG"),
    ({"match": "foo=bar"}, "INVALID_CONFIG"),
    ({"match": "CLIENT_ID=bar"}, "INVALID_CONFIG"),
    ({"match": "client_id"}, "INVALID_CONFIG"),
    ({"match": "client_id="}, "INVALID_CONFIG"),
    ({"match": "client_id=["}, "INVALID_CONFIG"),
    ({"match": "client_id=a=b"}, "INVALID_CONFIG"),
    ({"match": "client_id=a,,client_id=b"}, "INVALID_CONFIG"),
    ({"match": "client_id=a,client_id=b"}, "NONE"),
    ({"match": " client_id = a "}, "NONE"),
    ({"match": "client_id=(?<x>a)"}, "NONE"),
    ({"metrics": "a,,b"}, "INVALID_CONFIG"),
    ({"metrics": "", "match": ""}, "NONE"),
    ({"metrics": "*,a", "interval.ms": "3600000"}, "NONE"),
)
"""Settings of a subscription, and the error."""

SELECTED: Final[tuple[tuple[str, bool], ...]] = (
    ("client_id=prober", True),
    ("client_id=probe", False),
    ("client_id=prob.*,client_software_name=probe-lib", True),
    ("client_id=prob.*,client_software_name=other", False),
    ("client_software_version=1[.]2", True),
    ("client_source_address=127.0.0.1,client_source_port=[0-9]+", True),
    ("client_instance_id=.*", True),
    (" client_id = prober ", True),
)
"""Elements of ``match``, and whether they select the client of these cases."""


@dataclass
class Side:
    """A broker that clients send metrics to, and the lines of what it answers."""

    bootstrap: str
    wait: Callable[[int], Awaitable[None]]
    """Lets so many milliseconds pass at the broker."""
    lines: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def client(self, client_id: str = "prober") -> AsyncIterator[Sender]:
        """Connect a client."""
        async with Client(self.bootstrap, client_id) as client:
            await client.ask(ApiVersionsRequest("probe-lib", "1.2"), 3)
            yield Sender(client, self.lines)

    async def change(self, name: str, settings: dict[str, str | None]) -> str:
        """Change a subscription; return the error."""
        configs = [
            AlterableConfig(key, _DELETE if value is None else _SET, value)
            for key, value in settings.items()
        ]
        resource = AlterConfigsResource(_CLIENT_METRICS, name, configs)
        async with Client(self.bootstrap) as client:
            answer = await client.ask(IncrementalAlterConfigsRequest([resource]), 1)
        return ErrorCode(answer.responses[0].error_code).name

    async def subscribed(self, metrics: set[str]) -> None:
        """Wait until new clients are asked for these metrics."""

        async def are_asked_for() -> bool:
            async with self.client() as sender:
                told = await sender.client.ask(GetTelemetrySubscriptionsRequest(NO_ID), 0)
            return set(told.requested_metrics) == metrics

        await asked_until(are_asked_for)


@dataclass
class Sender:
    """A client that asks for its subscription and sends metrics."""

    client: Client
    lines: list[str]
    instance_id: bytes = NO_ID
    subscription_id: int = 0

    async def get(self, instance_id: bytes | None = None) -> None:
        """Ask for the subscription."""
        asked = self.instance_id if instance_id is None else instance_id
        told = await self.client.ask(GetTelemetrySubscriptionsRequest(asked), 0)
        line = f"get: {ErrorCode(told.error_code).name}"
        if not told.error_code:
            line += (
                f" {sorted(told.requested_metrics)} {told.push_interval_ms}"
                f" {told.telemetry_max_bytes} {told.accepted_compression_types}"
                f" {told.delta_temporality}"
            )
            if asked == NO_ID:
                line += " new id" if any(told.client_instance_id) else " no id"
            elif asked != told.client_instance_id:
                line += " another id"
            self.instance_id = told.client_instance_id
            self.subscription_id = told.subscription_id
        self.lines.append(line)

    async def push(
        self,
        data: bytes = b"",
        *,
        codec: int = 0,
        last: bool = False,
        instance_id: bytes | None = None,
        subscription_id: int | None = None,
    ) -> None:
        """Send metrics."""
        asked = self.instance_id if instance_id is None else instance_id
        subscribed = self.subscription_id if subscription_id is None else subscription_id
        told = await self.client.ask(PushTelemetryRequest(asked, subscribed, last, codec, data), 0)
        self.lines.append(f"push: {ErrorCode(told.error_code).name}")


async def script(side: Side) -> list[str]:
    """Ask everything, and return the answers."""
    lines = side.lines
    for settings, _ in SETTINGS:
        lines.append(f"set {settings}: {await side.change('tried', dict(settings))}")
    lines.append(f"set without a name: {await side.change('', {'metrics': 'a'})}")
    await side.change("tried", {"metrics": None, "interval.ms": None, "match": None})
    await side.subscribed(set())
    async with side.client() as sender:
        lines.append("-- nothing is subscribed")
        await sender.get()
        await sender.get()
        await sender.push()
        await sender.push()
    await side.change("s", {"metrics": "b.,a.", "interval.ms": str(INTERVAL_MS)})
    await side.subscribed({"a.", "b."})
    for number, (match, is_selected) in enumerate(SELECTED):
        last = f"changed last {number}"  # so that it is known last
        await side.change("only", {"metrics": "c.", "match": match})
        await side.change("after", {"metrics": last})
        await side.subscribed({"a.", "b.", last, *(["c."] if is_selected else [])})
    for name in ("only", "after"):
        await side.change(name, {"metrics": None, "match": None})
    await side.subscribed({"a.", "b."})
    await _refusals(side)
    await _connections(side)
    await _changes(side)
    return lines


async def _refusals(side: Side) -> None:
    async with side.client() as sender:
        side.lines.append("-- refusals")
        await sender.get()
        await sender.get()
        await sender.push(instance_id=NO_ID)
        await sender.push(instance_id=RESERVED_ID)
        await sender.get(RESERVED_ID)
    async with side.client() as sender:
        await sender.get()
        await sender.push(subscription_id=sender.subscription_id + 1)
        await sender.push(codec=9)
        await sender.get()
        await sender.push(codec=9)
        await sender.get()
        await sender.push(b"no stream", codec=1)
        await sender.get()
        await side.wait(INTERVAL_MS)
        await sender.push(gzip.compress(b"\n\0"), codec=1)
        await sender.push()
        await side.wait(INTERVAL_MS)
        await sender.push(bytes(MIB + 1))
        await sender.get()
        await side.wait(INTERVAL_MS)
        await sender.push(bytes(MIB))
        side.lines.append("-- sizes after decompression")
        await side.wait(INTERVAL_MS)
        await sender.push(gzip.compress(bytes(MIB)), codec=1)
        await side.wait(INTERVAL_MS)
        await sender.push(gzip.compress(bytes(MIB + 1)), codec=1)
        await side.wait(INTERVAL_MS)
        await sender.push(codec=1)
        side.lines.append("-- the last ones")
        await sender.push(last=True)
        await sender.push(last=True)
        await side.wait(INTERVAL_MS)
        await sender.push()
        await sender.get()


async def _connections(side: Side) -> None:
    async with side.client() as first, side.client() as second:
        side.lines.append("-- another connection, and one that was closed")
        await first.get()
        second.instance_id, second.subscription_id = first.instance_id, first.subscription_id
        await second.get()
        await second.push()
        await second.push()
        await first.client.disconnect()

        async def is_forgotten() -> bool:
            told = await second.client.ask(GetTelemetrySubscriptionsRequest(second.instance_id), 0)
            return not told.error_code

        await asked_until(is_forgotten)
        side.lines.append("forgotten")


async def _changes(side: Side) -> None:
    async with side.client() as sender, side.client("other") as other:
        side.lines.append("-- subscriptions change")
        await sender.get()
        await other.get()
        await side.change("t", {"metrics": "*", "interval.ms": "100", "match": "client_id=prober"})
        await side.subscribed({"*"})
        await sender.push()
        await sender.get()
        await sender.push()
        await other.push()
        await other.get()


EXPECTED: Final = """\
set without a name: INVALID_REQUEST
-- nothing is subscribed
get: NONE [] 300000 1048576 [4, 3, 1, 2] True new id
get: THROTTLING_QUOTA_EXCEEDED
push: NONE
push: THROTTLING_QUOTA_EXCEEDED
-- refusals
get: NONE ['a.', 'b.'] 800 1048576 [4, 3, 1, 2] True new id
get: THROTTLING_QUOTA_EXCEEDED
push: INVALID_REQUEST
push: INVALID_REQUEST
get: NONE ['a.', 'b.'] 800 1048576 [4, 3, 1, 2] True
get: NONE ['a.', 'b.'] 800 1048576 [4, 3, 1, 2] True new id
push: UNKNOWN_SUBSCRIPTION_ID
push: THROTTLING_QUOTA_EXCEEDED
get: THROTTLING_QUOTA_EXCEEDED
push: THROTTLING_QUOTA_EXCEEDED
get: THROTTLING_QUOTA_EXCEEDED
push: THROTTLING_QUOTA_EXCEEDED
get: THROTTLING_QUOTA_EXCEEDED
push: NONE
push: THROTTLING_QUOTA_EXCEEDED
push: TELEMETRY_TOO_LARGE
get: THROTTLING_QUOTA_EXCEEDED
push: NONE
-- sizes after decompression
push: NONE
push: INVALID_RECORD
push: NONE
-- the last ones
push: NONE
push: INVALID_REQUEST
push: INVALID_REQUEST
get: NONE ['a.', 'b.'] 800 1048576 [4, 3, 1, 2] True
-- another connection, and one that was closed
get: NONE ['a.', 'b.'] 800 1048576 [4, 3, 1, 2] True new id
get: THROTTLING_QUOTA_EXCEEDED
push: NONE
push: THROTTLING_QUOTA_EXCEEDED
forgotten
-- subscriptions change
get: NONE ['a.', 'b.'] 800 1048576 [4, 3, 1, 2] True new id
get: NONE ['a.', 'b.'] 800 1048576 [4, 3, 1, 2] True new id
push: UNKNOWN_SUBSCRIPTION_ID
get: NONE ['*'] 100 1048576 [4, 3, 1, 2] True
push: THROTTLING_QUOTA_EXCEEDED
push: NONE
get: THROTTLING_QUOTA_EXCEEDED
"""


def expected() -> list[str]:
    """Return the lines that Apache Kafka answered."""
    return [
        *(f"set {settings}: {error}" for settings, error in SETTINGS),
        *EXPECTED.splitlines(),
    ]
