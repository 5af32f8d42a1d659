"""The rebalance of a classic group, which leads to its next generation.

prepare      all members are asked to rejoin; a group that was empty waits a little longer
complete     members that have not joined are removed; the others get the generation, and the
             leader also gets the list of members
spread       all members get their part of the leader's assignment; the group is stable
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.join_group import JoinGroupResponse, JoinGroupResponseMember
from fencepost_protocol.generated.sync_group import SyncGroupResponse

from fencepost_broker.coordinator.effects import Reply
from fencepost_broker.coordinator.group.classic.group import ClassicGroup, Member, State
from fencepost_broker.coordinator.group.classic.transition import Work, join_refusal
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.soft import Rebalanced, SetTimer, Timer, TimerKey
from fencepost_broker.metadata.decision import Decision


def rebalance_or_complete(work: Work) -> None:
    """Begin a rebalance, or complete the current one if all members have joined."""
    if work.group.state is State.PREPARING_REBALANCE:
        complete_if_all_joined(work)
    else:
        prepare_rebalance(work)


def prepare_rebalance(work: Work) -> None:
    """Begin a rebalance: all members must rejoin."""
    group = work.group
    if group.state is State.COMPLETING_REBALANCE:
        _give_up_assignment(work, ErrorCode.REBALANCE_IN_PROGRESS)
    group.pending_syncs.clear()
    work.cancel_timer(Timer.SYNC)
    is_initial = group.state is State.EMPTY
    group.become(State.PREPARING_REBALANCE, work.now_ms)
    if is_initial:
        delay_ms = work.ctx.settings.group_initial_rebalance_delay_ms
        group.initial_delay_ms = delay_ms
        group.initial_delay_left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
        work.set_timer(Timer.JOIN, delay_ms)
    elif group.all_have_joined:
        complete_join(work)
    else:
        work.set_timer(Timer.JOIN, group.rebalance_timeout_ms)


def complete_if_all_joined(work: Work) -> None:
    """Complete the rebalance if all members have joined; a group's first one waits regardless."""
    group = work.group
    is_initial = group.previous_state is State.EMPTY
    if group.state is State.PREPARING_REBALANCE and not is_initial and group.all_have_joined:
        complete_join(work)


def complete_join(work: Work) -> None:
    """Begin the next generation with the joined members.

    Absent dynamic members are removed; static members may return until their session ends.
    """
    group = work.group
    work.cancel_timer(Timer.JOIN)
    for member in [each for each in group.missing_members() if each.instance_id is None]:
        said = f"member {member.member_id!r} sent no JoinGroup in time, and was removed"
        work.tell("member-late", said)
        group.remove(member.member_id)
        work.end_session(member.member_id)
    if not group.elect_joined_leader() and group.members:
        # No member has joined. The group waits for its static members until their sessions end.
        work.set_timer(Timer.JOIN, group.rebalance_timeout_ms)
        return
    group.begin_generation(work.now_ms)
    if group.state is State.EMPTY:
        work.store()
        return
    for member in list(group.members.values()):
        if member.join_token is not None:
            work.answer_join(member, generation_answer(group, member.member_id))
        if member.is_new:
            group.change(member.member_id, is_new=False)
        work.begin_session(member.member_id, member.session_timeout_ms)
    group.pending_syncs.update(group.members)
    work.set_timer(Timer.SYNC, group.rebalance_timeout_ms)


def generation_answer(group: ClassicGroup, member_id: str) -> JoinGroupResponse:
    """Return a member's JoinGroup response; only the leader gets the list of members."""
    is_leader = group.leader == member_id
    return JoinGroupResponse(
        generation_id=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        leader=group.leader or "",
        member_id=member_id,
        members=members_for_leader(group) if is_leader else [],
    )


def members_for_leader(group: ClassicGroup) -> list[JoinGroupResponseMember]:
    """Return all members with their metadata, for the leader."""
    return [
        JoinGroupResponseMember(
            member.member_id, member.instance_id, member.metadata(group.protocol)
        )
        for member in group.members.values()
    ]


def spread_assignment(work: Work, assignment: Mapping[str, bytes]) -> None:
    """Store the leader's assignment and answer SyncGroup; a member without a part gets none."""
    group = work.group
    for member in list(group.members.values()):
        group.change(member.member_id, assignment=assignment.get(member.member_id, b""))
    work.store()
    for member in list(group.members.values()):
        _answer_with_assignment(work, member, ErrorCode.NONE)
    group.become(State.STABLE, work.now_ms)
    work.soft.append(Rebalanced(group.TYPE))


def _give_up_assignment(work: Work, code: ErrorCode) -> None:
    for member in list(work.group.members.values()):
        without = work.group.change(member.member_id, assignment=b"")
        _answer_with_assignment(work, without, code)


