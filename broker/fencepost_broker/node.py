"""The broker: machines wired to adapters.

A command goes to the controller's machine; the records it decides on are appended to the metadata
log, replayed, and what they changed is carried out here (logs are opened, closed, configured);
then the answer leaves. A restart replays the same log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fencepost_protocol.primitives import parse_uuid, uuid_text

from fencepost_broker import internal_topics
from fencepost_broker.apis.registry import SERVED, Features, Timer, served
from fencepost_broker.apis.remembered import RememberedAnswers, remembered_answers
from fencepost_broker.config_rules import SettingRules
from fencepost_broker.controller.bootstrap import first_heartbeat, registration
from fencepost_broker.controller.changes import TopicDeleted
from fencepost_broker.controller.features import SUPPORTED_RANGES, told_levels
from fencepost_broker.controller.image import Changes, Image
from fencepost_broker.controller.machine import Controller
from fencepost_broker.controller.model import Endpoint
from fencepost_broker.controller.ports import Chance, ControllerSettings
from fencepost_broker.controlling.local import LocalController
from fencepost_broker.dynamic_settings import in_force, intervals_of
from fencepost_broker.fetch_sessions import FetchSessions
from fencepost_broker.flushes import Flushes, InlineWorker, Worker
from fencepost_broker.log import Disk, LogConfig
from fencepost_broker.log.checkpoints import cluster_id_of
from fencepost_broker.log.manager import Identity, LogManager
from fencepost_broker.log.results import LogEvent
from fencepost_broker.log_levels import LEVELS, LogLevels
from fencepost_broker.machine import Decision
from fencepost_broker.metadata_log import (
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
    MetadataLog,
    metadata_config,
)
from fencepost_broker.metrics import Metrics
from fencepost_broker.partitions import PartitionTable
from fencepost_broker.producer_ids import ProducerIdSource
from fencepost_broker.replicas import Replicas
from fencepost_broker.settings import Settings
from fencepost_broker.topics_here import TopicsHere
from fencepost_broker.warnings_once import WarningsOnce

if TYPE_CHECKING:
    from fencepost_broker.coordination.runtime import Coordination

_LOG_SETTINGS_OF_BROKER: Final = (
    "producer.id.expiration.ms",
    "transaction.partition.verification.enable",
    "cleaner.keys.max",
    "record.validation",
)


class Clock(Protocol):
    """State time and wire time."""

    runs: bool
    """Whether state time passes by itself; else somebody moves it, and wakes who is due then."""

    def now_ms(self) -> int:
        """State time, in milliseconds since 1970."""

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Timer:
        """Wire time: make a call later."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a listener is reached from outside."""

    listener: str
    host: str
    port: int

    @property
    def bootstrap(self) -> str:
        """``host:port``, as clients write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


class Node:
    """One broker with its controller, around one disk."""

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        chance: Chance,
        worker: Worker | None = None,
    ) -> None:
        self._static_settings = settings
        self.settings = settings
        """What is in force."""
        self.on_settings: Callable[[Settings], None] = lambda _: None
        """Told when other settings are in force."""
        self.log_levels = LogLevels()
        self.node_id = settings.node_id
        self.image = Image()
        self.table = PartitionTable()
        self.replicas = Replicas(self)
        self.addresses: list[Address] = []
        self._jitter_seed = chance.randrange(1 << 32)
        self._configs: dict[str, LogConfig] = {}
        """Of topics, kept because a topic may have thousands of partitions."""
        self.broker_epoch = -1
        self._clock = clock
        self.now_ms: Callable[[], int] = clock.now_ms
        """State time."""
        self.chance = chance
        cluster_id = settings.cluster_id or cluster_id_of(disk) or uuid_text(chance.randbytes(16))
        identity = Identity(self.node_id, cluster_id, uuid_text(chance.randbytes(16)))
        self.manager = LogManager.open(
            disk, identity, self.configured, clock.now_ms(), intervals_of(settings)
        )
        self.cluster_id = self.manager.identity.cluster_id
        self._rules = SettingRules(settings)
        machine = Controller(
            self.image,
            self._rules,
            chance,
            ControllerSettings(
                node_id=self.node_id,
                cluster_id=self.cluster_id,
                num_partitions=settings.num_partitions,
                default_replication_factor=settings.default_replication_factor,
                broker_session_timeout_ms=settings.broker_session_timeout_ms,
            ),
        )
        self._topics = TopicsHere(self)
        self._creating: set[str] = set()
        """Topics that the controller was asked for."""
        metadata = MetadataLog(
            self.manager.create(
                METADATA_TOPIC, 0, METADATA_TOPIC_ID, metadata_config(settings), clock.now_ms()
            ),
            is_synced=self._syncs_always,
        )
        self.controller = LocalController(machine, metadata, self)
        self.producer_ids = ProducerIdSource(self._allocate_producer_ids, clock.call_later)
        slots = settings.max_incremental_fetch_session_cache_slots
        self.fetch_sessions = FetchSessions(slots, chance)
        self.warnings = WarningsOnce()
        self._events: list[LogEvent] = []
        self.metrics = Metrics()
        self.flushes = Flushes(worker or InlineWorker(), clock)
        self.remembered: Mapping[int, RememberedAnswers] = remembered_answers()
        self.versions = {api.key.value: api.versions for api in served(settings)}
        self.begun_coordination: Coordination | None = None
        self._is_started = False

    # -- starting and stopping -----------------------------------------------------------------

    def start(self, addresses: Iterable[Address]) -> None:
        """Replay the metadata log, then register at these addresses and begin to lead."""
        self.addresses = list(addresses)
        deleted: set[bytes] = set()
        for changes in self.controller.replay():
            deleted.update(each.topic_id for each in changes if isinstance(each, TopicDeleted))
        self.use_settings()
        self._topics.open(deleted)
        self.controller.activate(self._first_levels())
        self._register()
        self.controller.is_serving = True
        self._is_started = True
        if self.begun_coordination is not None:
            self.begun_coordination.start()

    def _first_levels(self) -> dict[str, int]:
        """Levels of features that a new cluster begins with, where they are not the highest."""
        given = (word.rpartition(":") for word in self.settings.features)
        return {name: int(level) for name, _, level in given}

    def _register(self) -> None:
        listeners = [Endpoint(each.listener, each.host, each.port) for each in self.addresses]
        registered = self.command(
            registration(
                self.node_id,
                self.cluster_id,
                self.chance.randbytes(16),
                listeners,
                [parse_uuid(self.manager.identity.directory_id)],
                self.settings.broker_rack,
            )
        )
        if registered.error_code:
            code = ErrorCode(registered.error_code).name
            raise ValueError(f"node {self.node_id} cannot register with its controller: {code}")
        self.broker_epoch = registered.broker_epoch
        self.command(first_heartbeat(self.image, self.node_id))

    def release_waiting(self) -> None:
        """Answer the requests that wait for something: the broker stops."""
        self.producer_ids.stop()
        if self.begun_coordination is not None:
            self.begun_coordination.stop()
        for topic in self.table.by_name.values():
            for partition in topic.partitions:
                partition.release_waiting()

    def stop(self) -> bool:
        """Close all logs; says whether the stop was clean."""
        return self.manager.close(self.now_ms(), self.broker_epoch)

    # -- time ----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """When the first machine wants to be woken."""
        coordination = self.begun_coordination
        deadlines = (
            self.controller.deadline_ms(),
            None if coordination is None else coordination.deadline_ms(),
        )
        return min((each for each in deadlines if each is not None), default=None)

    def expire(self, now_ms: int) -> None:
        """Let machines do what is due."""
        self.controller.expire(now_ms)
        if self.begun_coordination is not None:
            self.begun_coordination.expire(now_ms)

    def take_events(self) -> list[LogEvent]:
        """What a person should hear since the last time."""
        events, self._events = self._events, []
        events += self.manager.take_events()
        events += (
            LogEvent("warning", "", text, unexpected=True, area="controller")
            for text in self.warnings.take()
        )
        if self.begun_coordination is not None:
            events += self.begun_coordination.take_events()
        return events

    def maintain(self, now_ms: int) -> int:
        """Do a piece of what logs need; gives when to come again (``now_ms``: at once)."""
        self.flushes.look(self.manager.logs.values())
        self.replicas.look(now_ms)
        self.controller.maintain(now_ms, self.settings)
        again_ms = self._topics.try_again(now_ms)
        next_ms = self.manager.maintain(now_ms)
        return next_ms if again_ms is None else min(next_ms, again_ms)

    def catch_up(self, now_ms: int) -> None:
        """Do all that logs need, in one go: the clock was moved by hand."""
        self._topics.try_again(now_ms)
        self.controller.maintain(now_ms, self.settings)
        self.flushes.ask(self.manager.logs_to_flush(now_ms))
        self.replicas.look(now_ms)
        while self.manager.maintain(now_ms) <= now_ms:
            pass

    # -- decisions -----------------------------------------------------------------------------

    def command(self, message: Message) -> Any:
        """Let the controller decide, and carry it out; only where it is in this process."""
        return self.controller.command(message)

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """Let the controller decide, wherever it is; ``then`` hears its answer, at once or later.

        What it hears is ``None`` when nobody can tell any more what became of it.
        """
        self.controller.ask(message, then)

    def carry_out(self, changes: Changes) -> None:
        """Do what one record of the metadata log changed."""
        self._topics.carry_out(changes)

    def decided(self, decision: Decision[Any], changes: Changes) -> None:
        """A decision is carried out: tell of its records, if somebody wants to hear of each."""
        if self.log_levels.at_least("controller") <= LEVELS["debug"]:
            self._events += (
                LogEvent("record", "", str(each.message), area="controller", is_detail=True)
                for each in decision.records
            )
        self._topics.tell_groups(changes)

    def topic_settings_changed(self, topic: str) -> None:
        """A topic was given settings of its own, or lost some."""
        self._configs.clear()
        self.manager.configure(topic, self.configured(topic))

    def forget_topic_settings(self, topic: str) -> None:
        """A topic is gone."""
        self._configs.pop(topic, None)

    def use_settings(self) -> None:
        """Go by what was set at start and what was set since."""
        self.settings, problems = in_force(self._static_settings, self.image, self.node_id)
        for problem in problems:
            self.warnings.add(f"a setting of the metadata log is left out: {problem}")
        self._configs.clear()
        self._rules.use(self.settings)
        self.manager.intervals = intervals_of(self.settings)
        if self.begun_coordination is not None:
            self.begun_coordination.use(self.settings)
        for name in self.table.by_name:
            self.manager.configure(name, self.configured(name))
        self.on_settings(self.settings)

    def configured(self, topic: str) -> LogConfig:
        """What the logs of a topic go by."""
        config = self._configs.get(topic)
        if config is None:
            config = self._configs[topic] = self._configure(topic)
        return config

    @property
    def _syncs_always(self) -> bool:
        """Whether everything is on disk before it is acknowledged; in memory there is no sync."""
        return self.settings.fsync == "always" and bool(self.settings.data_dirs)

    def _configure(self, topic: str) -> LogConfig:
        topic_settings = self.settings.topic(self.image.topic_config(topic))
        of_broker = {name: self.settings[name] for name in _LOG_SETTINGS_OF_BROKER}
        of_broker["jitter.seed"] = self._jitter_seed
        if self._syncs_always:
            of_broker["flush.messages"] = 1
        return LogConfig.from_settings({**topic_settings, **of_broker})

    # -- what handlers use ---------------------------------------------------------------------

    @property
    def features(self) -> Features:
        """Supported and finalized features as they are now."""
        levels = told_levels(self.image.features)
        return Features(SUPPORTED_RANGES, levels, self.image.last_offset)

    @property
    def coordination(self) -> Coordination:
        """The coordinators, which a broker has from when they are first needed."""
        if self.begun_coordination is None:
            from fencepost_broker.coordination.loopback import Loopback
            from fencepost_broker.coordination.runtime import Coordination

            self.begun_coordination = Coordination(self, Loopback(self, SERVED, self.metrics))
            if self._is_started:
                self.begun_coordination.start()
        return self.begun_coordination

    @property
    def time_runs(self) -> bool:
        """Whether state time passes by itself."""
        return self._clock.runs

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Timer:
        """Wire time."""
        return self._clock.call_later(delay_ms, call)

    @staticmethod
    def is_internal(topic: str) -> bool:
        """Whether it is a coordinator's topic."""
        return internal_topics.is_internal(topic)

    def auto_create(self, topics: Sequence[str]) -> None:
        """Create topics that a client asked for, if that is allowed and can be.

        It is one command, so that what one request may ask of the controller holds for this, too.
        """
        if not self.settings.auto_create_topics_enable:
            return
        wanted = [internal_topics.by_itself(topic, self.settings) for topic in topics]
        self.create_topics([each for each in wanted if each is not None], self._created)

    def _created(self, results: Sequence[CreatableTopicResult]) -> None:
        for result in results:
            if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                # The client is only told that there is no such topic, as Kafka tells it.
                self.warnings.add(
                    f"a client asks for topic {result.name}, which cannot be created: "
                    f"{result.error_message}"
                )

    def create_topics(
        self,
        wanted: Iterable[CreatableTopic],
        then: Callable[[Sequence[CreatableTopicResult]], None],
    ) -> None:
        """Ask for topics that clients need; each is asked for once at a time."""
        asked = [each for each in wanted if each.name not in self._creating]
        if not asked:
            return
        self._creating.update(each.name for each in asked)

        def answered(answer: CreateTopicsResponse | None) -> None:
            self._creating.difference_update(each.name for each in asked)
            if answer is not None:
                then(answer.topics)

        self.ask(CreateTopicsRequest(topics=asked), answered)

    def advertised_brokers(self, listener: str) -> list[tuple[int, str, int, str | None]]:
        """The brokers that are up, at their addresses of the listener that the client uses."""
        return [
            (broker.broker_id, each.host, each.port, broker.rack)
            for _, broker in sorted(self.image.brokers.items())
            if not broker.fenced
            for each in broker.endpoints
            if each.name == listener
        ]

    def _allocate_producer_ids(
        self, then: Callable[[AllocateProducerIdsResponse | None], None]
    ) -> None:
        self.ask(AllocateProducerIdsRequest(self.node_id, self.broker_epoch), then)
