"""Decisions on SyncGroup, Heartbeat and LeaveGroup of classic groups."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from fencepost_protocol.generated.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupResponse

from fencepost_broker.coordinator.group.classic.group import ClassicGroup, State
from fencepost_broker.coordinator.group.classic.rebalance import (
    complete_if_all_joined,
    prepare_rebalance,
    remove_member,
    spread_assignment,
)
from fencepost_broker.coordinator.group.classic.transition import Parked, Work
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.migration.classic_members import (
    PROTOCOL_SAID_SINCE,
    beat_consumer_group,
    leave_consumer_group,
    says_protocol,
    sync_consumer_group,
)
from fencepost_broker.coordinator.group.soft import Timer
from fencepost_broker.metadata.decision import Decision

SEVERAL_MEMBERS_SINCE: Final = 3
"""The LeaveGroup version that may name several members (KIP-345)."""


def sync_group(ctx: Context, now_ms: int, ask: Ask) -> Decision[SyncGroupResponse]:
    """Decide on a SyncGroup: a member fetches its assignment, and the leader provides all."""
    request = ask.request
    assert isinstance(request, SyncGroupRequest)
    known = ctx.groups.get(request.group_id)
    if isinstance(known, ConsumerGroup):
        return sync_consumer_group(ctx, now_ms, ask, known)
    code = _sync_refusal(ctx, request, ask.version)
    if code is not ErrorCode.NONE:
        return Decision(SyncGroupResponse(error_code=code))
    group = ctx.groups[request.group_id]
    assert isinstance(group, ClassicGroup)
    work = Work(ctx, now_ms, group)
    group = work.group
    group.pending_syncs.discard(request.member_id)
    if not group.pending_syncs:
        work.cancel_timer(Timer.SYNC)
    if group.state is State.STABLE:
        assignment = group.members[request.member_id].assignment
        answer = SyncGroupResponse(
            protocol_type=group.protocol_type, protocol_name=group.protocol, assignment=assignment
        )
        return work.decision(answer)
    work.supersede_sync(request.member_id)
    group.change(request.member_id, sync_token=Parked.of(ask))
    if group.leader == request.member_id:
        assignments = {each.member_id: bytes(each.assignment) for each in request.assignments}
        spread_assignment(work, assignments)
    return work.decision(token=ask.token)


def _sync_refusal(ctx: Context, request: SyncGroupRequest, version: int) -> ErrorCode:
    if version >= PROTOCOL_SAID_SINCE and not says_protocol(request):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    group = ctx.groups.get(request.group_id)
    if not isinstance(group, ClassicGroup) or group.is_empty:
        return ErrorCode.UNKNOWN_MEMBER_ID
    refusal = group.member_refusal(request.member_id, request.group_instance_id)
    if refusal is not ErrorCode.NONE:
        return refusal
    if request.generation_id != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if _differs(request.protocol_type, group.protocol_type) or _differs(
        request.protocol_name, group.protocol
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    rebalances = group.state is State.PREPARING_REBALANCE
    return ErrorCode.REBALANCE_IN_PROGRESS if rebalances else ErrorCode.NONE


def _differs(said: str | None, known: str | None) -> bool:
    return said is not None and known is not None and said != known


def heartbeat(ctx: Context, now_ms: int, ask: Ask) -> Decision[HeartbeatResponse]:
    """Extend a member's session; the answer tells whether it has to rejoin."""
    request = ask.request
    assert isinstance(request, HeartbeatRequest)
    if not request.group_id:
        return Decision(HeartbeatResponse(error_code=ErrorCode.INVALID_GROUP_ID))
    group = ctx.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        return beat_consumer_group(ctx, now_ms, request, group)
    if not isinstance(group, ClassicGroup):
        return Decision(HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
    code = group.member_refusal(request.member_id, request.group_instance_id)
    if code is ErrorCode.NONE and request.generation_id != group.generation:
        code = ErrorCode.ILLEGAL_GENERATION
    if code is not ErrorCode.NONE:
        return Decision(HeartbeatResponse(error_code=code))
    if group.state is State.PREPARING_REBALANCE:
        code = ErrorCode.REBALANCE_IN_PROGRESS
    member = group.members[request.member_id]
    return Decision(HeartbeatResponse(error_code=code), soft=(group.session(member, now_ms),))


def leave_group(ctx: Context, now_ms: int, ask: Ask) -> Decision[LeaveGroupResponse]:
    """Remove members that leave, or that an administrator removes by instance id."""
    request = ask.request
    assert isinstance(request, LeaveGroupRequest)
    if not request.group_id:
        return Decision(LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID))
    single = ask.version < SEVERAL_MEMBERS_SINCE
    leaving = [MemberIdentity(request.member_id)] if single else request.members
    group = ctx.groups.get(request.group_id)
    if isinstance(group, ConsumerGroup):
        return _left(leave_consumer_group(ctx, now_ms, leaving, group), single=single)
    if not isinstance(group, ClassicGroup):
        unknown = [
            MemberResponse(each.member_id, each.group_instance_id, ErrorCode.UNKNOWN_MEMBER_ID)
            for each in leaving
        ]
        return _left(Decision(LeaveGroupResponse(members=unknown)), single=single)
    work = Work(ctx, now_ms, group)
    results = [
        MemberResponse(each.member_id, each.group_instance_id, _leave(work, each))
        for each in leaving
    ]
    answer = LeaveGroupResponse(members=results)
    if all(each.error_code for each in results):
        return _left(Decision(answer), single=single)
    if work.group.state in {State.STABLE, State.COMPLETING_REBALANCE}:
        prepare_rebalance(work)
    elif work.group.state is State.PREPARING_REBALANCE:
        complete_if_all_joined(work)
    return _left(work.decision(answer), single=single)


def _left(decision: Decision[LeaveGroupResponse], *, single: bool) -> Decision[LeaveGroupResponse]:
    answer = decision.answer
    if single and answer is not None:
        answer.error_code, answer.members = answer.members[0].error_code, []
    return decision


def _leave(work: Work, identity: MemberIdentity) -> ErrorCode:
    group = work.group
    member_id = identity.member_id
    if not member_id:
        member_id = group.static_members.get(identity.group_instance_id or "", "")
        if not member_id:
            return ErrorCode.UNKNOWN_MEMBER_ID
    elif member_id in group.pending_joins:
        group.remove(member_id)
        work.end_session(member_id)
        return ErrorCode.NONE
    else:
        refusal = group.member_refusal(member_id, identity.group_instance_id)
        if refusal is not ErrorCode.NONE:
            return refusal
    remove_member(work, member_id)
    return ErrorCode.NONE
