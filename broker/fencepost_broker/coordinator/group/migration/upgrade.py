"""Upgrade of a classic group to a consumer group, when a member joins with KIP-848's protocol.

The members keep their partitions and continue with the classic protocol until they return with the
new one. The generation becomes the first epoch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.effects import Reply
from fencepost_broker.coordinator.group.classic.group import CONSUMER_PROTOCOL, ClassicGroup
from fencepost_broker.coordinator.group.classic.rebalance import parked_replies
from fencepost_broker.coordinator.group.classic.subscriptions import (
    read_assignment,
    read_subscription,
)
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.member import (
    ClassicMetadata,
    ConsumerMember,
    Partitions,
)
from fencepost_broker.coordinator.group.consumer.records import (
    current_record,
    epoch_record,
    member_record,
    target_epoch_record,
    target_record,
)
from fencepost_broker.coordinator.group.consumer.target import Roster, metadata_hash
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.refusal import Refusal
from fencepost_broker.coordinator.group.soft import SetTimer, Timer, TimerKey
from fencepost_broker.coordinator.records import LogRecord


@dataclass(slots=True)
class Upgraded:
    """The new group, with the records, replies and timers of the upgrade."""

    group: ConsumerGroup
    records: list[LogRecord] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    soft: list[Any] = field(default_factory=list)


def upgrade(ctx: Context, now_ms: int, group: ClassicGroup) -> Upgraded:
    """Convert a classic group to a consumer group; raise ``Refusal`` if that is impossible."""
    _check(ctx, group)
    try:
        members = [_member(ctx, group, member_id) for member_id in group.members]
    except RemoteProtocolError as error:
        what = f"the metadata of a member of {group.group_id!r} cannot be read: {error}"
        raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND, what) from error
    result = Upgraded(ConsumerGroup(group.group_id))
    new = result.group
    new.group_epoch = new.assignment_epoch = group.generation
    for member in members:
        new.put(member)
        new.target.put(member.member_id, _numbers(member))
    new.metadata_hash = metadata_hash(ctx.topics, Roster(new).topics())
    group_id = group.group_id
    result.records += group.tombstones()
    result.records += [member_record(group_id, each) for each in members]
    result.records.append(epoch_record(group_id, new.group_epoch, new.metadata_hash))
    result.records += [target_record(group_id, *each) for each in new.target.by_member.items()]
    result.records.append(target_epoch_record(group_id, new.assignment_epoch, 0))
    result.records += [current_record(group_id, each) for each in members]
    result.replies = parked_replies(group, ErrorCode.REBALANCE_IN_PROGRESS)
    for timer in (Timer.JOIN, Timer.SYNC):
        result.soft.append(SetTimer(TimerKey(timer, group_id), None))
    for member in members:
        assert member.classic is not None
        key = TimerKey(Timer.SESSION, group_id, member.member_id)
        result.soft.append(SetTimer(key, now_ms + member.classic.session_timeout_ms))
    return result


def _check(ctx: Context, group: ClassicGroup) -> None:
    settings = ctx.settings
    problem = None
    if settings.group_consumer_migration_policy.lower() not in {"upgrade", "bidirectional"}:
        problem = "group.consumer.migration.policy does not allow upgrades"
    elif group.protocol_type != CONSUMER_PROTOCOL:
        problem = f"its protocol type is {group.protocol_type!r}, not {CONSUMER_PROTOCOL!r}"
    elif len(group.members) > settings.group_consumer_max_size:
        problem = f"it has {len(group.members)} members, more than group.consumer.max.size"
    if problem is not None:
        message = f"classic group {group.group_id!r} cannot become a consumer group: {problem}"
        raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND, message)


def _member(ctx: Context, group: ClassicGroup, member_id: str) -> ConsumerMember:
    before = group.members[member_id]
    # Before its first generation a group has not chosen a protocol.
    protocol = group.protocol or before.protocols[0][0]
    subscription = read_subscription(before.metadata(protocol) or before.protocols[0][1])
    assignment = read_assignment(before.assignment)
    if assignment.user_data:
        message = (
            f"classic group {group.group_id!r} cannot become a consumer group:"
            " its assignor sends user data to members, which would be lost"
        )
        raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND, message)
    assigned: dict[bytes, dict[int, int]] = {}
    for row in assignment.assigned_partitions:
        topic_id = ctx.topics.topic_id(row.topic)
        if topic_id is not None and row.partitions:
            assigned[topic_id] = dict.fromkeys(row.partitions, group.generation)
    return ConsumerMember(
        member_id,
        before.instance_id,
        subscription.rack_id or None,
        before.client_id,
        before.client_host,
        before.rebalance_timeout_ms,
        tuple(sorted(subscription.topics)),
        classic=ClassicMetadata(before.session_timeout_ms, before.protocols),
        member_epoch=group.generation,
        previous_member_epoch=group.generation,
        assigned=assigned,
    )


def _numbers(member: ConsumerMember) -> Partitions:
    return {topic_id: frozenset(numbers) for topic_id, numbers in member.assigned.items()}
