"""A cluster inside a Python program: a controller and brokers, each with sockets of its own.

They talk to each other over the wire only, as processes do, and can be killed one by one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from fencepost_broker.config import Value
from fencepost_broker.server.embedded.broker import Broker
from fencepost_broker.server.embedded.cluster_node import ClusterNode
from fencepost_broker.server.embedded.snapshot import (
    BYTES_MAX,
    NoSnapshotsError,
    Snapshot,
    named,
)

if TYPE_CHECKING:
    from fencepost_broker.server.clock import ClockPosition
    from fencepost_broker.server.control.cluster_port import ClusterControl
    from fencepost_broker.server.embedded.cluster_faults import RulesOfBrokers
    from fencepost_broker.server.faults import Fault, Faults

CONTROLLER_ID: Final = 100
"""The controller's node id; brokers have 1 and on."""
_REPLICAS: Final = (
    "default.replication.factor",
    "offsets.topic.replication.factor",
    "share.coordinator.state.topic.replication.factor",
    "transaction.state.log.replication.factor",
)


class ClusterSnapshot:
    """The state of all nodes of a cluster in the same instant. It never changes."""

    def __init__(self, parts: Mapping[int, Snapshot], running: Iterable[int], name: str) -> None:
        self.parts = dict(parts)
        """The controller's part and those of the brokers that had records, by node id."""
        self.running = frozenset(running)
        """The brokers that ran."""
        self.name = name
        """Its name, or ``""``."""

    @property
    def at(self) -> ClockPosition:
        """State time of the controller."""
        return self.parts[CONTROLLER_ID].at

    @property
    def size_bytes(self) -> int:
        """The size of all files together."""
        return sum(each.size_bytes for each in self.parts.values())

    def save(self, path: str | PathLike[str]) -> None:
        """Write the snapshot to one file, which ``load`` reads, on any machine."""
        from fencepost_broker.server.embedded import cluster_snapshot_file

        cluster_snapshot_file.write(Path(path), self.parts, self.running, self.name)

    @classmethod
    def load(cls, path: str | PathLike[str], *, bytes_max: int = BYTES_MAX) -> ClusterSnapshot:
        """Read the file of a cluster's snapshot, which may come from a stranger.

        Raises SnapshotError for every other file, for a damaged one, and for one that unpacks to
        more than ``bytes_max``.
        """
        from fencepost_broker.server.embedded import cluster_snapshot_file

        manifest, parts = cluster_snapshot_file.read(Path(path), bytes_max)
        return cls(parts, manifest.running, manifest.name)

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"<ClusterSnapshot {name}{len(self.running)} brokers, {self.size_bytes} bytes>"


