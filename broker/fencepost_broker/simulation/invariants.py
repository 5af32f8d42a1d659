"""What must hold at each step of a simulation, whatever the program does.

- one leader of a partition accepts writes in an epoch
- what was below a high watermark stays, and every replica that gets it gets the same
- every replica in sync has each batch below the high watermark, which waits for enough of them
- a batch is acknowledged as replicated when it is
- blocks of producer ids do not overlap
- a transactional id goes through the states of the coordinator's table
- a coordinator is what a replay of its log gives (looked at when all is quiet, and at the end)
- a marker is written after its Prepare record is replicated
- the last stable offset does not pass the first open transaction

They are looked at when a log, a high watermark or an ISR changes. The first one that does not hold
ends the run. A marker that a program orders by itself (``abort_transaction``) has no Prepare
record.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeAlias

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsResponse
from fencepost_protocol.generated.transaction_log import TransactionLogKey, TransactionLogValue
from fencepost_protocol.records.batch import (
    CONTROL_FLAG,
    TRANSACTIONAL_FLAG,
    BatchHeader,
    RawHeader,
    unpack_header,
)
from fencepost_protocol.records.control import ControlType, read_control_records
from fencepost_protocol.records.reader import iter_records

from fencepost_broker.apis.produce import delayed_produce
from fencepost_broker.coordinator.records import RecordFamily, decode_record
from fencepost_broker.coordinator.transaction.producer_id_manager import ProducerIdSource
from fencepost_broker.coordinator.transaction.states import NAMES, State, logged_state, may_follow
from fencepost_broker.metadata.image.model import Partition
from fencepost_broker.replication.leader import LeaderState
from fencepost_broker.simulation.process import current_process
from fencepost_broker.storage.log import (
    AppendResult,
    PartitionLog,
    appending,
    replay_batches,
    upkeep,
)
from fencepost_broker.storage.log.state import LogState

_READ_BYTES: Final = 1 << 20
_METADATA: Final = "__cluster_metadata-"
"""Each node has a metadata log of its own."""
_TRANSACTIONS: Final = f"{RecordFamily.TRANSACTIONS.value}-"
_PREPARED: Final = {State.PREPARE_COMMIT: True, State.PREPARE_ABORT: False}
_Place: TypeAlias = tuple[bytes | None, str]
"""A partition: the id of its topic, and its name."""
_Wrapped: TypeAlias = tuple[Any, str, Callable[..., Any]]
"""A module or class, the name of its function, and the function for the time of a run."""


class InvariantError(AssertionError):
    """The brokers did what they never may."""


class _Written(NamedTuple):
    """A batch that a leader has written."""

    offset: int
    end: int
    what: tuple[int, int]
    """Its leader epoch and checksum."""


class _History:
    """What is known of a partition."""

    __slots__ = (
        "acknowledged", "begun", "epoch", "had", "high", "kept", "leaders", "open", "pending",
        "start", "states", "written",
    )  # fmt: skip

    def __init__(self) -> None:
        self.leaders: dict[int, str] = {}
        """The name of the one leader of each epoch."""
        self.epoch = -1
        """The epoch of the last batch."""
        self.begun = -1
        """The epoch in which a broker has begun to lead last."""
        self.high = 0
        """The highest high watermark that any replica has had."""
        self.start = 0
        """The highest log start offset that any replica has had."""
        self.kept: int | None = None
        """So many records its only replica has kept at least, which has lost its power."""
        self.written: dict[str, dict[int, tuple[int, int]]] = defaultdict(dict)
        """The last batch that each broker has written at an offset."""
        self.had: dict[str, dict[int, tuple[int, int]]] = {}
        """The same of a broker that has lost its disk, until it writes anew: a leader may count on
        what it was told before."""
        self.acknowledged: dict[int, tuple[int, int]] = {}
        """The batches below it, by their first offset."""
        self.pending: deque[_Written] = deque()
        """The batches above it."""
        self.open: dict[int, int] = {}
        """The first offset of each open transaction, by its producer id."""
        self.states: dict[str, State] = {}
        """The state of each transactional id in the log of the last leader."""

    def note(self, offset: int, producer_id: int, attributes: int) -> None:
        """Take note of a batch's transaction: it is open, or a marker has ended it."""
        if attributes & CONTROL_FLAG:
            self.open.pop(producer_id, None)
        elif attributes & TRANSACTIONAL_FLAG:
            self.open.setdefault(producer_id, offset)

    def cut(self, end: int) -> None:
        """Take note that what was above an offset is lost."""
        self.high, self.epoch = min(self.high, end), -1
        for offset in [each for each in self.acknowledged if each >= end]:
            del self.acknowledged[offset]
        while self.pending and self.pending[-1].end > end:
            self.pending.pop()


