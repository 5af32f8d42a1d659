"""The runtime of this broker's coordinators: it connects their machines to logs and timers.

Each partition of a coordinator's topic that this broker leads has a machine (``shard``). The
effects of decisions are released through the ready list. One timer wakes all machines.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopicResult

from fencepost_broker.config import Settings
from fencepost_broker.config.internal_topics import by_itself
from fencepost_broker.controller.channel.topic_creation import TopicCreation
from fencepost_broker.coordinator.effects import Reply, Tell
from fencepost_broker.coordinator.group.commands import TopicsChanged, TopicsDeleted
from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.group.share.commands import InitializeShares, shares_initialized
from fencepost_broker.coordinator.group.streams.commands import CreateInternalTopics
from fencepost_broker.coordinator.group.streams.topology import InternalTopic
from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import LogRecord, RecordFamily
from fencepost_broker.coordinator.runtime.expiries import RETRY_MS, Expiries
from fencepost_broker.coordinator.runtime.group_wiring import (
    coordinator_settings,
    group_coordinator,
    share_coordinator,
)
from fencepost_broker.coordinator.runtime.known_cluster import KnownCluster
from fencepost_broker.coordinator.runtime.last_clients import LastClients
from fencepost_broker.coordinator.runtime.marker_sender import Here, MarkerSender
from fencepost_broker.coordinator.runtime.peer_brokers import PeerBrokers
from fencepost_broker.coordinator.runtime.persister import Persister
from fencepost_broker.coordinator.runtime.shard import (
    AppendRefusedError,
    Machine,
    Shard,
    Token,
)
from fencepost_broker.coordinator.share.upkeep import DeleteRecords
from fencepost_broker.coordinator.transaction.commands import Resume, SendMarkers
from fencepost_broker.coordinator.transaction.machine import TransactionCoordinator
from fencepost_broker.coordinator.transaction.ports import TransactionSettings
from fencepost_broker.coordinator.transaction.producer_id_manager import ProducerIdSource
from fencepost_broker.metadata.dynamic_config import DynamicConfig
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.observability.log_levels import LEVELS, LogLevels
from fencepost_broker.ports import Chance, Clock, ReadyList, Timer
from fencepost_broker.replication.partition import Partition, raise_it
from fencepost_broker.replication.replica_manager import ReplicaManager
from fencepost_broker.storage.log import CorruptFileError, StorageError
from fencepost_broker.storage.log.results import LogEvent

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime.steps import OnStep
    from fencepost_broker.coordinator.runtime.transaction_listener import TransactionListener

_LOAD_STEPS: Final = 16
"""The number of log pieces replayed before other work has its turn: 2 MB, in 0.1 to 0.2 s."""
_THROUGH: Final = object()


_AREAS: Final = {
    RecordFamily.GROUPS: "group",
    RecordFamily.TRANSACTIONS: "transaction",
    RecordFamily.SHARES: "group",
}
_DEBUG: Final = LEVELS["debug"]
_FAMILIES: Final = {str(family): family for family in RecordFamily}


class CoordinatorRuntime:
    """All coordinators of one broker."""

    def __init__(
        self,
        node_id: int,
        clock: Clock,
        ready: ReadyList,
        chance: Chance,
        config: DynamicConfig,
        image: MetadataImage,
        replicas: ReplicaManager,
        topics: TopicCreation,
        producer_ids: ProducerIdSource,
        peers: PeerBrokers,
        own_markers: Here,
        log_levels: LogLevels,
        on_step: OnStep | None = None,
        is_current: Callable[[], bool] | None = None,
    ) -> None:
        """``own_markers`` writes markers to this broker's partitions; ``on_step``: see ``steps``.

        While ``is_current`` is false, another broker may be the coordinator: nothing is decided.
        """
        self.own_markers = own_markers
        self.node_id = node_id
        self._clock = clock
        self._ready = ready
        self.now_ms: Callable[[], int] = clock.now_ms
        """State time."""
        self._chance = chance
        self._config = config
        self.image = image
        self.table = replicas.table
        self._flushes = replicas.flushes
        self._topics = topics
        self._producer_ids = producer_ids
        self._log_levels = log_levels
        self._on_step = on_step
        self._is_current = is_current
        self.listener: TransactionListener | None = None
        self.shards: dict[tuple[str, int], Shard] = {}
        """By topic and partition."""
        self.sender = MarkerSender(clock, ready, own_markers, peers)
        self.persister = Persister(self, clock, ready, peers)
        self.last_clients = LastClients()
        self._is_started = False
        self._loading: deque[tuple[Shard, Iterator[None]]] = deque()
        self._unloadable: set[tuple[str, int]] = set()
        """Partitions whose machines failed to load; each failure is logged once."""
        self.expiries = Expiries(clock, self.shards, self._tell_unwritten)
        self.look_at_deadline = self.expiries.look_at_deadline
        self._events: list[LogEvent] = []

    # -- look-up --------------------------------------------------------------------------------

    def shard(self, family: RecordFamily, coordinator_id: str) -> Shard | None:
        """Return the loaded shard of a group or transactional id; ``None`` if there is none."""
        if self._is_current is not None and not self._is_current():
            return None
        found = self._find(family, coordinator_id)
        return None if found is None or not found.is_loaded else found

    def refusal(self, family: RecordFamily, coordinator_id: str) -> ErrorCode:
        """Return the error for a client whose id has no loaded shard here."""
        found = self._find(family, coordinator_id)
        if found is None or found.is_loaded:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def _find(self, family: RecordFamily, coordinator_id: str) -> Shard | None:
        topic = self.table.by_name.get(family)
        if topic is None:
            return None
        number = partition_of(coordinator_id, len(topic.partitions))
        return self.shards.get((family, number))

    def is_loading(self, family: RecordFamily) -> bool:
        """Whether a shard of this kind is still loading."""
        return any(each.family is family and not each.is_loaded for each in self.shards.values())

    def shards_of(self, family: RecordFamily) -> list[Shard]:
        """Return the loaded shards of one kind."""
        return [each for each in self.shards.values() if each.family is family and each.is_loaded]

    def create_topic(self, family: RecordFamily) -> ErrorCode:
        """Create the topic of these coordinators, unless it exists.

        If the controller is another process, the topic does not exist yet when this returns; the
        client's retry finds it.
        """
        if family in self.table.by_name:
            return ErrorCode.NONE
        wanted = by_itself(family, self._config.settings)
        results: list[CreatableTopicResult] = []
        self._topics.create([wanted], results.extend)
        return ErrorCode(results[0].error_code) if results else ErrorCode.COORDINATOR_NOT_AVAILABLE

    def offsets_partition_of(self, group_id: str) -> int:
        """Return the partition of ``__consumer_offsets`` that a group belongs to."""
        topic = self.table.by_name.get(RecordFamily.GROUPS)
        if topic is None:
            return partition_of(group_id, self._config.settings.offsets_topic_num_partitions)
        return partition_of(group_id, len(topic.partitions))

    def takes_markers(self, number: int) -> bool:
        """Whether a partition of ``__consumer_offsets`` may get a marker, unlike during a load."""
        shard = self.shards.get((RecordFamily.GROUPS, number))
        return shard is None or shard.is_loaded

    def end_transaction(self, number: int, producer_id: int, *, committed: bool) -> None:
        """Handle a marker that was written to a partition of ``__consumer_offsets``."""
        shard = self.shards.get((RecordFamily.GROUPS, number))
        if shard is not None and shard.is_loaded:
            shard.end_transaction(producer_id, committed=committed)
            shard.look_behind()

    def topics_changed(
        self, changed: Sequence[str], deleted: Mapping[bytes, str], *, new: bool
    ) -> None:
        """Tell groups and share coordinators which topics changed and which (by id) were deleted.

        ``new`` means that at least one topic was created.
        """
        of_groups: list[Any] = [TopicsDeleted(deleted)] if deleted else []
        of_groups.append(TopicsChanged([*changed, *deleted.values()], new))
        commands = {
            RecordFamily.GROUPS: of_groups,
            RecordFamily.SHARES: [TopicsDeleted(deleted)] if deleted else [],
        }
        for family, of_family in commands.items():
            for shard in self.shards_of(family):
                try:
                    for command in of_family:
                        shard.submit(command)
                except AppendRefusedError as error:
                    # They keep the old view of these topics until the next change.
                    self.tell(shard, "topics-unseen", f"{shard.name}: {error}", unexpected=True)

    # -- loading and unloading ------------------------------------------------------------------

    def begin_to_lead(self, partition: Partition) -> None:
        """Start a coordinator for a partition of a coordinator's topic that this broker leads."""
        family = _FAMILIES.get(partition.topic)
        if family is None:
            return
        self.stop_leading(partition.topic, partition.number)
        if partition.log.failure is not None:
            return  # it is unknown how much of the log is on disk: see flush_failed
        shard = self._shard(family, partition)
        self.shards[partition.topic, partition.number] = shard
        if self._is_started:
            self._loading.append((shard, shard.load()))
            self._load()

    def stop_leading(self, topic: str, number: int) -> None:
        """Unload the coordinator: another broker leads the partition, or it was deleted."""
        shard = self.shards.pop((topic, number), None)
        if shard is not None:
            shard.unload()

    def unload(self, shard: Shard, answer: ErrorCode) -> None:
        """Unload a coordinator until ``begin_to_lead`` is called; clients get this error.

        It is NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS.
        """
        if answer is ErrorCode.NOT_COORDINATOR:
            self.stop_leading(shard.partition.topic, shard.partition.number)
        else:
            shard.unload()

    def tell_steps(self, on_step: OnStep) -> None:
        """Load all coordinators anew, as those that tell their steps."""
        self._on_step = on_step
        for shard in list(self.shards.values()):
            self.begin_to_lead(shard.partition)

    def _shard(self, family: RecordFamily, partition: Partition) -> Shard:
        machine = self._machine(family, partition)
        if self._on_step is None:
            return Shard(self, family, partition, machine)
        from fencepost_broker.coordinator.runtime.steps import SteppedShard

        return SteppedShard(self._on_step, self, family, partition, machine)

    def _machine(self, family: RecordFamily, partition: Partition) -> Machine:
        settings = self._config.settings
        if family is RecordFamily.GROUPS:
            return group_coordinator(self.image, self._chance, settings)
        if family is RecordFamily.SHARES:
            return share_coordinator(self.image, settings)
        return TransactionCoordinator(
            KnownCluster(self.image, self.table, self.offsets_partition_of),
            self._producer_ids,
            TransactionSettings(
                max_timeout_ms=settings.transaction_max_timeout_ms,
                id_expiration_ms=settings.transactional_id_expiration_ms,
                two_phase_commit_enable=settings.transaction_two_phase_commit_enable,
                park_enable=settings.transaction_park_enable,
            ),
            partition.leader_epoch,
        )

    def start(self) -> None:
        """Load all shards; the logs are open by now.

        Small logs are loaded when this returns. The rest is loaded between requests, which are
        answered with COORDINATOR_LOAD_IN_PROGRESS until then.
        """
        self._is_started = True
        self._loading.extend((shard, shard.load()) for shard in self.shards.values())
        self._load()

    def _load(self) -> None:
        for _ in range(_LOAD_STEPS):
            if not self._loading:
                return
            if not self._load_piece(*self._loading[0]):
                self._loading.popleft()
        if self._loading:
            self._clock.call_later(0, self._load_on)

    def _load_on(self) -> None:
        self._load()

    def _load_piece(self, shard: Shard, pieces: Iterator[None]) -> bool:
        """Replay a piece of a log; return whether there is more of it."""
        key = shard.partition.topic, shard.partition.number
        if self.shards.get(key) is not shard:
            return False
        try:
            if next(pieces, _THROUGH) is not _THROUGH:
                return True
            shard.begin()
        except CorruptFileError as error:
            self.tell(shard, "load-failed", str(error), unexpected=True)
            self.stop_leading(*key)
        except (StorageError, AppendRefusedError) as error:
            # Until the retry succeeds, clients get COORDINATOR_LOAD_IN_PROGRESS.
            shard.is_loaded = False
            if key not in self._unloadable:
                self._unloadable.add(key)
                text = f"{shard.name} cannot be loaded; retrying every second: {error}"
                self.tell(shard, "load-failed", text, unexpected=True)
            self._clock.call_later(RETRY_MS, lambda: self.load_again(shard))
        else:
            if key in self._unloadable:
                self._unloadable.remove(key)
                self.tell(shard, "load-recovered", f"{shard.name} is loaded")
        return False

    def load_again(self, shard: Shard) -> None:
        """Replace the shard by a new one and load that, unless it was replaced already."""
        partition = shard.partition
        if not (self._is_started and self._stands_for(shard)):
            return
        again = self._shard(shard.family, partition)
        self.shards[partition.topic, partition.number] = again
        self._loading.append((again, again.load()))
        self._clock.call_later(0, self._load_on)

    def _stands_for(self, shard: Shard) -> bool:
        """Whether this is still the shard of its partition."""
        return self.shards.get((shard.partition.topic, shard.partition.number)) is shard

    def flush(self, shard: Shard) -> None:
        """Request a flush of the shard's log."""
        self._flushes.ask((shard.partition.log,), shard)

    def call_in_time(self, shard: Shard) -> Timer:
        """Call ``wait_is_over`` after the longest time that answers wait for followers."""
        wait_ms = self._config.settings.offsets_commit_timeout_ms
        return self._clock.call_later(wait_ms, shard.wait_is_over)

    def flush_failed(self, shard: Shard) -> None:
        """Reload the coordinator soon, or give it up if the contents of the disk are unknown."""
        if not self._stands_for(shard):
            return
        if shard.partition.log.failure is not None:
            self.stop_leading(shard.partition.topic, shard.partition.number)
            text = f"{shard.name}: its coordinator is unavailable until this broker is restarted"
            self.tell(shard, "coordinator-lost", text, unexpected=True)
            return
        shard.unload()
        self._clock.call_later(RETRY_MS, lambda: self.load_again(shard))

    def use(self, settings: Settings) -> None:
        """Apply changed settings to the groups; those of transactions are not dynamic."""
        of_groups = coordinator_settings(settings)
        for shard in self.shards.values():
            if isinstance(shard.machine, GroupCoordinator):
                shard.machine.use(of_groups)

    def stop(self) -> None:
        """Answer the waiting requests and stop."""
        self._is_started = False
        self._loading.clear()
        self.sender.stop()
        self.expiries.stop()
        for shard in self.shards.values():
            shard.unload()

    # -- effects --------------------------------------------------------------------------------

    def release(self, shard: Shard, effects: tuple[Any, ...]) -> None:
        """Carry out effects, in order, after the current request."""
        for effect in effects:
            if effect.__class__ is SendMarkers:
                self.sender.send(shard, effect)  # which queues them
            else:
                self._ready.add(partial(self._release, shard, effect))

    def _release(self, shard: Shard, effect: Any) -> None:
        if isinstance(effect, Reply):
            effect.token(effect.answer)
        elif isinstance(effect, Resume):
            self._resume(shard, effect)
        elif isinstance(effect, InitializeShares):
            self.persister.ask(effect.request, partial(self._initialized, shard, effect.group_id))
        elif isinstance(effect, CreateInternalTopics):
            self._create_internal_topics(shard, effect.topics)
        elif isinstance(effect, DeleteRecords):
            self._delete_records(shard, effect.before_offset)
        else:
            assert isinstance(effect, Tell)
            self.tell(shard, effect.kind, effect.text, unexpected=effect.unexpected)

    def _create_internal_topics(self, shard: Shard, topics: Sequence[InternalTopic]) -> None:
        """Create topics of a streams group; its members ask again until they are there."""

        def answered(results: Sequence[CreatableTopicResult]) -> None:
            for result in results:
                if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                    text = f"internal topic {result.name}: {result.error_message}"
                    self.tell(shard, "topic-not-created", text, unexpected=True)

        self._topics.create([each.to_create() for each in topics], answered)

    def _delete_records(self, shard: Shard, before_offset: int) -> None:
        """Delete records that the coordinator's state no longer depends on."""
        if shard.is_loaded:
            with suppress(StorageError):  # the log reports it, and the next time deletes more
                shard.partition.log.delete_records(before_offset)

    def _resume(self, shard: Shard, resume: Resume) -> None:
        token: Token = resume.command.token
        answer = shard.carry_out(resume.command, token)
        if answer is not None:
            token(answer)

    def _initialized(self, shard: Shard, group_id: str, answer: Any) -> None:
        """Tell a share group which of its partitions have been initialized."""
        if shard.is_loaded:
            try:
                shard.submit(shares_initialized(group_id, answer))
            except AppendRefusedError as error:
                # They stay initializing; a later heartbeat tries again.
                self.tell(shard, "shares-unwritten", f"{shard.name}: {error}", unexpected=True)

    def tell(self, shard: Shard, kind: str, text: str, *, unexpected: bool = False) -> None:
        """Add an event to the log."""
        area = _AREAS[shard.family]
        self._events.append(LogEvent(kind, "", text, unexpected, area))

    def broke(self, error: Exception) -> None:
        """Report a bug through the event loop, with its traceback; the caller continues."""
        self._clock.call_later(0, partial(raise_it, error))

    def appended(self, shard: Shard, records: Sequence[LogRecord]) -> None:
        """Log a coordinator's records at the debug level, and tell the listener."""
        if self.listener is not None and shard.family is RecordFamily.TRANSACTIONS:
            self.listener.states_logged(records)
        if self._log_levels.lowest > _DEBUG:
            return
        area = _AREAS[shard.family]
        if self._log_levels.at_least(area) <= _DEBUG:
            for record in records:
                text = f"{shard.name}: {record.key} {record.value}"
                self._events.append(LogEvent("record", "", text, area=area, is_detail=True))

    def _tell_unwritten(self, shard: Shard, text: str) -> None:
        self.tell(shard, "expiry-unwritten", text, unexpected=True)

    def take_events(self) -> list[LogEvent]:
        """Return and clear the events for the log."""
        events, self._events = self._events, []
        return events
