"""Fuzz target: any bytes as record batches, walked, read by all readers, and rewritten.

``target`` lets nothing out but what is wrong with us. Everything that the input may do is either to
be read, and then in the same way by everyone, or to raise ``RemoteProtocolError``.
"""

from __future__ import annotations

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    add_to_sequence,
    codec_of,
    renew_crc,
    split_batches,
    unpack_header,
    verify_crc,
)
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.control import (
    ControlType,
    build_control_batch,
    build_end_txn_marker,
    read_control_records,
)
from fencepost_protocol.records.reader import Record, iter_records
from fencepost_protocol.records.rewrite import rewrite_batch
from fencepost_protocol.records.spans import read_spans
from fencepost_protocol.records.writer import BatchBuilder, build_batch

LIMIT = 1 << 20
"""What a compressed batch may hold here: enough for every branch, too little to be slow."""


def target(data: bytes) -> None:
    """Run everything that reads batches over ``data``."""
    try:
        for header, batch in split_batches(data, tolerate_partial=True):
            assert len(batch) == header.size_in_bytes >= HEADER_SIZE
            _read(batch)
    except RemoteProtocolError as error:
        _check(error)
    try:
        unpack_header(data)
        verify_crc(data)
    except RemoteProtocolError as error:
        _check(error)


def _read(batch: memoryview) -> None:
    fields = unpack_header(batch)
    add_to_sequence(fields[11], fields[6])
    records: list[Record] | None = None
    try:
        codec_of(fields[5])
        records = list(iter_records(batch, LIMIT))
    except RemoteProtocolError as error:
        _check(error)
    try:
        columns = read_columns(batch, LIMIT)
    except RemoteProtocolError as error:
        _check(error)
        assert records is None, "one reader refuses what the other reads"
        _read_spans(batch, None)
        return
    assert records is not None, "one reader refuses what the other reads"
    assert len(columns) == len(records) == fields[12]
    for index, record in enumerate(records):
        assert record.offset == columns.offsets[index]
        assert record.timestamp == columns.timestamps[index]
        assert record.key == columns.keys[index]
        assert record.value == columns.values[index]
        assert record.headers == columns.headers.get(index, [])
    _read_spans(batch, records)
    _rewrite(batch, records)
    try:
        for control in read_control_records(batch, LIMIT):
            if control.type in (ControlType.ABORT, ControlType.COMMIT):
                _ = control.coordinator_epoch
    except RemoteProtocolError as error:
        _check(error)


def _read_spans(batch: memoryview, records: list[Record] | None) -> None:
    """The reader that cuts nothing out; of headers it only looks whether there are any."""
    try:
        spans = read_spans(batch, LIMIT)
        headers = [spans.read_headers(index) for index in range(len(spans))]
    except RemoteProtocolError as error:
        _check(error)
        assert records is None, "spans are refused where others read"
        return
    assert records is not None, "spans are read where others refuse"
    data = spans.data
    assert list(spans.offsets) == [record.offset for record in records]
    assert spans.timestamps() == [record.timestamp for record in records]
    assert headers == [record.headers for record in records]
    for starts, ends, expected in (
        (spans.key_starts, spans.key_ends, [record.key for record in records]),
        (spans.value_starts, spans.value_ends, [record.value for record in records]),
    ):
        pieces = zip(starts, ends, strict=True)
        assert [None if start < 0 else data[start:end] for start, end in pieces] == expected


def _rewrite(batch: memoryview, records: list[Record]) -> None:
    """What compaction keeps has to stay what it is."""
    keep = {record.offset for record in records[::2]}
    try:
        rewritten = rewrite_batch(batch, keep.__contains__, delete_horizon_ms=5000, limit=LIMIT)
    except RemoteProtocolError as error:
        _check(error, "too far")
        return
    verify_crc(rewritten)
    # A batch may repeat an offset; compaction goes by offsets.
    kept = [record for record in records if record.offset in keep]
    assert list(iter_records(rewritten, 2 * LIMIT)) == kept


def _check(error: RemoteProtocolError, reason: str = "") -> None:
    assert str(error)
    assert reason in error.reason
    assert error.offset is None or error.offset >= 0


def _seeds() -> list[bytes]:
    values = [b"value %d" % number for number in range(40)]
    keys: list[bytes | None] = [b"key", None, b"", b"k" * 70] * 10
    headers = {number: [("name", b"content"), ("none", None)] for number in range(0, 40, 3)}
    times = [1000 + 37 * number for number in range(40)]
    seeds = [
        bytes(build_batch(keys, values, times, headers, codec=codec, transactional=True))
        for codec in Compression
    ]
    gaps = BatchBuilder(delete_horizon_ms=9000)
    for number in range(5):
        gaps.append(b"key", None, 1000, offset_delta=number * 100)
    seeds.append(bytes(gaps.build(last_offset_delta=500)))
    marker = build_end_txn_marker(
        committed=True, producer_id=1, producer_epoch=2, coordinator_epoch=3, timestamp_ms=4
    )
    seeds.append(bytes(marker))
    seeds.append(bytes(build_control_batch([(ControlType.KRAFT_VERSION, b"\x00\x00")], 5)))
    seeds.append(bytes(rewrite_batch(seeds[0], lambda _: False)))
    seeds.append(bytes(build_batch(None, [bytes(9000)], 5)))
    alike = build_batch([b"key"] * 150, [b"value"] * 150, [1000 + n // 9 for n in range(150)])
    seeds.append(bytes(alike))
    seeds.append(seeds[0] + seeds[1] + seeds[2][:99])
    return seeds


def with_valid_crc(data: bytes) -> bytes:
    """The same with the CRC of what it became, if it is long enough to have one."""
    try:
        unpack_header(data)
    except RemoteProtocolError:
        return data
    batch = bytearray(data)
    renew_crc(batch)
    return bytes(batch)


SEEDS: list[bytes] = _seeds()
