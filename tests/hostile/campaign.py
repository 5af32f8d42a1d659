"""Requests of every served API, valid, absurd and mutated, against a running broker.

    make campaign CAMPAIGN_ROUNDS=200

Behind every request goes an ApiVersions request. What must come back is the answer to it (with or
without one to the request itself), or the end of the connection; or nothing, where an API may
wait. A second connection is served in between, all the time. The broker must not have met a bug
of its own, and its memory must stay within ``MEMORY_GROWTH_BYTES``.

A round is one request of each API in each version. What a seed sends is always the same; a
failure names the request by its bytes.
"""

from __future__ import annotations

import argparse
import random
import select
import struct
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.served import Served
from fencepost_protocol.apis import message_class
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.writer import build_batch
from fencepost_protocol.schema import files
from fencepost_protocol.schema.model import Array, Field, Message, Primitive

from tests.fuzz.mutate import mutated
from tests.support.random_messages import MessageMaker
from tests.support.up import ClosedError, Up, Wire

MEMORY_GROWTH_BYTES = 256 << 20
"""For some thousand topics that a campaign creates, and the largest frame on its way."""

MAY_WAIT = {
    ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP,
    ApiKey.CONSUMER_GROUP_HEARTBEAT,
}  # fmt: skip
TOPICS: dict[str, dict[str, str]] = {
    "plain": {},
    "compacted": {"cleanup_policy": "compact"},
    "zstd": {"compression_type": "zstd"},
    "stamped": {"message_timestamp_type": "LogAppendTime"},
}
PARTITIONS = 3
WAITS = {"MaxWaitMs", "TimeoutMs", "timeoutMs"}
EDGES = (-(1 << 63), -(1 << 31), -2, -1, 0, 1, 2, 0x7FFF, 0x8000, (1 << 31) - 1, (1 << 63) - 1)
_PROBE_ID = 0x50524F42
_READABLE_SECONDS = 0.05
_PATIENCE_SECONDS = 60.0


class HostileMaker(MessageMaker):
    """Messages that name what there is often enough to get past the first check."""

    def __init__(self, schema: Message, rng: random.Random, topic_ids: list[bytes]) -> None:
        super().__init__(schema, rng)
        self.topic_ids = topic_ids
        self._is_large = False

    def make(self, version: int) -> Any:
        self._is_large = False
        return super().make(version)

    def _once(self, probability: float) -> bool:
        """Whether to make something large now: once in a message, or sizes would multiply."""
        if self._is_large or self.rng.random() >= probability:
            return False
        self._is_large = True
        return True

    def value(self, field: Field, version: int) -> Any:
        rng = self.rng
        kind = field.type
        if field.name in WAITS:
            return rng.choice([0, 0, 1, 5, -1])
        if field.name == "Records" and rng.random() < 0.9:
            return self._records()
        if isinstance(kind, Array) and isinstance(kind.element, Primitive):
            if self._once(0.05):
                return [self._primitive(kind.element.name)] * 3_000
            return [self._primitive(kind.element.name) for _ in range(rng.choice([0, 1, 2]))]
        if isinstance(kind, Array) and self._once(0.02):
            return [self._one(kind.element.name, version)] * 500
        return super().value(field, version)

    def _primitive(self, kind: str) -> Any:
        rng = self.rng
        if kind == "uuid" and rng.random() < 0.7:
            return rng.choice(self.topic_ids)
        if kind == "string":
            chance = rng.random()
            if chance < 0.6:
                return rng.choice([*TOPICS, "__consumer_offsets", "__cluster_metadata", "0", "1"])
            if chance < 0.65 and self._once(0.5):
                return "x" * rng.choice([249, 250, 20_000, 32_767])
            if chance < 0.75:
                return f"made-{rng.randrange(50)}"
        if kind.startswith(("int", "uint")) and rng.random() < 0.8:
            bits, signed = int(kind.lstrip("uint")), kind[0] == "i"
            low = -(1 << bits - 1) if signed else 0
            high = (1 << bits - signed) - 1
            within = [each for each in EDGES if low <= each <= high]
            return rng.choice([*within, *([0, 1, 2] * 4)])
        return super()._primitive(kind)

    def _records(self) -> bytes | None:
        rng = self.rng
        count = rng.choice([1, 1, 2, 20])
        keys = None if rng.random() < 0.5 else [b"k%d" % rng.randrange(5) for _ in range(count)]
        producer: dict[str, Any] = {}
        if rng.random() < 0.5:
            producer = {
                "producer_id": rng.randrange(3),
                "producer_epoch": rng.randrange(2),
                "base_sequence": rng.randrange(3),
                "transactional": rng.random() < 0.3,
            }
        values = [rng.randbytes(rng.choice([0, 1, 30, 2000])) for _ in range(count)]
        batch = bytes(
            build_batch(
                keys, values, 1_700_000_000_000, codec=Compression(rng.randrange(5)), **producer
            )
        )
        return mutated(batch, batch, rng) if rng.random() < 0.4 else batch


