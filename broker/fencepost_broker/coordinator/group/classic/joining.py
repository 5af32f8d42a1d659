"""Decisions on JoinGroup: a member joins, rejoins, or returns with a new id."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupResponse

from fencepost_broker.coordinator.group.classic.group import ClassicGroup, Member, State
from fencepost_broker.coordinator.group.classic.rebalance import (
    complete_if_all_joined,
    generation_answer,
    prepare_rebalance,
    rebalance_or_complete,
)
from fencepost_broker.coordinator.group.classic.records import empty_group_record
from fencepost_broker.coordinator.group.classic.transition import (
    Parked,
    Work,
    join_refusal,
    random_uuid,
)
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.migration.classic_members import join_consumer_group
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.metadata.decision import Decision

MEMBER_ID_REQUIRED_SINCE: Final = 4
REBALANCE_TIMEOUT_SINCE: Final = 1
SKIP_ASSIGNMENT_SINCE: Final = 9


def join_group(ctx: Context, now_ms: int, ask: Ask) -> Decision[JoinGroupResponse]:
    """Decide on a JoinGroup; its answer usually comes with the next generation."""
    request = ask.request
    assert isinstance(request, JoinGroupRequest)
    settings = ctx.settings
    if not request.group_id:
        return _refused(ErrorCode.INVALID_GROUP_ID, request.member_id, ask)
    shortest, longest = settings.group_min_session_timeout_ms, settings.group_max_session_timeout_ms
    if not shortest <= request.session_timeout_ms <= longest:
        return _refused(ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id, ask)
    known = ctx.groups.get(request.group_id)
    if isinstance(known, ConsumerGroup) and not known.is_empty:
        return join_consumer_group(ctx, now_ms, ask, known)
    if isinstance(known, ShareGroup) or (isinstance(known, StreamsGroup) and not known.is_empty):
        return _refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "", ask)
    is_new = not isinstance(known, ClassicGroup)
    if is_new and request.member_id:
        return _refused(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id, ask)
    group = ClassicGroup(request.group_id, state_since_ms=now_ms)
    work = Work(ctx, now_ms, known if isinstance(known, ClassicGroup) else group)
    answer = _join(work, ask, request)
    if is_new:
        _store_new_group(work)
        if known is not None:
            work.records[:0] = known.tombstones()  # this replaces an empty consumer group
    return work.decision(answer, ask.token)


def _store_new_group(work: Work) -> None:
    record = empty_group_record(work.group.group_id, work.now_ms)
    work.records.insert(0, record)
    work.group.stored = record.value  # type: ignore[assignment]


def _join(work: Work, ask: Ask, request: JoinGroupRequest) -> JoinGroupResponse | None:
    if not _has_room(work, request.member_id):
        work.group.remove(request.member_id)
        return join_refusal(ErrorCode.GROUP_MAX_SIZE_REACHED, "", ask.version)
    names = [each.name for each in request.protocols]
    if not work.group.supports(request.protocol_type, names):
        code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return join_refusal(code, request.member_id, ask.version)
    if not request.member_id:
        return _join_as_new(work, ask, request)
    if request.member_id in work.group.pending_joins:
        if request.group_instance_id is not None:
            # The id was given to a dynamic member. Kafka answers with the same error.
            code = ErrorCode.UNKNOWN_SERVER_ERROR
            return join_refusal(code, request.member_id, ask.version)
        _add(work, ask, request, request.member_id)
        return None
    return _join_again(work, ask, request)


def _has_room(work: Work, member_id: str) -> bool:
    group = work.group
    size_max = work.ctx.settings.group_max_size
    member = group.members.get(member_id)
    if group.state is State.EMPTY:
        return True
    if group.state is State.PREPARING_REBALANCE:
        # Only waiting members count: late ones are excluded if the setting has been lowered.
        waits = member is not None and member.join_token is not None
        return waits or group.awaiting_joins < size_max
    return member is not None or len(group.members) < size_max


def _join_as_new(work: Work, ask: Ask, request: JoinGroupRequest) -> JoinGroupResponse | None:
    group = work.group
    instance_id = request.group_instance_id
    first = ask.client_id if instance_id is None else instance_id
    member_id = f"{first}-{random_uuid(work.ctx.chance)}"
    if instance_id is not None:
        replaced = group.static_members.get(instance_id)
        if replaced is not None:
            return _replace(work, ask, request, replaced, member_id)
    elif ask.version >= MEMBER_ID_REQUIRED_SINCE:
        # KIP-394: a client becomes a member when it joins again with this id, so a client that has
        # given up leaves no member.
        group.pending_joins.add(member_id)
        work.begin_session(member_id, request.session_timeout_ms)
        return join_refusal(ErrorCode.MEMBER_ID_REQUIRED, member_id, ask.version)
    _add(work, ask, request, member_id)
    return None


def _add(work: Work, ask: Ask, request: JoinGroupRequest, member_id: str) -> None:
    member = Member(
        member_id,
        request.group_instance_id,
        ask.client_id,
        ask.client_host,
        request.session_timeout_ms,
        _rebalance_timeout_ms(ask, request),
        _protocols(request),
        is_new=True,
        join_token=Parked.of(ask),
    )
    group = work.group
    if group.state is State.PREPARING_REBALANCE and group.previous_state is State.EMPTY:
        group.new_member_added = True
    group.add(member, request.protocol_type)
    work.begin_session(member_id, work.ctx.settings.new_member_join_timeout_ms)
    rebalance_or_complete(work)


def _join_again(work: Work, ask: Ask, request: JoinGroupRequest) -> JoinGroupResponse | None:
    group = work.group
    member_id = request.member_id
    refusal = group.member_refusal(member_id, request.group_instance_id)
    if refusal is not ErrorCode.NONE:
        return join_refusal(refusal, member_id, ask.version)
    same = group.members[member_id].protocols == _protocols(request)
    if group.state is State.EMPTY:
        return join_refusal(ErrorCode.UNKNOWN_MEMBER_ID, member_id, ask.version)
    if same and (
        group.state is State.COMPLETING_REBALANCE
        or (group.state is State.STABLE and group.leader != member_id)
    ):
        # The member has missed the answer, or nothing has changed: the generation is still valid.
        # A leader that rejoins a stable group wants a rebalance: its topics have changed.
        return generation_answer(group, member_id)
    _park(work, ask, request, member_id)
    rebalance_or_complete(work)
    return None


def _park(work: Work, ask: Ask, request: JoinGroupRequest, member_id: str) -> Member:
    work.supersede_join(member_id)
    return work.group.change(
        member_id,
        protocols=_protocols(request),
        rebalance_timeout_ms=_rebalance_timeout_ms(ask, request),
        session_timeout_ms=request.session_timeout_ms,
        join_token=Parked.of(ask),
    )


def _replace(
    work: Work, ask: Ask, request: JoinGroupRequest, replaced_id: str, member_id: str
) -> JoinGroupResponse | None:
    """Give a restarted static member (KIP-345) a new id and the place of the old one."""
    group = work.group
    leader_before = group.leader
    work.fence(replaced_id)
    group.rename(replaced_id, member_id)
    work.end_session(replaced_id)
    work.begin_session(member_id, group.members[member_id].session_timeout_ms)
    member = _park(work, ask, request, member_id)
    if group.state is State.COMPLETING_REBALANCE:
        prepare_rebalance(work)  # the leader may be about to assign to the old id
    elif group.state is not State.STABLE:
        complete_if_all_joined(work)
    elif group.chosen_protocol() != group.protocol:
        prepare_rebalance(work)
    else:
        # The generation stays valid; the record stores the new id for a restart.
        group.topics = group.find_topics()
        work.store()
        answer = generation_answer(group, member_id)
        if ask.version >= SKIP_ASSIGNMENT_SINCE:
            answer.skip_assignment = group.leader == member_id  # KIP-814
        else:
            # The member would make a new assignment if it knew that it is the leader.
            answer.leader = leader_before or ""
            answer.members = []
        work.answer_join(member, answer)
    return None


def _rebalance_timeout_ms(ask: Ask, request: JoinGroupRequest) -> int:
    known = ask.version >= REBALANCE_TIMEOUT_SINCE
    return request.rebalance_timeout_ms if known else request.session_timeout_ms


def _protocols(request: JoinGroupRequest) -> tuple[tuple[str, bytes], ...]:
    return tuple((each.name, bytes(each.metadata)) for each in request.protocols)


def _refused(code: ErrorCode, member_id: str, ask: Ask) -> Decision[Any]:
    return Decision(join_refusal(code, member_id, ask.version))
