"""Conversion between consumer groups and their records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fencepost_protocol.generated import consumer_group_current_member_assignment as current
from fencepost_protocol.generated import consumer_group_member_metadata as metadata
from fencepost_protocol.generated import consumer_group_target_assignment_member as target
from fencepost_protocol.generated.consumer_group_metadata import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
)
from fencepost_protocol.generated.consumer_group_partition_metadata import (
    ConsumerGroupPartitionMetadataKey,
)
from fencepost_protocol.generated.consumer_group_regular_expression import (
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
)
from fencepost_protocol.generated.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
    ConsumerGroupTargetAssignmentMetadataValue,
)

from fencepost_broker.coordinator.group.consumer.member import (
    ClassicMetadata,
    ConsumerMember,
    MemberState,
    Owned,
    Partitions,
)
from fencepost_broker.coordinator.records import LogRecord


def member_record(group_id: str, member: ConsumerMember) -> LogRecord:
    """Return the record of a member's subscription."""
    classic = None
    if member.classic is not None:
        protocols = [metadata.ClassicProtocol(*each) for each in member.classic.protocols]
        classic = metadata.ClassicMemberMetadata(member.classic.session_timeout_ms, protocols)
    value = metadata.ConsumerGroupMemberMetadataValue(
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        list(member.topics),
        member.pattern,
        member.rebalance_timeout_ms,
        member.assignor,
        classic,
    )
    return LogRecord(metadata.ConsumerGroupMemberMetadataKey(group_id, member.member_id), value)


def member_as_asked(
    before: ConsumerMember, value: metadata.ConsumerGroupMemberMetadataValue
) -> ConsumerMember:
    """Return the member with the subscription in a record."""
    classic = value.classic_member_metadata
    return replace(
        before,
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        topics=tuple(value.subscribed_topic_names),
        pattern=value.subscribed_topic_regex or "",
        assignor=value.server_assignor,
        classic=None
        if classic is None or not classic.supported_protocols
        else ClassicMetadata(
            classic.session_timeout_ms,
            tuple((each.name, bytes(each.metadata)) for each in classic.supported_protocols),
        ),
    )


def current_record(group_id: str, member: ConsumerMember) -> LogRecord:
    """Return the record of a member's epoch, state and partitions."""
    value = current.ConsumerGroupCurrentMemberAssignmentValue(
        member.member_epoch,
        member.previous_member_epoch,
        member.state,
        _owned_rows(member.assigned),
        _owned_rows(member.revoking),
    )
    return LogRecord(
        current.ConsumerGroupCurrentMemberAssignmentKey(group_id, member.member_id), value
    )


def member_as_far(
    before: ConsumerMember, value: current.ConsumerGroupCurrentMemberAssignmentValue
) -> ConsumerMember:
    """Return the member with the epoch, state and partitions in a record."""
    known = {each.value for each in MemberState}
    epoch = value.member_epoch
    return replace(
        before,
        member_epoch=epoch,
        previous_member_epoch=value.previous_member_epoch,
        state=MemberState(value.state) if value.state in known else MemberState.UNKNOWN,
        assigned=_owned(value.assigned_partitions, epoch),
        revoking=_owned(value.partitions_pending_revocation, epoch),
    )


def _owned_rows(owned: Owned) -> list[current.TopicPartitions]:
    return [
        current.TopicPartitions(
            topic_id, sorted(numbers), [numbers[number] for number in sorted(numbers)]
        )
        for topic_id, numbers in owned.items()
    ]


def _owned(rows: Iterable[current.TopicPartitions], epoch: int) -> Owned:
    """Decode partitions; records from before KIP-1251 have no epochs and get the member's."""
    return {
        row.topic_id: dict(
            zip(
                row.partitions,
                row.assignment_epochs or [epoch] * len(row.partitions),
                strict=True,
            )
        )
        for row in rows
    }


def epoch_record(group_id: str, epoch: int, metadata_hash: int) -> LogRecord:
    """Return the record of the group's epoch and of the hash of its topics' metadata."""
    value = ConsumerGroupMetadataValue(epoch, metadata_hash)
    return LogRecord(ConsumerGroupMetadataKey(group_id), value)


def target_record(group_id: str, member_id: str, partitions: Partitions) -> LogRecord:
    """Return the record of one member's part of the assignment."""
    rows = [target.TopicPartition(each, sorted(numbers)) for each, numbers in partitions.items()]
    key = target.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id)
    return LogRecord(key, target.ConsumerGroupTargetAssignmentMemberValue(rows))


def target_of(value: target.ConsumerGroupTargetAssignmentMemberValue) -> Partitions:
    """Return the partitions in a record of a member's part of the assignment."""
    return {each.topic_id: frozenset(each.partitions) for each in value.topic_partitions}


def target_epoch_record(group_id: str, epoch: int, at_ms: int) -> LogRecord:
    """Return the record that completes the assignment for a group epoch."""
    value = ConsumerGroupTargetAssignmentMetadataValue(epoch, at_ms)
    return LogRecord(ConsumerGroupTargetAssignmentMetadataKey(group_id), value)


def pattern_record(
    group_id: str, pattern: str, topics: Iterable[str], version: int, at_ms: int
) -> LogRecord:
    """Return the record of the topics that match a regular expression."""
    value = ConsumerGroupRegularExpressionValue(sorted(topics), version, at_ms)
    return LogRecord(ConsumerGroupRegularExpressionKey(group_id, pattern), value)


def pattern_tombstone(group_id: str, pattern: str) -> LogRecord:
    """Return the tombstone of a regular expression that no member uses."""
    return LogRecord(ConsumerGroupRegularExpressionKey(group_id, pattern), None)


def partition_metadata_tombstone(group_id: str) -> LogRecord:
    """Return the tombstone of topic metadata from Kafka before 4.1; the hash replaces it."""
    return LogRecord(ConsumerGroupPartitionMetadataKey(group_id), None)


def member_tombstones(group_id: str, member_id: str) -> list[LogRecord]:
    """Return the tombstones of a member: its progress, its assignment, its subscription."""
    return [
        LogRecord(current.ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id), None),
        LogRecord(target.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), None),
        LogRecord(metadata.ConsumerGroupMemberMetadataKey(group_id, member_id), None),
    ]


def group_tombstones(
    group_id: str, members: Iterable[str], patterns: Iterable[str]
) -> list[LogRecord]:
    """Return the tombstones of a group with all its members."""
    ids = list(members)
    keys: list[Any] = [
        *(current.ConsumerGroupCurrentMemberAssignmentKey(group_id, each) for each in ids),
        *(target.ConsumerGroupTargetAssignmentMemberKey(group_id, each) for each in ids),
        ConsumerGroupTargetAssignmentMetadataKey(group_id),
        *(metadata.ConsumerGroupMemberMetadataKey(group_id, each) for each in ids),
        *(ConsumerGroupRegularExpressionKey(group_id, each) for each in patterns),
        ConsumerGroupPartitionMetadataKey(group_id),
        ConsumerGroupMetadataKey(group_id),
    ]
    return [LogRecord(key, None) for key in keys]
