"""Records as the plain reader has them, and records of internal logs."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from fencepost_protocol.generated.legacy_offset_commit import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
)
from fencepost_protocol.generated.offset_commit import OffsetCommitKey, OffsetCommitValue
from fencepost_protocol.records.batch import Buffer, TimestampType, read_header
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import BatchBuilder
from hypothesis import strategies as st


def read_one_by_one(batches: Sequence[Buffer], *, control: bool = True) -> list[dict[str, Any]]:
    """What the columns have to hold, as rows."""
    rows = []
    for batch in batches:
        header = read_header(batch)
        if header.is_control and not control:
            continue
        for record in iter_records(batch):
            sequence = -1
            if header.base_sequence != -1:
                delta = record.offset - header.base_offset
                sequence = (header.base_sequence + delta) % 2**31
            rows.append(
                {
                    "offset": record.offset,
                    "timestamp": record.timestamp,
                    "timestamp_type": int(header.timestamp_type),
                    "producer_id": header.producer_id,
                    "producer_epoch": header.producer_epoch,
                    "sequence": sequence,
                    "transactional": header.is_transactional,
                    "control": header.is_control,
                    "key": None if record.key is None else bytes(record.key),
                    "value": None if record.value is None else bytes(record.value),
                    "headers": [{"key": key, "value": value} for key, value in record.headers]
                    or None,
                }
            )
    return rows


@st.composite
def batches(draw: st.DrawFn) -> bytes:
    """A batch as a producer, a broker or a compaction may write it."""
    builder = BatchBuilder(size_limit=1 << 30)
    content = st.none() | st.binary(max_size=20) | st.integers(60, 9000).map(bytes)
    key = st.text(max_size=3)
    none: st.SearchStrategy[list[tuple[str, bytes | None]]] = st.just([])
    headers = none | st.lists(st.tuples(key, st.none() | st.binary(max_size=5)), max_size=4)
    delta = -1
    for _ in range(draw(st.integers(1, 12))):
        delta += draw(st.sampled_from([1, 1, 1, 2, 70, 9000]))
        builder.append(
            draw(content),
            draw(content),
            draw(st.sampled_from([0, 1, 1000, 1 << 40, (1 << 62) - 1])),
            draw(headers),
            offset_delta=delta,
        )
    return bytes(
        builder.build(
            codec=draw(st.sampled_from(Compression)),
            producer_id=draw(st.sampled_from([-1, 0, 2**63 - 1])),
            producer_epoch=draw(st.sampled_from([-1, 0, 2**15 - 1])),
            base_sequence=draw(st.sampled_from([-1, 0, 2**31 - 1])),
            transactional=draw(st.booleans()),
            control=draw(st.booleans()),
            base_offset=draw(st.sampled_from([0, 5, 2**62])),
            timestamp_type=draw(st.sampled_from(TimestampType)),
            log_append_time_ms=1234,
            last_offset_delta=draw(st.sampled_from([None, delta + 3])),
        )
    )


Pair = tuple[bytes | None, bytes | None]


def coordinator(key: Message, value: Message | None, version: int = 0) -> Pair:
    def encode(message: Message, lead: int, at: int) -> bytes:
        out = bytearray(struct.pack(">h", lead))
        message.encode(at, out)
        return bytes(out)

    record_type = key.RECORD_TYPE  # type: ignore[attr-defined]
    return encode(key, record_type, 0), None if value is None else encode(value, version, version)


OFFSETS: list[Pair] = [
    coordinator(
        OffsetCommitKey("g", "orders", 3),
        OffsetCommitValue(42, 6, "note", 1234, topic_id=bytes(15) + b"\1"),
        4,
    ),
    coordinator(OffsetCommitKey("g", "orders", 3), None),
    coordinator(LegacyOffsetCommitKey("old", "t", 1), LegacyOffsetCommitValue(7, "", 5), 0),
    coordinator(
        GroupMetadataKey("g"),
        GroupMetadataValue(
            "consumer", 4, "range", "m1", 88, [MemberMetadata("m1", None, "c", "/h", 1, 2, b"s")]
        ),
        3,
    ),
    coordinator(GroupMetadataKey("g"), None),
    (struct.pack(">h", 99) + b"a later Kafka's", b""),
]
