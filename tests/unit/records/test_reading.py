"""Reading records, by all readers, which must agree on every batch."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from fencepost_protocol import limits
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.records.batch import HEADER_SIZE, InvalidBatchError
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.compression import Compression, compress
from fencepost_protocol.records.reader import iter_records

from tests.unit.records.readers import Headers, Plain, Reader, batch_of, both, record, zigzag

# --- what is right ----------------------------------------------------------------------------


@both
def test_golden_records(read: Reader) -> None:
    """Kafka 4.3.1 wrote this batch; its bytes are explained in test_batch."""
    batch = bytes.fromhex(
        "000000000000000000000061ffffffff0252d258710010000000020000018bcfe568000000018bcfe5"
        "6864000000000000123400050000000a0000000318000000046b310876616c31001400c80102010102"
        "0268002e000104000276041074726163652d696404616204c3a901"
    )
    assert read(batch) == [
        (0, 1_700_000_000_000, b"k1", b"val1", []),
        (1, 1_700_000_000_100, None, None, [("h", b"")]),
        (2, 1_699_999_999_999, b"", b"v", [("trace-id", b"ab"), ("é", None)]),
    ]


EDGES = [0, 1, 63, 64, 8191, 8192]


@both
def test_every_width_of_every_number(read: Reader) -> None:
    """Lengths and deltas on both sides of where their encoding grows by a byte."""
    sizes = [None, *(bytes(size) for size in EDGES)]
    times = [0, -1, 63, -64, 64, 8191, -8192, 8192, 1 << 40, -(1 << 40)]
    expected: list[Plain] = []
    records = b""
    delta = -1
    for key, value, time in itertools.product(sizes, sizes, times):
        delta += 1
        records += record(delta, time, key, value)
        expected.append((delta, 1000 + time, key, value, []))
    assert read(batch_of(records, len(expected))) == expected
    # The same with every offset delta of one, two and three bytes.
    for delta in EDGES:
        batch = batch_of(record(delta, 0, b"k", b"v"), 1, last_delta=delta, base_offset=7)
        assert read(batch) == [(7 + delta, 1000, b"k", b"v", [])]


@both
@pytest.mark.parametrize("total", range(1, 12))
def test_every_small_record(read: Reader, total: int) -> None:
    """All key and value lengths that small records can have, null included."""
    for key_size in range(-1, total):
        for value_size in range(-1, total - max(key_size, 0)):
            key = None if key_size < 0 else b"k" * key_size
            value = None if value_size < 0 else b"v" * value_size
            records = record(0, 5, key, value) + record(1, 6, value, key)
            assert read(batch_of(records, 2)) == [
                (0, 1005, key, value, []),
                (1, 1006, value, key, []),
            ]


@both
def test_headers(read: Reader) -> None:
    cases: list[Headers] = [
        [("a", b"b")],
        [("", b"")],
        [("a", None), ("a", b""), ("a", b"again")],
        [("ключ", b"\xff" * 63), ("x" * 64, bytes(64))],
        [("x" * 8191, bytes(8192))],
        [(str(number), b"n") for number in range(200)],
    ]
    records = b""
    expected: list[Plain] = []
    for key, value in itertools.product([None, b"", b"key"], [None, b"", b"value", bytes(70)]):
        for headers in cases:
            delta = len(expected)
            records += record(delta, 70, key, value, headers)
            expected.append((delta, 1070, key, value, headers))
    assert read(batch_of(records, len(expected))) == expected


@both
def test_a_header_key_that_is_no_utf8_is_replaced_as_in_java(read: Reader) -> None:
    body = bytes.fromhex("00 00 00 01 01 02 04 6bff 01")
    ((_, _, _, _, headers),) = read(batch_of(zigzag(len(body)) + body, 1))
    assert headers == [("k\ufffd", None)]


@both
def test_any_negative_length_is_null_as_in_java(read: Reader) -> None:
    body = bytes.fromhex("00 00 00 03 05 00")
    assert read(batch_of(zigzag(len(body)) + body, 1)) == [(0, 1000, None, None, [])]
    body = bytes.fromhex("00 00 00 03 02 76 02 02 68 05")
    assert read(batch_of(zigzag(len(body)) + body, 1)) == [(0, 1000, None, b"v", [("h", None)])]


@both
@pytest.mark.parametrize(
    ("rest", "key", "value"),
    [
        ("03 04 02 76 00", None, b"\x02v"),  # or a key of one byte and the value "v"
        ("01 03 80 00", None, None),  # or a value of one byte
    ],
)
@pytest.mark.parametrize("count", [1, 60])
def test_what_could_be_misread_when_the_sign_is_overlooked(
    read: Reader, rest: str, key: bytes | None, value: bytes | None, count: int
) -> None:
    records = b""
    for delta in range(count):
        body = b"\x00\x00" + zigzag(delta) + bytes.fromhex(rest)
        records += zigzag(len(body)) + body
    assert read(batch_of(records, count)) == [
        (delta, 1000, key, value, []) for delta in range(count)
    ]


@both
def test_attributes_of_records_and_padded_numbers_do_not_matter(read: Reader) -> None:
    body = bytes.fromhex("ff 80 00 80 80 80 80 00 82 00 6b 82 00 76 80 00")
    assert read(batch_of(zigzag(len(body)) + body, 1)) == [(0, 1000, b"k", b"v", [])]


@both
def test_log_append_time_is_every_records_time(read: Reader) -> None:
    records = record(0, 0) + record(1, 77) + record(2, -77)
    found = read(batch_of(records, 3, attributes=0x08, max_timestamp=4242))
    assert [plain[1] for plain in found] == [4242, 4242, 4242]


@both
def test_timestamps_are_relative_to_the_delete_horizon(read: Reader) -> None:
    """Kafka's compaction wrote this: offsets 100 and 102 stayed, the horizon is 1000000."""
    batch = bytes.fromhex(
        "000000000000006400000046000000030237edb47700400000000200000000000f4240000000000000"
        "1392ffffffffffffffffffffffffffff000000021200efba7900026101001400dbba79040263027700"
    )
    assert read(batch) == [(100, 5000, b"a", None, []), (102, 5010, b"c", b"w", [])]