class Invariants:
    """Watches all brokers of a simulation."""

    def __init__(self, failed: Callable[[str], object]) -> None:
        """``failed`` is called with what does not hold, for the first time only."""
        self._failed = failed
        self.error: InvariantError | None = None
        self._partitions: dict[_Place, _History] = defaultdict(_History)
        self._blocks: dict[int, range] = {}
        self._prepared: dict[tuple[int, int, bool], tuple[_Place, _Written]] = {}
        """The last Prepare record of a producer id, epoch and outcome."""

    def fail(self, text: str) -> None:
        """End the run, unless it has failed before."""
        if self.error is None:
            self.error = InvariantError(text)
            self._failed(text)

    def may_lose(self, log: LogState, kept: int) -> None:
        """Expect so many records of a partition: the only replica in sync loses its power."""
        self._partitions[_place(log)].kept = kept

    def lost(self, name: str) -> None:
        """A broker has lost its disk."""
        for known in self._partitions.values():
            known.had[name] = known.written.pop(name, {})

    # -- logs ------------------------------------------------------------------------------------

    def led(self, log: LogState, records: memoryview, header: RawHeader) -> None:
        """A leader has written a batch."""
        place, name = _place(log), current_process.get().name
        known = self._partitions[place]
        offset, _, epoch, _, crc, attributes, last_delta, _, _, producer_id, *_ = header
        known.written[name][offset] = epoch, crc
        first = known.leaders.setdefault(epoch, name)
        if first != name:
            self.fail(f"{place[1]}: {first} and {name} both lead it in epoch {epoch}")
        if epoch < max(known.epoch, known.begun):
            return  # it does not know yet that another one leads: its records are truncated
        if offset < known.high:
            self.fail(
                f"{place[1]}: {name} writes at offset {offset}, and {known.high} records were"
                " acknowledged"
            )
        written = _Written(offset, offset + last_delta + 1, (epoch, crc))
        while known.pending and known.pending[-1].end > offset:
            known.pending.pop()  # a former leader's, which were truncated
        known.pending.append(written)
        known.note(offset, producer_id, attributes)
        if place[1].startswith(_TRANSACTIONS):
            if epoch != known.epoch:
                self._read_states(log, known, offset)
            self._write_states(place, known, records, written, header)
        elif attributes & CONTROL_FLAG:
            self._check_marker(place, records, header)
        known.epoch = epoch
        self.moved(log)

    def followed(self, log: LogState, header: RawHeader) -> None:
        """A follower has written a batch."""
        place, name = _place(log), current_process.get().name
        known = self._partitions[place]
        offset, _, epoch, _, crc, *_ = header
        known.written[name][offset] = epoch, crc
        known.had.pop(name, None)
        expected = known.acknowledged.get(offset)
        if expected is not None and expected != (epoch, crc):
            self.fail(
                f"{place[1]}: {name} has another batch at offset {offset}"
                f" than the one of epoch {expected[0]} that was acknowledged"
            )

    def moved(self, log: LogState) -> None:
        """A high watermark has moved."""
        place = _place(log)
        known = self._partitions[place]
        first = min(known.open.values(), default=log.last_stable_offset)
        if log.last_stable_offset > max(first, log.log_start_offset):
            self.fail(
                f"{place[1]}: the last stable offset is {log.last_stable_offset}, and a transaction"
                f" is open from {first} on"
            )
        if log.high_watermark > known.high:
            known.high = log.high_watermark
            while known.pending and known.pending[0].end <= known.high:
                written = known.pending.popleft()
                known.acknowledged[written.offset] = written.what

    def shortened(self, log: LogState) -> None:
        """A log begins later.

        A replica may begin there, with an empty log, and the next leader's log may begin earlier:
        where a log begins is not synced before DeleteRecords is answered, as in Kafka.
        """
        known = self._partitions[_place(log)]
        known.start = max(known.start, log.log_start_offset)

    def advanced(self, state: LeaderState, log: LogState, before: int) -> None:
        """A leader has moved the high watermark."""
        partition, least = state.partition, log.config.min_insync_replicas
        if len(partition.isr) < min(least, len(partition.replicas)):
            self.fail(
                f"{_place(log)[1]}: the high watermark moves with {len(partition.isr)} replicas in"
                f" sync, and {least} are needed"
            )
        self._check_replicas(state, log, partition.isr, before)

    def joined(self, state: LeaderState, log: LogState, brokers: Collection[int]) -> None:
        """A leader has learned that these brokers are in the ISR."""
        self._check_replicas(state, log, brokers, 0)

    def _check_replicas(
        self, state: LeaderState, log: LogState, brokers: Collection[int], start: int
    ) -> None:
        """Brokers have all that is below the high watermark, from an offset on."""
        place = _place(log)
        known = self._partitions[place]
        start = max(start, known.start)
        names = [f"broker-{each}" for each in brokers if each != state._node_id]
        for offset, what in reversed(known.acknowledged.items()):
            if offset < start:
                break
            if offset >= log.high_watermark:
                continue
            for name in names:
                if (
                    known.written[name].get(offset) != what
                    and known.had.get(name, {}).get(offset) != what
                ):
                    self.fail(
                        f"{place[1]}: {name} is in sync without the batch at offset {offset}, and"
                        f" the high watermark is {log.high_watermark}"
                    )

    def replicated(self, log: LogState, result: AppendResult, epoch: int) -> None:
        """A leader acknowledges a batch of its epoch as replicated."""
        place = _place(log)
        known = self._partitions[place]
        offset, end = result.base_offset, result.last_offset + 1
        what = known.acknowledged.get(offset)
        if max(known.high, log.high_watermark) < end or (what is not None and what[0] > epoch):
            self.fail(
                f"{place[1]}: the batch at offset {offset} of epoch {epoch} is acknowledged, and it"
                " is not replicated"
            )

    def begun(self, log: LogState, epoch: int) -> None:
        """A broker begins to lead; it has to have all that was acknowledged."""
        place = _place(log)
        known = self._partitions[place]
        if epoch <= known.begun:
            return
        known.begun, name = epoch, current_process.get().name
        known.had.clear()  # a leader counts on what it is told in its own epoch
        acknowledged = known.high if known.kept is None else known.kept
        if log.log_end_offset < acknowledged:
            self.fail(
                f"{place[1]}: {name} leads it in epoch {epoch} with {log.log_end_offset} records,"
                f" and {acknowledged} were acknowledged"
            )
        if known.kept is not None:
            known.kept = None
            known.cut(log.log_end_offset)
        known.open.clear()
        for each in headers(log):
            offset, what = each.base_offset, (each.partition_leader_epoch, each.crc)
            known.note(offset, each.producer_id, each.attributes)
            if offset < known.high and known.acknowledged.get(offset, what) != what:
                self.fail(f"{place[1]}: {name} leads it with another batch at offset {offset}")

    # -- transactions ----------------------------------------------------------------------------

    def took_block(self, answer: AllocateProducerIdsResponse | None) -> None:
        """A broker was given producer ids."""
        if answer is None or answer.error_code or not answer.producer_id_len:
            return
        block = range(answer.producer_id_start, answer.producer_id_start + answer.producer_id_len)
        for other in self._blocks.values():
            if block.start < other.stop and other.start < block.stop:
                self.fail(f"producer ids from {block.start} on were given to brokers twice")
        self._blocks[block.start] = block

    def _read_states(self, log: LogState, known: _History, end: int) -> None:
        """Learn the states from what a new leader has before its first record."""
        known.states.clear()

        def take(header: BatchHeader, batch: memoryview) -> None:
            if header.base_offset < end and not header.is_control:
                for transactional_id, _, state in _states(batch):
                    known.states[transactional_id] = state

        for _ in replay_batches(log, log.log_start_offset, _READ_BYTES, take):  # type: ignore[arg-type]
            pass

    def _write_states(
        self, place: _Place, known: _History, records: memoryview, at: _Written, header: RawHeader
    ) -> None:
        if header[5] & CONTROL_FLAG:
            return
        for transactional_id, value, state in _states(records):
            before = known.states.get(transactional_id, State.DEAD)
            if not may_follow(before, state):
                self.fail(
                    f"{place[1]}: {transactional_id} goes from {NAMES[before]} to {NAMES[state]}"
                )
            known.states[transactional_id] = state
            if value is not None and state in _PREPARED:
                key = value.producer_id, value.producer_epoch, _PREPARED[state]
                self._prepared[key] = place, at

    def _check_marker(self, place: _Place, records: memoryview, header: RawHeader) -> None:
        producer_id, epoch = header[9], header[10]
        [control] = read_control_records(records)
        if control.type not in (ControlType.COMMIT, ControlType.ABORT):
            return
        outcome = control.type is ControlType.COMMIT
        found = self._prepared.get((producer_id, epoch, outcome))
        told = f"{place[1]}: a marker of producer id {producer_id} and epoch {epoch} is written"
        if found is None:
            self.fail(f"{told}, and no record has prepared it")
            return
        where, written = found
        if self._partitions[where].acknowledged.get(written.offset) != written.what:
            self.fail(f"{told} before the record that prepares it is replicated")


