"""What compaction makes of a batch, against what Kafka 4.3.1's made of the same."""

from __future__ import annotations

import pytest
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import (
    TimestampType,
    read_header,
    renew_crc,
    set_max_timestamp,
    verify_crc,
)
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.rewrite import empty_batch, rewrite_batch
from fencepost_protocol.records.writer import BatchBuilder, build_batch

BATCH = bytes.fromhex(
    "00000000000000640000004b0000000302b498ed6a00000000000200000000000013880000000000001392ff"
    "ffffffffffffffffffffffffff000000030e00000002610100100002020262027600100014040263027700"
)
"""Offset 100: a tombstone of key a at 5000; 101: b=v at 5001; 102: c=w at 5010."""


def test_dropping_a_record_and_setting_a_horizon() -> None:
    rewritten = rewrite_batch(BATCH, {100, 102}.__contains__, delete_horizon_ms=1_000_000)
    assert rewritten == bytes.fromhex(
        "000000000000006400000046000000030237edb47700400000000200000000000f42400000000000001392ff"
        "ffffffffffffffffffffffffff000000021200efba7900026101001400dbba79040263027700"
    )
    assert read_columns(rewritten).timestamps == [5000, 5010]


def test_nothing_left() -> None:
    empty = bytes.fromhex(
        "0000000000000064000000310000000302faaf64b2000000000002ffffffffffffffff0000000000001392ff"
        "ffffffffffffffffffffffffff00000000"
    )
    assert rewrite_batch(BATCH, lambda offset: offset > 102) == empty
    assert empty_batch(read_header(BATCH)) == empty
    assert rewrite_batch(empty) == empty
    assert rewrite_batch(empty, delete_horizon_ms=7) == empty


def test_nothing_dropped_is_a_copy() -> None:
    copy = rewrite_batch(BATCH + b"behind")
    assert copy == BATCH
    assert copy is not BATCH
    assert rewrite_batch(BATCH, lambda _: True) == BATCH


@pytest.mark.parametrize("codec", Compression)
def test_what_stays(codec: Compression) -> None:
    builder = BatchBuilder()
    for number in range(10):
        builder.append(b"key", b"value", 1000 + number, [("h", b"v"), ("n", None)])
    batch = builder.build(
        codec=codec,
        producer_id=5,
        producer_epoch=6,
        base_sequence=7,
        transactional=True,
        base_offset=50,
        partition_leader_epoch=8,
    )
    rewritten = rewrite_batch(batch, lambda offset: offset in (52, 55))
    verify_crc(rewritten)
    before, after = read_header(batch), read_header(rewritten)
    for field in (
        "base_offset",
        "last_offset",
        "last_sequence",
        "partition_leader_epoch",
        "attributes",
        "producer_id",
        "producer_epoch",
        "base_sequence",
    ):
        assert getattr(after, field) == getattr(before, field), field
    assert (after.record_count, after.base_timestamp, after.max_timestamp) == (2, 1002, 1005)
    columns = read_columns(rewritten)
    assert (columns.offsets, columns.timestamps) == ([52, 55], [1002, 1005])
    assert columns.headers == {0: [("h", b"v"), ("n", None)], 1: [("h", b"v"), ("n", None)]}


def test_a_horizon_stays_until_there_is_a_new_one() -> None:
    first = rewrite_batch(BATCH, delete_horizon_ms=9000)
    assert read_header(first).delete_horizon_ms == 9000
    again = rewrite_batch(first, {101}.__contains__)
    assert read_header(again).delete_horizon_ms == 9000
    assert read_columns(again).timestamps == [5001]
    later = rewrite_batch(again, delete_horizon_ms=9500)
    assert read_header(later).delete_horizon_ms == 9500
    assert read_columns(later).timestamps == [5001]


def test_log_append_time_stays() -> None:
    batch = bytearray(BATCH)
    set_max_timestamp(batch, TimestampType.LOG_APPEND_TIME, 7777)
    rewritten = rewrite_batch(batch, {101}.__contains__)
    header = read_header(rewritten)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert (header.base_timestamp, header.max_timestamp) == (7777, 7777)
    assert read_columns(rewritten).timestamps == [7777]
    gone = read_header(rewrite_batch(batch, lambda _: False))
    assert (gone.timestamp_type, gone.max_timestamp) == (TimestampType.LOG_APPEND_TIME, 7777)


def test_bad_batches() -> None:
    for pos, byte, reason in ((60, 2, "left behind"), (64, 9, "not within"), (61, 0x90, "longer")):
        batch = bytearray(BATCH)
        batch[pos] = byte
        renew_crc(batch)
        with pytest.raises(RemoteProtocolError, match=reason):
            rewrite_batch(batch)
    far = build_batch(None, [b""], (1 << 63) - 1)
    with pytest.raises(RemoteProtocolError, match="too far"):
        rewrite_batch(far, delete_horizon_ms=-5)
