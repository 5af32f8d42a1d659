"""A controller and brokers inside of the test's own loop, each with its own sockets and memory.

    async with running_cluster(2) as cluster:
        await cluster.create("t", 4)
        await cluster.broker(1).produce("t", 0, b"value")
        await cluster.die(2)

They talk over the wire only. What a process would lose when it is killed, ``die`` drops.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fencepost_broker.config import Settings, Value
from fencepost_broker.server.clock import StateClock
from fencepost_broker.server.controller_server import ControllerServer
from fencepost_broker.server.process import BrokerProcess
from fencepost_broker.storage.log import Disk
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.support.broker import QuietLog, RunningBroker, memory_disk
from tests.support.waiting import until

CONTROLLER_ID = 100
QUICK: Mapping[str, Value] = {
    "broker.heartbeat.interval.ms": 100,
    "broker.session.timeout.ms": 600_000,
    "replica.fetch.backoff.ms": 20,
    "replica.fetch.wait.max.ms": 100,
    "tap.enable": False,
}


class Cluster:
    """One controller and its brokers."""

    def __init__(self, settings: Mapping[str, Value]) -> None:
        self._settings = settings
        self._processes: dict[int, BrokerProcess] = {}
        self._brokers: dict[int, RunningBroker] = {}
        self.disks: dict[int, Disk] = {}
        self._ports: dict[int, int] = {}

    @property
    def controller(self) -> ControllerServer:
        """What decides."""
        node = self._processes[CONTROLLER_ID].server
        assert isinstance(node, ControllerServer)
        return node

    @property
    def controller_bootstrap(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self._ports[CONTROLLER_ID]}"

    def broker(self, broker_id: int) -> RunningBroker:
        """A broker, and a connection to it."""
        return self._brokers[broker_id]

    @property
    def brokers(self) -> list[RunningBroker]:
        """All that run."""
        return list(self._brokers.values())

    def log_of(self, node_id: int) -> QuietLog:
        """Where a process logs to."""
        del node_id
        return QuietLog()

    def clock_of(self, node_id: int) -> StateClock | None:
        """A process's state time, if it is not the wall's."""
        del node_id
        return None

    # -- processes ------------------------------------------------------------------------------

    async def start_controller(self) -> None:
        """Start it, where it was before."""
        given = {
            "process.roles": "controller",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"CONTROLLER://127.0.0.1:{self._ports.get(CONTROLLER_ID, 0)}",
        }
        await self._start(CONTROLLER_ID, given)

    async def start_broker(self, broker_id: int, **more: Value) -> RunningBroker:
        """Start one, where it was before."""
        given: dict[str, Value] = {
            "process.roles": "broker",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{self._ports[CONTROLLER_ID]}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self._ports.get(broker_id, 0)}",
            **more,
        }
        process = await self._start(broker_id, given)
        self._brokers[broker_id] = broker = RunningBroker(process, process.broker.addresses[0])
        return broker

    async def _start(self, node_id: int, given: Mapping[str, Value]) -> BrokerProcess:
        settings = Settings().with_overrides({**self._settings, **given, "node.id": node_id})
        disk = self.disks.setdefault(node_id, memory_disk())
        process = BrokerProcess(settings, disk, self.log_of(node_id), self.clock_of(node_id))
        addresses = await process.start()
        self._processes[node_id] = process
        self._ports[node_id] = addresses[0].port
        return process

    async def stop(self, node_id: int) -> None:
        """Stop one in order."""
        await self._forget(node_id)
        await self._processes.pop(node_id).stop()

    async def die(self, node_id: int) -> None:
        """Let one end without a word, and without what it had in memory."""
        await self._forget(node_id)
        process = self._processes.pop(node_id)
        process.settings = process.settings.with_overrides(
            {"controlled.shutdown.enable": False, "shutdown.timeout.ms": 0}
        )
        await process.stop()
        self.disks.pop(node_id)

    async def _forget(self, node_id: int) -> None:
        broker = self._brokers.pop(node_id, None)
        if broker is not None:
            await broker.disconnect()

    async def close(self) -> None:
        """Stop all, the controller last."""
        for node_id in sorted(self._processes):
            await self.stop(node_id)

    # -- what tests ask -------------------------------------------------------------------------

    async def create(self, name: str, partitions: int = 1, factor: int = 1) -> CreateTopicsResponse:
        """Create a topic by any broker, and wait until all have heard of it."""
        request = CreateTopicsRequest(topics=[CreatableTopic(name, partitions, factor)])
        answer: CreateTopicsResponse = await self.brokers[0].ask(request, 7)
        # What is passed on may be asked of the controller twice, where the machine stands still.
        fine = {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}
        assert answer.topics[0].error_code in fine, answer.topics[0].error_message
        await until(
            lambda: (
                all(
                    len(each.server.table.by_name[name].partitions) == partitions
                    for each in self.brokers
                    if name in each.server.table.by_name
                )
                and all(name in each.server.table.by_name for each in self.brokers)
            )
        )
        return answer

    async def leaders(self, topic: str) -> list[int]:
        """Who leads which partition, as any broker tells it."""
        request = MetadataRequest([MetadataRequestTopic(name=topic)])
        answer = await self.brokers[0].ask(request, 12)
        return [each.leader_id for each in answer.topics[0].partitions]


@asynccontextmanager
async def running_cluster(count: int, **settings: Value) -> AsyncIterator[Cluster]:
    """A controller and so many brokers, 1 and on; ``_`` in names of settings stands for a dot."""
    given = {name.replace("_", "."): value for name, value in settings.items()}
    cluster = Cluster({**QUICK, **given})
    try:
        await cluster.start_controller()
        for broker_id in range(1, count + 1):
            await cluster.start_broker(broker_id)
        yield cluster
    finally:
        await cluster.close()
