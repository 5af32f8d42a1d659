"""The broker: machines connected to logs, time and the network.

A command goes to the controller's machine; the records it decides on are appended to the metadata
log, replayed, and what they changed is carried out here (logs are opened, closed, configured);
then the answer leaves. A restart replays the same log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

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
from fencepost_protocol.primitives import parse_uuid

from fencepost_broker.apis.fetch.sessions import FetchSessions
from fencepost_broker.apis.registry import SERVED, served
from fencepost_broker.config import Settings, internal_topics
from fencepost_broker.controller.bootstrap import first_heartbeat, registration
from fencepost_broker.controller.channel.local import LocalController, make_machine
from fencepost_broker.coordinator.runtime.peer_brokers import PeerBrokers
from fencepost_broker.coordinator.transaction.producer_id_manager import ProducerIdSource
from fencepost_broker.metadata.changes import (
    BrokerChanged,
    Changes,
    ClientQuotasChanged,
    TopicDeleted,
)
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.metadata.model import Endpoint
from fencepost_broker.network.client_quotas import ClientQuotas
from fencepost_broker.network.muted_connections import MutedConnections
from fencepost_broker.ports import Address, Chance, Clock
from fencepost_broker.replication.replica_manager import ReplicaManager
from fencepost_broker.replication.replicated_partitions import ReplicatedPartitions
from fencepost_broker.server.shared_server import NodeCore
from fencepost_broker.storage.flush_scheduler import Worker
from fencepost_broker.storage.log import Disk
from fencepost_broker.storage.log.results import LogEvent

__all__ = ["Address", "Node"]

if TYPE_CHECKING:
    from fencepost_protocol.generated.broker_registration import BrokerRegistrationRequest

    from fencepost_broker.controller.channel.pending_requests import Question
    from fencepost_broker.controller.channel.remote import RemoteController
    from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime


class Node(NodeCore):
    """One broker, with its controller or without, around one disk."""

    speaks_for_controller = False

    def __init__(
        self,
        settings: Settings,
        disk: Disk,
        clock: Clock,
        chance: Chance,
        worker: Worker | None = None,
    ) -> None:
        super().__init__(settings, disk, clock, chance, worker)
        self.replicas = ReplicatedPartitions(self)
        self.others = PeerBrokers(self)
        self._topics = ReplicaManager(self)
        self._creating: set[str] = set()
        """Topics that the controller was asked for."""
        self.controller = self._controller(chance)
        self._deleted: set[bytes] = set()
        """Topics that are gone, by what was read before any log was opened for good."""
        self._is_open = False
        self.producer_ids = ProducerIdSource(
            self._allocate_producer_ids, clock.call_later, self._no_producer_ids
        )
        self.on_failure: Callable[[str], None] = lambda _: None
        """Told why this broker cannot go on."""
        self.quotas = ClientQuotas()
        self.mutes = MutedConnections(self)
        self.on_quotas: Callable[[ClientQuotas], None] = lambda _: None
        """Told when other quotas are in force."""
        slots = settings.max_incremental_fetch_session_cache_slots
        self.fetch_sessions = FetchSessions(slots, chance)
        self.versions = {api.key.value: api.versions for api in served(settings)}
        self.begun_coordination: CoordinatorRuntime | None = None
        self._is_started = False

    @property
    def has_controller(self) -> bool:
        """Whether the controller is in this process."""
        return "controller" in self._static_settings.process_roles

    def _controller(self, chance: Chance) -> LocalController | RemoteController:
        if not self.has_controller:
            from fencepost_broker.controller.channel.remote import RemoteController

            return RemoteController(self.image, self.metadata, self.now_ms)
        settings = self._static_settings
        machine = make_machine(self.image, self._rules, chance, settings, self.cluster_id)
        return LocalController(machine, self.metadata, self)

    @property
    def decider(self) -> LocalController:
        """The controller that is here."""
        assert isinstance(self.controller, LocalController), "the controller is another process"
        return self.controller

    # -- starting and stopping -----------------------------------------------------------------

    def start(self, addresses: Iterable[Address]) -> None:
        """Replay the metadata log, then register at these addresses and begin to lead.

        Where the controller is another process, this is only the replay: what is missing has to be
        read (``carry_out``), and then ``open`` begins to lead.
        """
        self.addresses = list(addresses)
        for changes in self.controller.replay():
            self._note_deleted(changes)
        if isinstance(self.controller, LocalController):
            self.open()
            imported = self.settings.producer_id_block_import
            self.controller.activate(self.first_levels(), imported)
            self._register()
            self.controller.is_serving = True
            self.begin()

    def _note_deleted(self, changes: Changes) -> None:
        deleted = (each.topic_id for each in changes if isinstance(each, TopicDeleted))
        self._deleted.update(deleted)

    def open(self) -> None:
        """Open the topics of the metadata as far as it was read; what changes is carried out."""
        self.use_settings()
        self._topics.open(self._deleted)
        if self.image.client_quotas.records:
            self._use_quotas()
        self._deleted.clear()
        self._is_open = True

    def begin(self) -> None:
        """Coordinate, too."""
        self._is_started = True
        if self.begun_coordination is not None:
            self.begun_coordination.start()

    def introduction(self) -> BrokerRegistrationRequest:
        """How this incarnation of the broker introduces itself to the controller."""
        listeners = [Endpoint(each.listener, each.host, each.port) for each in self.addresses]
        return registration(
            self.node_id,
            self.cluster_id,
            self.chance.randbytes(16),
            listeners,
            [parse_uuid(self.manager.identity.directory_id)],
            self.settings.broker_rack,
            self.manager.previous_broker_epoch,
        )

    def _register(self) -> None:
        registered = self.command(self.introduction())
        if registered.error_code:
            code = ErrorCode(registered.error_code).name
            raise ValueError(f"node {self.node_id} cannot register with its controller: {code}")
        self.broker_epoch = registered.broker_epoch
        self.command(first_heartbeat(self.image, self.node_id))

    def _forgotten(self, broker_id: int) -> None:
        """A broker was unregistered; one that is up introduces itself anew."""
        if broker_id == self.node_id:
            self.call_later(0, self._register)

    def release_waiting(self) -> None:
        """Answer the requests that wait for something: the broker stops."""
        self.producer_ids.stop()
        self.controller.release_waiting()
        if self.begun_coordination is not None:
            self.begun_coordination.stop()
        for topic in self.table.by_name.values():
            for partition in topic.partitions:
                partition.release_waiting()

    # -- time ----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """When the first machine wants to be woken."""
        coordination = self.begun_coordination
        deadlines = (
            self.controller.deadline_ms(),
            None if coordination is None else coordination.deadline_ms(),
            self.mutes.deadline_ms(),
        )
        return min((each for each in deadlines if each is not None), default=None)

    def expire(self, now_ms: int) -> None:
        """Let machines do what is due."""
        self.controller.expire(now_ms)
        self.mutes.expire(now_ms)
        if self.begun_coordination is not None:
            self.begun_coordination.expire(now_ms)

    def take_events(self) -> list[LogEvent]:
        """What a person should hear since the last time."""
        events = super().take_events()
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

    def ask_within(self, limit_ms: int, message: Message, then: Callable[[Any], None]) -> Question:
        """Let a controller in another process decide what may be asked of it twice.

        ``then`` hears ``None`` when the time is over.
        """
        assert not isinstance(self.controller, LocalController), "who decides here answers at once"
        return self.controller.ask_within(limit_ms, message, then)

    def prepare(self, topic: str, topic_id: bytes, number: int) -> None:
        """Make the log of a partition of which the metadata log will tell at once."""
        if self._is_open:
            self._topics.prepare(topic, topic_id, number)

    def carry_out(self, changes: Changes) -> None:
        """Do what one record of the metadata log changed."""
        self.note_acls(changes)
        if self._is_open:
            self._topics.carry_out(changes)
            self.others.changed(changes)
            if ClientQuotasChanged() in changes:
                self._use_quotas()
        else:
            self._note_deleted(changes)

    def _use_quotas(self) -> None:
        self.quotas.use(self.image)
        self.on_quotas(self.quotas)

    def decided(self, decision: Decision[Any], changes: Changes) -> None:
        """A decision of the controller here is carried out."""
        if self.others.are_there:
            session_ms = self.settings.broker_session_timeout_ms
            self.news.decided(changes, session_ms, is_by_time=decision.answer is None)
        self.tell_records(decision)
        self._topics.tell_groups(changes)
        for change in changes:
            if isinstance(change, BrokerChanged) and change.after is None:
                self._forgotten(change.broker_id)

    def taken_in(self, changes: Changes) -> None:
        """What another process has decided is carried out."""
        if self._is_open:
            self.news.read(changes)
        self._topics.tell_groups(changes)

    def use_settings(self) -> None:
        """Go by what was set at start and what was set since."""
        super().use_settings()
        if self.begun_coordination is not None:
            self.begun_coordination.use(self.settings)

    def stop(self) -> bool:
        """Close all logs; says whether the stop was clean."""
        self._is_started = False
        return super().stop()

    # -- what handlers use ---------------------------------------------------------------------

    @property
    def coordination(self) -> CoordinatorRuntime:
        """The coordinators, which a broker has from when they are first needed."""
        if self.begun_coordination is None:
            from fencepost_broker.apis.loopback import Loopback
            from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime

            loopback = Loopback(self, SERVED, self.metrics, self.call_later)
            self.begun_coordination = CoordinatorRuntime(self, loopback)
            if self._is_started:
                self.begun_coordination.start()
        return self.begun_coordination

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
        self.create_topics(
            [each for each in wanted if each is not None],
            self._created,
            delay_ms=self.settings.auto_create_topics_delay_ms,
        )

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
        delay_ms: int = 0,
    ) -> None:
        """Ask for topics that clients need, after a while; each is asked for once at a time."""
        asked = [each for each in wanted if each.name not in self._creating]
        if not asked:
            return
        self._creating.update(each.name for each in asked)

        def answered(answer: CreateTopicsResponse | None) -> None:
            self._creating.difference_update(each.name for each in asked)
            if answer is not None:
                then(answer.topics)

        def ask() -> None:
            if self._is_started:
                self.ask(CreateTopicsRequest(topics=asked), answered)

        if delay_ms:
            self.call_later(delay_ms, ask)
        else:
            ask()

    def advertised_brokers(
        self, listener: str, *, fenced: bool = False
    ) -> list[tuple[int, str, int, str | None]]:
        """The brokers that are up, at their addresses of the listener that the client uses.

        Or those that are ``fenced``.
        """
        return [
            (broker.broker_id, each.host, each.port, broker.rack)
            for _, broker in sorted(self.image.cluster.brokers.items())
            if broker.fenced is fenced
            for each in broker.endpoints
            if each.name == listener
        ]

    def _allocate_producer_ids(
        self, then: Callable[[AllocateProducerIdsResponse | None], None]
    ) -> None:
        self.ask(AllocateProducerIdsRequest(self.node_id, self.broker_epoch), then)

    def _no_producer_ids(self, why: ErrorCode) -> None:
        if why is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            self.warnings.add(
                f"the controller gives no producer ids ({why.name}); if its log has no failure, all"
                " ids are used up: `fencepost producer-ids history` shows who has them"
            )
            return
        settings = self.settings
        words = (*settings.controller_quorum_bootstrap_servers, *settings.controller_quorum_voters)
        where = "" if self.has_controller else f" at {', '.join(words)}"
        self.on_failure(
            f"broker {self.node_id} ends: the controller{where} gives it no producer ids"
            " (CLUSTER_AUTHORIZATION_FAILED); name it in the controller's"
            " controller.producer.ids.brokers, or give it a node.id that stands there"
        )
