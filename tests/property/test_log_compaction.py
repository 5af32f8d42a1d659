"""Compaction against the definition: a reader of the compacted log ends up with the same values."""

from __future__ import annotations

from typing import Any

from fencepost_broker.storage.log import LoadOptions, PartitionLog, UpperBound, load_partition
from fencepost_broker.storage.log.compaction import Compaction, measure
from fencepost_protocol.records.batch import BatchHeader, verify_crc
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.reader import iter_records
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.machine.storage.harness import NOW, append, batch, open_log, read_all

SETTINGS: dict[str, Any] = {
    "compact": True,
    "delete": False,
    "segment_bytes": 500,
    "index_interval_bytes": 100,
    "min_cleanable_dirty_ratio": 0.0,
    "delete_retention_ms": 1000,
    "file_delete_delay_ms": 0,
    "transaction_partition_verification_enable": False,
}

Values = dict[bytes, bytes | None]


def committed(log: PartitionLog) -> dict[bytes, tuple[int, bytes | None]]:
    """Offset and value of each key, as a read-committed consumer ends up with them."""
    result = log.read(log.log_start_offset, 1 << 24, UpperBound.LAST_STABLE)
    waiting = sorted(result.aborted or [], key=lambda entry: entry.first_offset)
    skipped: set[int] = set()
    found: dict[bytes, tuple[int, bytes | None]] = {}
    for header, data in read_all(log, bound=UpperBound.LAST_STABLE, max_bytes=1 << 24):
        while waiting and waiting[0].first_offset <= header.last_offset:
            skipped.add(waiting.pop(0).producer_id)
        if header.is_control:
            skipped.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in skipped):
            for record in iter_records(data):
                assert record.key is not None
                value = None if record.value is None else bytes(record.value)
                found[bytes(record.key)] = (record.offset, value)
    return found


def only_values(found: dict[bytes, tuple[int, bytes | None]]) -> dict[bytes, tuple[int, bytes]]:
    return {key: (offset, value) for key, (offset, value) in found.items() if value is not None}


RECORDS = st.lists(
    st.tuples(
        st.sampled_from([b"a", b"b", b"c", b"long" * 10]), st.none() | st.binary(max_size=40)
    ),
    min_size=1,
    max_size=4,
)
STEPS = st.one_of(
    st.tuples(st.just("put"), RECORDS, st.sampled_from(Compression)),
    st.tuples(st.just("transactional"), st.integers(1, 2), RECORDS),
    st.tuples(st.just("marker"), st.integers(1, 2), st.booleans()),
    st.tuples(st.just("compact"), st.integers(0, 3000)),
    st.tuples(st.just("restart"), st.booleans()),
    st.tuples(st.just("delete"), st.floats(0, 1)),
)


def run_compaction(log: PartitionLog, now: int) -> None:
    dirt = measure(log, now)
    if dirt is None:
        return
    run = log.compaction = Compaction(log, dirt, now)
    while run.step():
        pass
    log.compaction = None
    log.removals.remove_due(now)


def check_structure(log: PartitionLog) -> None:
    last = -1
    headers: list[BatchHeader] = []
    for header, data in read_all(log):
        assert header.base_offset > last
        last = header.last_offset
        verify_crc(data)
        headers.append(header)
    assert last < log.log_end_offset
    for header in headers:
        found = read_all(log, header.last_offset)[0][0]
        assert found == header


@settings(max_examples=300, deadline=None)
@given(st.lists(STEPS, min_size=5, max_size=60))
def test_a_reader_ends_up_with_the_same_values(steps: list[tuple[Any, ...]]) -> None:
    log = open_log(**SETTINGS)
    sequences: dict[int, int] = {}
    now = NOW
    for name, *arguments in steps:
        if name == "put":
            records, codec = arguments
            keys, values = (list(column) for column in zip(*records, strict=True))
            append(log, batch(values, keys=keys, codec=codec, time=now), now=now)
        elif name == "transactional":
            producer, records = arguments
            keys, values = (list(column) for column in zip(*records, strict=True))
            sequence = sequences.get(producer, 0)
            sequences[producer] = sequence + len(keys)
            append(
                log,
                batch(
                    values,
                    keys=keys,
                    time=now,
                    producer_id=producer,
                    producer_epoch=0,
                    base_sequence=sequence,
                    transactional=True,
                ),
                now=now,
            )
        elif name == "marker":
            producer, is_commit = arguments
            log.append_marker(
                producer,
                0,
                committed=is_commit,
                coordinator_epoch=0,
                leader_epoch=0,
                now_ms=now,
                transaction_version=0,
            )
        elif name == "compact":
            now += arguments[0]
            before = committed(log)
            state = _state(log)
            run_compaction(log, now)
            after = committed(log)
            # Tombstones may go, and with them what they hid is gone already.
            assert only_values(after) == only_values(before)
            assert all(after[key] == before[key] for key in after)
            assert _state(log) == state
            check_structure(log)
        elif name == "restart":
            before = committed(log)
            state = _state(log)
            if arguments[0]:
                log.close()
            options = LoadOptions(
                clean_stop=arguments[0],
                log_start_offset=log.log_start_offset,
                cleaned_up_to=log.cleaned_up_to,
            )
            log = load_partition(log.disk, log.folder, log.config, now, options)
            assert not any(event.unexpected for event in log.take_events())
            assert committed(log) == before
            assert _state(log) == state
        else:
            log.delete_records(int(log.high_watermark * arguments[0] / 2))
            log.apply_retention(now)
            log.removals.remove_due(now)


def _state(log: PartitionLog) -> object:
    return (
        log.log_start_offset,
        log.last_stable_offset,
        log.log_end_offset,
        sorted(log.describe_producers()),
        log.epochs.entries(),
    )
