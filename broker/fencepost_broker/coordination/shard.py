"""A coordinator's machine and the partition whose records it is made of.

A decision's records are appended to the partition as one batch, replayed, and only then does
anything leave. Loading is a replay of the log.

Where records have to be on disk first (``fsync=always``), the shard is *behind* until they are:
answers and effects wait in one queue, also those of commands that write nothing, because they go
by what was replayed. A flush lets all go that it covers, in order. If it fails, whoever waited
hears that, and the machine is made anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import NO_PRODUCER_ID, BatchHeader
from fencepost_protocol.records.control import ControlType, read_control_records
from fencepost_protocol.records.reader import iter_records

from fencepost_broker.coordinators import (
    BatchTooLargeError,
    Decision,
    LogRecord,
    RecordFamily,
    Reply,
    UnknownRecordTypeError,
    decode_record,
    encode_batch,
)
from fencepost_broker.coordinators.transactions.commands import Resume
from fencepost_broker.log import PartitionLog, StorageError, replay_batches
from fencepost_broker.log.producers import VerificationGuard
from fencepost_broker.partitions import Partition

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

    def tell(self, shard: Shard, kind: str, text: str, *, unexpected: bool = False) -> None:
        """Have a person hear of something."""

    def appended(self, shard: Shard, records: Sequence[LogRecord]) -> None:
        """Records of a decision are in the log."""


class Waiting(Protocol):
    """What the token of a command has to be able to."""

    def reply(self, answer: Any) -> None:
        """The machine answers the command that had to wait."""


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
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}
"""What becomes of a log's answer: on a disk that takes nothing, nobody coordinates here."""


class Shard:
    """One machine and the partition whose records it is made of."""

    __slots__ = (
        "_around",
        "_held",
        "_up_to_offset",
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
        """What the machine knows is not all on disk, and has to be: answers go to ``hold``."""
        self._up_to_offset = 0
        """Where the log has to be on disk for all that is known to be."""
        self._held: deque[tuple[int, Any]] = deque()
        """Effects, each with the offset up to which the log has to be on disk before it leaves."""

    def submit(self, command: Any, guard: VerificationGuard | None = None) -> Any:
        """Carry out a command; ``None`` when its token is answered later (or was, meanwhile).

        If the shard ``is_behind`` afterwards, the answer must not leave yet, whatever it is.
        """
        now_ms = self._around.now_ms()
        return self.commit(self.machine.handle(now_ms, command), now_ms, guard)

    def commit(
        self, decision: Decision[Any], now_ms: int, guard: VerificationGuard | None = None
    ) -> Any:
        """Append, replay, then let everything leave that need not wait for the disk."""
        records = decision.records
        machine = self.machine
        if records:
            producer_id = decision.producer_id
            offset = self._append(decision, now_ms, guard)
            for record in records:
                machine.replay(record, offset, producer_id)
                offset += 1
            if self.partition.waiters or not self.partition.is_plain:
                self.partition.appended(now_ms)
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
        return decision.answer

    def _append(self, decision: Decision[Any], now_ms: int, guard: VerificationGuard | None) -> int:
        partition = self.partition
        log = partition.log
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
        if log.log_end_offset >= log.flush_at_offset:
            self.fall_behind()
        return result.base_offset

    # -- waiting for the disk -------------------------------------------------------------------

    def fall_behind(self) -> None:
        """Something is in the log that has to be on disk before anything leaves."""
        self._up_to_offset = self.partition.log.log_end_offset
        if not self.is_behind:
            self.is_behind = True
            self._around.flush(self)

    def hold(self, token: Waiting, answer: Any) -> None:
        """Let an answer leave when all that it goes by is on disk, or tell why it never will."""
        self._held.append((self._up_to_offset, Reply(token, answer)))

    def _hold(self, effects: tuple[Any, ...]) -> None:
        for effect in effects:
            if isinstance(effect, Resume):
                # It does not leave: what it leads to comes behind in the log, and so does the
                # flush that its answer waits for, which may be the same.
                self._around.release(self, (effect,))
            else:
                self._held.append((self._up_to_offset, effect))

    def log_flushed(self, log: PartitionLog, error: StorageError | None) -> None:
        """A flush is done: let go what it covers, and have the rest flushed."""
        if error is not None:
            self._give_up(error)
            return
        held, durable_offset = self._held, log.recovery_point
        if self._up_to_offset > durable_offset:
            self._around.flush(self)
        else:
            self.is_behind = False
        free = []
        while held and held[0][0] <= durable_offset:
            free.append(held.popleft()[1])
        if free:
            self._around.release(self, tuple(free))

    def _give_up(self, error: StorageError) -> None:
        """Nobody is told what may not be so after a crash.

        The records stand in the log all the same, and may be there then: the client hears that it
        failed, and who goes on is a machine that is made of all that is in the log.
        """
        held, self._held = self._held, deque()
        self.is_behind = False
        self._around.flush_failed(self)
        refused = AppendRefusedError(ErrorCode.KAFKA_STORAGE_ERROR, str(error))
        self._around.release(
            self,
            tuple(Reply(effect.token, refused) for _, effect in held if isinstance(effect, Reply)),
        )

    # -- loading and unloading ------------------------------------------------------------------

    def load(self) -> Iterator[None]:
        """Replay the partition's log, a piece at each step; ``begin`` comes next."""
        log = self.partition.log
        yield from replay_batches(log, log.log_start_offset, _READ_BYTES, self._replay)
        self.is_loaded = True

    def begin(self) -> None:
        """Coordinate by what was loaded, which is flushed first where it has to be on disk."""
        log = self.partition.log
        if log.log_end_offset >= log.flush_at_offset:
            self.fall_behind()
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
        """Somebody else coordinates from now on; what is decided is told once it is on disk."""
        if self.is_loaded:
            self.is_loaded = False
            self._around.release(self, self.machine.unload().effects)

    @property
    def name(self) -> str:
        """Topic and partition."""
        return f"{self.partition.topic}-{self.partition.number}"
