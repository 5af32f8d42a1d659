"""A controller and brokers, a process each, which meet through relays.

    async with relayed_processes(2) as cluster:
        cluster.to_controller[1].cut(Cut.SWALLOW)               # broker 1 and the controller
        cluster.to_broker[1].cut(Cut.RESET, whose="broker-2-")  # broker 2 asks broker 1
        await cluster.told(2, "leader-lost")

Clients have a listener without a relay. Here sessions end in real time;
:mod:`tests.support.relayed_cluster` has the same in one process, with a clock that is moved.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from fencepost_protocol.generated.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponsePartition,
)

from tests.support.relay import Relay
from tests.support.up import METADATA_VERSION, PATIENCE_SECONDS, WITHOUT_PORT, Up

CONTROLLER_ID: Final = 100
SESSION_TIMEOUT_MS: Final = 5000
SETTINGS: Final[Mapping[str, object]] = {
    "broker.session.timeout.ms": SESSION_TIMEOUT_MS,
    "broker.heartbeat.interval.ms": 300,
    "controller.socket.timeout.ms": 2000,
    "controller.quorum.request.timeout.ms": 2000,
    "replica.lag.time.max.ms": 2000,
    "replica.socket.timeout.ms": 1500,
    "replica.fetch.backoff.ms": 100,
}
TOPIC: Final = "t"
NOBODY: Final = -1
_POLL_SECONDS: Final = 0.05

T = TypeVar("T")


class RelayedProcesses:
    """Each broker has a relay of its own to the controller, and one that others find it behind."""

    def __init__(self) -> None:
        self.processes: dict[int, Up] = {}
        self.to_controller: dict[int, Relay] = {}
        """By the broker that asks."""
        self.to_broker: dict[int, Relay] = {}
        """By the broker that is asked."""
        self.brokers: set[int] = set()
        """Those that run."""

    @property
    def bootstrap(self) -> str:
        """All brokers, without a relay."""
        return ",".join(f"127.0.0.1:{self.processes[each].port}" for each in self.brokers)

    async def start(self, brokers: int) -> None:
        """Start all of them."""
        settings = [word for each in SETTINGS.items() for word in ("-c", "=".join(map(str, each)))]
        roles = ("-c", "process.roles=controller", "-c", f"node.id={CONTROLLER_ID}")
        controller = self.processes[CONTROLLER_ID] = Up(*settings, *roles)
        await asyncio.to_thread(controller.start)
        self.brokers = set(range(1, brokers + 1))
        for broker_id in self.brokers:
            port = free_port()
            outer, inner = Relay(target_port=controller.port), Relay(target_port=port)
            self.to_controller[broker_id], self.to_broker[broker_id] = outer, inner
            await outer.start()
            await inner.start()
            given = {
                "process.roles": "broker",
                "node.id": broker_id,
                "controller.quorum.bootstrap.servers": f"127.0.0.1:{outer.port}",
                "listeners": f"PLAINTEXT://127.0.0.1:0,INNER://127.0.0.1:{port}",
                "advertised.listeners": f"PLAINTEXT://127.0.0.1:0,INNER://127.0.0.1:{inner.port}",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT",
                "inter.broker.listener.name": "INNER",
            }
            words = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]
            self.processes[broker_id] = Up(*settings, *words, command=WITHOUT_PORT)
        starting = (self.processes[each].start for each in self.brokers)
        await asyncio.gather(*map(asyncio.to_thread, starting))

    async def close(self) -> None:
        """Heal all, end all, and then the relays."""
        relays = [*self.to_controller.values(), *self.to_broker.values()]
        for relay in relays:
            relay.heal()
        for process in self.processes.values():
            await asyncio.to_thread(process.__exit__, None, None, None)
        for relay in relays:
            await relay.close()

    async def stop(self, broker_id: int) -> None:
        """Stop a broker in order: what it leads goes to others."""
        self.brokers.remove(broker_id)
        await asyncio.to_thread(self.processes[broker_id].stop)

    # -- what they say ---------------------------------------------------------------------------

    def said(self, node_id: int, kind: str) -> list[dict[str, Any]]:
        """What a process has logged of a kind of event."""
        return [each for each in self.processes[node_id].said() if each.get("kind") == kind]

    async def told(self, node_id: int, kind: str, **values: object) -> dict[str, Any]:
        """Wait until a process says so, with these values."""

        def found() -> dict[str, Any] | None:
            for each in self.said(node_id, kind):
                if values.items() <= each.items():
                    return each
            return None

        return await self.until(found, f"{node_id} does not say {kind}, {values}")

    async def until(self, is_so: Callable[[], T | None], otherwise: str) -> T:
        """Look again and again until there is something other than ``None`` and False."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (found := await asyncio.to_thread(is_so)):
            if time.monotonic() > deadline:
                raise TimeoutError(otherwise)
            await asyncio.sleep(_POLL_SECONDS)
        return found

    # -- who leads -------------------------------------------------------------------------------

    def partition(self, broker_id: int, number: int = 0) -> MetadataResponsePartition | None:
        """A partition of the topic as a broker sees it."""
        with self.processes[broker_id].connect() as wire:
            asked = [MetadataRequestTopic(name=TOPIC)]
            request = MetadataRequest(asked, allow_auto_topic_creation=False)
            partitions = wire.ask(request, METADATA_VERSION).topics[0].partitions
            return next((each for each in partitions if each.partition_index == number), None)

    async def leader(
        self, number: int = 0, *, other_than: int = NOBODY, sees: int | None = None
    ) -> int:
        """Who leads it, once there is somebody (another one), as a broker (or each) sees it."""

        def agreed() -> int | None:
            seen = [self.partition(each, number) for each in ([sees] if sees else self.brokers)]
            told = {NOBODY if each is None else each.leader_id for each in seen}
            return told.pop() if len(told) == 1 and told.isdisjoint({NOBODY, other_than}) else None

        return await self.until(agreed, f"nobody else than {other_than} leads")

    async def until_in_sync(self, *broker_ids: int, sees: int | None = None) -> None:
        """Until exactly these (default: all) are in sync of t-0, as a broker (or each) sees it."""
        wanted = set(broker_ids or self.brokers)

        def are_in_sync() -> bool:
            seen = [self.partition(each) for each in ([sees] if sees else self.brokers)]
            return all(each is not None and set(each.isr_nodes) == wanted for each in seen)

        await self.until(are_in_sync, f"{wanted} are not in sync")


def free_port() -> int:
    """A port that nobody listens at now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@asynccontextmanager
async def relayed_processes(brokers: int) -> AsyncIterator[RelayedProcesses]:
    """A cluster that is there, and gone at the end."""
    cluster = RelayedProcesses()
    try:
        await cluster.start(brokers)
        yield cluster
    finally:
        await cluster.close()
