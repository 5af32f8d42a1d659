"""The coordinators of this broker: machines wired to their logs, to time and to each other.

One machine stands for one partition of a coordinator's topic that this broker leads (``shard``).
What decisions bring about waits in one queue, so that an answer whose connection goes straight on
with its next request nests no deeper than that. One timer wakes all machines.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreateTopicsRequest

from fencepost_broker.controller.image import Image
from fencepost_broker.coordination.groups import group_coordinator
from fencepost_broker.coordination.loopback import Loopback
from fencepost_broker.coordination.markers import MarkerSender
from fencepost_broker.coordination.shard import AppendRefusedError, Machine, Shard, Waiting
from fencepost_broker.coordinators import (
    RecordFamily,
    Reply,
    Tell,
    partition_of,
)
from fencepost_broker.coordinators.groups.commands import TopicsChanged, TopicsDeleted
from fencepost_broker.coordinators.groups.ports import Chance
from fencepost_broker.coordinators.transactions import TransactionCoordinator
from fencepost_broker.coordinators.transactions.commands import (
    ExplainTransaction,
    Explanation,
    Resume,
    SendMarkers,
)
from fencepost_broker.coordinators.transactions.ports import TransactionSettings
from fencepost_broker.internal_topics import by_itself
from fencepost_broker.log import StorageError
from fencepost_broker.log.results import LogEvent
from fencepost_broker.partitions import Partition, PartitionTable
from fencepost_broker.producer_ids import ProducerIdSource
from fencepost_broker.settings import Settings

_LOAD_STEPS: Final = 16
"""How many pieces of logs are replayed before others have their turn: 2 MB, in 0.1 to 0.2 s."""
_THROUGH: Final = object()
_RETRY_MS: Final = 1000
"""When a machine could not write what time makes it write, it tries again after so long."""


class Cancellable(Protocol):
    """A timer."""

    def cancel(self) -> None:
        """Do not make the call."""


class Host(Protocol):
    """What is needed of the node."""

    node_id: int
    settings: Settings
    image: Image
    table: PartitionTable
    producer_ids: ProducerIdSource

    @property
    def time_runs(self) -> bool:
        """Whether state time passes by itself."""

    @property
    def chance(self) -> Chance:
        """The one source of chance."""

    def now_ms(self) -> int:
        """State time."""

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Cancellable:
        """Wire time."""

    def command(self, message: Message) -> Any:
        """Let the controller decide."""


_FAMILIES: Final = {family.value: family for family in RecordFamily}


class Coordination:
    """All coordinators of one broker."""

    def __init__(self, host: Host, loopback: Loopback) -> None:
        self.host = host
        self.shards: dict[tuple[str, int], Shard] = {}
        """By topic and partition."""
        self.sender = MarkerSender(host, loopback)
        self._is_started = False
        self._loading: deque[tuple[Shard, Iterator[None]]] = deque()
        self._effects: deque[tuple[Shard, Any]] = deque()
        self._is_releasing = False
        self._timer: Cancellable | None = None
        self._armed_ms: int | None = None
        self._events: list[LogEvent] = []

    def now_ms(self) -> int:
        """State time."""
        return self.host.now_ms()

    # -- who coordinates what -------------------------------------------------------------------

    def shard(self, family: RecordFamily, coordinator_id: str) -> Shard | None:
        """The machine of a group or a transactional id, if this broker has it."""
        found = self._find(family, coordinator_id)
        return found if found is not None and found.is_loaded else None

    def refusal(self, family: RecordFamily, coordinator_id: str) -> ErrorCode:
        """What a client hears when there is no machine for its id: why there is none."""
        if self._find(family, coordinator_id) is None:
            return ErrorCode.NOT_COORDINATOR
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def _find(self, family: RecordFamily, coordinator_id: str) -> Shard | None:
        topic = self.host.table.by_name.get(family.value)
        if topic is None:
            return None
        number = partition_of(coordinator_id, len(topic.partitions))
        return self.shards.get((family.value, number))

    def is_loading(self, family: RecordFamily) -> bool:
        """Whether some machine of this kind cannot answer yet."""
        return any(each.family is family for each, _ in self._loading)

    def shards_of(self, family: RecordFamily) -> list[Shard]:
        """All machines of one kind, by partition."""
        return [each for each in self.shards.values() if each.family is family and each.is_loaded]

    def create_topic(self, family: RecordFamily) -> ErrorCode:
        """Make the topic that these coordinators live in, unless it is there."""
        if family.value in self.host.table.by_name:
            return ErrorCode.NONE
        wanted = by_itself(family.value, self.host.settings)
        assert wanted is not None
        answer = self.host.command(CreateTopicsRequest(topics=[wanted]))
        code = ErrorCode(answer.topics[0].error_code)
        return ErrorCode.NONE if code is ErrorCode.TOPIC_ALREADY_EXISTS else code

    def offsets_partition_of(self, group_id: str) -> int:
        """The partition of ``__consumer_offsets`` that a group belongs to."""
        topic = self.host.table.by_name.get(RecordFamily.GROUPS.value)
        if topic is None:
            return partition_of(group_id, self.host.settings.offsets_topic_num_partitions)
        return partition_of(group_id, len(topic.partitions))

    def takes_markers(self, number: int) -> bool:
        """Whether the machine of a partition of ``__consumer_offsets`` would hear of a marker."""
        shard = self.shards.get((RecordFamily.GROUPS.value, number))
        return shard is None or shard.is_loaded

    def end_transaction(self, number: int, producer_id: int, *, committed: bool) -> None:
        """A marker is in a partition of ``__consumer_offsets``."""
        shard = self.shards.get((RecordFamily.GROUPS.value, number))
        if shard is not None and shard.is_loaded:
            shard.end_transaction(producer_id, committed=committed)

    def topics_changed(self, changed: Sequence[str], deleted: Sequence[str], *, new: bool) -> None:
        """Topics are new (one of them, at least, if ``new``), have more partitions, or are gone."""
        for shard in self.shards_of(RecordFamily.GROUPS):
            try:
                if deleted:
                    shard.submit(TopicsDeleted(deleted))
                shard.submit(TopicsChanged([*changed, *deleted], new))
            except AppendRefusedError as error:
                # What is read of these topics stays as it was until the next change.
                self.tell("topics-unseen", f"{shard.name}: {error}", unexpected=True)

    def explain(self, transactional_id: str) -> Explanation | None:
        """What a transaction waits for; ``None`` if nobody here knows it."""
        shard = self.shard(RecordFamily.TRANSACTIONS, transactional_id)
        if shard is None:
            return None
        found: Explanation | None = shard.submit(ExplainTransaction(transactional_id))
        return found

    # -- loading and unloading ------------------------------------------------------------------

    def begin_to_lead(self, partition: Partition) -> None:
        """Coordinate from now on what lives in a partition that this broker leads."""
        family = _FAMILIES.get(partition.topic)
        if family is None:
            return
        machine = self._machine(family, partition)
        self.stop_leading(partition.topic, partition.number)
        shard = Shard(self, family, partition, machine)
        self.shards[partition.topic, partition.number] = shard
        if self._is_started:
            self._loading.append((shard, shard.load()))
            self._load()

    def stop_leading(self, topic: str, number: int) -> None:
        """Another broker does, or the partition is gone."""
        shard = self.shards.pop((topic, number), None)
        if shard is not None:
            shard.unload()

    def _machine(self, family: RecordFamily, partition: Partition) -> Machine:
        settings = self.host.settings
        if family is RecordFamily.GROUPS:
            return group_coordinator(self.host)
        return TransactionCoordinator(
            _Cluster(self),
            self.host.producer_ids,
            TransactionSettings(
                max_timeout_ms=settings.transaction_max_timeout_ms,
                id_expiration_ms=settings.transactional_id_expiration_ms,
                two_phase_commit_enable=settings.transaction_two_phase_commit_enable,
                park_enable=settings.transaction_park_enable,
            ),
            partition.leader_epoch,
        )

    def start(self) -> None:
        """Load all: the logs are open, and requests may come.

        What is loaded when this returns is most of it. The rest is loaded between requests, which
        hear COORDINATOR_LOAD_IN_PROGRESS meanwhile.
        """
        self._is_started = True
        self._loading.extend((shard, shard.load()) for shard in self.shards.values())
        self._load()

    def _load(self) -> None:
        for _ in range(_LOAD_STEPS):
            if not self._loading:
                return
            shard, pieces = self._loading[0]
            is_ours = self.shards.get((shard.partition.topic, shard.partition.number)) is shard
            if is_ours and next(pieces, _THROUGH) is not _THROUGH:
                continue
            self._loading.popleft()
            if is_ours:
                self._activate(shard)
        if self._loading:
            self.host.call_later(0, self._load_on)

    def _load_on(self) -> None:
        try:
            self._load()
        except StorageError as error:
            shard, _ = self._loading[0] if self._loading else (None, None)
            if shard is not None and not shard.is_loaded:
                self._loading.popleft()
                self.stop_leading(shard.partition.topic, shard.partition.number)
            self.tell("load-failed", str(error), unexpected=True)
            if self._loading:
                self.host.call_later(0, self._load_on)

    def _activate(self, shard: Shard) -> None:
        now_ms = self.host.now_ms()
        try:
            shard.commit(shard.machine.activate(now_ms), now_ms)
        except AppendRefusedError as error:
            raise StorageError("append to", shard.name, str(error)) from error

    def stop(self) -> None:
        """Answer whoever waits, and do nothing more."""
        self._loading.clear()
        self.sender.stop()
        if self._timer is not None:
            self._timer.cancel()
        for shard in self.shards.values():
            shard.unload()

    # -- effects --------------------------------------------------------------------------------

    def release(self, shard: Shard, effects: tuple[Any, ...]) -> None:
        """Let effects go, in order, after those that are on their way."""
        for effect in effects:
            self._effects.append((shard, effect))
        if self._is_releasing:
            return
        self._is_releasing = True
        try:
            while self._effects:
                self._release(*self._effects.popleft())
        finally:
            self._is_releasing = False

    def _release(self, shard: Shard, effect: Any) -> None:
        if isinstance(effect, SendMarkers):
            self.sender.send(shard, effect)
        elif isinstance(effect, Reply):
            effect.token.reply(effect.answer)
        elif isinstance(effect, Resume):
            self._resume(shard, effect)
        else:
            assert isinstance(effect, Tell)
            self.tell(effect.kind, effect.text, unexpected=effect.unexpected)

    def _resume(self, shard: Shard, resume: Resume) -> None:
        token: Waiting = resume.command.token
        try:
            answer = shard.submit(resume.command)
        except AppendRefusedError as error:
            answer = error
        if answer is not None:
            token.reply(answer)

    def tell(self, kind: str, text: str, *, unexpected: bool = False) -> None:
        """Have a person hear of something."""
        self._events.append(LogEvent(kind, "", text, unexpected))

    def take_events(self) -> list[LogEvent]:
        """What a person should hear since the last time."""
        events, self._events = self._events, []
        return events

    # -- time -----------------------------------------------------------------------------------

    def deadline_ms(self) -> int | None:
        """When the first machine wants to be woken."""
        deadlines = [each.machine.deadline() for each in self.shards.values() if each.is_loaded]
        return min((each for each in deadlines if each is not None), default=None)

    def expire(self, now_ms: int) -> bool:
        """Let machines do what is due; says whether all of it could be written."""
        done = True
        for shard in list(self.shards.values()):
            machine = shard.machine
            while (
                shard.is_loaded and (due_ms := machine.deadline()) is not None and due_ms <= now_ms
            ):
                try:
                    shard.commit(machine.expire(now_ms), now_ms)
                except AppendRefusedError:
                    done = False  # the log has told of it
                    break
        return done

    def look_at_deadline(self, deadline_ms: int | None, now_ms: int) -> None:
        """Have the machines woken in time."""
        if deadline_ms is None or (self._armed_ms is not None and self._armed_ms <= deadline_ms):
            return
        if deadline_ms > now_ms and not self.host.time_runs:
            return  # whoever moves it wakes the machines
        self._arm(deadline_ms, max(deadline_ms - now_ms, 0))

    def _arm(self, at_ms: int, delay_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_ms = at_ms
        self._timer = self.host.call_later(delay_ms, self._wake)

    def _wake(self) -> None:
        """Wire time has passed; state time may have been moved meanwhile."""
        self._timer = self._armed_ms = None
        now_ms = self.host.now_ms()
        if self.expire(now_ms):
            self.look_at_deadline(self.deadline_ms(), now_ms)
        else:
            self._arm(now_ms + _RETRY_MS, _RETRY_MS)


class _Cluster:
    """``coordinators.transactions.ports.Cluster`` over this broker."""

    __slots__ = ("_coordination", "_host")

    def __init__(self, coordination: Coordination) -> None:
        self._coordination = coordination
        self._host = coordination.host

    def has_partition(self, topic: str, partition: int) -> bool:
        found = self._host.table.by_name.get(topic)
        return found is not None and 0 <= partition < len(found.partitions)

    def leader_of(self, topic: str, partition: int) -> int | None:
        found = self._host.image.partition(topic, partition)
        return None if found is None or found.leader < 0 else found.leader

    def holds_transaction(
        self, topic: str, partition: int, producer_id: int, producer_epoch: int
    ) -> bool:
        if not self.has_partition(topic, partition):
            return False
        log = self._host.table.by_name[topic].partitions[partition].log
        return log.has_ongoing_transaction(producer_id, producer_epoch)

    def offsets_partition_of(self, group_id: str) -> int:
        return self._coordination.offsets_partition_of(group_id)

    def transaction_version(self) -> int:
        return self._host.image.features.get("transaction.version", 0)
