"""Decisions on ListGroups, DescribeGroups and DeleteGroups."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.generated.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from fencepost_protocol.generated.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.list_groups import (
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)

from fencepost_broker.coordinator.group.classic.group import ClassicGroup, State
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.offsets.deletion import tombstones_of_group
from fencepost_broker.coordinator.group.share.commands import Errand
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.share.partitions import begin_to_delete, request_to_delete
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision

NOT_FOUND_SINCE: Final = 6
"""The DescribeGroups version that distinguishes an unknown group from a dead one (KIP-1043)."""
DEAD: Final = "Dead"


def list_groups(ctx: Context, _now_ms: int, ask: Ask) -> Decision[ListGroupsResponse]:
    """List this machine's groups, filtered by state and type."""
    request = ask.request
    assert isinstance(request, ListGroupsRequest)
    states = {each.lower().strip() for each in request.states_filter}
    types = {each.lower() for each in request.types_filter}
    groups = [
        ListedGroup(
            group.group_id, group.listed_protocol_type, group.state_name, group.TYPE.lower()
        )
        for group in ctx.groups.values()
        if (not states or group.state_name.lower() in states)
        and (not types or group.TYPE.lower() in types)
    ]
    return Decision(ListGroupsResponse(groups=groups))


def describe_groups(ctx: Context, _now_ms: int, ask: Ask) -> Decision[DescribeGroupsResponse]:
    """Describe classic groups; a consumer group counts as unknown here."""
    request = ask.request
    assert isinstance(request, DescribeGroupsRequest)
    groups = [_described(ctx, group_id, ask.version) for group_id in request.groups]
    return Decision(DescribeGroupsResponse(groups=groups))


def _described(ctx: Context, group_id: str, version: int) -> DescribedGroup:
    group = ctx.groups.get(group_id)
    if not isinstance(group, ClassicGroup):
        if version < NOT_FOUND_SINCE:
            return DescribedGroup(group_id=group_id, group_state=DEAD)
        what = "no group" if group is None else "no classic group"
        message = f"there is {what} {group_id!r}"
        return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, message, group_id, DEAD)
    stable = group.state is State.STABLE
    members = [
        DescribedGroupMember(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.metadata(group.protocol) if stable else b"",
            member.assignment,
        )
        for member in group.members.values()
    ]
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol or "") if stable else "",
        members=members,
    )


def delete_groups(ctx: Context, _now_ms: int, ask: Ask) -> Decision[Any]:
    """Delete groups without members, with their offsets.

    For one share group that has share partitions, the answer is an ``Errand``.
    """
    request = ask.request
    assert isinstance(request, DeleteGroupsRequest)
    records: list[LogRecord] = []
    results = []
    for group_id in dict.fromkeys(request.groups_names):
        group = ctx.groups.get(group_id)
        code = ErrorCode.NONE
        if group is None:
            code = ErrorCode.GROUP_ID_NOT_FOUND
        elif not group.is_empty:
            code = ErrorCode.NON_EMPTY_GROUP
        elif isinstance(group, ShareGroup) and group.states:
            states = group.states
            topics = {*states.initializing, *states.initialized, *states.deleting}
            record, stage = begin_to_delete(ctx, group, topics)
            answer = DeleteGroupsResponse(results=[DeletableGroupResult(group_id)])
            return Decision(Errand(answer, request_to_delete(group_id, stage)), (record,))
        else:
            records += tombstones_of_group(ctx, group_id)
            records += group.tombstones()
        results.append(DeletableGroupResult(group_id, code))
    return Decision(DeleteGroupsResponse(results=results), tuple(records))
