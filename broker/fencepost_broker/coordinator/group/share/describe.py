"""Decisions on ShareGroupDescribe: a group, with its members' partitions."""

from __future__ import annotations

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.share_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    TopicPartitions,
)

from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.refusal import Refusal
from fencepost_broker.coordinator.group.share.heartbeat import share_group
from fencepost_broker.coordinator.group.share.members import ShareMember
from fencepost_broker.metadata.decision import Decision


def describe_share_groups(
    ctx: Context, _now_ms: int, ask: Ask
) -> Decision[ShareGroupDescribeResponse]:
    """Describe share groups; a group of another type counts as unknown here."""
    request = ask.request
    assert isinstance(request, ShareGroupDescribeRequest)
    groups = [_described(ctx, group_id) for group_id in request.group_ids]
    return Decision(ShareGroupDescribeResponse(groups=groups))


def _described(ctx: Context, group_id: str) -> DescribedGroup:
    if not group_id:
        return DescribedGroup(ErrorCode.INVALID_GROUP_ID)
    try:
        group = share_group(ctx, group_id)
    except Refusal as refusal:
        return DescribedGroup(refusal.code, refusal.message, group_id)
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name="simple",
        members=[_member(ctx, member) for member in group.members.values()],
    )


def _member(ctx: Context, member: ShareMember) -> Member:
    rows = [
        TopicPartitions(topic_id, name, sorted(numbers))
        for topic_id, numbers in member.assigned.items()
        if numbers and (name := ctx.topics.topic_name(topic_id)) is not None
    ]
    return Member(
        member.member_id,
        member.rack_id,
        member.member_epoch,
        member.client_id,
        member.client_host,
        list(member.topics),
        Assignment(rows),
    )
