"""Decisions on ConsumerGroupDescribe: a group, with its members' current and target partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fencepost_protocol.generated.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.member import ConsumerMember
from fencepost_broker.coordinator.group.consumer.target import Roster, preferred_assignor
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.metadata.decision import Decision

CLASSIC, CONSUMER = 0, 1
"""Member types (KIP-1099)."""


def describe_consumer_groups(
    ctx: Context, _now_ms: int, ask: Ask
) -> Decision[ConsumerGroupDescribeResponse]:
    """Describe consumer groups; a classic group counts as unknown here."""
    request = ask.request
    assert isinstance(request, ConsumerGroupDescribeRequest)
    groups = [_described(ctx, group_id) for group_id in request.group_ids]
    return Decision(ConsumerGroupDescribeResponse(groups=groups))


def _described(ctx: Context, group_id: str) -> DescribedGroup:
    if not group_id:
        return DescribedGroup(ErrorCode.INVALID_GROUP_ID)
    group = ctx.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        what = "no group" if group is None else "no consumer group"
        message = f"there is {what} {group_id!r}"
        return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, message, group_id)
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=preferred_assignor(ctx, Roster(group)),
        members=[_member(ctx, group, member) for member in group.members.values()],
    )


def _member(ctx: Context, group: ConsumerGroup, member: ConsumerMember) -> Member:
    return Member(
        member.member_id,
        member.instance_id,
        member.rack_id,
        member.member_epoch,
        member.client_id,
        member.client_host,
        list(member.topics),
        member.pattern,
        _assignment(ctx, _held(member)),
        _assignment(ctx, group.target.of(member.member_id)),
        CONSUMER if member.classic is None else CLASSIC,
    )


def _held(member: ConsumerMember) -> Mapping[bytes, Iterable[int]]:
    """Return a member's partitions, including those that it has yet to revoke."""
    held = {topic_id: set(numbers) for topic_id, numbers in member.assigned.items()}
    for topic_id, numbers in member.revoking.items():
        held.setdefault(topic_id, set()).update(numbers)
    return held


def _assignment(ctx: Context, partitions: Mapping[bytes, Iterable[int]]) -> Assignment:
    rows = []
    for topic_id, numbers in partitions.items():
        name = ctx.topics.topic_name(topic_id)
        if name is not None:  # a deleted topic stays in the records until the next assignment
            rows.append(TopicPartitions(topic_id, name, sorted(numbers)))
    return Assignment(rows)
