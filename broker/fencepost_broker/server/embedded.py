"""A broker inside a Python program: the same one that ``fencepost up`` runs.

    async with Broker(topics={"orders": 3}) as broker:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap)

It runs in the event loop in which it was started; several brokers can share a loop.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypeVar

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

from fencepost_broker.config import Settings, Value
from fencepost_broker.config.endpoints import NO_HOST, PORT_MAX, Endpoint, is_host
from fencepost_broker.config.table import CODE, Origin, Source
from fencepost_broker.config.topic_spec import WantedTopic, read_topics
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.logging import LazyLogs, Logs
from fencepost_broker.ports import Address
from fencepost_broker.server.clock import StateClock, wall_ms
from fencepost_broker.server.process import BrokerProcess, start_soon
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget, SpillFile
from fencepost_broker.storage.log import Disk

if TYPE_CHECKING:
    from types import TracebackType

    from fencepost_broker.coordinator.runtime.explaining import Explaining
    from fencepost_broker.coordinator.runtime.marker_sender import Hold
    from fencepost_broker.coordinator.runtime.steps import OnStep
    from fencepost_broker.observability.explained import ExplainedPartition, ExplainedTransaction
    from fencepost_broker.operations import Operation

ResultT = TypeVar("ResultT")
DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_CONTROLLER_LISTENER: Final = "CONTROLLER"
DEFAULT_LOG_LEVEL: Final = "warning"


class TopicRefusedError(ValueError):
    """A topic of the start cannot be created."""


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
        log_level: str = DEFAULT_LOG_LEVEL,
        logs: LazyLogs | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        self._users = dict(users or {})
        certificate = certificate_settings(tls_cert, tls_key)
        self.settings = _settings(settings or {}, host, port, data_dir, self._users, certificate)
        """Settings in force; after the start, ``listeners`` has the actual ports."""
        self.clock = _state_clock(clock)
        """State time; ``advance`` moves it."""
        self.addresses: list[Address] = []
        """Addresses for clients, by listener, once it is started."""
        self.failure = ""
        """Why it has stopped by itself, or ``None``."""
        self.on_failure: Callable[[str], None] = self._stop_by_itself
        """Called with the reason if the broker cannot continue; by default it stops."""
        self._stopping: Awaitable[bool] | None = None
        """The stop after a failure; a call of ``stop`` waits for it."""
        self._controller: str | None = None
        self._topics = read_topics(topics)
        self._logs = logs or _log_lines(log_level)
        self._on_step = on_step
        self._disk: Disk | None = None
        self._process: BrokerProcess | None = None

    # -- starting and stopping -----------------------------------------------------------------

    async def start(self) -> None:
        """Start to serve. A stopped broker finds its data, at its old addresses."""
        if self._process is not None:
            raise RuntimeError("this broker is already running")
        if self._disk is None:
            self._disk = _make_disk(self.settings)
        process = BrokerProcess(
            self.settings, self._disk, self._logs, self.clock, self._logs.levels, self._on_step
        )
        self.failure, self._stopping = "", None
        process.on_failure = lambda why: self.on_failure(why)
        self.addresses = await process.start()
        self._process = process
        self._controller = next((each.bootstrap for each in process.controller_addresses), None)
        self.settings = self.settings.with_overrides({"listeners": process.listening})
        try:
            await self._make_users(process)
            for topic in self._topics:
                await self._create_at_start(topic)
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

    def _stop(self) -> Coroutine[Any, Any, bool]:
        """Mark the broker as stopped; returns the coroutine that does the rest."""
        process, self._process = self._process, None
        return _stopped(process)

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

    # -- what tests ask for --------------------------------------------------------------------

    def create_topic(
        self, name: str, partitions: int = -1, configs: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic, unless it exists; raises ``TopicRefusedError``."""
        self._create(WantedTopic(name, partitions, configs or {}))

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
        _check_created(wanted, self._process.broker.controller.command(_creation(wanted)))

    async def _make_users(self, process: BrokerProcess) -> None:
        if not self._users:
            return
        from fencepost_broker.server.bootstrap_users import missing_credentials

        for request in missing_credentials(self._users, process.server.image):
            await process.ask(request)

    async def _create_at_start(self, wanted: WantedTopic) -> None:
        assert self._process is not None
        _check_created(wanted, await self._process.ask(_creation(wanted)))


def _state_clock(clock: StateClock | str | None) -> StateClock:
    if clock is None or isinstance(clock, StateClock):
        return clock or StateClock()
    if clock != "manual":
        raise ValueError(f'clock={clock!r}: it must be "manual" or a StateClock')
    return StateClock(manual=True)


async def _stopped(process: BrokerProcess | None) -> bool:
    return process is None or await process.stop()


