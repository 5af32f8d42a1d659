"""Batches that are small on the wire and large when looked at: refused, within bounded memory."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import pytest
from fencepost_protocol import limits
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import (
    LOG_APPEND_TIME_FLAG,
)
from fencepost_protocol.records.compression import Compression, compress

from tests.hostile.batch_harness import SMALLEST, with_body
from tests.support.up import Up

MB = 1 << 20
TOPICS: dict[str, dict[str, str]] = {
    "plain": {},
    "recompressed": {"compression_type": "gzip"},
    "uncompressed": {"compression_type": "uncompressed"},
    "compacted": {"cleanup_policy": "compact"},
    "stamped": {"message_timestamp_type": "LogAppendTime"},
    "bounded": {"message_timestamp_before_max_ms": "1000"},
}
LOOKED_INTO = ("recompressed", "uncompressed", "compacted", "bounded")
GROWTH_BYTES = 2 * limits.MAX_DECOMPRESSED_BYTES + 64 * MB
"""What is unpacked, once more while it grows, and the rest of a request."""


def gzip_of_zeros(size: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(bytes(MB)) for _ in range(size // MB)]
    return b"".join([*parts, packer.flush()])


def zstd_of_zeros(size: int) -> bytes:
    """Frames one behind the other, each of which is small to make."""
    return compress(Compression.ZSTD, bytes(16 * MB)) * (size // (16 * MB))


def snappy_that_claims(size: int) -> bytes:
    """A raw block whose length says so much and that has next to nothing."""
    length = bytearray()
    while size > 0x7F:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes(length) + bytes([size, 0, 0])


BOMBS: dict[str, Callable[[], bytes]] = {
    "gzip, 900 MB": lambda: with_body(gzip_of_zeros(900 * MB), Compression.GZIP),
    "zstd, 4 GB": lambda: with_body(zstd_of_zeros(4096 * MB), Compression.ZSTD),
    "lz4, 200 MB": lambda: with_body(compress(Compression.LZ4, bytes(200 * MB)), Compression.LZ4),
    "snappy, 2 GB claimed": lambda: with_body(snappy_that_claims(2047 * MB), Compression.SNAPPY),
    "ten million records": lambda: with_body(
        compress(Compression.ZSTD, SMALLEST * 10_000_000), Compression.ZSTD, 10_000_000
    ),
    "two thousand million claimed": lambda: with_body(
        compress(Compression.ZSTD, SMALLEST), Compression.ZSTD, (1 << 31) - 1
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def broker() -> Iterator[Up]:
    with Up("-c", "message.max.bytes=20000000") as running, running.connect() as client:
        for name, configs in TOPICS.items():
            client.create(name, 1, **configs)
        yield running


@pytest.mark.parametrize("label", BOMBS)
def test_a_bomb_is_refused_where_it_is_looked_into(broker: Up, label: str) -> None:
    bomb = BOMBS[label]()
    before = broker.resident_bytes()
    broker.forget_peak()
    with broker.connect() as attacker, broker.connect() as healthy:
        for topic in LOOKED_INTO:
            if topic == "recompressed" and label.startswith("gzip"):
                continue  # it has the codec that the topic wants
            answer = attacker.produce(topic, bomb)
            assert answer.error_code == ErrorCode.INVALID_RECORD, (topic, answer)
            assert healthy.topics(topic) == {topic: ErrorCode.NONE}
    grown = broker.peak_bytes() - before
    print(f"{label}: {len(bomb):,} bytes, {grown >> 20} MB")
    assert grown < GROWTH_BYTES
    broker.assert_healthy()


def test_a_made_up_count_makes_no_list_of_that_many_errors(broker: Up) -> None:
    bomb = with_body(
        compress(Compression.ZSTD, SMALLEST), Compression.ZSTD, (1 << 31) - 1, LOG_APPEND_TIME_FLAG
    )
    broker.forget_peak()
    before = broker.resident_bytes()
    with broker.connect() as client:
        answer = client.produce("stamped", bomb)
    assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
    assert 0 < len(answer.record_errors) <= 1_000
    assert broker.peak_bytes() - before < 64 * MB


def test_a_million_records_without_a_key_are_named_in_part(broker: Up) -> None:
    records = b"".join(_record(number) for number in range(50_000))
    batch = with_body(compress(Compression.ZSTD, records), Compression.ZSTD, 50_000)
    before = broker.resident_bytes()
    broker.forget_peak()
    with broker.connect() as client:
        answer = client.produce("compacted", batch)
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [each.batch_index for each in answer.record_errors] == list(range(1_000))
    assert broker.peak_bytes() - before < 64 * MB


def _record(offset_delta: int) -> bytes:
    delta = bytearray()
    value = offset_delta << 1
    while value > 0x7F:
        delta.append(value & 0x7F | 0x80)
        value >>= 7
    body = b"\0\0" + bytes(delta) + bytes([value]) + b"\x01\x01\0"
    return bytes([len(body) << 1]) + body
