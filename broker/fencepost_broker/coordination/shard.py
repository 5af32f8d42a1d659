"""A coordinator's machine and the partition whose records it is made of.

A decision's records are appended to the partition as one batch, replayed, and only then does
anything leave. Loading is a replay of the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import NO_PRODUCER_ID, BatchHeader, split_batches
from fencepost_protocol.records.control import ControlType, read_control_records
from fencepost_protocol.records.reader import iter_records

from fencepost_broker.coordinators import (
    Decision,
    LogRecord,
    RecordFamily,
    UnknownRecordTypeError,
    decode_record,
    encode_batch,
)
from fencepost_broker.flushes import flush_here
from fencepost_broker.log import CorruptFileError, PartitionLog, StorageError, UpperBound
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

    def tell(self, kind: str, text: str, *, unexpected: bool = False) -> None:
        """Have a person hear of something."""


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

    def expire(self, now_ms: int) -> Decision[None]:
        """What time alone makes happen, one thing at a time."""

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
        if self.log_error in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE):
            return ErrorCode.UNKNOWN_SERVER_ERROR
        return ErrorCode.COORDINATOR_NOT_AVAILABLE


class Shard:
    """One machine and the partition whose records it is made of."""

    __slots__ = ("_around", "family", "is_loaded", "machine", "partition")

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

    def submit(self, command: Any, guard: VerificationGuard | None = None) -> Any:
        """Carry out a command; ``None`` when its token is answered later (or was, meanwhile)."""
        now_ms = self._around.now_ms()
        return self.commit(self.machine.handle(now_ms, command), now_ms, guard)

    def commit(
        self, decision: Decision[Any], now_ms: int, guard: VerificationGuard | None = None
    ) -> Any:
        """Append, replay, then let everything leave."""
        records = decision.records
        machine = self.machine
        if records:
            producer_id = decision.producer_id
            offset = self._append(decision, now_ms, guard)
            for record in records:
                machine.replay(record, offset, producer_id)
                offset += 1
            if self.partition.waiters:
                self.partition.moved()
        for soft in decision.soft:
            machine.apply_soft(soft)
        if decision.effects:
            self._around.release(self, decision.effects)
        self._around.look_at_deadline(machine.deadline(), now_ms)
        return decision.answer

    def _append(self, decision: Decision[Any], now_ms: int, guard: VerificationGuard | None) -> int:
        if decision.producer_id == NO_PRODUCER_ID:
            batch = encode_batch(decision.records, now_ms)
        else:
            batch = encode_batch(
                decision.records,
                now_ms,
                transactional=True,
                producer_id=decision.producer_id,
                producer_epoch=decision.producer_epoch,
            )
        partition = self.partition
        result = partition.log.append_built(batch, partition.leader_epoch, now_ms, guard)
        if result.error:
            raise AppendRefusedError(result.error, result.message)
        if partition.log.log_end_offset >= partition.log.flush_at_offset:
            _flush(partition.log, now_ms)
        return result.base_offset

    def load(self) -> Iterator[None]:
        """Replay the partition's log, a piece at each step; ``activate`` comes next."""
        log = self.partition.log
        offset = log.log_start_offset
        while offset < log.log_end_offset:
            result = log.read(offset, _READ_BYTES, UpperBound.LOG_END, min_one_batch=True)
            if result.error or not result.pieces:
                raise StorageError("read", self.name, result.message or result.error.name)
            content = memoryview(b"".join(result.pieces))
            for header, batch in split_batches(content, tolerate_partial=True):
                try:
                    self._replay(header, batch)
                except RemoteProtocolError as error:
                    reason = f"the batch at offset {header.base_offset}: {error}"
                    raise CorruptFileError(self.name, reason) from error
                offset = header.next_offset
            yield
        self.is_loaded = True

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
                self._around.tell("unknown-record", f"{self.name}: {error}", unexpected=True)
                continue
            self.machine.replay(decoded, record.offset, pending_of)

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """A marker is in this log: offsets that waited for it count, or are gone."""
        replay_marker = getattr(self.machine, "replay_marker", None)
        if replay_marker is not None:
            replay_marker(producer_id, committed=committed)

    def unload(self) -> None:
        """Somebody else coordinates from now on."""
        if self.is_loaded:
            self.is_loaded = False
            self._around.release(self, self.machine.unload().effects)

    @property
    def name(self) -> str:
        """Topic and partition."""
        return f"{self.partition.topic}-{self.partition.number}"


def _flush(log: PartitionLog, now_ms: int) -> None:
    """What is decided is carried out at once, so where it has to be on disk, all waits for that."""
    try:
        flush_here(log, now_ms)
    except StorageError as error:
        raise AppendRefusedError(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
