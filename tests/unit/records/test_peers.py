"""Batches of two other Python clients read by us, and ours read by them, with every codec."""

from __future__ import annotations

import random
from typing import Any

import pytest
from fencepost_protocol.records.batch import read_header, verify_crc
from fencepost_protocol.records.columns import RecordColumns, read_columns
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.control import build_end_txn_marker
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

COUNT = 300


def sample(seed: int) -> RecordColumns:
    rng = random.Random(seed)
    return RecordColumns(
        offsets=list(range(COUNT)),
        timestamps=[1_700_000_000_000 + rng.choice([0, 1, 70, 9000, -5]) for _ in range(COUNT)],
        keys=[rng.choice([None, b"", b"key", rng.randbytes(70)]) for _ in range(COUNT)],
        values=[rng.choice([None, b"", b"text" * 40, rng.randbytes(999)]) for _ in range(COUNT)],
        headers={
            index: [("trace", rng.randbytes(9)), ("nothing", None), ("é", b"")]
            for index in range(0, COUNT, 5)
        },
    )


def _classes(peer: str) -> tuple[Any, Any]:
    """The reader and the builder class of a peer."""
    if peer == "kafka-python":
        module: Any = pytest.importorskip("kafka.record.default_records")
        return module.DefaultRecordBatch, module.DefaultRecordBatchBuilder
    module = pytest.importorskip("aiokafka.record.default_records")
    if peer == "aiokafka":
        return module.DefaultRecordBatch, module.DefaultRecordBatchBuilder
    return module._DefaultRecordBatchPy, module._DefaultRecordBatchBuilderPy


PEERS = ["kafka-python", "aiokafka", "aiokafka, pure Python"]
# kafka-python has snappy and LZ4 from libraries that nothing else here uses.
PAIRS = [
    (peer, codec)
    for peer in PEERS
    for codec in Compression
    if peer != "kafka-python" or codec not in (Compression.SNAPPY, Compression.LZ4)
]


@pytest.mark.parametrize(("peer", "codec"), PAIRS)
def test_we_read_theirs(peer: str, codec: Compression) -> None:
    _, builder_class = _classes(peer)
    expected = sample(1)
    builder = builder_class(
        magic=2,
        compression_type=codec,
        is_transactional=1,
        producer_id=77,
        producer_epoch=3,
        base_sequence=9,
        batch_size=1 << 24,
    )
    for index in range(COUNT):
        builder.append(
            index,
            timestamp=expected.timestamps[index],
            key=expected.keys[index],
            value=expected.values[index],
            headers=expected.headers.get(index, []),
        )
    batch = bytes(builder.build())
    verify_crc(batch)
    header = read_header(batch)
    assert header.codec is codec
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (77, 3, 9)
    assert (header.record_count, header.last_offset_delta) == (COUNT, COUNT - 1)
    assert header.is_transactional
    assert read_columns(batch) == expected
    assert [record.headers for record in iter_records(batch)] == [
        expected.headers.get(index, []) for index in range(COUNT)
    ]


@pytest.mark.parametrize(("peer", "codec"), PAIRS)
def test_they_read_ours(peer: str, codec: Compression) -> None:
    reader_class, _ = _classes(peer)
    data = sample(2)
    batch = build_batch(
        data.keys,
        data.values,
        data.timestamps,
        data.headers,
        codec=codec,
        transactional=True,
        base_offset=1000,
        producer_id=77,
        producer_epoch=3,
        base_sequence=9,
    )
    theirs = reader_class(bytes(batch))
    assert theirs.validate_crc()
    assert (theirs.producer_id, theirs.producer_epoch, theirs.base_sequence) == (77, 3, 9)
    assert theirs.is_transactional
    assert not theirs.is_control_batch
    for index, record in enumerate(theirs):
        assert record.offset == 1000 + index
        assert record.timestamp == data.timestamps[index]
        assert record.key == data.keys[index]
        assert record.value == data.values[index]
        assert [tuple(header) for header in record.headers] == data.headers.get(index, [])
    assert index == COUNT - 1


@pytest.mark.parametrize("peer", PEERS)
def test_they_know_our_markers(peer: str) -> None:
    reader_class, _ = _classes(peer)
    batch = build_end_txn_marker(
        committed=True, producer_id=77, producer_epoch=3, coordinator_epoch=0, timestamp_ms=5
    )
    theirs = reader_class(bytes(batch))
    assert theirs.validate_crc()
    assert theirs.is_control_batch
    assert theirs.is_transactional
    (record,) = theirs
    assert record.key == b"\x00\x00\x00\x01"


@pytest.mark.parametrize("peer", PEERS)
def test_they_build_the_same_uncompressed_bytes(peer: str) -> None:
    """Apart from the leader epoch, which kafka-python sets to 0 where Kafka's producer sets -1."""
    _, builder_class = _classes(peer)
    data = sample(3)
    builder = builder_class(
        magic=2,
        compression_type=0,
        is_transactional=0,
        producer_id=77,
        producer_epoch=3,
        base_sequence=9,
        batch_size=1 << 24,
    )
    for index in range(COUNT):
        builder.append(
            index,
            timestamp=data.timestamps[index],
            key=data.keys[index],
            value=data.values[index],
            headers=data.headers.get(index, []),
        )
    theirs = bytes(builder.build())
    ours = build_batch(
        data.keys,
        data.values,
        data.timestamps,
        data.headers,
        partition_leader_epoch=read_header(theirs).partition_leader_epoch,
        producer_id=77,
        producer_epoch=3,
        base_sequence=9,
    )
    assert ours == theirs