@dataclass
class Campaign:
    """One broker under attack."""

    broker: Up
    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)

    def run(self, rounds: int) -> None:
        """So many requests of each API and version."""
        topic_ids = self._prepare()
        makers: dict[str, HostileMaker] = {}
        with self.broker.connect() as healthy:
            attacker = self.broker.connect()
            before = self.broker.resident_bytes()
            self.broker.forget_peak()
            for number in range(rounds):
                for api in SERVED:
                    lowest, highest = message_versions(api)
                    for version in range(lowest, highest + 1):
                        rng = random.Random(f"{self.seed}/{number}/{api.key}/{version}")
                        frame = _frame(api, version, rng, topic_ids, makers)
                        if not self._attack(attacker, healthy, api, frame):
                            attacker.socket.close()
                            attacker = self.broker.connect()
            attacker.socket.close()
            grown = self.broker.peak_bytes() - before
            assert grown < MEMORY_GROWTH_BYTES, f"memory grew by {grown >> 20} MB"
            assert set(TOPICS) & set(healthy.topics())

    def _prepare(self) -> list[bytes]:
        with self.broker.connect() as client:
            for name, configs in TOPICS.items():
                client.create(name, PARTITIONS, **configs)
            return client.topic_ids()

    def _attack(self, attacker: Wire, healthy: Wire, api: Served, frame: bytes) -> bool:
        """Send one request; says whether the connection is still good."""
        try:
            attacker.send(frame + _PROBE)
            if not _readable(attacker, _READABLE_SECONDS):
                # A large one is carried out in pieces, and the machine may be busy.
                may_wait = api.key in MAY_WAIT
                if not _readable(attacker, 0 if may_wait else _PATIENCE_SECONDS):
                    assert may_wait, f"{api.key.name} waits: {frame[:4000].hex()}"
                    self.outcomes["waiting"] += 1
                    return False
            answer = attacker.frame()
            if answer[:4] != _PROBE_ANSWER:
                self.outcomes["answered"] += 1
                answer = attacker.frame()
            else:
                self.outcomes["unanswered"] += 1
            assert answer[:4] == _PROBE_ANSWER, f"{frame.hex()}: {answer[:64].hex()}"
        except ClosedError:
            self.outcomes["closed"] += 1
            healthy.topics("plain")
            try:
                self.broker.assert_healthy()
            except AssertionError as error:
                raise AssertionError(f"{api.key.name}: {frame[:2000].hex()}") from error
            return False
        return True


def message_versions(api: Served) -> tuple[int, int]:
    """The versions that have a layout, of those that are served."""
    schema = message_class(request_name(api))
    return max(schema.MIN_VERSION, api.versions[0]), min(schema.MAX_VERSION, api.versions[1])


def request_name(api: Served) -> str:
    return f"{api.key.name.title().replace('_', '')}Request"


_PROBE = bytes(encode_request(ApiVersionsRequest(), 0, _PROBE_ID, "probe"))
_PROBE_ANSWER = struct.pack(">i", _PROBE_ID)


def _readable(client: Wire, seconds: float) -> bool:
    return bool(select.select([client.socket], [], [], seconds)[0])


def _frame(
    api: Served,
    version: int,
    rng: random.Random,
    topic_ids: list[bytes],
    makers: dict[str, HostileMaker],
) -> bytes:
    """One request: as it should be, or with its body mutated."""
    name = request_name(api)
    maker = makers.get(name)
    if maker is None:
        maker = makers[name] = HostileMaker(files.load(name), rng, topic_ids)
    maker.rng = rng
    while True:
        try:
            frame = bytes(encode_request(maker.make(version), version, 1, "attacker"))
        except LocalProtocolError:
            continue  # a string that the version has no length for
        break
    if rng.random() < 0.5:
        return frame
    head, body = frame[4:12], mutated(frame[12:], frame[12:], rng)
    return struct.pack(">i", len(head) + len(body)) + head + body


def main() -> None:
    """The long run."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile.campaign")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.rounds} rounds", flush=True)
    with Up() as broker:
        campaign = Campaign(broker, options.seed)
        try:
            campaign.run(options.rounds)
        finally:
            print(dict(campaign.outcomes))


if __name__ == "__main__":
    main()
