"""The batch header: golden bytes, refusals with the error a broker answers, CRC and patching."""

from __future__ import annotations

import re
import struct

import pytest
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    BatchHeader,
    InvalidBatchError,
    TimestampType,
    add_to_sequence,
    assign_offset,
    compute_crc,
    crc_is_valid,
    read_header,
    renew_crc,
    set_max_timestamp,
    set_producer_state,
    split_batches,
    unpack_header,
    verify_crc,
)
from fencepost_protocol.records.compression import Compression


def annotated(text: str) -> bytes:
    """Bytes of a hex dump whose lines may end in a remark."""
    return bytes.fromhex(re.sub("#.*", "", text))


# As Kafka 4.3.1's MemoryRecordsBuilder wrote it: three records of a transactional producer.
GOLDEN = annotated("""
    00 00 00 00 00 00 00 00   # base offset 0
    00 00 00 61               # batch length 97
    ff ff ff ff               # partition leader epoch -1: a producer does not know it
    02                        # magic
    52 d2 58 71               # CRC-32C of all that follows
    00 10                     # attributes: transactional
    00 00 00 02               # last offset delta 2
    00 00 01 8b cf e5 68 00   # base timestamp 1700000000000
    00 00 01 8b cf e5 68 64   # max timestamp 1700000000100
    00 00 00 00 00 00 12 34   # producer id 4660
    00 05                     # producer epoch 5
    00 00 00 0a               # base sequence 10
    00 00 00 03               # three records
    18                        # length 12
    00                        # attributes
    00                        # timestamp delta 0
    00                        # offset delta 0
    04 6b 31                  # key of 2: k1
    08 76 61 6c 31            # value of 4: val1
    00                        # no headers
    14                        # length 10
    00                        # attributes
    c8 01                     # timestamp delta 100
    02                        # offset delta 1
    01                        # null key
    01                        # null value
    02                        # one header
    02 68                     # key of 1: h
    00                        # value of 0
    2e                        # length 23
    00                        # attributes
    01                        # timestamp delta -1
    04                        # offset delta 2
    00                        # empty key
    02 76                     # value of 1: v
    04                        # two headers
    10 74 72 61 63 65 2d 69 64  04 61 62  # trace-id: ab
    04 c3 a9                  01          # é: null
""")

PLAIN = BatchHeader(0, 49, -1, 2, 0, 0, 0, 1000, 1000, -1, -1, -1, 1)


def header_with(**changes: int) -> BatchHeader:
    """The header of an ordinary batch, apart from some fields."""
    return PLAIN._replace(**changes)


def test_golden_header() -> None:
    header = read_header(GOLDEN)
    assert header == BatchHeader(
        base_offset=0,
        batch_length=97,
        partition_leader_epoch=-1,
        magic=2,
        crc=0x52D25871,
        attributes=0x10,
        last_offset_delta=2,
        base_timestamp=1_700_000_000_000,
        max_timestamp=1_700_000_000_100,
        producer_id=4660,
        producer_epoch=5,
        base_sequence=10,
        record_count=3,
    )
    assert unpack_header(b"..." + GOLDEN, 3) == unpack_header(memoryview(GOLDEN))
    assert header.size_in_bytes == len(GOLDEN) == 109
    assert (header.last_offset, header.next_offset, header.last_sequence) == (2, 3, 12)
    assert header.codec is Compression.NONE
    assert header.timestamp_type is TimestampType.CREATE_TIME
    assert header.is_transactional
    assert header.has_producer_id
    assert not header.is_control
    assert not header.has_delete_horizon
    assert header.delete_horizon_ms is None
    verify_crc(GOLDEN)


def test_attribute_bits() -> None:
    assert [header_with(attributes=n).codec for n in range(5)] == list(Compression)
    assert header_with(attributes=0x08).timestamp_type is TimestampType.LOG_APPEND_TIME
    control = header_with(attributes=0x20)
    assert (control.is_control, control.is_transactional) == (True, False)
    horizon = header_with(attributes=0x40, base_timestamp=77)
    assert (horizon.has_delete_horizon, horizon.delete_horizon_ms) == (True, 77)
    assert not header_with().has_producer_id
    assert header_with(producer_id=0).has_producer_id
    for number in (5, 6, 7):
        with pytest.raises(InvalidBatchError, match=f"type {number}") as refusal:
            _ = header_with(attributes=number).codec
        assert refusal.value.error == "UNSUPPORTED_COMPRESSION_TYPE"
        assert refusal.value.error_code == 76


