"""Conversion between committed offsets and their records."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.legacy_offset_commit import LegacyOffsetCommitValue
from fencepost_protocol.generated.offset_commit import OffsetCommitKey, OffsetCommitValue

from fencepost_broker.coordinator.group.offsets.store import CommittedOffset
from fencepost_broker.coordinator.records import LogRecord

VALUE_VERSION: Final = 4
EXPIRING_VALUE_VERSION: Final = 1
"""The only version with an expiry time."""


def offset_record(group_id: str, topic: str, partition: int, offset: CommittedOffset) -> LogRecord:
    """Return the record of a committed offset."""
    expires = offset.expire_timestamp_ms != -1
    value = OffsetCommitValue(
        offset.offset,
        offset.leader_epoch,
        offset.metadata,
        offset.commit_timestamp_ms,
        offset.expire_timestamp_ms,
        offset.topic_id,
    )
    version = EXPIRING_VALUE_VERSION if expires else VALUE_VERSION
    return LogRecord(OffsetCommitKey(group_id, topic, partition), value, version)


def offset_tombstone(group_id: str, topic: str, partition: int) -> LogRecord:
    """Return the tombstone of a partition's committed offset."""
    return LogRecord(OffsetCommitKey(group_id, topic, partition), None)


def stored_offset(value: OffsetCommitValue, record_offset: int) -> CommittedOffset:
    """Return the committed offset in a record, with the record's own offset."""
    return CommittedOffset(
        value.offset,
        value.leader_epoch,
        value.metadata,
        value.commit_timestamp,
        value.expire_timestamp,
        value.topic_id,
        record_offset,
    )


def legacy_offset(value: LegacyOffsetCommitValue, record_offset: int) -> CommittedOffset:
    """Return the committed offset in a record from before Kafka 0.9."""
    return CommittedOffset(
        value.offset, -1, value.metadata, value.commit_timestamp, record_offset=record_offset
    )
