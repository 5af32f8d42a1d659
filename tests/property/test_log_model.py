"""A log against a model that is a list: every operation in any order, with restarts in between.

The model keeps all batches in a list and answers every question by looking through all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost_broker.storage.log import LoadOptions, PartitionLog, UpperBound, load_partition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import BatchHeader
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.machine.storage.harness import (
    NOW,
    base_offsets,
    batch,
    memory_disk,
    of_producer,
    open_log,
    read_all,
)

MAX_SEQUENCE = 2**31 - 1
PRODUCERS = st.integers(1, 3)


@dataclass
class Entry:
    """A batch in the model's log."""

    base: int
    last: int
    epoch: int = 0
    time: int = NOW
    producer: int = -1
    producer_epoch: int = -1
    sequence: int = -1
    transactional: bool = False
    marker: bool | None = None
    coordinator: int = -1

    @property
    def last_sequence(self) -> int:
        if self.sequence < 0:
            return -1
        return (self.sequence + self.last - self.base) % (MAX_SEQUENCE + 1)


@dataclass
class ModelProducer:
    epoch: int
    remembered: list[Entry] = field(default_factory=list)
    coordinator: int = -1
    open_from: int = -1


class Model:
    """What the log should say."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.start = 0

    @property
    def end(self) -> int:
        return self.entries[-1].last + 1 if self.entries else self.start

    def producers(self) -> dict[int, ModelProducer]:
        found: dict[int, ModelProducer] = {}
        for entry in self.entries:
            if entry.producer < 0:
                continue
            producer = found.setdefault(entry.producer, ModelProducer(entry.producer_epoch))
            if producer.epoch != entry.producer_epoch:
                producer.epoch = entry.producer_epoch
                producer.remembered = []
            if entry.marker is not None:
                producer.open_from = -1
                producer.coordinator = entry.coordinator
            else:
                producer.remembered = [*producer.remembered, entry][-5:]
                if entry.transactional and producer.open_from < 0:
                    producer.open_from = entry.base
        return found

    def aborted(self) -> list[tuple[int, int]]:
        return sorted(
            (producer, first)
            for producer, first, marker in self.aborted_ranges()
            if marker >= self.start
        )

    def aborted_ranges(self) -> list[tuple[int, int, int]]:
        """Producer, first offset and marker of aborted transactions."""
        open_from: dict[int, int] = {}
        found = []
        for entry in self.entries:
            if entry.transactional and entry.marker is None and entry.producer >= 0:
                open_from.setdefault(entry.producer, entry.base)
            elif entry.marker is not None:
                start = open_from.pop(entry.producer, None)
                if start is not None and not entry.marker:
                    found.append((entry.producer, start, entry.last))
        return found

    def last_stable(self) -> int:
        unstable = [
            producer.open_from for producer in self.producers().values() if producer.open_from >= 0
        ]
        return max(min([*unstable, self.end]), self.start)

    def expect_append(
        self, entry: Entry, remembered: list[Entry]
    ) -> tuple[ErrorCode, Entry | None]:
        """The error, or the entry of which this is a repeat."""
        producer = self.producers().get(entry.producer)
        if producer is None:
            return ErrorCode.NONE, None
        if entry.producer_epoch == producer.epoch:
            span = (entry.producer_epoch, entry.sequence, entry.last - entry.base)
            for old in remembered:
                if (old.producer_epoch, old.sequence, old.last - old.base) == span:
                    return ErrorCode.NONE, old
        if entry.producer_epoch < producer.epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH, None
        if entry.producer_epoch > producer.epoch:
            expected = 0
        else:
            last = producer.remembered[-1].last_sequence if producer.remembered else -1
            expected = (last + 1) % (MAX_SEQUENCE + 1)
        if entry.sequence != expected:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, None
        if producer.open_from >= 0 and not entry.transactional:
            return ErrorCode.INVALID_TXN_STATE, None
        return ErrorCode.NONE, None


class LogMachine(RuleBasedStateMachine):
    """The log and the model side by side."""

    log: PartitionLog

    @initialize(
        segment_bytes=st.sampled_from([150, 300, 1000, 10_000]),
        index_interval=st.sampled_from([0, 100, 4096]),
    )
    def begin(self, segment_bytes: int, index_interval: int) -> None:
        self.model = Model()
        self.epoch = 0
        self.log = open_log(
            memory_disk(),
            segment_bytes=segment_bytes,
            index_interval_bytes=index_interval,
            file_delete_delay_ms=0,
            retention_ms=-1,
            transaction_partition_verification_enable=False,
        )
        self.remembered: dict[int, list[Entry]] = {}

    def note(self, entry: Entry) -> None:
        self.model.entries.append(entry)
        if entry.producer >= 0 and entry.marker is None:
            old = self.remembered.get(entry.producer, [])
            old = [each for each in old if each.producer_epoch == entry.producer_epoch]
            self.remembered[entry.producer] = [*old, entry][-5:]

    @rule(count=st.integers(1, 4), time=st.integers(-20, 20))
    def append_plain(self, count: int, time: int) -> None:
        base = self.log.log_end_offset
        result = self.log.append_as_leader(batch(count, time=NOW + time), self.epoch, NOW)
        assert (result.error, result.base_offset) == (ErrorCode.NONE, base)
        self.note(Entry(base, base + count - 1, self.epoch, NOW + time))

    @rule(
        producer=PRODUCERS,
        kind=st.sampled_from(["next", "next", "next", "repeat", "gap", "bump", "stale"]),
        count=st.integers(1, 3),
        back=st.integers(0, 6),
        transactional=st.booleans(),
    )
    def append_numbered(
        self, producer: int, kind: str, count: int, back: int, transactional: bool
    ) -> None:
        known = self.model.producers().get(producer)
        epoch = 0 if known is None else known.epoch
        last = known.remembered[-1] if known is not None and known.remembered else None
        sequence = 0 if last is None else (last.last_sequence + 1) % (MAX_SEQUENCE + 1)
        if known is None and back == 6:
            sequence = MAX_SEQUENCE - 1
        if kind == "repeat" and known is not None and known.remembered:
            old = known.remembered[-1 - back % len(known.remembered)]
            sequence, count = old.sequence, old.last - old.base + 1
            if back == 5:
                count += 1
        elif kind == "gap":
            sequence = (sequence + 1 + back) % (MAX_SEQUENCE + 1)
        elif kind == "bump":
            epoch, sequence = epoch + 1, 0 if back < 4 else back
        elif kind == "stale":
            epoch -= 1
        if known is not None and known.open_from >= 0 and back != 3:
            transactional = True
        base = self.log.log_end_offset
        entry = Entry(
            base, base + count - 1, self.epoch, NOW, producer, epoch, sequence, transactional
        )
        error, repeat = self.model.expect_append(entry, self.remembered.get(producer, []))
        records = of_producer(sequence, count, producer=producer, epoch=epoch, txn=transactional)
        if epoch < 0:
            return
        result = self.log.append_as_leader(records, self.epoch, NOW)
        assert result.error is error, (result, entry)
        assert result.duplicate == (repeat is not None)
        if repeat is not None:
            assert (result.base_offset, result.last_offset) == (repeat.base, repeat.last)
        elif not error:
            assert (result.base_offset, result.last_offset) == (entry.base, entry.last)
            self.note(entry)

    @rule(
        producer=PRODUCERS,
        committed=st.booleans(),
        bump=st.integers(-1, 2),
        version=st.sampled_from([0, 2]),
        coordinator=st.integers(0, 2),
    )
    def append_marker(
        self, producer: int, committed: bool, bump: int, version: int, coordinator: int
    ) -> None:
        known = self.model.producers().get(producer)
        epoch = max((0 if known is None else known.epoch) + bump, 0)
        error = ErrorCode.NONE
        if known is not None:
            if epoch < known.epoch or (
                version == 2 and epoch == known.epoch and known.open_from >= 0
            ):
                error = ErrorCode.INVALID_PRODUCER_EPOCH
            elif coordinator < known.coordinator:
                error = ErrorCode.TRANSACTION_COORDINATOR_FENCED
        base = self.log.log_end_offset
        result = self.log.append_marker(
            producer,
            epoch,
            committed=committed,
            coordinator_epoch=coordinator,
            leader_epoch=self.epoch,
            now_ms=NOW,
            transaction_version=version,
        )
        assert result.error is error, result
        if not error:
            assert result.base_offset == base
            self.note(
                Entry(
                    base, base, self.epoch, NOW, producer, epoch, -1, True, committed, coordinator
                )
            )

    @rule()
    def begin_leader_epoch(self) -> None:
        self.epoch += 1

    @rule(part=st.floats(0, 1))
    def delete_records(self, part: float) -> None:
        offset = int(self.log.high_watermark * part)
        assert self.log.delete_records(offset) is ErrorCode.NONE
        self.model.start = max(self.model.start, offset)
        if part > 0.5:
            self.log.apply_retention(NOW)
            self.log.removals.remove_due(NOW)

    @rule(part=st.floats(0.5, 1))
    def truncate(self, part: float) -> None:
        offset = max(int(self.log.log_end_offset * part), self.log.log_start_offset)
        if offset < self.log.log_end_offset:
            offset = next(entry.base for entry in self.model.entries if entry.last >= offset)
        if offset < self.log.log_start_offset:
            return
        self.log.truncate_to(offset, NOW)
        self.model.entries = [entry for entry in self.model.entries if entry.base < offset]
        self.follow_memory()

    @rule()
    def flush(self) -> None:
        task = self.log.begin_flush()
        task.run()
        self.log.flushed(task, NOW)
        assert self.log.recovery_point == self.log.log_end_offset

    @rule(clean=st.booleans(), part=st.floats(0, 1))
    def restart(self, clean: bool, part: float) -> None:
        log = self.log
        if clean:
            log.close()
        options = LoadOptions(
            clean_stop=clean,
            log_start_offset=log.log_start_offset,
            recovery_point=int(log.recovery_point * part),
        )
        before = base_offsets(log)
        self.log = load_partition(log.disk, log.folder, log.config, NOW, options)
        assert base_offsets(self.log) == before
        assert not any(event.unexpected for event in self.log.take_events())
        self.follow_memory()

    def follow_memory(self) -> None:
        """A snapshot has only the last batch of a producer: fewer repeats are recognised."""
        self.remembered = {}
        for number, producer in self.log.producers.producers.items():
            expected = self.model.producers()[number].remembered
            offsets = [trace.last_offset for trace in producer.batches]
            assert offsets == [entry.last for entry in expected][len(expected) - len(offsets) :]
            assert bool(offsets) == bool(expected)
            self.remembered[number] = expected[len(expected) - len(offsets) :]

    @invariant()
    def offsets_agree(self) -> None:
        log, model = self.log, self.model
        assert (log.log_start_offset, log.log_end_offset) == (model.start, model.end)
        assert log.high_watermark == model.end
        assert log.last_stable_offset == model.last_stable()

    @invariant()
    def batches_agree(self) -> None:
        found = [_entry(header) for header, _ in read_all(self.log)]
        expected = [
            (e.base, e.last, e.epoch, e.time, e.producer, e.producer_epoch, e.sequence)
            for e in self.model.entries
            if e.last >= self.model.start
        ]
        assert found == expected

    @invariant()
    def producers_agree(self) -> None:
        expected = self.model.producers()
        for description in self.log.describe_producers():
            producer = expected.pop(description.producer_id)
            last = producer.remembered[-1].last_sequence if producer.remembered else -1
            assert (
                description.producer_epoch,
                description.last_sequence,
                description.coordinator_epoch,
                description.current_transaction_first_offset,
            ) == (producer.epoch, last, producer.coordinator, producer.open_from)
        assert not expected

    @invariant()
    def aborted_transactions_agree(self) -> None:
        result = self.log.read(self.model.start, 1 << 20, UpperBound.LAST_STABLE)
        stable = self.model.last_stable()
        expected = [(producer, first) for producer, first in self.model.aborted() if first < stable]
        if result.size:
            assert sorted(tuple(entry) for entry in result.aborted or []) == expected

    @invariant()
    def aborted_transactions_agree_batch_by_batch(self) -> None:
        ended = self.model.aborted_ranges()
        stable = self.model.last_stable()
        for entry in self.model.entries[-8:]:
            if entry.base < self.model.start or entry.last >= stable:
                continue
            result = self.log.read(entry.base, 1, UpperBound.LAST_STABLE, min_one_batch=True)
            told = {tuple(each) for each in result.aborted or []}
            assert told <= {
                (producer, first) for producer, first, marker in ended if marker >= entry.base
            }
            assert told >= {
                (producer, first)
                for producer, first, marker in ended
                if first <= entry.last and marker >= entry.base
            }

    @invariant()
    def times_agree(self) -> None:
        for wanted in (NOW - 21, NOW - 5, NOW, NOW + 13, NOW + 21):
            found = self.log.offset_for_timestamp(wanted)
            expected = next(
                (
                    max(entry.base, self.model.start)
                    for entry in self.model.entries
                    if entry.time >= wanted and entry.last >= self.model.start
                ),
                None,
            )
            assert (None if found is None else found.offset) == expected


def _entry(header: BatchHeader) -> tuple[int, ...]:
    return (
        header.base_offset,
        header.last_offset,
        header.partition_leader_epoch,
        header.max_timestamp,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
    )


LogMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestLogAgainstModel = LogMachine.TestCase