def _place(log: LogState) -> _Place:
    return log.topic_id, log.folder.rpartition("/")[2]


def _is_metadata(log: LogState) -> bool:
    return _METADATA in log.folder


def headers(log: Any) -> list[BatchHeader]:
    """The headers of all batches."""
    found: list[BatchHeader] = []
    for _ in replay_batches(
        log, log.log_start_offset, _READ_BYTES, lambda header, _: found.append(header)
    ):
        pass
    return found


def batches(log: Any) -> list[tuple[int, tuple[int, int]]]:
    """The leader epoch and the checksum of each batch, by its first offset."""
    return [(each.base_offset, (each.partition_leader_epoch, each.crc)) for each in headers(log)]


def _states(batch: memoryview) -> Iterator[tuple[str, TransactionLogValue | None, State]]:
    """The states in a batch of ``__transaction_state``."""
    for record in iter_records(batch):
        decoded = decode_record(RecordFamily.TRANSACTIONS, record.key, record.value)
        key, value = decoded.key, decoded.value
        if not isinstance(key, TransactionLogKey):
            continue
        if isinstance(value, TransactionLogValue):
            yield key.transactional_id, value, logged_state(value.transaction_status)
        else:
            yield key.transactional_id, None, State.DEAD


def _of_logs(by: Invariants) -> list[_Wrapped]:
    """Functions of logs that tell what they do."""
    led, followed = appending._append, appending._append_replica
    moved, begun = LogState.set_high_watermark, PartitionLog.begin_leader_epoch
    advance_log_start = upkeep.advance_log_start

    def append(log: LogState, records: memoryview, *given: Any) -> Any:
        end = log.log_end_offset
        result = led(log, records, *given)
        if log.log_end_offset > end and not _is_metadata(log):
            by.led(log, records, unpack_header(records))
        return result

    def append_replica(log: LogState, batch: memoryview, header: RawHeader, now_ms: int) -> None:
        followed(log, batch, header, now_ms)
        if not _is_metadata(log):
            by.followed(log, header)

    def set_high_watermark(self: LogState, offset: int) -> bool:
        has_moved = moved(self, offset)
        if not _is_metadata(self):
            by.moved(self)
        return has_moved

    def log_start(log: LogState, offset: int) -> None:
        advance_log_start(log, offset)
        by.shortened(log)

    def begin_leader_epoch(self: Any, epoch: int) -> None:
        begun(self, epoch)
        by.begun(self, epoch)

    return [
        (appending, "_append", append),
        (appending, "_append_replica", append_replica),
        (LogState, "set_high_watermark", set_high_watermark),
        (PartitionLog, "begin_leader_epoch", begin_leader_epoch),
        (upkeep, "advance_log_start", log_start),
    ]


