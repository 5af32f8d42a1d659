"""A coordinator's machine and the partition whose records it is made of.

A decision's records are appended to the partition as one batch, replayed, and only then does
anything leave. Loading is a replay of the log.

Where records have to be on disk first (``fsync=always``), or with followers, the shard is *behind*
until they are: answers and effects wait in one queue, also those of commands that write nothing,
because they go by what was replayed. A flush, or a high watermark that moves, lets all go that it
covers, in order. If a flush fails, whoever waited hears that, and the machine is made anew; if
another broker leads the partition, whoever waited for followers is sent there. Followers that take
longer than ``offsets.commit.timeout.ms`` are waited for no longer, by those who want an answer:
what is written stays, and what else is held (markers) leaves when they have it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import NO_PRODUCER_ID, BatchHeader
from fencepost_protocol.records.control import ControlType, read_control_records
from fencepost_protocol.records.reader import iter_records

from fencepost_broker.coordinator import (
    BatchTooLargeError,
    LogRecord,
    RecordFamily,
    Reply,
    UnknownRecordTypeError,
    decode_record,
    encode_batch,
)
from fencepost_broker.coordinator.transaction.commands import Resume
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.ports import Timer
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import PartitionLog, StorageError, replay_batches
from fencepost_broker.storage.log.producers import VerificationGuard

_READ_BYTES: Final = 128 << 10
"""A piece of a load: some thousand records, 10 ms."""


class Surroundings(Protocol):
    """What a shard needs of the coordination around it."""

    def now_ms(self) -> int:
        """State time."""

    def release(self, shard: Shard, effects: tuple[Any, ...]) -> None:
        """Let effects go, in order."""

    def look_at_deadline(self, deadline_ms: int | None, now_ms: int) -> None:
        """Have the machine woken in time."""

    def flush(self, shard: Shard) -> None:
        """Have all flushed that is in the shard's log; ``log_flushed`` hears of it."""

    def flush_failed(self, shard: Shard) -> None:
        """What the machine goes by may not be on disk: it is not to go on."""

    def call_in_time(self, shard: Shard) -> Timer:
        """Have ``wait_is_over`` called after as long as answers may wait for followers."""

    def tell(self, shard: Shard, kind: str, text: str, *, unexpected: bool = False) -> None:
        """Have a person hear of something."""

    def broke(self, error: Exception) -> None:
        """Have a bug of ours told, with where it comes from."""

    def appended(self, shard: Shard, records: Sequence[LogRecord]) -> None:
        """Records of a decision are in the log."""


Token = Callable[[Any], None]
"""What a command brings along: it is called with the answer of a machine, if that comes later."""


class Machine(Protocol):
    """What both kinds of coordinators have in common."""

    def handle(self, now_ms: int, command: Any) -> Decision[Any]:
        """What a command leads to."""

    def replay(self, record: LogRecord, offset: int, producer_id: int) -> None:
        """Take in a record of the log."""

    def apply_soft(self, soft: Any) -> None:
        """Take in what is not in the log."""

    def deadline(self) -> int | None:
        """When it wants to be woken."""

    def not_due_before(self) -> int | None:
        """The same, or earlier where that is cheaper to say."""

    def expire(self, now_ms: int) -> Decision[None]:
        """What time alone makes happen, one thing at a time."""

    def put_off(self) -> None:
        """What ``expire`` does next could not be written: go by what comes behind it."""

    def take_up(self) -> None:
        """Go by all again that was put off."""

    def activate(self, now_ms: int) -> Decision[None]:
        """What comes first once the log is replayed."""

    def unload(self) -> Decision[None]:
        """What comes last: nobody goes on waiting here."""


class AppendRefusedError(Exception):
    """A coordinator's records did not get into its log, so that nothing has happened."""

    def __init__(self, error: ErrorCode, message: str | None) -> None:
        super().__init__(message or error.name)
        self.log_error = error

    @property
    def error(self) -> ErrorCode:
        """What the client is told, as in Kafka: mostly to come again."""
        return _TOLD.get(self.log_error, ErrorCode.COORDINATOR_NOT_AVAILABLE)


