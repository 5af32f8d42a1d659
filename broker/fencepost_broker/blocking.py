"""The broker of a program that has no event loop: the same one, in a thread of its own.

    with Broker(topics={"orders": 3}) as broker:
        producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap})

Options, methods and errors are those of ``fencepost_broker.Broker``; any thread may call them. With
a broker that keeps files, leave the ``with`` or call ``stop``: a program that ends without it has
some seconds for that, and no more.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar, Unpack

from fencepost_broker.config import Settings, Value
from fencepost_broker.ports import Address
from fencepost_broker.server.clock import StateClock
from fencepost_broker.server.embedded import broker as asyncio_broker
from fencepost_broker.server.embedded import cluster as asyncio_cluster
from fencepost_broker.server.embedded.blocking_disk import Disk, LoadedDiskFault
from fencepost_broker.server.embedded.options import ClusterOptions, Options
from fencepost_broker.server.embedded.snapshot import Snapshot
from fencepost_broker.server.loop_thread import Call, LoopThread, enter, leave

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime import marker_sender
    from fencepost_broker.network.recorder import Recorder
    from fencepost_broker.observability.explained import ExplainedPartition, ExplainedTransaction
    from fencepost_broker.operations import Operation
    from fencepost_broker.server.attached import BlockingAttachedBroker
    from fencepost_broker.server.faults import BlockingFault, Faults
    from fencepost_broker.server.scenarios.scenario import Outcome, Scenario

R = TypeVar("R")
_EXIT_SECONDS: Final = 5.0
"""How long the interpreter's end waits for a broker that was not stopped."""


def attach(control: str | int, token: str | None = None) -> BlockingAttachedBroker:
    """Attach to a broker, a cluster or a proxy in another process: ``fencepost_broker.attach``."""
    from fencepost_broker.server.attached import attach_blocking

    return attach_blocking(control, token)