@both
@pytest.mark.parametrize("codec", Compression)
def test_compressed(read: Reader, codec: Compression) -> None:
    records = b"".join(record(delta, delta, b"k%d" % delta, bytes(100)) for delta in range(500))
    batch = batch_of(compress(codec, records), 500, attributes=codec)
    assert read(batch) == [
        (delta, 1000 + delta, b"k%d" % delta, bytes(100), []) for delta in range(500)
    ]


@both
@pytest.mark.parametrize("codec", Compression)
def test_a_batch_that_compaction_emptied(read: Reader, codec: Compression) -> None:
    assert read(batch_of(b"", 0, last_delta=9, attributes=codec)) == []
    assert read(batch_of(compress(codec, b""), 0, last_delta=9, attributes=codec)) == []
    assert read(batch_of(b"", 0, last_delta=9, base_timestamp=2**63 - 1)) == []


@both
def test_only_the_first_batch_of_a_buffer_is_read(read: Reader) -> None:
    batch = batch_of(record(0), 1)
    assert read(batch + batch_of(record(0) + record(1), 2)) == read(batch)


def test_views_are_not_copies() -> None:
    batch = bytearray(batch_of(record(0, 0, b"key", b"value"), 1))
    (found,) = iter_records(batch)
    assert found.value is not None
    batch[-6] = ord("V")
    assert bytes(found.value) == b"Value"
    columns = read_columns(batch)
    batch[-6] = ord("W")
    assert columns.values == [b"Value"]


# --- what is wrong ----------------------------------------------------------------------------

GOOD = record(0, 0, b"k", b"v") + record(1, 0, b"k", b"v")