def test_sequence_numbers_wrap_to_zero() -> None:
    assert add_to_sequence(2**31 - 1, 1) == 0
    assert add_to_sequence(2**31 - 3, 5) == 2
    assert header_with(base_sequence=2**31 - 1, last_offset_delta=0).last_sequence == 2**31 - 1
    assert header_with(base_sequence=2**31 - 1, last_offset_delta=3).last_sequence == 2
    assert header_with(base_sequence=-1, last_offset_delta=3).last_sequence == -1


def patched(batch: bytes, pos: int, data: bytes) -> bytes:
    return batch[:pos] + data + batch[pos + len(data) :]


REFUSALS = [
    ("nothing", b"", "INVALID_RECORD", 0),
    ("no length", GOLDEN[:11], "INVALID_RECORD", 0),
    ("negative length", patched(GOLDEN, 8, struct.pack(">i", -1)), "CORRUPT_MESSAGE", 8),
    ("length of no message", patched(GOLDEN, 8, struct.pack(">i", 13)), "CORRUPT_MESSAGE", 8),
    ("up to the magic", GOLDEN[:16], "INVALID_RECORD", 0),
    ("magic 0", patched(GOLDEN, 16, b"\x00"), "INVALID_RECORD", 16),
    ("magic 1", patched(GOLDEN, 16, b"\x01"), "INVALID_RECORD", 16),
    ("magic 3", patched(GOLDEN, 16, b"\x03"), "CORRUPT_MESSAGE", 16),
    ("magic 5", patched(GOLDEN, 16, b"\x05"), "CORRUPT_MESSAGE", 16),
    ("magic -1", patched(GOLDEN, 16, b"\xff"), "CORRUPT_MESSAGE", 16),
    ("magic 5, torn", patched(GOLDEN, 16, b"\x05")[:40], "CORRUPT_MESSAGE", 16),
    ("torn in the header", GOLDEN[:60], "INVALID_RECORD", 0),
    ("torn in the records", GOLDEN[:-1], "INVALID_RECORD", 0),
    ("length 2^31-1", patched(GOLDEN, 8, struct.pack(">i", 2**31 - 1)), "INVALID_RECORD", 0),
    ("shorter than a header", patched(GOLDEN, 8, struct.pack(">i", 48)), "CORRUPT_MESSAGE", 8),
    ("a message set of 26 bytes", bytes(11) + b"\x0e" + bytes(14), "INVALID_RECORD", 16),
]


@pytest.mark.parametrize(
    ("data", "error", "offset"), [case[1:] for case in REFUSALS], ids=[case[0] for case in REFUSALS]
)
def test_refusals_say_what_a_broker_answers(data: bytes, error: str, offset: int) -> None:
    for before in (b"", b"12345"):
        with pytest.raises(InvalidBatchError) as refusal:
            unpack_header(before + data, len(before))
        assert refusal.value.error == error
        assert refusal.value.error_code == {"INVALID_RECORD": 87, "CORRUPT_MESSAGE": 2}[error]
        assert refusal.value.offset == len(before) + offset
        with pytest.raises(InvalidBatchError):
            read_header(memoryview(before + data), len(before))


# --- several ----------------------------------------------------------------------------------


def test_splitting_gives_each_batch_and_its_bytes() -> None:
    second = bytearray(GOLDEN)
    assign_offset(second, 3, 7)
    found = list(split_batches(GOLDEN + second))
    assert [header.base_offset for header, _ in found] == [0, 3]
    assert [bytes(batch) for _, batch in found] == [GOLDEN, bytes(second)]
    assert list(split_batches(b"")) == []


