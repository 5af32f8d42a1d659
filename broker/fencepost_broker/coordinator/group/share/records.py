"""Conversion between share groups and their records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fencepost_protocol.generated import share_group_current_member_assignment as current
from fencepost_protocol.generated import share_group_member_metadata as metadata
from fencepost_protocol.generated import share_group_state_partition_metadata as states
from fencepost_protocol.generated import share_group_target_assignment_member as target
from fencepost_protocol.generated.share_group_metadata import (
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
)
from fencepost_protocol.generated.share_group_target_assignment_metadata import (
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
)

from fencepost_broker.coordinator.group.consumer.member import Partitions
from fencepost_broker.coordinator.group.share.members import PartitionStates, ShareMember, Stage
from fencepost_broker.coordinator.records import LogRecord


def member_record(group_id: str, member: ShareMember) -> LogRecord:
    """Return the record of what a member said about itself."""
    value = metadata.ShareGroupMemberMetadataValue(
        member.rack_id, member.client_id, member.client_host, list(member.topics)
    )
    return LogRecord(metadata.ShareGroupMemberMetadataKey(group_id, member.member_id), value)


def current_record(group_id: str, member: ShareMember) -> LogRecord:
    """Return the record of a member's epoch and partitions."""
    rows = [
        current.TopicPartitions(topic_id, sorted(numbers))
        for topic_id, numbers in member.assigned.items()
    ]
    value = current.ShareGroupCurrentMemberAssignmentValue(
        member.member_epoch, member.previous_member_epoch, 0, rows
    )
    key = current.ShareGroupCurrentMemberAssignmentKey(group_id, member.member_id)
    return LogRecord(key, value)


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> LogRecord:
    """Return the record of the group's epoch and of the hash of its topics' metadata."""
    value = ShareGroupMetadataValue(epoch, metadata_hash)
    return LogRecord(ShareGroupMetadataKey(group_id), value)


def target_record(group_id: str, member_id: str, partitions: Partitions) -> LogRecord:
    """Return the record of one member's part of the assignment."""
    rows = [target.TopicPartition(each, sorted(numbers)) for each, numbers in partitions.items()]
    key = target.ShareGroupTargetAssignmentMemberKey(group_id, member_id)
    return LogRecord(key, target.ShareGroupTargetAssignmentMemberValue(rows))


def target_epoch_record(group_id: str, epoch: int, at_ms: int) -> LogRecord:
    """Return the record that completes the assignment for a group epoch."""
    value = ShareGroupTargetAssignmentMetadataValue(epoch, at_ms)
    return LogRecord(ShareGroupTargetAssignmentMetadataKey(group_id), value)


def states_record(group_id: str, given: PartitionStates) -> LogRecord:
    """Return the record of how far the state of the group's share partitions has got."""

    def rows(stage: Stage) -> list[states.TopicPartitionsInfo]:
        return [
            states.TopicPartitionsInfo(topic_id, topic.name, sorted(topic.numbers))
            for topic_id, topic in stage.items()
        ]

    deleting = [states.TopicInfo(each, topic.name) for each, topic in given.deleting.items()]
    value = states.ShareGroupStatePartitionMetadataValue(
        rows(given.initializing), rows(given.initialized), deleting
    )
    return LogRecord(states.ShareGroupStatePartitionMetadataKey(group_id), value)


def member_tombstones(group_id: str, member_id: str) -> list[LogRecord]:
    """Return the tombstones of a member: its partitions, its assignment, its subscription."""
    return [
        LogRecord(current.ShareGroupCurrentMemberAssignmentKey(group_id, member_id), None),
        LogRecord(target.ShareGroupTargetAssignmentMemberKey(group_id, member_id), None),
        LogRecord(metadata.ShareGroupMemberMetadataKey(group_id, member_id), None),
    ]


def group_tombstones(group_id: str, members: Iterable[str]) -> list[LogRecord]:
    """Return the tombstones of a group with all its members."""
    keys: list[Any] = [
        ShareGroupTargetAssignmentMetadataKey(group_id),
        states.ShareGroupStatePartitionMetadataKey(group_id),
        ShareGroupMetadataKey(group_id),
    ]
    return [
        *(record for each in members for record in member_tombstones(group_id, each)),
        *(LogRecord(key, None) for key in keys),
    ]