LIES = [
    ("count too small", batch_of(GOOD, 1), "left behind"),
    ("count of none", batch_of(GOOD, 0, last_delta=1), "left behind"),
    ("count too large", batch_of(GOOD, 3), "cannot hold 3"),
    ("count one too large", batch_of(record(0, 0, b"", bytes(30)), 2), "ends? within|0 are left"),
    ("count negative", batch_of(GOOD, -1), "cannot hold -1"),
    ("count 2^31-1", batch_of(GOOD, 2**31 - 1), "cannot hold 2147483647"),
    ("no room", batch_of(b"\x0a" + bytes(5), 1), "cannot hold 1"),
    ("negative length", batch_of(b"\x01" + bytes(20), 1), "of -1 bytes"),
    ("odd length", batch_of(b"\x0d" + record(0)[1:], 1), "of -7 bytes"),
    ("odd length that halves well", batch_of(b"\x0f" + record(0)[1:], 1), "of -8 bytes"),
    (
        "odd lengths of records that are alike",
        batch_of(
            b"".join(record(n) for n in range(32))
            + b"".join(b"\x0f" + record(n)[1:] for n in range(32, 64)) * 2,
            96,
        ),
        "of -8 bytes",
    ),
    (
        "length and value length too large",
        batch_of(zigzag(5007) + bytes([0, 0, 0, 1]) + zigzag(5000) + bytes(50), 1),
        "a record of 5007 bytes",
    ),
    ("length too large", batch_of(b"\x12" + record(0)[1:], 1), "9 bytes, 7 are left"),
    ("length too small", batch_of(b"\x0c" + record(0)[1:], 1), "no room|runs out|left behind"),
    ("length of 5 bytes", batch_of(b"\xff" * 5 + bytes(20), 1), "bits"),
    ("length in 3 bytes", batch_of(b"\x8e\x80\x04" + record(0)[1:] + bytes(9), 1), "are left"),
    ("key too long", batch_of(bytes.fromhex("0e 00 00 00 0e 76 00 00"), 1), "key of 7"),
    ("key up to the end", batch_of(bytes.fromhex("0e 00 00 00 06 76 00 00"), 1), "key of 3"),
    ("value too long", batch_of(bytes.fromhex("0e 00 00 00 01 0e 76 00"), 1), "no room"),
    ("value up to the end", batch_of(bytes.fromhex("0e 00 00 00 01 04 76 00"), 1), "no room"),
    ("value too short", batch_of(bytes.fromhex("0e 00 00 00 01 00 00 00"), 1), "longer"),
    ("null value, a byte more", batch_of(bytes.fromhex("0e 00 00 00 01 01 00 00"), 1), "longer"),
    (
        "bytes behind headers",
        batch_of(bytes.fromhex("14 000000 01 01 02 02 68 01 00"), 1),
        "end at",
    ),
    ("negative headers", batch_of(bytes.fromhex("0e 00 00 00 01 02 76 01"), 1), "hold -1 headers"),
    ("header without bytes", batch_of(bytes.fromhex("0e 00 00 00 01 02 76 02"), 1), "1 headers"),
    ("2^31-1 headers", batch_of(bytes.fromhex("18 000000 01 01 feffffff0f 00 00"), 1), "headers"),
    ("header key null", batch_of(bytes.fromhex("12 000000 01 01 02 01 01 00"), 1), "key of -1"),
    ("header key too long", batch_of(bytes.fromhex("12 000000 01 01 02 06 68 01"), 1), "key of 3"),
    ("header value too long", batch_of(bytes.fromhex("12 000000 01 01 02 02 68 04"), 1), "of 2 b"),
    (
        "header key overlong",
        batch_of(b"\x1a" + bytes(3) + b"\x01\x01\x02" + b"\xff" * 7, 1),
        "bits",
    ),
    ("time overlong", batch_of(b"\x20\x00" + b"\xff" * 11 + bytes(4), 1), "64 bits"),
    ("delta overlong", batch_of(b"\x14\x00\x00" + b"\xff" * 5 + bytes(3), 1), "32 bits"),
    ("offset negative", batch_of(record(-1), 1), "delta -1 is not within"),
    ("offset behind the batch", batch_of(record(0) + record(2), 2), "delta 2 is not within 0..1"),
    ("more offsets than room", batch_of(record(0) + record(1), 2, last_delta=0), "not within 0..0"),
    ("time beyond 64 bits", batch_of(record(0, 9), 1, base_timestamp=2**63 - 9), "64 bits"),
    ("time below 64 bits", batch_of(record(0, -9), 1, base_timestamp=8 - 2**63), "64 bits"),
    ("delta of 2^63 - 1", batch_of(record(0, 2**63 - 1), 1, base_timestamp=2**61), "64 bits"),
    ("delta of 2^62", batch_of(record(0, 2**62), 1, base_timestamp=2**62), "64 bits"),
    ("offset beyond 64 bits", batch_of(GOOD, 2, base_offset=2**63 - 1), "64 bits"),
    ("codec 6", batch_of(GOOD, 2, attributes=6), "compression type 6"),
    ("not compressed", batch_of(GOOD, 2, attributes=4), "zstd"),
    ("magic 1", batch_of(GOOD, 2)[:16] + b"\x01" + batch_of(GOOD, 2)[17:], "magic 1"),
]


