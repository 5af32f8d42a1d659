"""Changes of what records say, by building their batch anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from fencepost_pipeline.sink.marker import Marker
from fencepost_protocol.generated.offset_commit import OffsetCommitKey, OffsetCommitValue
from fencepost_protocol.records.batch import read_header
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import BatchBuilder

from tests.pipeline.audit.memory_logs import MemoryLogs, Place

Change: TypeAlias = Callable[[bytes | None, bytes | None], tuple[bytes | None, bytes | None]]


def rewrite(logs: MemoryLogs, place: Place, change: Change) -> int:
    """Let ``change`` give each data record's key and value; says how many became others."""
    changed = 0
    for number, batch in enumerate(logs.places[place]):
        header = read_header(batch)
        if header.is_control:
            continue
        builder = BatchBuilder(1 << 30)
        before = changed
        for record in iter_records(batch):
            key = None if record.key is None else bytes(record.key)
            value = None if record.value is None else bytes(record.value)
            new = change(key, value)
            changed += new != (key, value)
            builder.append(*new, record.timestamp)
        if changed == before:
            continue
        logs.places[place][number] = bytes(
            builder.build(
                producer_id=header.producer_id,
                producer_epoch=header.producer_epoch,
                base_sequence=header.base_sequence,
                transactional=header.is_transactional,
                base_offset=header.base_offset,
                partition_leader_epoch=header.partition_leader_epoch,
            )
        )
    return changed


def rewrite_key(logs: MemoryLogs, place: Place, old: bytes, new: bytes) -> None:
    """Give a record another key."""
    count = rewrite(logs, place, lambda key, value: (new if key == old else key, value))
    assert count == 1


def rewrite_commits(logs: MemoryLogs, back_by: int) -> None:
    """Let every committed offset be lower."""

    def lower(key: OffsetCommitKey, value: OffsetCommitValue) -> None:
        value.offset = max(0, value.offset - back_by)

    _change_commits(logs, lower)


def commit_as_a_spark_query(logs: MemoryLogs, sources: str | None) -> None:
    """Let the group have a sink's marker, and no offsets of the input."""
    marker = Marker(3, "a-query", 7, 0, sources, "digest").written()

    def to_marker(key: OffsetCommitKey, value: OffsetCommitValue) -> None:
        key.topic, key.partition = "__consumer_offsets", 0
        value.offset, value.metadata = marker.offset, marker.metadata

    _change_commits(logs, to_marker)


def _change_commits(
    logs: MemoryLogs, change_commit: Callable[[OffsetCommitKey, OffsetCommitValue], None]
) -> None:
    def change(key: bytes | None, value: bytes | None) -> tuple[bytes | None, bytes | None]:
        if key is None or value is None or key[:2] != b"\0\1":
            return key, value
        version = int.from_bytes(value[:2], "big")
        named = OffsetCommitKey.decode(memoryview(key), 0, 2)[0]
        message = OffsetCommitValue.decode(memoryview(value), version, 2)[0]
        change_commit(named, message)
        new_key, new_value = bytearray(key[:2]), bytearray(value[:2])
        named.encode(0, new_key)
        message.encode(version, new_value)
        return bytes(new_key), bytes(new_value)

    assert sum(
        rewrite(logs, place, change) for place in logs.places if place[0] == "__consumer_offsets"
    )