def test_a_torn_end_is_tolerated_on_demand_wherever_it_is() -> None:
    for cut in range(1, len(GOLDEN)):
        torn = GOLDEN + GOLDEN[:cut]
        assert len(list(split_batches(torn, tolerate_partial=True))) == 1
        batches = split_batches(torn)
        next(batches)
        with pytest.raises(InvalidBatchError):
            next(batches)


@pytest.mark.parametrize(
    ("pos", "data"),
    [(8, struct.pack(">i", 0)), (8, struct.pack(">i", 48)), (16, b"\x01"), (16, b"\x07")],
)
def test_a_wrong_end_is_not_a_torn_one(pos: int, data: bytes) -> None:
    batches = split_batches(GOLDEN + patched(GOLDEN, pos, data)[:-1], tolerate_partial=True)
    next(batches)
    with pytest.raises(InvalidBatchError) as refusal:
        next(batches)
    assert refusal.value.offset == len(GOLDEN) + pos


def test_too_short_a_length_does_not_make_a_torn_batch() -> None:
    for cut in (12, 16, 17, 30):
        torn = patched(GOLDEN, 8, struct.pack(">i", 48))[:cut]
        with pytest.raises(InvalidBatchError):
            list(split_batches(torn, tolerate_partial=True))
        torn = patched(GOLDEN, 8, struct.pack(">i", 49))[:cut]
        assert list(split_batches(torn, tolerate_partial=True)) == []


# --- CRC and patching -------------------------------------------------------------------------


def test_the_crc_covers_every_byte_from_the_attributes_on_and_none_before() -> None:
    for pos in range(len(GOLDEN)):
        flipped = bytearray(GOLDEN)
        flipped[pos] ^= 0x40
        still_valid = pos < 17
        assert crc_is_valid(memoryview(flipped)) is still_valid
        if not still_valid:
            with pytest.raises(InvalidBatchError, match="CRC") as refusal:
                verify_crc(flipped)
            assert (refusal.value.error, refusal.value.error_code) == ("CORRUPT_MESSAGE", 2)
    assert compute_crc(GOLDEN) == 0x52D25871


def test_assigning_an_offset_leaves_the_crc_alone() -> None:
    buf = bytearray(b"abc" + GOLDEN + b"def")
    assign_offset(memoryview(buf), 1 << 40, 12, pos=3)
    assert buf[:3] == b"abc"
    assert buf[-3:] == b"def"
    header = read_header(buf, 3)
    assert (header.base_offset, header.partition_leader_epoch) == (1 << 40, 12)
    assert buf[3 + 8 : 3 + 12] == GOLDEN[8:12]
    assert buf[3 + 16 : -3] == GOLDEN[16:]
    verify_crc(buf[3:-3])


def test_log_append_time() -> None:
    """As Kafka's setMaxTimestamp did it to this batch."""
    batch = bytearray.fromhex(
        "00000000000000640000004b0000000302b498ed6a0000000000020000000000001388000000000000"
        "1392ffffffffffffffffffffffffffff000000030e0000000261010010000202026202760010001404"
        "0263027700"
    )
    verify_crc(batch)
    original = bytes(batch)
    set_max_timestamp(batch, TimestampType.LOG_APPEND_TIME, 7777)
    assert batch == bytes.fromhex(
        "00000000000000640000004b00000003022926759c0008000000020000000000001388000000000000"
        "1e61ffffffffffffffffffffffffffff000000030e0000000261010010000202026202760010001404"
        "0263027700"
    )
    set_max_timestamp(batch, TimestampType.CREATE_TIME, 5010)
    assert batch == original


def test_numbering_a_batch_again() -> None:
    buf = bytearray(b"x" + GOLDEN)
    set_producer_state(buf, 9, 1, 0, pos=1)
    verify_crc(buf[1:])
    header = read_header(buf, 1)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (9, 1, 0)
    assert buf[1 + HEADER_SIZE :] == GOLDEN[HEADER_SIZE:]


def test_renewing_the_crc_looks_at_one_batch_only() -> None:
    buf = bytearray(b"x" + GOLDEN + b"behind")
    buf[1 + 17 : 1 + 21] = b"1234"
    renew_crc(memoryview(buf), 1)
    assert buf == b"x" + GOLDEN + b"behind"