@both
@pytest.mark.parametrize(
    ("batch", "reason"), [case[1:] for case in LIES], ids=[case[0] for case in LIES]
)
def test_lies_are_refused_with_a_reason(read: Reader, batch: bytes, reason: str) -> None:
    with pytest.raises(RemoteProtocolError, match=reason):
        read(batch)


@both
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_the_error_tells_the_byte(read: Reader, codec: Compression) -> None:
    """From the start of the batch, or of the records that came out of a compressed one."""
    wrong = record(2, 0, b"k", b"v")[:-1] + b"\x07"
    records = GOOD + wrong
    batch = batch_of(compress(codec, records), 3, attributes=codec)
    with pytest.raises(InvalidBatchError) as refusal:
        read(batch)
    assert refusal.value.error == "INVALID_RECORD"
    start = HEADER_SIZE if codec == Compression.NONE else 0
    assert refusal.value.offset == start + len(GOOD) + len(wrong) - 1


@both
def test_too_many_headers(read: Reader) -> None:
    count = limits.MAX_RECORD_HEADERS + 1
    body = bytes([0, 0, 0, 1, 1]) + zigzag(count) + bytes(2 * count)
    with pytest.raises(RemoteProtocolError, match="MAX_RECORD_HEADERS"):
        read(batch_of(zigzag(len(body)) + body, 1))
    body = bytes([0, 0, 0, 1, 1]) + zigzag(count - 1) + bytes(2 * (count - 1))
    ((*_, headers),) = read(batch_of(zigzag(len(body)) + body, 1))
    assert headers == [("", b"")] * (count - 1)


@pytest.mark.parametrize(
    "read", [lambda batch: list(iter_records(batch, limit=99)), lambda b: read_columns(b, limit=99)]
)
def test_what_a_compressed_batch_may_hold_is_the_callers_to_say(
    read: Callable[[bytes], object],
) -> None:
    for codec in (Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD):
        size = len(record(0, 0, None, bytes(80)))
        for extra in (99 - size, 100 - size):
            records = record(0, 0, None, bytes(80 + extra))
            batch = batch_of(compress(codec, records), 1, attributes=codec)
            if len(records) > 99:
                with pytest.raises(RemoteProtocolError, match="limit of 99 bytes"):
                    read(batch)
            else:
                read(batch)


@both
def test_a_torn_batch_is_refused_at_every_byte(read: Reader) -> None:
    batch = batch_of(GOOD, 2)
    for cut in range(len(batch)):
        with pytest.raises(RemoteProtocolError):
            read(batch[:cut])
    # The same with a length that fits: the records end too early, not the buffer.
    records = batch[HEADER_SIZE:]
    for cut in range(len(records)):
        with pytest.raises(InvalidBatchError):
            read(batch_of(records[:cut], 2))