def _answer_with_assignment(work: Work, member: Member, code: ErrorCode) -> None:
    group = work.group
    known = code is ErrorCode.NONE
    answer = SyncGroupResponse(
        error_code=code,
        protocol_type=group.protocol_type if known else None,
        protocol_name=group.protocol if known else None,
        assignment=member.assignment,
    )
    if work.answer_sync(member, answer):
        # The session is restarted: its end was ignored while the member waited for the answer.
        work.begin_session(member.member_id, member.session_timeout_ms)


def remove_member(work: Work, member_id: str) -> None:
    """Remove a member; its waiting JoinGroup fails, and the client may join with a new id."""
    answer = JoinGroupResponse(
        error_code=ErrorCode.UNKNOWN_MEMBER_ID, protocol_name=None, member_id=""
    )
    work.answer_join(work.group.members[member_id], answer)
    work.group.remove(member_id)
    work.end_session(member_id)


def rebalance(ctx: Context, now_ms: int, group: ClassicGroup) -> Decision[bool]:
    """Begin a rebalance on request; answer whether the group could begin one."""
    if group.state not in {State.STABLE, State.COMPLETING_REBALANCE}:
        return Decision(answer=False)
    work = Work(ctx, now_ms, group)
    prepare_rebalance(work)
    return work.decision(answer=True)


# -- deadlines -----------------------------------------------------------------------------------


def session_is_over(ctx: Context, now_ms: int, key: TimerKey) -> Decision[Any]:
    """Remove a member, or a pending member id, whose session has ended."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, ClassicGroup)
    member = group.members.get(key.member_id)
    forgotten = Decision[Any](soft=(SetTimer(key, None),))
    if member is None and key.member_id not in group.pending_joins:
        return forgotten
    waits = member is not None and (member.join_token or member.sync_token) is not None
    if member is not None and waits and not member.is_new:
        return forgotten  # the member waits for our answer and cannot send heartbeats
    work = Work(ctx, now_ms, group)
    if member is None:
        work.group.remove(key.member_id)
        work.end_session(key.member_id)
    else:
        session_ms = member.session_timeout_ms
        said = f"member {key.member_id!r} sent no heartbeat for {session_ms} ms, and was removed"
        work.tell("member-silent", said)
        remove_member(work, key.member_id)
    if work.group.state is not State.PREPARING_REBALANCE:
        if member is not None:
            rebalance_or_complete(work)
    elif work.group.all_have_joined:
        complete_join(work)
    return work.decision()


def joining_is_over(ctx: Context, now_ms: int, key: TimerKey) -> Decision[Any]:
    """Complete the rebalance; the first one is extended as long as new members join."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, ClassicGroup)
    work = Work(ctx, now_ms, group)
    group = work.group
    is_initial = group.previous_state is State.EMPTY
    if is_initial and group.new_member_added and group.initial_delay_left_ms:
        delay_ms = min(ctx.settings.group_initial_rebalance_delay_ms, group.initial_delay_left_ms)
        group.initial_delay_left_ms = max(group.initial_delay_left_ms - group.initial_delay_ms, 0)
        group.initial_delay_ms = delay_ms
        group.new_member_added = False
        work.set_timer(Timer.JOIN, delay_ms)
    else:
        complete_join(work)
    return work.decision()


def syncing_is_over(ctx: Context, now_ms: int, key: TimerKey) -> Decision[Any]:
    """Remove the members that have sent no SyncGroup in time."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, ClassicGroup)
    work = Work(ctx, now_ms, group)
    work.cancel_timer(Timer.SYNC)
    if group.pending_syncs:
        for member_id in group.pending_syncs:
            said = f"member {member_id!r} sent no SyncGroup in time, and was removed"
            work.tell("member-late", said)
            work.group.remove(member_id)
            work.end_session(member_id)
        prepare_rebalance(work)
    return work.decision()


def restored_sessions(ctx: Context, now_ms: int, group: ClassicGroup) -> tuple[Any, ...]:
    """Start the sessions of a loaded group; begin a rebalance if it has too many members."""
    if len(group.members) <= ctx.settings.group_max_size:
        return tuple(group.session(each, now_ms) for each in group.members.values())
    work = Work(ctx, now_ms, group)
    for member in group.members.values():
        work.begin_session(member.member_id, member.session_timeout_ms)
    prepare_rebalance(work)
    return work.decision().soft


def parked_replies(group: ClassicGroup, code: ErrorCode) -> list[Reply]:
    """Return error replies for all waiting requests of a group."""
    replies = []
    for member in group.members.values():
        if member.join_token is not None:
            answer = join_refusal(code, member.member_id, member.join_token.version)
            replies.append(Reply(member.join_token.token, answer))
        if member.sync_token is not None:
            replies.append(Reply(member.sync_token.token, SyncGroupResponse(error_code=code)))
    return replies