class Cluster:
    """A controller and brokers, in this process and this event loop, with topics in memory.

    Options are keyword arguments:

          brokers     how many brokers; their ids are 1 and on
          topics      topics to create at the start, as for `Broker`; by default a partition has
                      up to three replicas
          settings    settings of Kafka and of Fencepost by their names, for all of them
          control     address of one control port for all of them, as for `Broker`
          control_token_file
                      file with the token that requests to the control port must have
          log_level   lowest level of log lines on standard error: "error"
          port        port of the first broker; the others have the next ones. By default, free ones
    """

    _intervals: ClassVar[Mapping[str, Value]] = {
        "broker.heartbeat.interval.ms": 200,
        "broker.session.timeout.ms": 2000,
        "replica.fetch.backoff.ms": 20,
        "replica.fetch.wait.max.ms": 100,
    }
    """Shorter than Kafka's, so that a broker that was killed is noticed after two seconds."""

    def __init__(
        self,
        *,
        brokers: int = 3,
        topics: Iterable[str] | Mapping[str, int] = (),
        settings: Mapping[str, Value] | None = None,
        control: int | str | None = None,
        control_token_file: str | Path | None = None,
        log_level: str = "error",
        port: int = 0,
    ) -> None:
        if not 1 <= brokers < CONTROLLER_ID:
            raise ValueError(f"brokers={brokers}: a cluster has 1 to {CONTROLLER_ID - 1}")
        replicas = dict.fromkeys(_REPLICAS, min(brokers, 3))
        self._settings: dict[str, Value] = {**self._intervals, **replicas, **(settings or {})}
        self._topics = topics
        self.log_level = log_level
        """The lowest level of its log lines."""
        self._ids = range(1, brokers + 1)
        self.nodes: dict[int, ClusterNode] = {}
        """The controller and the brokers that run, by id."""
        self.control: str | None = None
        """``host:port`` of its control port, once it is started with one."""
        self._control_address = None if control is None else str(control)
        self._token_file = control_token_file
        self._control: ClusterControl | None = None
        self._stopped: dict[int, ClusterNode] = {}
        """Those that were stopped in order, with their records."""
        self._port = port
        self._ports: dict[int, int] = {}
        """Of those that were started once."""
        self.snapshots: dict[str, ClusterSnapshot] = {}
        """The snapshots that have names."""
        self._begins_with: ClusterSnapshot | None = None
        """What the first start of a fork continues from."""
        self._at_start: ClusterSnapshot | None = None
        """The state right after the start, for ``reset``."""
        self._fault_rules: RulesOfBrokers | None = None
        self._faults: Faults[Fault] | None = None

    @property
    def brokers(self) -> dict[int, Broker]:
        """The brokers that run, by id."""
        return {each: self.nodes[each] for each in self._ids if each in self.nodes}

    @property
    def node_roles(self) -> dict[int, str]:
        """The controller and all brokers, also those that do not run, by id."""
        return {CONTROLLER_ID: "controller", **dict.fromkeys(self._ids, "broker")}

    def broker(self, broker_id: int) -> Broker:
        """Return a broker that runs."""
        self._check_runs(broker_id)
        return self.nodes[broker_id]

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers, for a client's ``bootstrap.servers``."""
        if not self._ports:
            raise RuntimeError("this cluster has no addresses yet: start it first")
        return ",".join(f"127.0.0.1:{self._ports[each]}" for each in self._ids)

    # -- starting and stopping -----------------------------------------------------------------

    async def start(self) -> None:
        """Start the controller, then the brokers, and create the topics."""
        if self._begins_with is not None:
            snapshot, self._begins_with = self._begins_with, None
            self._make_control()
            await self._continue_from(snapshot, {})
            await self._open_control()
            self._at_start = snapshot
            return
        try:
            self._make_control()
            await self._start(CONTROLLER_ID)
            for broker_id in self._ids:
                # Topics come with the last one, so that all brokers get replicas.
                await self._start(broker_id, self._topics if broker_id == self._ids[-1] else ())
            await self._open_control()
            self._at_start = self.snapshot()
        except BaseException:
            await self.stop()
            raise

    def _make_control(self) -> None:
        if self._control_address is not None:
            from fencepost_broker.server.embedded.cluster_control import control_of

            self._control = control_of(self, self._control_address, self._token_file)

    async def _open_control(self) -> None:
        if self._control is not None:
            await self._control.open()
            self.control, self._control_address = self._control.address, self._control.listens_at

    async def start_broker(self, broker_id: int) -> None:
        """Start a broker that was stopped or killed, at its old address."""
        self._check(broker_id)
        if broker_id in self.nodes:
            raise RuntimeError(f"broker {broker_id} is already running")
        await self._start(broker_id)
        if self._control is not None:
            await self._control.came_up(broker_id, is_started=True)

    async def _start(self, node_id: int, topics: Any = ()) -> None:
        node = self._stopped.pop(node_id, None) or self._make(node_id, topics)
        await node.start()
        self.nodes[node_id] = node
        self._ports[node_id] = node.addresses[0].port
        if self._fault_rules is not None and node_id != CONTROLLER_ID:
            self._fault_rules.started(node)

    def _make(self, node_id: int, topics: Any = ()) -> ClusterNode:
        given: dict[str, Value] = {"process.roles": "controller"}
        if node_id != CONTROLLER_ID:
            bootstrap = self.nodes[CONTROLLER_ID].bootstrap
            given = {
                "process.roles": "broker",
                "controller.quorum.bootstrap.servers": bootstrap,
            }
        return ClusterNode(
            settings={**self._settings, **given, "node.id": node_id},
            port=self._ports.get(node_id) or self._wanted_port(node_id),
            topics=topics,
            control=None if self._control_address is None else 0,
            control_token_file=self._token_file,
            log_level=self.log_level,
        )

    def _wanted_port(self, node_id: int) -> int:
        is_given = self._port and node_id != CONTROLLER_ID
        return self._port + node_id - self._ids[0] if is_given else 0

    async def kill(self, broker_id: int) -> None:
        """End a broker at once, as a killed process ends.

        Its connections are reset, it hands over nothing, and its records are gone. The others
        notice when its session ends (``broker.session.timeout.ms``, here 2 s).
        """
        self._ends(broker_id)
        await self.nodes.pop(broker_id).kill()

    async def stop_broker(self, broker_id: int) -> None:
        """Stop a broker in order: others take over first, and it keeps its records."""
        self._ends(broker_id)
        node = self._stopped[broker_id] = self.nodes.pop(broker_id)
        await node.stop()

    async def stop(self) -> None:
        """Stop all, the controller last."""
        control, self._control = self._control, None
        if control is not None:
            await control.close()
        for node_id in sorted(self.nodes):
            await self.nodes.pop(node_id).stop()

    # -- faults --------------------------------------------------------------------------------

    @property
    def faults(self) -> Faults[Fault]:
        """Faults: each broker has them, also one that is started later, and they count together.

        ``cluster.broker(2).faults`` are those of one broker.
        """
        if self._faults is None:
            from fencepost_broker.server.faults import Fault, Faults

            self._faults = Faults(self.fault_rules, Fault, lambda call: call())
        return self._faults

    def fault_rules(self) -> RulesOfBrokers:
        """Return the rules that all brokers have."""
        if self._fault_rules is None:
            from fencepost_broker.server.embedded.cluster_faults import RulesOfBrokers

            self._fault_rules = RulesOfBrokers(lambda: self.brokers)
            for each in self.brokers.values():
                self._fault_rules.started(each)
        return self._fault_rules

    def unfired_faults(self) -> list[str]:
        """Return the names of faults that never fired, unless they ``may_stay_unfired``.

        Those that were removed are among them.
        """
        if self._fault_rules is not None:
            return self._fault_rules.unfired()
        return [name for each in self.brokers.values() for name in each.unfired_faults()]

    # -- snapshots -----------------------------------------------------------------------------

    def snapshot(self, name: str | None = None) -> ClusterSnapshot:
        """Return the state of all nodes as it is now; ``restore`` and ``fork`` continue from it.

        With a name it is also kept in ``snapshots``. Raises StorageError if no memory is left.
        """
        self._check_started()
        parts = {each: node.part() for each, node in {**self._stopped, **self.nodes}.items()}
        made = ClusterSnapshot(parts, self.brokers, name or "")
        if name:
            self.snapshots[name] = made
        return made

    async def restore(self, snapshot: ClusterSnapshot | str) -> None:
        """Continue from a snapshot, or the one with this name, at the same addresses.

        It is as if all nodes had been stopped in the same instant and started again: connections
        are closed, partitions may have other leaders, and what is in logs comes back. A broker that
        did not run then does not run after it, either. Fault rules and faults of disks are gone.
        """
        self._check_started()
        snapshot = named(self.snapshots, snapshot)
        self._check_nodes(snapshot)
        if self._fault_rules is not None:
            self._fault_rules.reset()
        running = list(self.nodes.values())
        nodes = {**self._stopped, **self.nodes}
        self.nodes, self._stopped = {}, {}
        await asyncio.gather(*(each.kill() for each in running))
        await self._continue_from(snapshot, nodes)
        if self._control is not None:
            await self._control.restored(self.nodes)

    async def reset(self) -> None:
        """Go back to the state right after the start, as ``restore`` does; snapshots stay."""
        self._check_started()
        assert self._at_start is not None, "a start ends with a snapshot"
        await self.restore(self._at_start)

    def fork(self, snapshot: ClusterSnapshot | str | None = None) -> Cluster:
        """Return another cluster with the state of a snapshot, by default with this cluster's.

        It has the same settings and ports of its own, and still has to be started:
        ``async with cluster.fork() as other``.
        """
        control = self._control_address and f"{self._control_address.rpartition(':')[0]}:0"
        made = Cluster(
            brokers=len(self._ids),
            settings=self._settings,
            control=control,
            control_token_file=self._token_file,
            log_level=self.log_level,
        )
        made._begins_with = self.snapshot() if snapshot is None else named(self.snapshots, snapshot)
        return made

    async def _continue_from(
        self, snapshot: ClusterSnapshot, nodes: Mapping[int, ClusterNode]
    ) -> None:
        """Start what ran; ``nodes`` are those that there are already."""

        def take(node_id: int) -> None:
            node = nodes.get(node_id) or self._make(node_id)
            node.begin_with(snapshot.parts[node_id])
            node.disk.clear()
            self._stopped[node_id] = node

        take(CONTROLLER_ID)
        try:
            await self._start(CONTROLLER_ID)
            self.nodes[CONTROLLER_ID].brokers_ended(snapshot.running)
            for broker_id in snapshot.parts.keys() - {CONTROLLER_ID}:
                take(broker_id)
            async with asyncio.TaskGroup() as starts:
                for broker_id in snapshot.running:
                    starts.create_task(self._start(broker_id))
        except BaseException as error:
            await self.stop()
            if isinstance(error, BaseExceptionGroup):
                raise error.exceptions[0] from None
            raise

    def _ends(self, broker_id: int) -> None:
        self._check_runs(broker_id)
        if self._fault_rules is not None:
            self._fault_rules.ends(self.nodes[broker_id])

    def _check_started(self) -> None:
        if CONTROLLER_ID not in self.nodes:
            raise NoSnapshotsError("this cluster is not running")

    def _check_nodes(self, snapshot: ClusterSnapshot) -> None:
        of_snapshot = snapshot.parts.keys()
        if CONTROLLER_ID not in of_snapshot or not of_snapshot <= self.node_roles.keys():
            ids = ", ".join(map(str, sorted(of_snapshot)))
            raise NoSnapshotsError(
                f"this snapshot has nodes {ids}, and this cluster has brokers 1 to"
                f" {self._ids[-1]} and the controller {CONTROLLER_ID}"
            )

    def _check(self, broker_id: int) -> None:
        if broker_id not in self._ids:
            raise ValueError(f"there is no broker {broker_id}: ids are 1 to {self._ids[-1]}")

    def _check_runs(self, broker_id: int) -> None:
        self._check(broker_id)
        if broker_id not in self.nodes:
            raise RuntimeError(f"broker {broker_id} is not running")

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()
