"""Building batches: Kafka's bytes, the producer's size limit, and the bulk way."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    TimestampType,
    read_header,
    verify_crc,
)
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.compression import Compression, compress
from fencepost_protocol.records.writer import (
    BatchBuilder,
    BatchOptions,
    build_batch,
    encode_headers,
)

GOLDEN = bytes.fromhex(
    "000000000000000000000061ffffffff0252d258710010000000020000018bcfe568000000018bcfe5"
    "6864000000000000123400050000000a0000000318000000046b310876616c31001400c80102010102"
    "0268002e000104000276041074726163652d696404616204c3a901"
)
"""From Kafka 4.3.1's MemoryRecordsBuilder; explained byte by byte in test_batch."""


def test_golden_batch() -> None:
    builder = BatchBuilder()
    assert builder.append(b"k1", b"val1", 1_700_000_000_000) == 0
    assert builder.append(None, None, 1_700_000_000_100, [("h", b"")]) == 1
    assert builder.append(b"", b"v", 1_699_999_999_999, [("trace-id", b"ab"), ("é", None)]) == 2
    options: BatchOptions = {
        "producer_id": 4660,
        "producer_epoch": 5,
        "base_sequence": 10,
        "transactional": True,
    }
    assert builder.build(**options) == GOLDEN
    assert builder.build(**options) == GOLDEN
    assert builder.size_in_bytes == len(GOLDEN)
    assert builder.record_count == 3

    bulk = build_batch(
        [b"k1", None, b""],
        [b"val1", None, b"v"],
        [1_700_000_000_000, 1_700_000_000_100, 1_699_999_999_999],
        {1: [("h", b"")], 2: [("trace-id", b"ab"), ("é", None)]},
        **options,
    )
    assert bulk == GOLDEN


def test_defaults_are_those_of_a_producer_without_idempotence() -> None:
    header = read_header(build_batch(None, [b"v"], 5))
    assert header.partition_leader_epoch == -1
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert (header.attributes, header.base_offset) == (0, 0)
    assert (header.base_timestamp, header.max_timestamp) == (5, 5)


def test_header_fields_and_attribute_bits() -> None:
    builder = BatchBuilder(delete_horizon_ms=900)
    builder.append(b"k", b"v", 1000)
    batch = builder.build(
        codec=Compression.LZ4,
        control=True,
        transactional=True,
        timestamp_type=TimestampType.LOG_APPEND_TIME,
        log_append_time_ms=1234,
        base_offset=7,
        partition_leader_epoch=3,
        last_offset_delta=11,
    )
    verify_crc(batch)
    header = read_header(batch)
    assert header.attributes == 3 | 0x08 | 0x10 | 0x20 | 0x40
    assert (header.base_timestamp, header.max_timestamp) == (900, 1234)
    assert (header.base_offset, header.last_offset, header.partition_leader_epoch) == (7, 18, 3)


@pytest.mark.parametrize("codec", Compression)
def test_compressed_records_are_the_plain_ones_compressed(codec: Compression) -> None:
    values = [b"value %d" % number for number in range(300)]
    plain = build_batch(None, values, 5)
    batch = build_batch(None, values, 5, codec=codec, level=None)
    verify_crc(batch)
    assert batch[HEADER_SIZE:] == compress(codec, plain[HEADER_SIZE:])
    assert read_columns(batch).values == values
    if codec:
        assert len(batch) < len(plain)


def test_a_level() -> None:
    values = [b"value %d" % number for number in range(300)]
    sizes = [
        len(build_batch(None, values, 5, codec=Compression.GZIP, level=level)) for level in (1, 9)
    ]
    assert sizes[0] > sizes[1]


def test_offset_gaps() -> None:
    builder = BatchBuilder()
    assert builder.append(None, b"a", 5, offset_delta=3) == 3
    assert builder.append(None, b"b", 5) == 4
    for delta in (4, 0, -1):
        with pytest.raises(LocalProtocolError, match=f"delta {delta} comes after 4"):
            builder.append(None, b"c", 5, offset_delta=delta)
    assert builder.append(None, b"c", 5, offset_delta=20_000) == 20_000
    batch = builder.build(base_offset=100)
    assert read_columns(batch).offsets == [103, 104, 20_100]
    assert read_header(batch).last_offset == 20_100


def test_timestamps() -> None:
    """The first is the base, the largest the maximum, -1 is "none" and nothing lies below."""
    builder = BatchBuilder()
    for time in (50, 40, 60, 55):
        builder.append(None, b"", time)
    header = read_header(builder.build())
    assert (header.base_timestamp, header.max_timestamp) == (50, 60)
    assert read_columns(builder.build()).timestamps == [50, 40, 60, 55]

    header = read_header(build_batch(None, [b""], -1))
    assert (header.base_timestamp, header.max_timestamp) == (-1, -1)
    with pytest.raises(LocalProtocolError, match="-2"):
        builder.append(None, b"", -2)
    with pytest.raises(LocalProtocolError, match="-2"):
        build_batch(None, [b"", b""], [5, -2])


def test_a_refused_first_record_leaves_no_trace() -> None:
    builder = BatchBuilder()
    builder.append(None, b"", 1 << 63)  # its delta, 0, can be written
    with pytest.raises(LocalProtocolError, match="out of range"):
        builder.build()
    builder = BatchBuilder()
    with pytest.raises((AttributeError, TypeError)):  # the latter from a compiled build
        builder.append(None, b"", 10, [(None, b"")])  # type: ignore[list-item]
    builder.append(None, b"", 20)
    assert read_header(builder.build()).base_timestamp == 20
    assert read_columns(builder.build()).timestamps == [20]


# --- the size limit ---------------------------------------------------------------------------


