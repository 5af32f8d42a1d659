"""What is built can be read again, by every reader, whatever it is."""

from __future__ import annotations

from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    TimestampType,
    read_header,
    split_batches,
    verify_crc,
)
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.compression import Compression, compress, decompress
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.rewrite import rewrite_batch
from fencepost_protocol.records.writer import BatchBuilder, build_batch, build_lone_record
from fencepost_protocol.varint import (
    read_uvarint,
    read_varint,
    read_varlong,
    uvarint_size,
    varint_size,
    varlong_size,
    write_uvarint,
    write_varint,
    write_varlong,
)
from hypothesis import given, settings
from hypothesis import strategies as st

Headers = list[tuple[str, bytes | None]]
Item = tuple[bytes | None, bytes | None, int, Headers]

unhurried = settings(deadline=None)

SIZES = st.sampled_from([0, 1, 62, 63, 64, 65, 8190, 8191, 8192])
BLOBS = st.none() | st.binary(max_size=90) | SIZES.map(bytes)
TIMES = st.integers(-1, 2**62) | st.integers(1000, 1200) | st.integers(1000, 20_000)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
HEADERS: st.SearchStrategy[Headers] = st.just([]) | st.lists(
    st.tuples(NAMES, st.none() | st.binary(max_size=80)), max_size=4
)
ITEMS: st.SearchStrategy[list[Item]] = st.lists(
    st.tuples(BLOBS, BLOBS, TIMES, HEADERS), min_size=1, max_size=80
)
CODECS = st.sampled_from(list(Compression))


@unhurried
@given(st.binary(max_size=3000) | SIZES.map(lambda size: b"text" * size), CODECS)
def test_compression(data: bytes, codec: Compression) -> None:
    assert decompress(codec, compress(codec, data), len(data)) == data


@unhurried
@given(
    key=st.binary(max_size=90) | SIZES.map(bytes),
    value=BLOBS,
    timestamp_ms=TIMES,
    producer_id=st.integers(-1, 2**63 - 1),
    producer_epoch=st.integers(-1, 2**15 - 1),
    transactional=st.booleans(),
)
def test_a_lone_record_is_the_batch_that_any_would_be(
    *,
    key: bytes,
    value: bytes | None,
    timestamp_ms: int,
    producer_id: int,
    producer_epoch: int,
    transactional: bool,
) -> None:
    assert build_lone_record(
        key,
        value,
        timestamp_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=transactional,
    ) == build_batch(
        [key],
        [value],
        timestamp_ms,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=transactional,
    )


@unhurried
@given(
    items=ITEMS,
    codec=CODECS,
    base_offset=st.integers(0, 2**62),
    producer_id=st.integers(-1, 2**63 - 1),
    producer_epoch=st.integers(-1, 2**15 - 1),
    base_sequence=st.integers(-1, 2**31 - 1),
    transactional=st.booleans(),
    leader_epoch=st.integers(-1, 2**31 - 1),
)
def test_batches(
    items: list[Item],
    codec: Compression,
    base_offset: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    transactional: bool,
    leader_epoch: int,
) -> None:
    keys = [item[0] for item in items]
    values = [item[1] for item in items]
    times = [item[2] for item in items]
    headers = {index: item[3] for index, item in enumerate(items) if item[3]}
    batch = build_batch(
        keys,
        values,
        times,
        headers,
        codec=codec,
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        transactional=transactional,
        partition_leader_epoch=leader_epoch,
    )
    verify_crc(batch)
    ((header, view),) = split_batches(batch)
    assert view == batch
    assert header.size_in_bytes == len(batch)
    assert header.record_count == len(items) == header.last_offset_delta + 1
    assert (header.base_offset, header.partition_leader_epoch) == (base_offset, leader_epoch)
    assert (header.producer_id, header.producer_epoch) == (producer_id, producer_epoch)
    assert (header.base_sequence, header.is_transactional) == (base_sequence, transactional)
    assert (header.base_timestamp, header.max_timestamp) == (times[0], max(times))
    assert header.codec is codec

    columns = read_columns(batch)
    assert columns.offsets == list(range(base_offset, base_offset + len(items)))
    assert (columns.keys, columns.values) == (keys, values)
    assert (columns.timestamps, columns.headers) == (times, headers)
    for item, offset, record in zip(items, columns.offsets, iter_records(batch), strict=True):
        assert (record.key, record.value, record.timestamp, record.headers) == item
        assert record.offset == offset

    builder = BatchBuilder(1 << 30)
    for key, value, time, pairs in items:
        builder.append(key, value, time, pairs)
    assert builder.size_in_bytes == len(builder.build())
    plain = builder.build(base_offset=base_offset)
    assert plain == build_batch(keys, values, times, headers, base_offset=base_offset)