_TOLD: Final = {
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""What becomes of a log's answer: on a disk that takes nothing, nobody coordinates here."""


class _Held(NamedTuple):
    """An effect, and how far the log has to be on disk and with the followers before it leaves."""

    flushed_to: int
    replicated_to: int
    effect: Any


class Shard:
    """One machine and the partition whose records it is made of."""

    __slots__ = (
        "_around",
        "_flushed_to",
        "_held",
        "_is_unflushed",
        "_is_unreplicated",
        "_overdue_to",
        "_replicated_to",
        "_timer",
        "family",
        "is_behind",
        "is_loaded",
        "machine",
        "partition",
    )

    def __init__(
        self,
        around: Surroundings,
        family: RecordFamily,
        partition: Partition,
        machine: Machine,
    ) -> None:
        self._around = around
        self.family = family
        self.partition = partition
        self.machine = machine
        self.is_loaded = False
        self.is_behind = False
        """What the machine knows is not yet on disk, or not with the followers."""
        self._is_unflushed = False
        self._flushed_to = 0
        """Where the log has to be on disk for all that is known to be."""
        self._is_unreplicated = False
        self._replicated_to = 0
        """Where its high watermark has to be for the same."""
        self._held: deque[_Held] = deque()
        self._timer: Timer | None = None
        self._overdue_to = 0
        """What waits for a high watermark up to this one has waited since the timer began."""

    def carry_out(self, command: Any, token: Token, guard: VerificationGuard | None = None) -> Any:
        """Carry out a command; return the answer, or ``None`` if ``token`` is called with it later.

        If the machine's records cannot be written, an ``AppendRefusedError`` is the answer. A
        command that may have to wait in the machine has the same token.
        """
        try:
            answer = self.submit(command, guard)
        except AppendRefusedError as error:
            answer = error
        return self.settle(answer, token)

    def settle(self, answer: Any, token: Token) -> Any:
        """Return an answer that may leave now; otherwise ``None``, and ``token`` is called later.

        It may leave when all that it goes by is on disk and with the followers.
        """
        if answer is not None and self.is_behind:
            reply = Reply(token, answer)
            self._held.append(_Held(self._flushed_to, self._replicated_to, reply))
            return None
        return answer

    def submit(self, command: Any, guard: VerificationGuard | None = None) -> Any:
        """Carry out a command of the coordinators themselves, whose answer does not leave.

        It is ``None`` if the command waits in the machine.
        """
        now_ms = self._around.now_ms()
        return self.commit(self.machine.handle(now_ms, command), now_ms, guard)

    def commit(
        self, decision: Decision[Any], now_ms: int, guard: VerificationGuard | None = None
    ) -> Any:
        """Append, replay, then let everything leave that need not wait."""
        records = decision.records
        machine = self.machine
        if records:
            producer_id = decision.producer_id
            offset = self._append(decision, now_ms, guard)
            for record in records:
                machine.replay(record, offset, producer_id)
                offset += 1
            self._around.appended(self, records)
        for soft in decision.soft:
            machine.apply_soft(soft)
        if decision.effects:
            if self.is_behind:
                self._hold(decision.effects)
            else:
                self._around.release(self, decision.effects)
        if records or decision.soft:
            self._around.look_at_deadline(machine.not_due_before(), now_ms)
        if records and (self.partition.waiters or not self.partition.is_plain):
            self.partition.appended(now_ms)
        return decision.answer

    def _append(self, decision: Decision[Any], now_ms: int, guard: VerificationGuard | None) -> int:
        partition = self.partition
        log = partition.log
        if not partition.is_plain:
            self._check_replicas()
        try:
            if decision.producer_id == NO_PRODUCER_ID:
                batch = encode_batch(decision.records, now_ms, log.size_max)
            else:
                batch = encode_batch(
                    decision.records,
                    now_ms,
                    log.size_max,
                    transactional=True,
                    producer_id=decision.producer_id,
                    producer_epoch=decision.producer_epoch,
                )
        except BatchTooLargeError as error:
            raise AppendRefusedError(ErrorCode.MESSAGE_TOO_LARGE, str(error)) from None
        result = log.append_built(batch, partition.leader_epoch, now_ms, guard)
        if result.error:
            raise AppendRefusedError(result.error, result.message)
        if log.log_end_offset >= log.flush_at_offset or not partition.is_plain:
            self.look_behind()
        return result.base_offset

    def _check_replicas(self) -> None:
        """Refuse, as with acks all, what would be written here alone: nothing has happened then."""
        partition = self.partition
        if not partition.leads:
            why = f"{self.name} is not led here"
            raise AppendRefusedError(ErrorCode.NOT_LEADER_OR_FOLLOWER, why)
        if partition.replication is not None and partition.replication.has_too_few:
            why = f"{self.name} has fewer replicas in sync than min.insync.replicas"
            raise AppendRefusedError(ErrorCode.NOT_ENOUGH_REPLICAS, why)

    # -- waiting for the disk and for followers -------------------------------------------------

    def look_behind(self) -> None:
        """See what has to be on disk, or with followers, before anything leaves."""
        partition = self.partition
        log = partition.log
        end = log.log_end_offset
        if end >= log.flush_at_offset:
            self._flushed_to = end
            if not self._is_unflushed:
                self._is_unflushed = self.is_behind = True
                self._around.flush(self)
        if not partition.is_plain and log.high_watermark < end:
            self._replicated_to = end
            if not self._is_unreplicated:
                self._is_unreplicated = self.is_behind = True
                partition.waiters.append(self)
                if self._timer is None:
                    self._overdue_to = end
                    self._timer = self._around.call_in_time(self)

    def _hold(self, effects: tuple[Any, ...]) -> None:
        for effect in effects:
            if isinstance(effect, Resume):
                # It does not leave: what it leads to comes behind in the log, and so does the
                # flush that its answer waits for, which may be the same.
                self._around.release(self, (effect,))
            else:
                self._held.append(_Held(self._flushed_to, self._replicated_to, effect))

    def log_flushed(self, log: PartitionLog, error: StorageError | None) -> None:
        """A flush is done: let go what it covers, and have the rest flushed."""
        if error is not None:
            lost = self._drop()
            self._around.flush_failed(self)
            self._refuse(lost, ErrorCode.KAFKA_STORAGE_ERROR, str(error))
            return
        if self._flushed_to > log.recovery_point:
            self._around.flush(self)
        else:
            self._is_unflushed = False
        self._let_go()

    def partition_moved(self, partition: Partition) -> None:
        """Followers have more: let go what they have."""
        del partition
        if self._is_unreplicated:
            if self._replicated_to <= self.partition.log.high_watermark:
                self._is_unreplicated = False
                self.partition.waiters.remove(self)
            self._let_go()

    def time_is_over(self) -> None:
        """Nobody leads here any more."""
        self.unload()

    def failed(self, error: Exception) -> None:
        """Called by the partition: what was let go ran into something, and this is no request."""
        self._around.broke(error)

    def _let_go(self) -> None:
        held, log = self._held, self.partition.log
        flushed_to, replicated_to = log.recovery_point, log.high_watermark
        free = []
        while held and held[0].flushed_to <= flushed_to and held[0].replicated_to <= replicated_to:
            free.append(held.popleft().effect)
        self.is_behind = self._is_unflushed or self._is_unreplicated
        if free:
            self._around.release(self, tuple(free))

    def wait_is_over(self) -> None:
        """Tell those who have waited for followers all this time that they need not any more."""
        self._timer = None
        replicated_to = self.partition.log.high_watermark
        late: list[Any] = []
        kept = deque[_Held]()
        for each in self._held:
            is_late = replicated_to < each.replicated_to <= self._overdue_to
            if is_late and isinstance(each.effect, Reply):
                late.append(each.effect)
            else:
                kept.append(each)
        self._held = kept
        if self._is_unreplicated:
            self._overdue_to = self._replicated_to
            self._timer = self._around.call_in_time(self)
        why = f"{self.name}: its followers did not take it in time"
        self._refuse(late, ErrorCode.REQUEST_TIMED_OUT, why)

    def _drop(self) -> list[Any]:
        """Hold nothing any more; gives what was held.

        The records stand in the log all the same, and may be there after a crash, or where another
        broker leads, or not: the client hears that it failed, and who goes on is a machine that is
        made of all that is in the log.
        """
        held, self._held = self._held, deque()
        if self._is_unreplicated:
            self.partition.waiters.remove(self)
        self.is_behind = self._is_unflushed = self._is_unreplicated = False
        return [each.effect for each in held]

    def _refuse(self, effects: Sequence[Any], why: ErrorCode, text: str) -> None:
        refused = AppendRefusedError(why, text)
        replies = [Reply(each.token, refused) for each in effects if isinstance(each, Reply)]
        if replies:
            self._around.release(self, tuple(replies))

    # -- loading and unloading ------------------------------------------------------------------

    def load(self) -> Iterator[None]:
        """Replay the partition's log, a piece at each step; ``begin`` comes next."""
        log = self.partition.log
        yield from replay_batches(log, log.log_start_offset, _READ_BYTES, self._replay)
        self.is_loaded = True

    def begin(self) -> None:
        """Coordinate by what was loaded, which has to be on disk and with followers first."""
        self.look_behind()
        now_ms = self._around.now_ms()
        self.commit(self.machine.activate(now_ms), now_ms)

    def _replay(self, header: BatchHeader, batch: memoryview) -> None:
        if header.is_control:
            for control in read_control_records(batch):
                if control.type in (ControlType.COMMIT, ControlType.ABORT):
                    committed = control.type is ControlType.COMMIT
                    self.end_transaction(header.producer_id, committed=committed)
            return
        pending_of = header.producer_id if header.is_transactional else NO_PRODUCER_ID
        for record in iter_records(batch):
            try:
                decoded = decode_record(self.family, record.key, record.value)
            except UnknownRecordTypeError as error:
                text = f"{self.name}: {error}"
                self._around.tell(self, "unknown-record", text, unexpected=True)
                continue
            self.machine.replay(decoded, record.offset, pending_of)

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """A marker is in this log: offsets that waited for it count, or are gone."""
        replay_marker = getattr(self.machine, "replay_marker", None)
        if replay_marker is not None:
            replay_marker(producer_id, committed=committed)

    def unload(self) -> None:
        """Somebody else coordinates from now on.

        What is decided is told once it is on disk, but not what followers lack: who leads now may
        never have heard of it.
        """
        if self.is_loaded:
            self.is_loaded = False
            self._around.release(self, self.machine.unload().effects)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_unreplicated:
            why = f"{self.name} is not led here any more"
            self._refuse(self._drop(), ErrorCode.NOT_LEADER_OR_FOLLOWER, why)

    @property
    def name(self) -> str:
        """Topic and partition."""
        return f"{self.partition.topic}-{self.partition.number}"
