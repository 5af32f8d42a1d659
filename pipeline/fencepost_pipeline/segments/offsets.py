"""``__consumer_offsets`` as two tables: committed offsets, and generations of classic groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
from fencepost_protocol.generated.group_metadata import GroupMetadataKey, GroupMetadataValue
from fencepost_protocol.generated.legacy_offset_commit import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
)
from fencepost_protocol.generated.offset_commit import OffsetCommitKey, OffsetCommitValue
from fencepost_protocol.primitives import uuid_text

from fencepost_pipeline.columns.tables import list_of
from fencepost_pipeline.segments.files import Slice
from fencepost_pipeline.segments.internal_records import Row, decode_coordinator_record, read_typed
from fencepost_pipeline.segments.problems import OnProblem, ignore_problem

OFFSET_SCHEMA: Final = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("transactional", pa.bool_()),
        ("group", pa.string()),
        ("committed_topic", pa.string()),
        ("committed_partition", pa.int32()),
        ("committed_offset", pa.int64()),
        ("committed_leader_epoch", pa.int32()),
        ("committed_topic_id", pa.string()),
        ("metadata", pa.string()),
        ("commit_timestamp", pa.int64()),
        ("expire_timestamp", pa.int64()),
        ("version", pa.int16()),
    ]
)
"""One row per commit of one partition's offset, in the order of the log.

``partition`` and ``offset`` say where in ``__consumer_offsets`` it stands. Behind the
``committed_partition`` all is null where the commit was deleted. A ``transactional`` commit counts
only when its producer's commit marker follows.
"""

GROUP_SCHEMA: Final = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("group", pa.string()),
        ("protocol_type", pa.string()),
        ("generation", pa.int32()),
        ("protocol", pa.string()),
        ("leader", pa.string()),
        ("state_timestamp", pa.int64()),
        (
            "members",
            list_of(
                pa.struct(
                    [
                        ("member_id", pa.string()),
                        ("group_instance_id", pa.string()),
                        ("client_id", pa.string()),
                        ("client_host", pa.string()),
                        ("rebalance_timeout_ms", pa.int32()),
                        ("session_timeout_ms", pa.int32()),
                        ("subscription", pa.binary()),
                        ("assignment", pa.binary()),
                    ]
                )
            ),
        ),
        ("version", pa.int16()),
    ]
)
"""One row per generation of a classic group; those after ``group`` are null if it was deleted."""

_COMMITS: Final = {0: "LegacyOffsetCommit", 1: "OffsetCommit"}
_GROUPS: Final = {2: "GroupMetadata"}


def read_offsets(
    part: Slice, *, on_problem: OnProblem = ignore_problem
) -> Iterator[pa.RecordBatch]:
    """Read the committed offsets in a slice of ``__consumer_offsets``."""
    return read_typed(part, OFFSET_SCHEMA, _offset_row, on_problem)


def read_groups(part: Slice, *, on_problem: OnProblem = ignore_problem) -> Iterator[pa.RecordBatch]:
    """Read the generations of classic groups in a slice of ``__consumer_offsets``."""
    return read_typed(part, GROUP_SCHEMA, _group_row, on_problem)


def _offset_row(record: Row) -> Row | None:
    decoded = decode_coordinator_record(record["key"], record["value"], _COMMITS)
    if decoded is None:
        return None
    key, value, version = decoded
    assert isinstance(key, LegacyOffsetCommitKey | OffsetCommitKey)
    row: Row = {
        "group": key.group,
        "committed_topic": key.topic,
        "committed_partition": key.partition,
    }
    if value is None:
        return row
    assert isinstance(value, LegacyOffsetCommitValue | OffsetCommitValue)
    row |= {
        "committed_offset": value.offset,
        "metadata": value.metadata,
        "commit_timestamp": value.commit_timestamp,
        "version": version,
    }
    if isinstance(value, OffsetCommitValue):
        row["committed_leader_epoch"] = value.leader_epoch
        row["expire_timestamp"] = value.expire_timestamp
        row["committed_topic_id"] = uuid_text(value.topic_id) if any(value.topic_id) else None
    return row


def _group_row(record: Row) -> Row | None:
    decoded = decode_coordinator_record(record["key"], record["value"], _GROUPS)
    if decoded is None:
        return None
    key, value, version = decoded
    assert isinstance(key, GroupMetadataKey)
    row: Row = {"group": key.group}
    if value is None:
        return row
    assert isinstance(value, GroupMetadataValue)
    return row | {
        "protocol_type": value.protocol_type,
        "generation": value.generation,
        "protocol": value.protocol,
        "leader": value.leader,
        "state_timestamp": value.current_state_timestamp,
        "members": [
            {
                "member_id": member.member_id,
                "group_instance_id": member.group_instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "rebalance_timeout_ms": member.rebalance_timeout,
                "session_timeout_ms": member.session_timeout,
                "subscription": member.subscription,
                "assignment": member.assignment,
            }
            for member in value.members
        ],
        "version": version,
    }