@unhurried
@given(
    items=ITEMS,
    codec=CODECS,
    gaps=st.lists(st.integers(0, 9000), min_size=80, max_size=80),
    kept=st.sets(st.integers(0, 79)),
    horizon=st.none() | st.integers(0, 2**62),
    stamp=st.none() | st.integers(0, 2**62),
)
def test_compaction_keeps_what_it_keeps(
    items: list[Item],
    codec: Compression,
    gaps: list[int],
    kept: set[int],
    horizon: int | None,
    stamp: int | None,
) -> None:
    builder = BatchBuilder(1 << 30)
    delta = -1
    for (key, value, time, pairs), gap in zip(items, gaps, strict=False):
        delta += 1 + gap
        builder.append(key, value, time, pairs, offset_delta=delta)
    batch = (
        builder.build(codec=codec, last_offset_delta=delta + gaps[0])
        if stamp is None
        else builder.build(
            codec=codec,
            last_offset_delta=delta + gaps[0],
            timestamp_type=TimestampType.LOG_APPEND_TIME,
            log_append_time_ms=stamp,
        )
    )
    before = list(iter_records(batch))
    keep = {record.offset for index, record in enumerate(before) if index in kept}
    rewritten = rewrite_batch(batch, keep.__contains__, delete_horizon_ms=horizon)
    verify_crc(rewritten)
    after = list(iter_records(rewritten))
    assert after == [record for record in before if record.offset in keep]
    assert read_header(rewritten).last_offset == read_header(batch).last_offset
    assert read_header(rewritten).record_count == len(keep)
    if keep:
        assert read_header(rewritten).delete_horizon_ms == horizon
    else:
        assert len(rewritten) == HEADER_SIZE


@unhurried
@given(st.integers(0, 2**32 - 1), st.binary(max_size=3))
def test_unsigned_varints(value: int, before: bytes) -> None:
    out = bytearray(before)
    write_uvarint(out, value)
    assert len(out) - len(before) == uvarint_size(value)
    assert read_uvarint(out, len(before)) == (value, len(out))


@unhurried
@given(st.integers(-(2**31), 2**31 - 1), st.binary(max_size=3))
def test_varints(value: int, before: bytes) -> None:
    out = bytearray(before)
    write_varint(out, value)
    assert len(out) - len(before) == varint_size(value)
    assert read_varint(out, len(before)) == (value, len(out))


@unhurried
@given(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=3))
def test_varlongs(value: int, before: bytes) -> None:
    out = bytearray(before)
    write_varlong(out, value)
    assert len(out) - len(before) == varlong_size(value)
    assert read_varlong(out, len(before)) == (value, len(out))


@unhurried
@given(st.binary(min_size=1, max_size=12))
def test_what_a_varint_reader_takes_it_takes_within_its_bounds(data: bytes) -> None:
    for read, low, high, most in (
        (read_uvarint, 0, 2**32 - 1, 5),
        (read_varint, -(2**31), 2**31 - 1, 5),
        (read_varlong, -(2**63), 2**63 - 1, 10),
    ):
        try:
            value, pos = read(data, 0)
        except (IndexError, ValueError):
            continue
        assert low <= value <= high
        assert 1 <= pos <= min(most, len(data))