def _creation(wanted: WantedTopic) -> CreateTopicsRequest:
    configs = [CreatableTopicConfig(name, value) for name, value in wanted.configs.items()]
    topic = CreatableTopic(wanted.name, wanted.partitions, -1, configs=configs)
    return CreateTopicsRequest(topics=[topic])


def _check_created(wanted: WantedTopic, answer: CreateTopicsResponse | None) -> None:
    if answer is None:
        raise TopicRefusedError(f"topic {wanted.name!r}: the connection to the controller was lost")
    result = answer.topics[0]
    if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        raise TopicRefusedError(f"topic {wanted.name!r}: {result.error_message}")


def _settings(
    given: Mapping[str, Value], host: str | None, port: int | None, data_dir: str | Path | None,
    users: Mapping[str, str], certificate: list[tuple[str, Value, Source]],
) -> Settings:  # fmt: skip
    if port is not None and not 0 <= port <= PORT_MAX:
        raise ValueError(f"port={port}: a port is 0 to {PORT_MAX}")
    if host is not None and not is_host(host):
        raise ValueError(f"host={host!r}: {NO_HOST}")
    settings = given if isinstance(given, Settings) else Settings().with_overrides(given)
    made: dict[str, Value] = {}
    if users:
        from fencepost_broker.server.bootstrap_users import check_users, settings_for

        check_users(users)
        made |= settings_for(users)
    if settings.given("listeners"):
        if host is not None or port is not None:
            made["listeners"] = str(_moved(settings, host, port))
    else:
        encrypted = "SSL" if certificate else "PLAINTEXT"
        name = f"SASL_{encrypted}" if users else encrypted
        if "broker" not in settings.process_roles:
            name = (settings.controller_listener_names or (DEFAULT_CONTROLLER_LISTENER,))[0]
            made["controller.listener.names"] = name
        made["listeners"] = str(Endpoint(name, host or DEFAULT_HOST, port or 0))
    if data_dir is not None:
        made["log.dirs"] = os.fspath(data_dir)
    ours = ((name, value, CODE) for name, value in made.items())
    settings = settings.with_given(iter([*certificate, *ours]))
    if users:
        _check_some_listener(settings, "SASL_", "users need a SASL_* listener")
    if certificate:
        _check_some_listener(settings, "SSL", "a certificate needs a listener with TLS")
    return settings


def _moved(settings: Settings, host: str | None, port: int | None) -> Endpoint:
    """Return the only listener at another address, with its name and protocol."""
    if len(settings.endpoints) > 1:
        raise ValueError(
            f"{_listeners_told(settings)} has the addresses of {len(settings.endpoints)} listeners:"
            " leave out the host and the port"
        )
    [endpoint] = settings.endpoints
    return Endpoint(
        endpoint.name,
        endpoint.host if host is None else host,
        endpoint.port if port is None else port,
    )


def _check_some_listener(settings: Settings, protocol: str, why: str) -> None:
    """Raise ValueError if no listener uses the protocol, so that an option would have no effect."""
    if any(protocol in (settings.protocol(each.name) or "") for each in settings.endpoints):
        return  # the controller's, if no other: users may be brokers
    raise ValueError(f"{why}, and {_listeners_told(settings)} has none: remove one of the two")


def _listeners_told(settings: Settings) -> str:
    return f"listeners={settings.shown('listeners')} ({settings.source('listeners')})"


def certificate_settings(
    certificate: str | Path | None, key: str | Path | None
) -> list[tuple[str, Value, Source]]:
    """Return the settings for two PEM files; raises ValueError if one is missing."""
    if certificate is None and key is None:
        return []
    if key is None:
        raise ValueError(f"--tls-cert {certificate} needs the certificate's key: --tls-key FILE")
    if certificate is None:
        raise ValueError(f"--tls-key {key} needs the key's certificate: --tls-cert FILE")
    from fencepost_broker.network.pem import read

    made: list[tuple[str, Value, Source]] = []
    for name, option, path in (
        ("ssl.keystore.certificate.chain", "--tls-cert", certificate),
        ("ssl.keystore.key", "--tls-key", key),
    ):
        place = f"{option} {path}"
        made.append((name, read(str(path), place, ValueError), Source(Origin.OPTION, place)))
    return made


def _make_disk(settings: Settings) -> Disk:
    """Return the data directory of the settings, or memory."""
    folders = settings.data_dirs
    if not folders:
        return MemoryDisk(MemoryBudget(settings.memory_max_bytes, SpillFile()))
    if len(folders) > 1:
        raise ValueError(f"only one data directory is supported, {len(folders)} are given")
    return FileDisk(folders[0])


def _log_lines(level: str) -> LazyLogs:
    # The stream is looked up when there is something to say: under pytest it is another in each
    # test.
    return LazyLogs(
        lambda: Logs(sys.stderr, wall_ms, level="debug", as_json=False), LogLevels(level)
    )
