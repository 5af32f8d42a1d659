"""A cluster in a simulation: each node is a process, with a disk of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping
from contextvars import copy_context
from random import Random
from typing import Any, ClassVar, Final, NamedTuple

from fencepost_broker.config import Value
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.steps import OnStep
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import Topic
from fencepost_broker.replication.partition import Partition
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.server.embedded.cluster import CONTROLLER_ID, Cluster
from fencepost_broker.server.embedded.cluster_node import ClusterNode
from fencepost_broker.server.errors import BrokerFailedError
from fencepost_broker.simulation.disk import SimDisk
from fencepost_broker.simulation.invariants import Invariants
from fencepost_broker.simulation.leaks import accepted_ends, kept_of_the_gone
from fencepost_broker.simulation.loop import SimLoop, SimulationError
from fencepost_broker.simulation.process import Process, current_process

_AGAIN_S: Final = 0.5
_FOLDER: Final = "/simulated"


async def in_process(process: Process, work: Coroutine[Any, Any, Any]) -> Any:
    """Do work in a process of the simulation."""
    context = copy_context()
    context.run(current_process.set, process)
    return await asyncio.get_running_loop().create_task(work, context=context)


class Written(NamedTuple):
    """What is in a cluster's logs."""

    ends: list[int]
    is_open: bool
    """Whether a transaction is open."""