def test_a_batch_fills_up_to_its_limit_exactly() -> None:
    size = len(build_batch(None, [b"value"] * 3, 5))
    builder = BatchBuilder(size)
    assert [builder.append(None, b"value", 5) for _ in range(3)] == [0, 1, 2]
    assert builder.size_in_bytes == size
    assert builder.append(None, b"", 5) is None
    assert len(builder.build()) == size
    builder = BatchBuilder(size - 1)
    assert [builder.append(None, b"value", 5) for _ in range(3)] == [0, 1, None]
    assert builder.append(None, b"valu", 5) == 2, "a smaller one still fits"


def test_the_first_record_goes_in_whatever_its_size() -> None:
    builder = BatchBuilder(10)
    assert builder.append(None, bytes(1000), 5) == 0
    assert builder.append(None, b"", 5) is None
    assert read_columns(builder.build()).values == [bytes(1000)]


def test_the_limit_counts_what_compression_is_expected_to_leave() -> None:
    builder = BatchBuilder(1000, compression_ratio=0.25)
    while builder.append(None, bytes(100), 5) is not None:
        pass
    assert 2500 < builder.size_in_bytes < 4000
    assert 900 < builder.estimated_size_in_bytes <= 1000


# --- what cannot be written -------------------------------------------------------------------


def test_refusals() -> None:
    with pytest.raises(LocalProtocolError, match="without records"):
        BatchBuilder().build()
    with pytest.raises(LocalProtocolError, match="without records"):
        build_batch(None, [], 5)
    with pytest.raises(LocalProtocolError, match="1 keys for 2 values"):
        build_batch([b"k"], [b"v", b"v"], 5)
    with pytest.raises(LocalProtocolError, match="3 timestamps for 2 values"):
        build_batch(None, [b"v", b"v"], [1, 2, 3])
    with pytest.raises(LocalProtocolError, match="out of range"):
        build_batch(None, [b"v"], 5, producer_epoch=40_000)
    with pytest.raises(LocalProtocolError, match="32-bit"):
        BatchBuilder().append(None, b"", 5, offset_delta=1 << 31)
    with pytest.raises(LocalProtocolError, match="64-bit"):
        BatchBuilder(delete_horizon_ms=-(1 << 63)).append(None, b"", 5)
    with pytest.raises(LocalProtocolError, match="level 99"):
        build_batch(None, [b"v"], 5, codec=Compression.ZSTD, level=99)


def test_any_bytes_will_do() -> None:
    batch = build_batch([bytearray(b"k")], [memoryview(b"value")[1:3]], 5)
    columns = read_columns(batch)
    assert (columns.keys, columns.values) == ([b"k"], [b"al"])


def test_headers_alone() -> None:
    assert encode_headers([("k", b"v"), ("n", None)]) == bytes.fromhex("04 02 6b 02 76 02 6e 01")
    assert encode_headers([]) == b"\x00"


# --- in bulk ----------------------------------------------------------------------------------


def test_bulk_and_one_by_one_agree() -> None:
    rng = random.Random(4)
    sizes = [0, 1, 50, 63, 64, 65, 8190, 8191, 8192, 9000]
    for count in (1, 2, 63, 64, 65, 8191, 8192, 8193, 8300):
        picked = sizes if count < 100 else sizes[:6]
        keys = [rng.choice([None, rng.randbytes(rng.choice(picked))]) for _ in range(count)]
        values = [rng.choice([None, rng.randbytes(rng.choice(picked))]) for _ in range(count)]
        times = [rng.choice([5, 6, 1000, 100_000, 1 << 40, -1]) for _ in range(count)]
        headers: dict[int, list[tuple[str, bytes | None]]] = {
            index: [("h", rng.randbytes(5)), ("n", None)] for index in range(0, count, 7)
        }
        builder = BatchBuilder(1 << 30)
        for index, (key, value, time) in enumerate(zip(keys, values, times, strict=True)):
            assert builder.append(key, value, time, headers.get(index, ())) == index
        one_by_one = builder.build(base_offset=9)
        assert build_batch(keys, values, times, headers, base_offset=9) == one_by_one
        columns = read_columns(one_by_one)
        assert columns.offsets == list(range(9, 9 + count))
        assert (columns.keys, columns.values) == (keys, values)
        assert (columns.timestamps, columns.headers) == (times, headers)


def test_one_time_for_all_and_no_keys() -> None:
    values = [b"%d" % number for number in range(100)]
    assert build_batch(None, values, 77) == build_batch([None] * 100, values, [77] * 100)


# --- the table of encoded numbers ---------------------------------------------------------------

FRESH = """
import importlib, sys
from concurrent.futures import ThreadPoolExecutor
from fencepost_protocol.records import writer

build_batch = writer.build_batch
SIZES = (0, 63, 64, 100, 4096, 8150, 8191, 8192, 9000)

def batches(count):
    keys = [b"k" * 70] * count
    return [build_batch(keys, [bytes(size)] * count, 1000) for size in SIZES]
"""


def in_a_fresh_process(code: str) -> None:
    """Run code where nothing has made the table yet."""
    subprocess.run([sys.executable, "-c", FRESH + code], check=True)


def test_a_batch_is_the_same_before_the_table_is_made() -> None:
    in_a_fresh_process("""
before = batches(16)
assert batches(17)
assert batches(16) == before
""")


def test_threads_may_make_the_table_at_once() -> None:
    in_a_fresh_process("""
sys.setswitchinterval(1e-6)
right = batches(17)
with ThreadPoolExecutor(8) as threads:
    for _ in range(30):
        build_batch = importlib.reload(writer).build_batch
        assert [*threads.map(batches, [17] * 8)] == [right] * 8
""")
