"""A coordinator's machine, together with the partition that holds its records.

A decision's records are appended to the partition as one batch and replayed. Only then are the
answer and the effects released. Loading is a replay of the log.

If records have to be on disk first (``fsync=always``), or on the followers, the shard is *behind*
until they are. Answers and effects then wait in one queue, including those of commands that write
nothing, because they depend on the replayed records. A flush, or an advance of the high watermark,
releases in order everything that it covers.

If a flush fails, the waiting requests fail and the machine is loaded again. If another broker
becomes leader, the requests that wait for followers get NOT_COORDINATOR. If followers take longer
than ``offsets.commit.timeout.ms``, the requests that wait for them time out; their records stay,
and other effects (markers) are still released once the followers have the records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import NO_PRODUCER_ID, BatchHeader
from fencepost_protocol.records.control import ControlType, read_control_records
from fencepost_protocol.records.reader import iter_records

from fencepost_broker.coordinator.effects import Reply
from fencepost_broker.coordinator.records import (
    BatchTooLargeError,
    LogRecord,
    RecordFamily,
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
"""The size of one load step: some thousand records, about 10 ms."""


class Surroundings(Protocol):
    """The interface of the runtime to its shards."""

    def now_ms(self) -> int:
        """Return state time."""

    def release(self, shard: Shard, effects: tuple[Any, ...]) -> None:
        """Carry out effects, in order."""

    def look_at_deadline(self, deadline_ms: int | None, now_ms: int) -> None:
        """Arm the timer for a machine's deadline."""

    def flush(self, shard: Shard) -> None:
        """Request a flush of the shard's log, which ends with a call of ``log_flushed``."""

    def flush_failed(self, shard: Shard) -> None:
        """Replace the machine: records that it has replayed may not be on disk."""

    def call_in_time(self, shard: Shard) -> Timer:
        """Call ``wait_is_over`` after the longest time that answers wait for followers."""

    def tell(self, shard: Shard, kind: str, text: str, *, unexpected: bool = False) -> None:
        """Add an event to the log."""

    def broke(self, error: Exception) -> None:
        """Report a bug with its traceback."""

    def appended(self, shard: Shard, records: Sequence[LogRecord]) -> None:
        """Log the records of a decision, which have been appended."""


Token = Callable[[Any], None]
"""A command's callback, which gets the machine's answer if that comes later."""


class Machine(Protocol):
    """The common interface of both kinds of coordinators."""

    @property
    def state(self) -> Any:
        """The machine's state, for reading only."""

    def handle(self, now_ms: int, command: Any) -> Decision[Any]:
        """Return the decision on a command."""

    def replay(self, record: LogRecord, offset: int, producer_id: int) -> None:
        """Apply a record of the log."""

    def apply_soft(self, soft: Any) -> None:
        """Apply a change that is not in the log."""

    def deadline(self) -> int | None:
        """Return the time at which ``expire`` has something to do."""

    def not_due_before(self) -> int | None:
        """Return a lower bound of ``deadline``, which may be cheaper."""

    def expire(self, now_ms: int) -> Decision[None]:
        """Return the decision on the next thing that is due."""

    def jumped(self, by_ms: int) -> None:
        """Move the ends of durations: the clock was set."""

    def put_off(self) -> None:
        """Skip what ``expire`` would do next: its record could not be written."""

    def take_up(self) -> None:
        """Consider again everything that was skipped."""

    def activate(self, now_ms: int) -> Decision[None]:
        """Return the first decision, after the log is replayed."""

    def unload(self) -> Decision[None]:
        """Return the last decision, which answers all parked requests."""


class AppendRefusedError(Exception):
    """A coordinator's log refused the records of a decision; nothing has changed."""

    def __init__(self, error: ErrorCode, message: str | None) -> None:
        super().__init__(message or error.name)
        self.log_error = error

    @property
    def error(self) -> ErrorCode:
        """The error for the client, as in Kafka; most of them mean a retry."""
        return _TOLD.get(self.log_error, ErrorCode.COORDINATOR_NOT_AVAILABLE)