class SimulatedCluster(Cluster):
    """A cluster whose brokers are processes of the simulation: ``broker-1`` and on."""

    _intervals: ClassVar[Mapping[str, Value]] = {}
    """Kafka's: virtual time costs no one a wait, but each heartbeat costs real time."""

    def __init__(
        self,
        loop: SimLoop,
        random: Random,
        on_step: OnStep,
        invariants: Invariants,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._settings["log.dirs"] = _FOLDER
        self._loop = loop
        self._random = random
        self._on_step = on_step
        self._invariants = invariants
        self._disks: dict[int, SimDisk] = {}
        self.processes: dict[int, Process] = {}
        """The process of each node that runs, or has run, by its id."""
        self._killed: list[ClusterNode] = []
        self.has_controller = True
        """Whether the controller runs, or is paused."""

    def _make(self, node_id: int, topics: Any = ()) -> ClusterNode:
        node = super()._make(node_id, topics)
        node._on_step = self._on_step
        disk = node._disk = self._disks.setdefault(node_id, SimDisk())
        node.disk.on_failed_sync = disk.take_for_written
        return node

    async def _start(self, node_id: int, topics: Any = ()) -> None:
        name = "controller" if node_id == CONTROLLER_ID else f"broker-{node_id}"
        former, process = self.processes.get(node_id), Process(name)
        if former is not None:
            process.set_clock(former)
        self.processes[node_id] = process
        self._loop.network.started(name)
        await in_process(process, super()._start(node_id, topics))

    async def kill(self, broker_id: int, *, power_cut: bool = False) -> None:
        """End a broker at once. Its files stay, and ``start_broker`` starts from them.

        Its connections are reset. With ``power_cut``, what it has not synced is lost in part, and
        its connections are half open until it is started again.
        """
        self._check_runs(broker_id)
        if power_cut:
            self._expect_losses(broker_id)
        node = self.nodes.pop(broker_id)
        self._killed.append(node)
        self._loop.kill(self.processes[broker_id], silently=power_cut)
        disk = self._disks[broker_id]
        disk.unlock()
        if power_cut:
            disk.cut_power(self._random)

    def lose_disk(self, broker_id: int) -> None:
        """Let a broker that was killed start with an empty disk."""
        self._disks[broker_id] = SimDisk()
        self._invariants.lost(self.processes[broker_id].name)

    def kill_controller(self) -> None:
        """End the controller at once, until ``start_controller``. ``image`` is its last one."""
        self.has_controller = False
        self._killed.append(self.nodes[CONTROLLER_ID])
        self._loop.kill(self.processes[CONTROLLER_ID])
        self._disks[CONTROLLER_ID].unlock()

    async def start_controller(self) -> None:
        """Start the controller again, from its files."""
        await self._start(CONTROLLER_ID)
        self.has_controller = True

    def _expect_losses(self, broker_id: int) -> None:
        """What no other replica in sync has may be lost, unless it is synced before an answer.

        A high watermark moves before that, so that readers may get what is lost then, as in Kafka.
        """
        server = self.servers[broker_id]
        is_synced = server.config.settings.fsync == "always"
        others = set(self.servers) - {broker_id}
        for name, topic in self._created.items():
            for number, partition in topic.partitions.items():
                here = server.table.find(name, number)
                if here is not None and not others & set(partition.isr):
                    kept = here.log.recovery_point if is_synced else 0
                    self._invariants.may_lose(here.log, kept)

    async def start_surely(self, broker_id: int) -> None:
        """Start a broker, and try again if it cannot join the cluster yet."""
        while broker_id not in self.brokers:
            try:
                await self.start_broker(broker_id)
            except (BrokerFailedError, OSError):
                await asyncio.sleep(_AGAIN_S)

    @property
    def image(self) -> MetadataImage:
        """The cluster, as the controller sees it."""
        controller = self.nodes[CONTROLLER_ID]._process
        assert controller is not None
        return controller.server.image

    @property
    def _created(self) -> Mapping[str, Topic]:
        return self.image.topics.by_name

    @property
    def servers(self) -> dict[int, BrokerServer]:
        """The parts of each broker that runs or is paused, by its id."""
        return {
            broker_id: node._process.server
            for broker_id, node in self.brokers.items()
            if node._process is not None and isinstance(node._process.server, BrokerServer)
        }

    @property
    def topic_names(self) -> list[str]:
        """The names of all topics that are not internal."""
        return sorted(each for each in self._created if not each.startswith("__"))

    def leaders(self, topic: str) -> list[Partition]:
        """Return the partitions of a topic in order, each at its leader."""
        if topic not in self._created:
            return []
        servers, found = self.servers, []
        for number, known in sorted(self._created[topic].partitions.items()):
            server = servers.get(known.leader)
            partition = None if server is None else server.table.find(topic, number)
            if partition is None:
                raise SimulationError(f"{topic}-{number} has no leader")
            found.append(partition)
        return found

    @property
    def is_in_sync(self) -> bool:
        """Whether all replicas of all partitions are in sync, as the controller sees it."""
        return all(
            set(partition.isr) == set(partition.replicas)
            for topic in self._created.values()
            for partition in topic.partitions.values()
        )

    def written(self) -> Written | None:
        """Return where logs end; ``None`` if a partition has no leader now.

        Offsets of groups are left out, since consumers commit them without end.
        """
        try:
            logs = [
                each.log
                for topic in self._created
                if topic != RecordFamily.GROUPS.value
                for each in self.leaders(topic)
            ]
        except SimulationError:
            return None
        return Written(
            [each.log_end_offset for each in logs],
            is_open=any(each.last_stable_offset < each.log_end_offset for each in logs),
        )

    def leaks(self) -> Iterator[str]:
        """Tell what brokers keep of connections that are gone."""
        for broker_id, node in self.brokers.items():
            running, process = node._process, self.processes[broker_id]
            assert running is not None
            ends = accepted_ends(self._loop.network, process)
            for kept in kept_of_the_gone(running.socket_server, running.server.table, ends):
                yield f"broker {broker_id}: {kept}"

    async def wait_until_in_sync(self) -> None:
        """Return when all replicas are in sync."""
        while not self.is_in_sync:  # noqa: ASYNC110 - the controller tells nobody
            await asyncio.sleep(_AGAIN_S)

    async def heal(self) -> None:
        """Let all brokers run, with the right time, and wait until their replicas are in sync."""
        for process in self.processes.values():
            process.resume()
            process.set_clock()
        if not self.has_controller:
            await self.start_controller()
        for broker_id in self._ids:
            await self.start_surely(broker_id)
        for node in self.nodes.values():
            node.disk.clear()
        await self.wait_until_in_sync()

    def pause(self, node_id: int) -> None:
        """Let a broker, or the controller, stand still; its connections stay open."""
        self.processes[node_id].pause()

    def resume(self, node_id: int) -> None:
        """Let a node run on after ``pause``."""
        self.processes[node_id].resume()

    async def stop(self) -> None:
        """Stop all, the controller last; those that are paused run on first."""
        for process in self.processes.values():
            process.resume()
        if not self.has_controller:
            del self.nodes[CONTROLLER_ID]
        await super().stop()