class Broker:
    __doc__ = (asyncio_broker.Broker.__doc__ or "").replace(
        "in this process and this event loop", "in a thread that all such brokers share"
    )

    def __init__(self, **options: Unpack[Options]) -> None:
        self._broker = asyncio_broker.Broker(**options)
        self._thread: LoopThread | None = None
        self._stopping: Call[bool] | None = None
        self._faults: Faults[BlockingFault] | None = None
        self.clock = Clock(self)
        """State time, as this broker's thread has it."""
        self.disk = Disk(self._do, lambda: self._broker.disk)
        """Faults of the disk."""

    # -- starting and stopping -----------------------------------------------------------------

    def start(self) -> None:
        """Start to serve. A stopped broker finds its data, at its old addresses."""
        if self._thread is not None:
            raise RuntimeError("this broker is already running")
        thread = enter()
        try:
            thread.run(self._broker.start)
        except BaseException:
            leave(thread)
            raise
        self._thread = thread
        _running.add(self)

    def stop(self, timeout_seconds: float | None = None) -> bool:
        """Answer requests under way, close all connections, then the logs.

        Returns whether everything is on disk, so that the next start needs no recovery.
        """
        thread = self._thread
        if thread is None:
            return True
        if self._stopping is None:
            self._stopping = thread.begin(self._broker.stop)
        # After the time limit, the broker goes on closing its files, in the thread.
        try:
            return self._stopping.wait(timeout_seconds)
        finally:
            if self._stopping.is_over.is_set():
                self._thread = self._stopping = None
                _running.discard(self)
                leave(thread)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    # -- where it is ---------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """Settings in force; after the start, ``listeners`` has the actual ports."""
        return self._broker.settings

    @property
    def addresses(self) -> list[Address]:
        """Addresses for clients, by listener, once it is started."""
        return self._broker.addresses

    @property
    def bootstrap(self) -> str:
        """``host:port`` of the first listener, for a client's ``bootstrap.servers``."""
        return self._broker.bootstrap

    @property
    def controller(self) -> str | None:
        """``host:port`` for the ``controller.quorum.bootstrap.servers`` of brokers that join."""
        return self._broker.controller

    @property
    def control(self) -> str | None:
        """``host:port`` of its control port, once it is started with one."""
        return self._broker.control

    @property
    def failure(self) -> str:
        """Why it has stopped by itself, or ``None``."""
        return self._broker.failure

    def stats(self) -> dict[str, Any]:
        """Return counters of requests, errors, latencies, topics, … (docs/reference/tap.md)."""
        return self._ask(self._broker.stats)

    # -- snapshots -----------------------------------------------------------------------------

    @property
    def snapshots(self) -> Mapping[str, Snapshot]:
        """The snapshots that have names."""
        return self._broker.snapshots

    def snapshot(self, name: str | None = None) -> Snapshot:
        """Return the state as it is now; ``restore`` and ``fork`` continue from it.

        With a name it is also kept in ``snapshots``. Only brokers in memory have snapshots; those
        of a cluster are its own. Raises StorageError if no memory is left.
        """
        return self._ask(lambda: self._broker.snapshot(name))

    def restore(
        self, snapshot: Snapshot | str, connections: Literal["close", "keep"] = "close"
    ) -> None:
        """Continue from a snapshot, or the one with this name, at the same addresses.

        See ``fencepost_broker.Broker.restore``.
        """
        self._running_thread().run(lambda: self._broker.restore(snapshot, connections))

    def reset(self) -> None:
        """Go back to the state right after the start, as ``restore`` does; removes fault rules."""
        self._running_thread().run(self._broker.reset)

    @classmethod
    def _running_in(cls, thread: LoopThread, broker: asyncio_broker.Broker) -> Broker:
        """Return a blocking face of a broker that another object starts and stops."""
        made = cls()
        made._broker, made._thread = broker, thread
        return made

    def fork(self, snapshot: Snapshot | str | None = None) -> Broker:
        """Return another broker with the state of a snapshot, by default with this broker's.

        It has the same settings, a port of its own and a clock of its own, and still has to be
        started: ``with broker.fork() as other``.
        """
        made = Broker()
        made._broker = self._ask(lambda: self._broker.fork(snapshot))
        return made

    # -- what tests ask for --------------------------------------------------------------------

    def create_topic(
        self, name: str, partitions: int = -1, configs: Mapping[str, Value] | None = None
    ) -> None:
        """Create a topic, unless it exists; raises ``TopicRefusedError``."""
        self._ask(lambda: self._broker.create_topic(name, partitions, configs))

    def perform(self, operation: Operation[R]) -> R:
        """Carry out an operation of ``fencepost_broker.operations``; returns what is then.

        Raises ``OperationRefusedError`` if it cannot work; then nothing has changed.
        """
        return self._running_thread().run(lambda: self._broker.perform(operation))

    def play(self, scenario: Scenario) -> Outcome:
        """Make a scenario of one broker happen; it needs one with ``scenario.options``."""
        from fencepost_broker.server.scenarios.scenario import play

        return self._running_thread().run(lambda: play(scenario, self._broker))

    def hold_markers(
        self,
        transactional_id: str | None = None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> Hold:
        """Hold back markers of ended transactions, all or the selected ones, until ``release``."""
        return Hold(
            self, self._ask(lambda: self._broker.hold_markers(transactional_id, topic, partition))
        )

    def explain_transaction(self, transactional_id: str) -> ExplainedTransaction | None:
        """Explain what a transaction waits for, and what holds its last stable offsets.

        Returns ``None`` if this broker does not coordinate the id.
        """
        return self._ask(lambda: self._broker.explain_transaction(transactional_id))

    def explain_partition(self, topic: str, partition: int) -> ExplainedPartition | None:
        """Explain how far readers of committed records can read, and which transaction blocks them.

        Returns ``None`` if the partition does not exist.
        """
        return self._ask(lambda: self._broker.explain_partition(topic, partition))

    def record(self, path: str | Path) -> Recorder:
        """Write what clients send and are answered to a new file, until it is closed."""
        return self._ask(lambda: self._broker.record(path))

    @property
    def faults(self) -> Faults[BlockingFault]:
        """Faults: what happens to requests and answers that match, and how often."""
        if self._faults is None:
            from fencepost_broker.server.faults import BlockingFault, Faults

            self._faults = Faults(self._broker.fault_rules, BlockingFault, self._ask)
        return self._faults

    def unfired_faults(self) -> list[str]:
        """Return the names of faults that never fired; see ``fencepost_broker.Broker``."""
        return self._ask(self._broker.unfired_faults)

    def remember_requests(self) -> None:
        """Remember the last requests from now on, for ``explain``; forgets those of before."""
        self._ask(self._broker.remember_requests)

    def explain(self) -> str:
        """Describe errors, open transactions, readers that wait, and groups, in a few lines.

        After ``remember_requests``, the last requests come next.
        """
        if self._thread is None:
            return "the broker has stopped"
        return self._thread.run(self._broker.explain)

    def _ask(self, call: Callable[[], R]) -> R:
        """Make a call where the broker runs, at once."""
        return self._running_thread().run(lambda: _at_once(call))

    def _do(self, call: Callable[[], R]) -> R:
        """Make a call where the broker runs, or here while it does not."""
        return call() if self._thread is None else self._ask(call)

    def _running_thread(self) -> LoopThread:
        if self._thread is None:
            raise RuntimeError("this broker is not running")
        return self._thread


class Cluster:
    __doc__ = (asyncio_cluster.Cluster.__doc__ or "").replace(
        "in this process and this event loop",
        "in a thread that all such clusters and brokers share",
    )

    def __init__(self, **options: Unpack[ClusterOptions]) -> None:
        self._cluster = asyncio_cluster.Cluster(**options)
        self._thread: LoopThread | None = None
        self._faults: Faults[BlockingFault] | None = None

    def start(self) -> None:
        """Start the controller, then the brokers, and create the topics."""
        if self._thread is not None:
            raise RuntimeError("this cluster is already running")
        thread = enter()
        try:
            thread.run(self._cluster.start)
        except BaseException:
            leave(thread)
            raise
        self._thread = thread

    def stop(self) -> None:
        """Stop all, the controller last."""
        thread, self._thread = self._thread, None
        if thread is not None:
            try:
                thread.run(self._cluster.stop)
            finally:
                leave(thread)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers, for a client's ``bootstrap.servers``."""
        return self._cluster.bootstrap

    @property
    def control(self) -> str | None:
        """``host:port`` of its control port, if it has one."""
        return self._cluster.control

    @property
    def brokers(self) -> dict[int, Broker]:
        """The brokers that run, by id; stop them by the methods of the cluster."""
        return {
            number: Broker._running_in(self._running_thread(), each)
            for number, each in self._cluster.brokers.items()
        }

    def broker(self, broker_id: int) -> Broker:
        """Return a broker that runs; stop it by the methods of the cluster."""
        found = self._ask(lambda: self._cluster.broker(broker_id))
        return Broker._running_in(self._running_thread(), found)

    def kill(self, broker_id: int) -> None:
        """End a broker at once, as a killed process ends; see ``fencepost_broker.Cluster``."""
        self._running_thread().run(lambda: self._cluster.kill(broker_id))

    def stop_broker(self, broker_id: int) -> None:
        """Stop a broker in order: others take over first, and it keeps its records."""
        self._running_thread().run(lambda: self._cluster.stop_broker(broker_id))

    def start_broker(self, broker_id: int) -> None:
        """Start a broker that was stopped or killed, at its old address."""
        self._running_thread().run(lambda: self._cluster.start_broker(broker_id))

    def play(self, scenario: Scenario) -> Outcome:
        """Make a scenario of a cluster happen; it needs one with ``scenario.options``."""
        from fencepost_broker.server.scenarios.scenario import play

        return self._running_thread().run(lambda: play(scenario, self._cluster))

    @property
    def snapshots(self) -> Mapping[str, asyncio_cluster.ClusterSnapshot]:
        """The snapshots that have names."""
        return self._cluster.snapshots

    def snapshot(self, name: str | None = None) -> asyncio_cluster.ClusterSnapshot:
        """Return the state of all nodes as it is now; see ``fencepost_broker.Cluster``."""
        return self._ask(lambda: self._cluster.snapshot(name))

    def restore(self, snapshot: asyncio_cluster.ClusterSnapshot | str) -> None:
        """Continue from a snapshot at the same addresses; see ``fencepost_broker.Cluster``."""
        self._running_thread().run(lambda: self._cluster.restore(snapshot))

    def reset(self) -> None:
        """Go back to the state right after the start, as ``restore`` does; snapshots stay."""
        self._running_thread().run(self._cluster.reset)

    def fork(self, snapshot: asyncio_cluster.ClusterSnapshot | str | None = None) -> Cluster:
        """Return another cluster with the state of a snapshot, which still has to be started."""
        made = Cluster()
        made._cluster = self._ask(lambda: self._cluster.fork(snapshot))
        return made

    @property
    def faults(self) -> Faults[BlockingFault]:
        """Faults: each broker has them, and they count together."""
        if self._faults is None:
            from fencepost_broker.server.faults import BlockingFault, Faults

            self._faults = Faults(self._cluster.fault_rules, BlockingFault, self._ask)
        return self._faults

    def unfired_faults(self) -> list[str]:
        """Return the names of faults that never fired; see ``fencepost_broker.Cluster``."""
        return [] if self._thread is None else self._ask(self._cluster.unfired_faults)

    def remember_requests(self) -> None:
        """Let each broker that runs remember the last requests, for ``explain``."""
        for each in self.brokers.values():
            each.remember_requests()

    def explain(self) -> dict[int, str]:
        """Describe the state of each broker that runs; see ``fencepost_broker.Broker.explain``."""
        if self._thread is None:
            return {}
        return {number: each.explain() for number, each in self.brokers.items()}

    def _ask(self, call: Callable[[], R]) -> R:
        """Make a call where the cluster runs, at once."""
        return self._running_thread().run(lambda: _at_once(call))

    def _running_thread(self) -> LoopThread:
        if self._thread is None:
            raise RuntimeError("this cluster is not running")
        return self._thread


class Hold:
    """Markers that are held back."""

    def __init__(self, broker: Broker, hold: marker_sender.Hold) -> None:
        self._broker = broker
        self._hold = hold

    def release(self) -> None:
        """Release the markers."""
        self._broker._ask(self._hold.release)


class Clock:
    """State time of a broker: ``fencepost_broker.StateClock``, moved from another thread."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    @property
    def _clock(self) -> StateClock:
        return self._broker._broker.clock

    def now_ms(self) -> int:
        """State time, in milliseconds since 1970."""
        return self._clock.now_ms()

    def pause(self) -> None:
        """Let state time stand still; ``advance`` and ``jump`` still move it."""
        self._broker._ask(self._clock.pause)

    def resume(self) -> None:
        """Let state time run on from where it stands."""
        self._broker._ask(self._clock.resume)

    def jump(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0,
        ms: int = 0,
    ) -> None:  # fmt: skip
        """Set the clock forward, or back by a negative number; no time passes by that."""
        step = partial(self._clock.jump, days=days, hours=hours, minutes=minutes, ms=ms)
        self._broker._ask(partial(step, seconds=seconds))

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0,
        ms: int = 0,
    ) -> None:  # fmt: skip
        """Move state time forward, and do everything that becomes due before this returns."""
        step = partial(self._clock.advance_in_turns, days=days, hours=hours, minutes=minutes, ms=ms)
        self._broker._running_thread().run(partial(step, seconds=seconds))


async def _at_once(call: Callable[[], R]) -> R:
    return call()


_running: Final[set[Broker]] = set()


@atexit.register
def _end_with_the_interpreter() -> None:
    for broker in list(_running):
        with suppress(TimeoutError, RuntimeError):
            broker.stop(_EXIT_SECONDS)


__all__ = [
    "Broker",
    "Clock",
    "Cluster",
    "ClusterOptions",
    "Disk",
    "Hold",
    "LoadedDiskFault",
    "Options",
    "attach",
]
