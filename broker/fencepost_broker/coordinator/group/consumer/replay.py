"""Replay of the records of consumer groups."""

from __future__ import annotations

from typing import Any, Final

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

from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup, Resolved
from fencepost_broker.coordinator.group.consumer.member import LEFT, ConsumerMember, MemberState
from fencepost_broker.coordinator.group.consumer.records import (
    member_as_asked,
    member_as_far,
    target_of,
)
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.records import LogRecord


def _group(ctx: Context, group_id: str, *, create: bool) -> ConsumerGroup | None:
    """Return a record's group; ``create`` makes a new one, also in place of a simple group."""
    found = ctx.groups.get(group_id)
    if isinstance(found, ConsumerGroup):
        return found
    if not create:
        return None
    group = ctx.groups[group_id] = ConsumerGroup(group_id)
    return group


def _member(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    return group.members.get(member_id) or ConsumerMember(member_id)


def replay_member(ctx: Context, record: LogRecord, _offset: int, _producer_id: int) -> None:
    """Apply a member's subscription; a tombstone removes the member."""
    key, value = record.key, record.value
    assert isinstance(key, metadata.ConsumerGroupMemberMetadataKey)
    group = _group(ctx, key.group_id, create=value is not None)
    if group is None:
        return
    if value is None:
        group.remove(key.member_id)
    else:
        assert isinstance(value, metadata.ConsumerGroupMemberMetadataValue)
        group.put(member_as_asked(_member(group, key.member_id), value))


def replay_current(ctx: Context, record: LogRecord, _offset: int, _producer_id: int) -> None:
    """Apply a member's epoch, state and partitions."""
    key, value = record.key, record.value
    assert isinstance(key, current.ConsumerGroupCurrentMemberAssignmentKey)
    group = _group(ctx, key.group_id, create=value is not None)
    if group is None:
        return
    if value is not None:
        assert isinstance(value, current.ConsumerGroupCurrentMemberAssignmentValue)
        group.put(member_as_far(_member(group, key.member_id), value))
    elif key.member_id in group.members:
        nothing = current.ConsumerGroupCurrentMemberAssignmentValue(LEFT, LEFT, MemberState.STABLE)
        group.put(member_as_far(group.members[key.member_id], nothing))


def replay_target(ctx: Context, record: LogRecord, _offset: int, _producer_id: int) -> None:
    """Apply a member's part of the assignment."""
    key, value = record.key, record.value
    assert isinstance(key, target.ConsumerGroupTargetAssignmentMemberKey)
    group = _group(ctx, key.group_id, create=value is not None)
    if group is None:
        return
    if value is None:
        group.target.put(key.member_id, None)
    else:
        assert isinstance(value, target.ConsumerGroupTargetAssignmentMemberValue)
        group.target.put(key.member_id, target_of(value))


def replay_target_epoch(ctx: Context, record: LogRecord, _offset: int, _producer_id: int) -> None:
    """Apply the group epoch of the assignment."""
    key, value = record.key, record.value
    assert isinstance(key, ConsumerGroupTargetAssignmentMetadataKey)
    group = _group(ctx, key.group_id, create=value is not None)
    if group is None:
        return
    if value is None:
        group.assignment_epoch, group.assignment_at_ms = 1, 0
    else:
        assert isinstance(value, ConsumerGroupTargetAssignmentMetadataValue)
        group.assignment_epoch = value.assignment_epoch
        group.assignment_at_ms = value.assignment_timestamp


def replay_epoch(ctx: Context, record: LogRecord, _offset: int, _producer_id: int) -> None:
    """Apply the group's epoch; a tombstone removes the group."""
    key, value = record.key, record.value
    assert isinstance(key, ConsumerGroupMetadataKey)
    group = _group(ctx, key.group_id, create=value is not None)
    if group is None:
        return
    if value is None:
        del ctx.groups[key.group_id]
    else:
        assert isinstance(value, ConsumerGroupMetadataValue)
        group.group_epoch, group.metadata_hash = value.epoch, value.metadata_hash


def replay_pattern(ctx: Context, record: LogRecord, _offset: int, _producer_id: int) -> None:
    """Apply the topics that match a regular expression."""
    key, value = record.key, record.value
    assert isinstance(key, ConsumerGroupRegularExpressionKey)
    group = _group(ctx, key.group_id, create=value is not None)
    if group is None:
        return
    if value is None:
        group.resolved.pop(key.regular_expression, None)
    else:
        assert isinstance(value, ConsumerGroupRegularExpressionValue)
        found = Resolved(frozenset(value.topics), value.version, value.timestamp)
        group.resolved[key.regular_expression] = found


def replay_partition_metadata(
    ctx: Context, record: LogRecord, _offset: int, _producer_id: int
) -> None:
    """Note whether the log has topic metadata from Kafka before 4.1; its contents are ignored."""
    key: Any = record.key
    group = _group(ctx, key.group_id, create=record.value is not None)
    if group is not None:
        group.has_partition_metadata = record.value is not None


REPLAYS: Final = {
    metadata.ConsumerGroupMemberMetadataKey: replay_member,
    current.ConsumerGroupCurrentMemberAssignmentKey: replay_current,
    target.ConsumerGroupTargetAssignmentMemberKey: replay_target,
    ConsumerGroupTargetAssignmentMetadataKey: replay_target_epoch,
    ConsumerGroupMetadataKey: replay_epoch,
    ConsumerGroupRegularExpressionKey: replay_pattern,
    ConsumerGroupPartitionMetadataKey: replay_partition_metadata,
}