def _of_leaders(by: Invariants) -> list[_Wrapped]:
    """Functions of leaders and coordinators that tell what they do."""
    took, outcome = ProducerIdSource._take_in, delayed_produce.outcome
    advance, image_changed = LeaderState.advance, LeaderState.image_changed

    def leader_advance(self: LeaderState, now_ms: int) -> bool:
        log: Any = self._log
        before = log.high_watermark
        has_moved = advance(self, now_ms)
        if log.high_watermark > before:
            by.advanced(self, log, before)
        return has_moved

    def leader_image_changed(self: LeaderState, partition: Partition, now_ms: int) -> bool:
        log: Any = self._log
        before = self.partition
        new = [each for each in partition.isr if each not in before.isr]
        if partition.partition_epoch > before.partition_epoch and new:
            by.joined(self, log, new)
        return image_changed(self, partition, now_ms)

    def outcome_of(partition: Any, result: AppendResult, leader_epoch: int) -> ErrorCode | None:
        error = outcome(partition, result, leader_epoch)
        if error is ErrorCode.NONE:
            by.replicated(partition.log, result, leader_epoch)
        return error

    def take_in(self: ProducerIdSource, answer: AllocateProducerIdsResponse | None) -> None:
        by.took_block(answer)
        took(self, answer)

    return [
        (LeaderState, "advance", leader_advance),
        (LeaderState, "image_changed", leader_image_changed),
        (delayed_produce, "outcome", outcome_of),
        (ProducerIdSource, "_take_in", take_in),
    ]


def wrapped_functions(by: Invariants) -> list[_Wrapped]:
    """All functions that tell what they do, for the time of a run."""
    return [*_of_logs(by), *_of_leaders(by)]


@contextmanager
def watched(by: Invariants) -> Iterator[None]:
    """Let all logs and brokers tell what they do."""
    wrapped = wrapped_functions(by)
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in wrapped]
    for owner, name, function in wrapped:
        setattr(owner, name, function)
    try:
        yield
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)
