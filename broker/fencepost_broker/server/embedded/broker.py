"""A broker inside a Python program: the same one that ``fencepost up`` runs.

    async with Broker(topics={"orders": 3}) as broker:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap)

It runs in the event loop in which it was started; several brokers can share a loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

from fencepost_broker.config import Settings, Value
from fencepost_broker.config.topic_spec import WantedTopic, read_topics, written
from fencepost_broker.observability.logging import LazyLogs
from fencepost_broker.ports import Address
from fencepost_broker.server.clock import StateClock, wall_ms
from fencepost_broker.server.embedded.outputs import Outputs
from fencepost_broker.server.embedded.settings import (
    certificate_settings,
    log_lines,
    option_settings,
    settings_of,
    state_clock,
)
from fencepost_broker.server.embedded.snapshot import NoSnapshotsError, Snapshot, named, taken
from fencepost_broker.server.embedded.wanted_topics import check_created, creation_of
from fencepost_broker.server.process import BrokerProcess, start_soon
from fencepost_broker.storage.disk.faulty import DiskFaults, FaultyDisk
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget, SpillFile
from fencepost_broker.storage.log import Disk

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from fencepost_broker.coordinator.runtime.explaining import Explaining
    from fencepost_broker.coordinator.runtime.marker_sender import Hold
    from fencepost_broker.coordinator.runtime.steps import OnStep
    from fencepost_broker.faults.rules import FaultRules
    from fencepost_broker.network.recorder import Part, Recorder
    from fencepost_broker.observability.explained import ExplainedPartition, ExplainedTransaction
    from fencepost_broker.operations import Operation
    from fencepost_broker.server.embedded.last_requests import LastRequests
    from fencepost_broker.server.faults import Fault, Faults

ResultT = TypeVar("ResultT")
DEFAULT_LOG_LEVEL: Final = "warning"


class Broker:
    """A Kafka broker with its controller, in this process and this event loop.

    All options are keyword arguments:

          settings    settings of Kafka and of Fencepost by their names, {"num.partitions": 3};
                      `fencepost config` lists them
          host, port  address of its listener; by default 127.0.0.1 and a free port. They also
                      replace the address of a single listener in the settings
          data_dir    directory for topics; without it, topics are in memory and gone at the end
          topics      topics to create at the start, unless they exist: {"orders": 3}, or texts as
                      for `--topic`, ["orders:3:retention.ms=60000"]
          users       names and passwords of clients, which must log in with PLAIN or SCRAM
          tls_cert, tls_key
                      two PEM files: the listener uses TLS
          clock       time of topics, groups and transactions: "manual" is a clock that only
                      `broker.clock.advance(days=8)` moves; brokers may share a StateClock
          release     release of Apache Kafka that clients meet: "2.8", "3.9", "4.0" or "4.3"
          control     address of its control port: a port at 127.0.0.1 (0: a free one), or
                      "HOST:PORT"; without it, there is none
          control_token_file
                      file with the token that requests to the control port must have
          log_level   lowest level of log lines on standard error: "warning"
          logs        destination of all log lines instead
          on_step     called with the name of each step of a transaction in a log, before and after
                      it; `fencepost_broker.crash_at` makes one that ends the process there

    Raises SettingsError for invalid settings and certificates, StorageError for a data directory
    that cannot be used, ListenError for an address that cannot be listened on, TopicRefusedError
    for a topic that cannot be created, BrokerFailedError if its controller gives it no producer
    ids. If that happens later, the broker stops, and `failure` says why.
    """

    def __init__(
        self,
        *,
        settings: Mapping[str, Value] | None = None,
        host: str | None = None,
        port: int | None = None,
        data_dir: str | Path | None = None,
        topics: Iterable[str] | Mapping[str, int] = (),
        users: Mapping[str, str] | None = None,
        tls_cert: str | Path | None = None,
        tls_key: str | Path | None = None,
        clock: StateClock | Literal["manual"] | None = None,
        release: str | None = None,
        control: int | str | None = None,
        control_token_file: str | Path | None = None,
        log_level: str = DEFAULT_LOG_LEVEL,
        logs: LazyLogs | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        self._users = dict(users or {})
        certificate = certificate_settings(tls_cert, tls_key)
        made = settings_of(settings or {}, host, port, data_dir, self._users, certificate)
        self.settings = made.with_overrides(option_settings(release, control, control_token_file))
        """Settings in force; after the start, ``listeners`` has the actual ports."""
        self.clock = state_clock(clock)
        """State time; ``advance`` moves it."""
        self.disk = DiskFaults()
        """Faults of the disk: ``disk.add(DiskFull())`` until ``remove`` of what it returns."""
        self.addresses: list[Address] = []
        """Addresses for clients, by listener, once it is started."""
        self.control: str | None = None
        """``host:port`` of its control port, once it is started with one."""
        self.failure = ""
        """Why it has stopped by itself, or ``None``."""
        self.on_failure: Callable[[str], None] = self._stop_by_itself
        """Called with the reason if the broker cannot continue; by default it stops."""
        self._stopping: Awaitable[bool] | None = None
        """The stop after a failure; a call of ``stop`` waits for it."""
        self._controller: str | None = None
        self._topics = read_topics(topics)
        self._on_step = on_step
        self._logs = logs or log_lines(log_level)
        self._disk: Disk | None = None
        self.snapshots: dict[str, Snapshot] = {}
        """The snapshots that have names."""
        self._at_start: Snapshot | None = None
        """The state right after the start, for ``reset``."""
        self._process: BrokerProcess | None = None
        self._faults: Faults[Fault] | None = None
        self._outputs: Outputs | None = None
        self._last_requests: LastRequests | None = None

    # -- starting and stopping -----------------------------------------------------------------

    async def start(self) -> None:
        """Start to serve. A stopped broker finds its data, at its old addresses."""
        if self._process is not None:
            raise RuntimeError("this broker is already running")
        if self._disk is None:
            self._disk = _make_disk(self.settings)
        self.disk.begin()
        faulty = FaultyDisk(self._disk, self.disk)
        process = BrokerProcess(
            self.settings, faulty, self._logs, self.clock, self._logs.levels, self._on_step
        )
        self.failure, self._stopping = "", None
        process.on_failure = lambda why: self.on_failure(why)
        self.addresses = await process.start()
        self._process = process
        self._controller = next((each.bootstrap for each in process.controller_addresses), None)
        if self.settings.listeners != process.listening:
            self.settings = self.settings.with_overrides({"listeners": process.listening})
        try:
            await self._make_users(process)
            for topic in self._topics:
                await self._create_at_start(topic)
            await self._open_outputs(process)
            if self._has_snapshots:
                self._at_start = self.snapshot()
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> bool:
        """Answer requests under way, close all connections, then the logs.

        Returns whether everything is on disk, so that the next start needs no recovery.
        """
        is_clean = await self._stop()
        if self._stopping is not None:
            is_clean = await self._stopping
        return is_clean

    async def kill(self) -> None:
        """End at once, as a killed process ends: without answers, and what is in memory is gone."""
        if self.settings.data_dirs:
            raise RuntimeError(
                "only a broker in memory can be killed here: start a process for one with files,"
                " as by `fencepost up --data-dir`"
            )
        if self._process is not None:
            await self._process.cut_off()
        await self.stop()
        disk, self._disk = self._disk, None
        if isinstance(disk, MemoryDisk):
            disk.discard()

    def _stop(self) -> Coroutine[Any, Any, bool]:
        """Mark the broker as stopped; returns the coroutine that does the rest."""
        process, self._process = self._process, None
        outputs, self._outputs = self._outputs, None
        return _stopped(process, outputs)

    def _stop_by_itself(self, why: str) -> None:
        self.failure = why
        self._stopping = start_soon(self._stop())

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

    # -- where it is ---------------------------------------------------------------------------

    @property
    def bootstrap(self) -> str:
        """``host:port`` of the first listener, for a client's ``bootstrap.servers``."""
        if not self.addresses:
            raise RuntimeError("this broker has no address yet: start it first")
        return self.addresses[0].bootstrap

    @property
    def controller(self) -> str | None:
        """``host:port`` for the ``controller.quorum.bootstrap.servers`` of brokers that join.

        ``None`` without a controller in this process, or if other processes cannot reach it: it
        needs one of the ``listeners`` in ``controller.listener.names``.
        """
        return self._controller

    def stats(self) -> dict[str, Any]:
        """Return counters of requests, errors, latencies, topics, … (docs/reference/tap.md)."""
        if self._process is None:
            raise RuntimeError("this broker is not running")
        return self._process.stats()

    # -- snapshots -----------------------------------------------------------------------------

    def snapshot(self, name: str | None = None) -> Snapshot:
        """Return the state as it is now; ``restore`` and ``fork`` continue from it.

        With a name it is also kept in ``snapshots``. Only brokers in memory have snapshots; those
        of a cluster are its own. Raises StorageError if no memory is left.
        """
        process, disk = self._with_snapshots()
        made = taken(process.broker, disk, self.clock.position, name or "")
        if name:
            self.snapshots[name] = made
        return made

    async def restore(
        self, snapshot: Snapshot | str, connections: Literal["close", "keep"] = "close"
    ) -> None:
        """Continue from a snapshot, or the one with this name, at the same addresses.

        Connections are closed, and clients connect again; with "keep", only those are closed that
        have a request under way, as one that waits for records. It is as if the broker had been
        restarted when the snapshot was made: what is in logs comes back, and nothing else. A manual
        clock stands at the snapshot's time again; another one continues. Raises StorageError if the
        snapshot is damaged or is another node's; then nothing has changed.
        """
        process, disk = self._with_snapshots()
        if connections not in ("close", "keep"):
            raise ValueError(f'connections={connections!r}: it is "close" or "keep"')
        snapshot = named(self.snapshots, snapshot)
        restored = snapshot.disk(disk.budget)
        faulty = FaultyDisk(restored, self.disk)
        await process.exchange(faulty, snapshot.at, keep_idle=connections == "keep")
        self._disk = restored
        disk.discard()

    async def reset(self) -> None:
        """Go back to the state right after the start, as ``restore`` does; removes all faults."""
        process, _ = self._with_snapshots()
        if process.used_fault_rules is not None:
            process.used_fault_rules.reset()
        self.disk.clear()
        assert self._at_start is not None, "a start ends with a snapshot"
        await self.restore(self._at_start)

    def fork(self, snapshot: Snapshot | str | None = None) -> Broker:
        """Return another broker with the state of a snapshot, by default with this broker's.

        It has the same settings, a port of its own and a clock of its own, and still has to be
        started: ``async with broker.fork() as other``.
        """
        _, disk = self._with_snapshots()
        snapshot = self.snapshot() if snapshot is None else named(self.snapshots, snapshot)
        listeners = ",".join(str(each._replace(port=0)) for each in self.settings.endpoints)
        ports: dict[str, Value] = {"listeners": listeners}
        if self.settings.control_address is not None:
            ports["control.address"] = f"{self.settings.control_address.rpartition(':')[0]}:0"
        at_ms = snapshot.at.now_ms if self.clock.is_manual else wall_ms() + snapshot.at.ahead_ms
        made = Broker(
            settings=self.settings.with_overrides(ports),
            users=self._users,
            clock=StateClock(manual=self.clock.is_manual, at_ms=at_ms),
            logs=self._logs,
        )
        made._disk = snapshot.disk(disk.budget)
        return made

    @property
    def _has_snapshots(self) -> bool:
        process = self._process
        is_alone = process is not None and self._controller is None and process.is_whole
        return is_alone and isinstance(self._disk, MemoryDisk)

    def _with_snapshots(self) -> tuple[BrokerProcess, MemoryDisk]:
        """Return the running process and its disk, if there can be snapshots of it."""
        if self._process is None:
            raise NoSnapshotsError("this broker is not running")
        disk = self._disk
        if self.settings.data_dirs or not isinstance(disk, MemoryDisk):
            raise NoSnapshotsError(
                "only brokers in memory have snapshots, and this one has a data directory: stop it,"
                " and use Snapshot.from_data_dir"
            )
        if not self._has_snapshots:
            raise NoSnapshotsError(
                "a broker that is part of a cluster has no snapshots: a Cluster has them"
            )
        return self._process, disk

    # -- what tests ask for --------------------------------------------------------------------

    def create_topic(
        self, name: str, partitions: int = -1, configs: Mapping[str, Value] | None = None
    ) -> None:
        """Create a topic, unless it exists; raises ``TopicRefusedError``."""
        self._create(WantedTopic(name, partitions, written(configs)))

    async def perform(self, operation: Operation[ResultT]) -> ResultT:
        """Carry out an operation of ``fencepost_broker.operations``; returns what is then.

        Raises ``OperationRefusedError`` if it cannot work; then nothing has changed.
        """
        if self._process is None:
            raise RuntimeError("this broker is not running")
        from fencepost_broker.server.operations import perform

        return await perform(self._process.broker, operation)

    def hold_markers(
        self,
        transactional_id: str | None = None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> Hold:
        """Hold back markers of ended transactions, all or the selected ones, until ``release``.

        Meanwhile, transactions stay in PrepareCommit or PrepareAbort and last stable offsets do not
        move, so that a test can see CONCURRENT_TRANSACTIONS for as long as it wants.
        """
        if self._process is None:
            raise RuntimeError("this broker is not running")
        sender = self._process.broker.coordinators.runtime.sender
        return sender.hold(transactional_id, topic, partition)

    def explain_transaction(self, transactional_id: str) -> ExplainedTransaction | None:
        """Explain what a transaction waits for, and what holds its last stable offsets.

        Returns ``None`` if this broker does not coordinate the id.
        """
        return self._explaining().transaction(transactional_id, self.bootstrap)

    def explain_partition(self, topic: str, partition: int) -> ExplainedPartition | None:
        """Explain how far readers of committed records can read, and which transaction blocks them.

        Returns ``None`` if the partition does not exist.
        """
        return self._explaining().partition(topic, partition)

    def record(self, path: str | Path, part: Part | None = None) -> Recorder:
        """Write what clients send and are answered to a new file, until it is closed.

        A ``part`` is appended to a file that several brokers write.
        """
        if self._process is None:
            raise RuntimeError("this broker is not running")
        from fencepost_broker.network.recorder import Recorder

        return Recorder(self._process.socket_server, path, part)

    @property
    def faults(self) -> Faults[Fault]:
        """Faults: what happens to requests and answers that match, and how often."""
        if self._faults is None:
            from fencepost_broker.server.faults import Fault, Faults

            self._faults = Faults(self.fault_rules, Fault, lambda call: call())
        return self._faults

    def fault_rules(self) -> FaultRules:
        """Return the rules of the running broker."""
        if self._process is None:
            raise RuntimeError("this broker is not running")
        return self._process.fault_rules

    def unfired_faults(self) -> list[str]:
        """Return the names of faults that never fired, unless they ``may_stay_unfired``.

        Those that were removed are among them.
        """
        rules = None if self._process is None else self._process.used_fault_rules
        return [] if rules is None else rules.unfired()

    def remember_requests(self) -> None:
        """Remember the last requests from now on, for ``explain``; forgets those of before."""
        if self._process is None:
            raise RuntimeError("this broker is not running")
        from fencepost_broker.network.watchers import watch
        from fencepost_broker.server.embedded.last_requests import LastRequests

        self._last_requests = self._last_requests or LastRequests()
        self._last_requests.forget()
        watch(self._process.socket_server, self._last_requests)

    async def explain(self) -> str:
        """Describe errors, transactions, readers that wait, groups and fault rules in a few lines.

        After ``remember_requests``, the last requests come next.
        """
        if self._process is None:
            return f"the broker has stopped{': ' if self.failure else ''}{self.failure}"
        from fencepost_broker.server.embedded.overview import Overview

        used = self._process.used_fault_rules
        rules = [] if used is None else used.statuses()
        lines = await Overview(self._process.broker, self.bootstrap, rules).lines()
        if self._last_requests is not None:
            lines += ["last requests:", *(f"  {each}" for each in self._last_requests.lines())]
        return "\n".join(lines)

    def _explaining(self) -> Explaining:
        if self._process is None:
            raise RuntimeError("this broker is not running")
        from fencepost_broker.coordinator.runtime.explaining import Explaining

        return Explaining(self._process.broker.coordinators.runtime)

    def _create(self, wanted: WantedTopic) -> None:
        if self._process is None:
            raise RuntimeError("this broker is not running")
        if not self._process.broker.has_controller:
            raise RuntimeError("this broker's controller is another process: use an Admin")
        check_created(wanted, self._process.broker.controller.command(creation_of(wanted)))

    async def _open_outputs(self, process: BrokerProcess) -> None:
        self._outputs = Outputs(self._logs)
        control = await self._outputs.open(self.settings, process, self.addresses, self)
        if control is not None:
            self.control, at = control
            self.settings = self.settings.with_overrides({"control.address": at})

    async def _make_users(self, process: BrokerProcess) -> None:
        if not self._users:
            return
        from fencepost_broker.server.bootstrap_users import missing_credentials

        for request in missing_credentials(self._users, process.server.image):
            await process.ask(request)

    async def _create_at_start(self, wanted: WantedTopic) -> None:
        assert self._process is not None
        check_created(wanted, await self._process.ask(creation_of(wanted)))


async def _stopped(process: BrokerProcess | None, outputs: Outputs | None) -> bool:
    if outputs is not None:
        await outputs.close()
    return process is None or await process.stop()


def _make_disk(settings: Settings) -> Disk:
    """Return the data directory of the settings, or memory."""
    folders = settings.data_dirs
    if not folders:
        return MemoryDisk(MemoryBudget(settings.memory_max_bytes, SpillFile()))
    if len(folders) > 1:
        raise ValueError(f"only one data directory is supported, {len(folders)} are given")
    return FileDisk(folders[0])
