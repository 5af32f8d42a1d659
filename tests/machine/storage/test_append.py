"""Appending as a leader: offsets, what is refused, and what the topic's settings change."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.storage.log import LogConfig, Origin
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    NO_TIMESTAMP,
    TimestampType,
    read_header,
    renew_crc,
    verify_crc,
)
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.control import build_end_txn_marker
from fencepost_protocol.records.writer import build_batch

from tests.machine.storage.harness import (
    NOW,
    append,
    batch,
    of_producer,
    offsets_and_values,
    open_log,
    read_all,
)


def test_offsets_follow_one_another() -> None:
    log = open_log()
    first = append(log, batch(3))
    second = append(log, batch(1))
    assert (first.base_offset, first.last_offset) == (0, 2)
    assert (second.base_offset, second.last_offset) == (3, 3)
    assert (log.log_end_offset, log.high_watermark, log.last_stable_offset) == (4, 4, 4)
    assert [offset for offset, _ in offsets_and_values(log)] == [0, 1, 2, 3]


def test_offset_and_leader_epoch_are_patched_and_the_crc_stays_good() -> None:
    log = open_log()
    append(log, batch(2), epoch=4)
    append(log, batch(2), epoch=9)
    headers = [header for header, _ in read_all(log)]
    assert [(header.base_offset, header.partition_leader_epoch) for header in headers] == [
        (0, 4),
        (2, 9),
    ]
    for _, data in read_all(log):
        verify_crc(data)


def test_a_read_only_view_is_copied() -> None:
    log = open_log()
    given = bytes(batch(1))
    append(log, memoryview(given))
    append(log, memoryview(given))
    assert read_header(given).base_offset == 0
    assert log.log_end_offset == 2


def test_nothing_is_kept_of_the_view() -> None:
    log = open_log()
    records = batch([b"precious"])
    append(log, records)
    records[:] = bytes(len(records))
    assert offsets_and_values(log) == [(0, b"precious")]


def changed(records: memoryview, position: int, value: bytes, *, crc: bool = True) -> memoryview:
    records[position : position + len(value)] = value
    if crc:
        renew_crc(records)
    return records


REFUSED = {
    "empty": (memoryview(bytearray()), ErrorCode.INVALID_RECORD),
    "shorter than a header": (memoryview(bytearray(40)), ErrorCode.CORRUPT_MESSAGE),
    "cut off": (batch(3)[:-5], ErrorCode.INVALID_RECORD),
    "two batches": (memoryview(bytearray(batch(1)) * 2), ErrorCode.INVALID_RECORD),
    "magic 1": (changed(batch(1), 16, b"\x01", crc=False), ErrorCode.INVALID_RECORD),
    "magic 5": (changed(batch(1), 16, b"\x05", crc=False), ErrorCode.CORRUPT_MESSAGE),
    "wrong CRC": (changed(batch(1), HEADER_SIZE, b"\x7f", crc=False), ErrorCode.CORRUPT_MESSAGE),
    "base offset": (batch(1, base_offset=1), ErrorCode.INVALID_RECORD),
    "count above offsets": (changed(batch(2), 57, b"\0\0\0\3"), ErrorCode.INVALID_RECORD),
    "offsets above count": (changed(batch(2), 23, b"\0\0\0\2"), ErrorCode.INVALID_RECORD),
    "count of zero": (changed(batch(1), 57, b"\0\0\0\0"), ErrorCode.INVALID_RECORD),
    "count beyond the bytes": (
        changed(changed(batch(1), 57, b"\0\1\0\0"), 23, b"\0\0\xff\xff"),
        ErrorCode.INVALID_RECORD,
    ),
    "negative last offset": (changed(batch(1), 23, b"\xff\xff\xff\xff"), ErrorCode.INVALID_RECORD),
    "control batch": (
        memoryview(
            build_end_txn_marker(
                committed=True,
                producer_id=1,
                producer_epoch=0,
                coordinator_epoch=0,
                timestamp_ms=NOW,
            )
        ),
        ErrorCode.INVALID_RECORD,
    ),
    "no sequence": (of_producer(-1), ErrorCode.INVALID_RECORD),
    "codec 5": (changed(batch(1), 21, b"\0\5"), ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_batch_is_refused_and_nothing_changes(name: str) -> None:
    records, error = REFUSED[name]
    log = open_log()
    append(log, batch(1))
    result = log.append_as_leader(memoryview(bytearray(records)), 0, NOW)
    assert result.error is error, result
    assert result.message
    assert result.base_offset == -1
    assert log.log_end_offset == 1
    assert append(log, batch(1)).base_offset == 1


def test_the_beginning_of_a_second_batch_is_overlooked() -> None:
    log = open_log()
    records = bytearray(batch(1)) + bytearray(batch(1))[:30]
    append(log, memoryview(records))
    append(log, batch(1))
    assert [offset for offset, _ in offsets_and_values(log)] == [0, 1]


def test_garbage_behind_the_batch_is_corrupt() -> None:
    records = memoryview(bytearray(batch(1)) + bytes(30))
    assert open_log().append_as_leader(records, 0, NOW).error is ErrorCode.CORRUPT_MESSAGE


def test_sizes() -> None:
    size = len(batch([b"x" * 500]))
    log = open_log(max_message_bytes=size)
    append(log, batch([b"x" * 500]))
    result = log.append_as_leader(batch([b"x" * 501]), 0, NOW)
    assert result.error is ErrorCode.MESSAGE_TOO_LARGE
    log = open_log(segment_bytes=size - 1)
    result = log.append_as_leader(batch([b"x" * 500]), 0, NOW)
    assert result.error is ErrorCode.RECORD_LIST_TOO_LARGE
    assert log.log_end_offset == 0


def test_timestamps_in_the_future_are_refused_with_their_records() -> None:
    log = open_log(message_timestamp_after_max_ms=1000)
    append(log, batch(1, time=NOW + 1000))
    times = [NOW, NOW + 1001, NOW + 5, NOW + 2000]
    result = log.append_as_leader(batch(4, time=times), 0, NOW)
    assert result.error is ErrorCode.INVALID_TIMESTAMP
    assert [error.batch_index for error in result.record_errors] == [1, 3]
    assert log.log_end_offset == 1


def test_timestamps_in_the_past_are_refused_when_bounded() -> None:
    append(open_log(), batch(1, time=0))
    log = open_log(message_timestamp_before_max_ms=500)
    append(log, batch(2, time=[NOW - 500, NOW]))
    result = log.append_as_leader(batch(2, time=[NOW, NOW - 501]), 0, NOW)
    assert result.error is ErrorCode.INVALID_TIMESTAMP
    assert [error.batch_index for error in result.record_errors] == [1]
    append(log, batch(1, time=NO_TIMESTAMP))


def test_log_append_time_stamps_the_batch() -> None:
    log = open_log(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
    result = append(log, batch(2, time=5), now=NOW)
    assert result.log_append_time_ms == NOW
    [(header, data)] = read_all(log)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert header.max_timestamp == NOW
    verify_crc(data)


def test_create_time_has_no_append_time_in_its_answer() -> None:
    assert append(open_log(), batch(1)).log_append_time_ms == NO_TIMESTAMP


def test_a_producer_cannot_stamp() -> None:
    stamped: dict[str, Any] = {
        "timestamp_type": TimestampType.LOG_APPEND_TIME,
        "log_append_time_ms": NOW,
    }
    log = open_log(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
    result = log.append_as_leader(batch(2, **stamped), 0, NOW)
    assert result.error is ErrorCode.INVALID_TIMESTAMP
    assert len(result.record_errors) == 2
    log = open_log()
    append(log, batch(2, **stamped))
    [(header, data)] = read_all(log)
    assert header.timestamp_type is TimestampType.CREATE_TIME
    verify_crc(data)


def test_a_compacted_topic_wants_keys() -> None:
    log = open_log(compact=True)
    result = log.append_as_leader(batch(3, keys=[b"a", None, b""]), 0, NOW)
    assert result.error is ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in result.record_errors] == [1]
    append(log, batch(2, keys=[b"a", b""]))
    assert log.append_as_leader(batch(1), 0, NOW, Origin.COORDINATOR).error is ErrorCode.NONE


@pytest.mark.parametrize("given", Compression)
@pytest.mark.parametrize("wanted", [None, *Compression])
def test_a_topic_may_have_a_codec_of_its_own(
    given: Compression, wanted: Compression | None
) -> None:
    log = open_log(compression_type=wanted)
    values: list[bytes | None] = [b"x" * 1000, None, b"y" * 1000]
    original = bytes(batch(values, codec=given, producer_id=3, producer_epoch=1, base_sequence=0))
    append(log, memoryview(bytearray(original)))
    [(header, data)] = read_all(log)
    assert header.codec is (given if wanted is None else wanted)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (3, 1, 0)
    assert offsets_and_values(log) == list(enumerate(values))
    verify_crc(data)
    if wanted in (None, given):
        assert data[HEADER_SIZE:] == original[HEADER_SIZE:]


def test_a_batch_that_grows_too_large_by_decompression_is_refused() -> None:
    records = batch([b"x" * 100_000], codec=Compression.ZSTD)
    log = open_log(compression_type=Compression.NONE, max_message_bytes=50_000)
    assert log.append_as_leader(records, 0, NOW).error is ErrorCode.MESSAGE_TOO_LARGE


def test_bytes_that_do_not_decompress_are_refused_where_they_have_to() -> None:
    records = batch([b"x" * 100], codec=Compression.GZIP)
    records[HEADER_SIZE:] = bytes(len(records) - HEADER_SIZE)
    renew_crc(records)
    log = open_log(compression_type=Compression.NONE)
    assert log.append_as_leader(records, 0, NOW).error is ErrorCode.INVALID_RECORD


def poisoned(count: int, codec: Compression = Compression.NONE) -> memoryview:
    """A batch whose header is right and whose last record is not."""
    records = batch(count, codec=codec)
    records[len(records) - 1] ^= 0x55
    renew_crc(records)
    return records


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
@pytest.mark.parametrize(
    ("validation", "count", "error"),
    [
        ("all", 10, ErrorCode.INVALID_RECORD),
        ("all", 11, ErrorCode.INVALID_RECORD),
        ("few", 10, ErrorCode.INVALID_RECORD),
        ("few", 11, None),
        ("none", 1, ErrorCode.NONE),
    ],
)
def test_records_are_looked_at_as_the_setting_says(
    validation: str, count: int, error: ErrorCode | None, codec: Compression
) -> None:
    if error is None:  # what is compressed is unpacked and counted
        error = ErrorCode.INVALID_RECORD if codec else ErrorCode.NONE
    log = open_log()
    log.configure(LogConfig.from_settings({"record.validation": validation}))
    result = log.append_as_leader(poisoned(count, codec), 0, NOW)
    assert result.error is error
    assert bool(result.message) == bool(error)
    assert log.log_end_offset == (0 if error else count)


@pytest.mark.parametrize("codec", [each for each in Compression if each])
@pytest.mark.parametrize("held", [1, 49, 51])
@pytest.mark.parametrize("timestamp_type", list(TimestampType))
def test_a_compressed_batch_that_lies_about_its_number_is_refused(
    codec: Compression, held: int, timestamp_type: TimestampType
) -> None:
    log = open_log(message_timestamp_type=timestamp_type)
    for claimed in (50, (1 << 31) - 1):
        records = batch([b"x" * 1_000] * held, codec=codec)
        records[23:27] = (claimed - 1).to_bytes(4, "big")
        records[57:61] = claimed.to_bytes(4, "big")
        renew_crc(records)
        result = log.append_as_leader(memoryview(records), 0, NOW)
        assert result.error is ErrorCode.INVALID_RECORD
        assert result.message
    append(log, memoryview(batch([b"x" * 1_000] * 50, codec=codec)))
    assert log.log_end_offset == 50


@pytest.mark.parametrize("codec", [Compression.ZSTD, Compression.GZIP])
@pytest.mark.parametrize(("megabytes", "error"), [(15, None), (17, ErrorCode.INVALID_RECORD)])
def test_what_a_topic_asks_to_be_unpacked_is_bounded(
    codec: Compression, megabytes: int, error: ErrorCode | None
) -> None:
    value = bytes(megabytes << 20)
    for config in ({"compact": True}, {"compression_type": Compression.LZ4}):
        log = open_log(**config)
        records = build_batch([b"k"], [value], NOW, codec=codec)
        result = log.append_as_leader(memoryview(records), 0, NOW)
        assert (result.error or None) == error, config
        assert "16777216" in (result.message or "16777216")


def test_what_unpacks_to_much_is_believed_unless_all_are_looked_at() -> None:
    large = batch([bytes(2 << 20)], codec=Compression.GZIP)
    large[35:43] = (7).to_bytes(8, "big")  # the largest timestamp, which nobody looks at
    renew_crc(large)
    for validation, stored in (("few", 7), ("all", NOW)):
        log = open_log()
        log.configure(LogConfig.from_settings({"record.validation": validation}))
        append(log, memoryview(bytearray(large)))
        assert read_all(log)[0][0].max_timestamp == stored


@pytest.mark.parametrize("codec", [None, Compression.LZ4])
@pytest.mark.parametrize("claimed", [NOW - 1, NOW + 1])
def test_a_header_with_another_largest_timestamp_is_put_right(
    claimed: int, codec: Compression | None
) -> None:
    log = open_log(compression_type=codec)
    append(log, changed(batch(2), 35, claimed.to_bytes(8, "big")))
    [(header, data)] = read_all(log)
    assert header.max_timestamp == NOW
    verify_crc(data)