_TOLD: Final = {
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.NOT_LEADER_OR_FOLLOWER: ErrorCode.NOT_COORDINATOR,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""The client's error for a log's error. With a failed disk there is no coordinator here."""


class _Held(NamedTuple):
    """An effect, with the offsets up to which the log must be flushed and replicated first."""

    flushed_to: int
    replicated_to: int
    effect: Any


class Shard:
    """A coordinator's machine and the partition that holds its records."""

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
        """Whether replayed records are not yet on disk or not yet on the followers."""
        self._is_unflushed = False
        self._flushed_to = 0
        """The offset up to which the log must be flushed."""
        self._is_unreplicated = False
        self._replicated_to = 0
        """The offset that the high watermark must reach."""
        self._held: deque[_Held] = deque()
        self._timer: Timer | None = None
        self._overdue_to = 0
        """Effects that need a high watermark up to this one have waited since the timer began."""

    def carry_out(self, command: Any, token: Token, guard: VerificationGuard | None = None) -> Any:
        """Carry out a command; return the answer, or ``None`` if ``token`` is called with it later.

        If the records cannot be written, the answer is an ``AppendRefusedError``. A command that
        may be parked in the machine must contain the same token.
        """
        now_ms = self._around.now_ms()
        try:
            answer = self.commit(self.machine.handle(now_ms, command), now_ms, guard)
        except AppendRefusedError as error:
            answer = error
        return self.settle(answer, token) if self.is_behind else answer

    def settle(self, answer: Any, token: Token) -> Any:
        """Return the answer if it may be sent now; otherwise ``None``, and call ``token`` later.

        It may be sent when all replayed records are on disk and on the followers.
        """
        if answer is not None and self.is_behind:
            reply = Reply(token, answer)
            self._held.append(_Held(self._flushed_to, self._replicated_to, reply))
            return None
        return answer

    def submit(self, command: Any, guard: VerificationGuard | None = None) -> Any:
        """Carry out a command and return the answer at once, even if other answers have to wait.

        It is meant for answers that stay inside the broker. ``None`` means that the command is
        parked in the machine.
        """
        now_ms = self._around.now_ms()
        return self.commit(self.machine.handle(now_ms, command), now_ms, guard)

    def commit(
        self, decision: Decision[Any], now_ms: int, guard: VerificationGuard | None = None
    ) -> Any:
        """Append and replay the records, then release or queue the effects."""
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
        offset = log.log_end_offset
        refused = log.append_built(batch, partition.leader_epoch, now_ms, guard)
        if refused is not None:
            raise AppendRefusedError(refused.error, refused.message)
        if log.log_end_offset >= log.flush_at_offset or not partition.is_plain:
            self.look_behind()
        return offset

    def _check_replicas(self) -> None:
        """Refuse an append with too few replicas in sync, as for acks=all."""
        partition = self.partition
        if not partition.leads:
            why = f"this broker is not the leader of {self.name}"
            raise AppendRefusedError(ErrorCode.NOT_LEADER_OR_FOLLOWER, why)
        if partition.replication is not None and partition.replication.has_too_few:
            why = f"{self.name} has fewer in-sync replicas than min.insync.replicas"
            raise AppendRefusedError(ErrorCode.NOT_ENOUGH_REPLICAS, why)

    # -- waiting for the disk and for followers -------------------------------------------------

    def look_behind(self) -> None:
        """Update how far the log must be flushed and replicated before effects are released."""
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
                # A resumed command stays inside the broker. Its own records follow in the log, and
                # its answer waits for their flush.
                self._around.release(self, (effect,))
            else:
                self._held.append(_Held(self._flushed_to, self._replicated_to, effect))

    def log_flushed(self, log: PartitionLog, error: StorageError | None) -> None:
        """Handle a finished flush: release the effects that it covers and flush the rest."""
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
        """Release the effects whose records the followers have."""
        del partition
        if self._is_unreplicated:
            if self._replicated_to <= self.partition.log.high_watermark:
                self._is_unreplicated = False
                self.partition.waiters.remove(self)
            self._let_go()

    def time_is_over(self) -> None:
        """Unload: this broker no longer leads the partition."""
        self.unload()

    def failed(self, error: Exception) -> None:
        """Report an exception from ``partition_moved`` or ``time_is_over`` as a bug."""
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
        """Time out the answers that have waited for followers too long."""
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
        why = f"the followers of {self.name} did not replicate the records in time"
        self._refuse(late, ErrorCode.REQUEST_TIMED_OUT, why)

    def _drop(self) -> list[Any]:
        """Clear the queue and return its effects.

        The records are in the log, but may be missing after a crash or on the next leader. The
        client gets an error, and the next machine is loaded from the log as it is then.
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
        """Replay the partition's log, one piece per step; call ``begin`` afterwards."""
        log = self.partition.log
        yield from replay_batches(log, log.log_start_offset, _READ_BYTES, self._replay)
        self.is_loaded = True

    def begin(self) -> None:
        """Start to coordinate; the loaded records must be flushed and replicated first, too."""
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
        """Apply a marker of this log: commit or drop the transaction's pending offsets."""
        replay_marker = getattr(self.machine, "replay_marker", None)
        if replay_marker is not None:
            replay_marker(producer_id, committed=committed)

    def unload(self) -> None:
        """Stop coordinating; another broker leads the partition.

        Answers that wait for a flush are still sent after it. Answers that wait for followers fail,
        because the new leader may not have their records.
        """
        if self.is_loaded:
            self.is_loaded = False
            self._around.release(self, self.machine.unload().effects)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_unreplicated:
            why = f"{self.name} is led by another broker now"
            self._refuse(self._drop(), ErrorCode.NOT_LEADER_OR_FOLLOWER, why)

    @property
    def name(self) -> str:
        """The topic and the partition, as in ``__consumer_offsets-0``."""
        return f"{self.partition.topic}-{self.partition.number}"
