"""Record batches beside Apache Kafka's own: equal bytes where both choose, and each reads the
other's where a compressor chooses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from fencepost_protocol.records.batch import TimestampType, read_header, verify_crc
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.control import build_end_txn_marker, read_control_record
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import BatchBuilder

from tests.conformance.golden_peer import GoldenPeer, PeerUnavailableError

pytestmark = pytest.mark.conformance

CODECS = {codec: codec.name.lower() for codec in Compression}


@pytest.fixture(scope="module")
def peer() -> Iterator[GoldenPeer]:
    try:
        with GoldenPeer() as running:
            yield running
    except PeerUnavailableError as error:
        pytest.skip(str(error))


def random_records(rng: random.Random) -> list[dict[str, Any]]:
    def blob(longest: int) -> bytes | None:
        return None if rng.random() < 0.2 else rng.randbytes(rng.choice([0, 1, 63, 64, longest]))

    start = rng.randrange(1 << 41)
    return [
        {
            "timestamp": start + rng.randint(-100_000, 100_000),
            "key": blob(200),
            "value": blob(9000),
            "headers": [("ü" * rng.randint(0, 70), blob(20)) for _ in range(rng.choice([0, 0, 2]))],
        }
        for _ in range(rng.choice([1, 2, 10, 100]))
    ]


def random_header(rng: random.Random) -> dict[str, Any]:
    idempotent = rng.random() < 0.5
    return {
        "baseOffset": rng.choice([0, 1, 1 << 40]),
        "producerId": rng.randrange(1 << 62) if idempotent else -1,
        "producerEpoch": rng.randrange(1 << 15) if idempotent else -1,
        "baseSequence": rng.randrange(1 << 31) if idempotent else -1,
        "transactional": idempotent and rng.random() < 0.5,
        "partitionLeaderEpoch": rng.choice([-1, 0, 7]),
    }


def ours(records: list[dict[str, Any]], header: dict[str, Any], codec: Compression) -> bytes:
    builder = BatchBuilder(1 << 30)
    for record in records:
        builder.append(record["key"], record["value"], record["timestamp"], record["headers"])
    return bytes(
        builder.build(
            codec=codec,
            base_offset=header["baseOffset"],
            producer_id=header["producerId"],
            producer_epoch=header["producerEpoch"],
            base_sequence=header["baseSequence"],
            transactional=header["transactional"],
            partition_leader_epoch=header["partitionLeaderEpoch"],
        )
    )


def as_read(batch: bytes) -> list[dict[str, Any]]:
    return [
        {
            "timestamp": record.timestamp,
            "key": None if record.key is None else bytes(record.key),
            "value": None if record.value is None else bytes(record.value),
            "headers": [
                (name, None if value is None else bytes(value)) for name, value in record.headers
            ],
        }
        for record in iter_records(batch)
    ]


@pytest.mark.parametrize("codec", Compression, ids=lambda codec: codec.name)
def test_batches_are_kafkas(peer: GoldenPeer, codec: Compression) -> None:
    rng = random.Random(f"batches/{codec}")
    for _ in range(60):
        records, header = random_records(rng), random_header(rng)
        mine = ours(records, header, codec)
        theirs = peer.build_batch(records, codec=CODECS[codec], **header)
        if codec is Compression.NONE:
            assert mine == theirs
        assert as_read(theirs) == records
        verify_crc(theirs)
        read = peer.read_batch(mine)
        assert read["isValid"]
        assert "recordsError" not in read
        assert [{key: record[key] for key in records[0]} for record in read["records"]] == records
        for name in ("baseOffset", "producerId", "producerEpoch", "baseSequence", "transactional"):
            assert read[name] == header[name]
        assert read["codec"] == CODECS[codec]
        assert read["lastSequence"] == read_header(mine).last_sequence


def test_log_append_time(peer: GoldenPeer) -> None:
    records = random_records(random.Random(5))
    theirs = peer.build_batch(records, timestampType="LogAppendTime", logAppendTime=1234)
    header = read_header(theirs)
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert {record.timestamp for record in iter_records(theirs)} == {1234}


@pytest.mark.parametrize("committed", [True, False])
def test_markers_are_kafkas(peer: GoldenPeer, committed: bool) -> None:
    theirs = peer.build_marker(
        offset=17, timestamp=1_700_000_000_000, leader_epoch=3, producer_id=1000, producer_epoch=5,
        commit=committed, coordinator_epoch=9,
    )  # fmt: skip
    mine = build_end_txn_marker(
        committed=committed, producer_id=1000, producer_epoch=5, coordinator_epoch=9,
        timestamp_ms=1_700_000_000_000, base_offset=17, partition_leader_epoch=3,
    )  # fmt: skip
    assert bytes(mine) == theirs
    assert read_control_record(theirs).coordinator_epoch == 9


def test_a_changed_byte_is_seen_by_both(peer: GoldenPeer) -> None:
    batch = bytearray(
        ours(random_records(random.Random(6)), random_header(random.Random(6)), Compression.NONE)
    )
    batch[-1] ^= 1
    assert not peer.read_batch(batch)["isValid"]
    with pytest.raises(Exception, match="CRC"):
        verify_crc(batch)


def test_a_delete_horizon_is_read_alike(peer: GoldenPeer) -> None:
    builder = BatchBuilder(1 << 20, delete_horizon_ms=5_000)
    for timestamp in (7_000, 3_000):
        builder.append(b"k", None, timestamp, [])
    batch = bytes(builder.build(codec=Compression.NONE))
    read = peer.read_batch(batch)
    assert read["deleteHorizonMs"] == read_header(batch).delete_horizon_ms == 5_000
    theirs = [record["timestamp"] for record in read["records"]]
    assert theirs == [record.timestamp for record in iter_records(batch)] == [7_000, 3_000]
