"""Control batches, against what Kafka 4.3.1 wrote."""

from __future__ import annotations

import pytest
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import read_header, verify_crc
from fencepost_protocol.records.control import (
    ControlType,
    build_control_batch,
    build_end_txn_marker,
    read_control_record,
    read_control_records,
    read_control_type,
)
from fencepost_protocol.records.writer import BatchBuilder, build_batch

COMMIT = bytes.fromhex(
    "0000000000000005"  # base offset 5
    "00000042"  # batch length 66
    "00000007"  # partition leader epoch 7
    "02e9abc097"  # magic 2 and the CRC
    "0030"  # transactional, control
    "00000000"  # last offset delta 0
    "0000018bcfe56800"  # base and max timestamp
    "0000018bcfe56800"
    "0000000000001234"  # producer id
    "0005"  # producer epoch
    "ffffffff"  # base sequence -1
    "00000001"  # one record
    "20000000"  # length 16, attributes, deltas 0
    "0800000001"  # key of 4: version 0, type 1
    "0c00000000000c"  # value of 6: version 0, coordinator epoch 12
    "00"  # no headers
)
ABORT = bytes.fromhex(
    "00000000000000050000004200000007021d9516df0030000000000000018bcfe568000000018bcfe5"
    "680000000000000012340005ffffffff000000012000000008000000000c00000000000c00"
)
LEADER_CHANGE = bytes.fromhex(
    "0000000000000005000000450000000702085b331500200000000000000000000003e8000000000000"
    "03e8ffffffffffffffffffffffffffff000000012600000008000000021200000000000301010000"
)


@pytest.mark.parametrize(("committed", "golden"), [(True, COMMIT), (False, ABORT)])
def test_end_of_transaction_marker(committed: bool, golden: bytes) -> None:
    batch = build_end_txn_marker(
        committed=committed,
        producer_id=4660,
        producer_epoch=5,
        coordinator_epoch=12,
        timestamp_ms=1_700_000_000_000,
        base_offset=5,
        partition_leader_epoch=7,
    )
    assert batch == golden
    verify_crc(batch)
    record = read_control_record(golden)
    assert record.type is (ControlType.COMMIT if committed else ControlType.ABORT)
    assert record.coordinator_epoch == 12
    assert (record.offset, record.timestamp) == (5, 1_700_000_000_000)
    header = read_header(golden)
    assert header.is_control
    assert header.is_transactional


def test_control_batch_of_a_quorum() -> None:
    record = read_control_record(LEADER_CHANGE)
    assert (record.type, record.type_id) == (ControlType.LEADER_CHANGE, 2)
    assert record.value == bytes.fromhex("000000000003010100")
    rebuilt = build_control_batch(
        [(record.type, record.value)], 1000, base_offset=5, partition_leader_epoch=7
    )
    assert rebuilt == LEADER_CHANGE


def test_several_records() -> None:
    batch = build_control_batch(
        [(ControlType.KRAFT_VERSION, b"\x00\x00"), (ControlType.KRAFT_VOTERS, bytes(20_000))], 5
    )
    first, second = read_control_records(batch)
    assert (first.type, first.value, first.offset) == (ControlType.KRAFT_VERSION, b"\x00\x00", 0)
    assert (second.type, len(second.value), second.offset) == (
        ControlType.KRAFT_VOTERS,
        20_000,
        1,
    )
    with pytest.raises(RemoteProtocolError, match="2 records"):
        read_control_record(batch)


def control(key: bytes | None, value: bytes | None) -> bytearray:
    builder = BatchBuilder()
    builder.append(key, value, 5)
    return builder.build(control=True, transactional=True)


def test_types_and_versions_of_a_later_kafka() -> None:
    unknown = read_control_record(control(b"\x00\x00\x00\x63", b""))
    assert (unknown.type, unknown.type_id) == (ControlType.UNKNOWN, 99)
    assert read_control_record(control(b"\x00\x00\xff\xf0", b"")).type is ControlType.UNKNOWN
    assert read_control_record(control(b"\x00\x00\xff\xff", b"")).type is ControlType.UNKNOWN
    later = read_control_record(control(b"\x00\x01\x00\x01more", b"\x00\x01\x00\x00\x00\x09more"))
    assert (later.type, later.coordinator_epoch) == (ControlType.COMMIT, 9)
    assert read_control_type(b"\x00\x00\x00\x04") == ControlType.SNAPSHOT_FOOTER


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        (None, b"", "without key"),
        (b"\x00\x00\x00\x01", None, "without key or value"),
        (b"\x00\x00\x00", b"", "key of 3 bytes"),
        (b"\xff\xff\x00\x01", b"", "version -1"),
    ],
)
def test_what_is_no_control_record(key: bytes | None, value: bytes | None, reason: str) -> None:
    with pytest.raises(RemoteProtocolError, match=reason):
        read_control_records(control(key, value))


@pytest.mark.parametrize(
    ("value", "reason"), [(b"\x00\x00\x00\x00\x01", "5 bytes"), (b"\xff\xff" + bytes(4), "-1")]
)
def test_what_is_no_marker(value: bytes, reason: str) -> None:
    record = read_control_record(control(b"\x00\x00\x00\x01", value))
    with pytest.raises(RemoteProtocolError, match=reason):
        _ = record.coordinator_epoch


def test_an_applications_batch_is_none() -> None:
    with pytest.raises(RemoteProtocolError, match="not a control batch"):
        read_control_record(build_batch([b"\x00\x00\x00\x01"], [bytes(6)], 5))
