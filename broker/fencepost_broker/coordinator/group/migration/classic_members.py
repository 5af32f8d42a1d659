"""Members of a consumer group that still use the classic protocol (migration of KIP-848).

Their JoinGroup has the subscription, and its answer the epoch, which they call a generation.
SyncGroup returns the partitions, and Heartbeat tells them when to rejoin. None of them is a leader:
the broker assigns the partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupResponse
from fencepost_protocol.generated.leave_group import (
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupResponse

from fencepost_broker.coordinator.group.classic.group import CONSUMER_PROTOCOL
from fencepost_broker.coordinator.group.classic.subscriptions import (
    read_subscription,
    subscription_version,
    write_assignment,
)
from fencepost_broker.coordinator.group.classic.transition import join_refusal, random_uuid
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.consumer.fencing import fence
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.member import (
    ClassicMetadata,
    ConsumerMember,
    MemberState,
)
from fencepost_broker.coordinator.group.consumer.patterns import change_pattern
from fencepost_broker.coordinator.group.consumer.progress import (
    Progress,
    bump_if_changed,
    reconcile,
    replace_static_member,
)
from fencepost_broker.coordinator.group.consumer.records import member_record
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.migration.downgrade import (
    can_downgrade,
    downgrade_with_replaced,
)
from fencepost_broker.coordinator.group.refusal import Refusal
from fencepost_broker.coordinator.group.soft import SetTimer, Timer, TimerKey
from fencepost_broker.metadata.decision import Decision

PROTOCOL_SAID_SINCE: Final = 5
"""The SyncGroup version from which the protocol is required (KIP-559)."""
MEMBER_ID_REQUIRED_SINCE: Final = 4
REBALANCE_TIMEOUT_SINCE: Final = 1


def says_protocol(request: SyncGroupRequest) -> bool:
    """Whether a SyncGroup has the protocol's type and name."""
    return request.protocol_type is not None and request.protocol_name is not None


# -- JoinGroup -----------------------------------------------------------------------------------


def join_consumer_group(
    ctx: Context, now_ms: int, ask: Ask, group: ConsumerGroup
) -> Decision[JoinGroupResponse]:
    """Decide on a JoinGroup to a consumer group: a member on the classic protocol (re)joins."""
    request = ask.request
    assert isinstance(request, JoinGroupRequest)
    try:
        return _join(ctx, now_ms, ask, request, group)
    except Refusal as refusal:
        return Decision(join_refusal(refusal.code, request.member_id, ask.version))


def _join(
    ctx: Context, now_ms: int, ask: Ask, request: JoinGroupRequest, group: ConsumerGroup
) -> Decision[JoinGroupResponse]:
    is_unknown = not request.member_id
    member_id = request.member_id or random_uuid(ctx.chance)
    subscription = _check_join(ctx, request, group)
    if is_unknown and request.group_instance_id is None and ask.version >= MEMBER_ID_REQUIRED_SINCE:
        return Decision(join_refusal(ErrorCode.MEMBER_ID_REQUIRED, member_id, ask.version))
    progress = Progress(ctx, now_ms, group)
    before = _joining_member(progress, request, member_id, is_unknown=is_unknown)
    after = _with_request(before, ask, request, subscription)
    if after != before:
        progress.records.append(member_record(group.group_id, after))
    former_id = progress.former.get(member_id, member_id)
    pattern = change_pattern(ctx, now_ms, group, before, after, former_id, progress.records)
    progress.change(after)
    changed = after.topics != before.topics or pattern.changed
    bump_if_changed(progress, bump=changed)
    replaces = request.group_instance_id is not None and former_id in group.members
    if replaces and can_downgrade(ctx, progress.roster):
        return downgrade_with_replaced(progress, after, former_id, ask, rebalance=changed)
    after = reconcile(progress, after, _owned(ctx, subscription), subscription_changed=changed)
    soft = [
        *progress.soft,
        *pattern.timers,
        _timer(Timer.JOIN, group, member_id, None),
        _timer(Timer.SESSION, group, member_id, now_ms + request.session_timeout_ms),
        _timer(Timer.SYNC, group, member_id, now_ms + after.rebalance_timeout_ms),
    ]
    answer = JoinGroupResponse(
        generation_id=after.member_epoch,
        protocol_type=CONSUMER_PROTOCOL,
        protocol_name=request.protocols[0].name,
        member_id=member_id,
    )
    return Decision(answer, tuple(progress.records), soft=tuple(soft))


def _check_join(
    ctx: Context, request: JoinGroupRequest, group: ConsumerGroup
) -> ConsumerProtocolSubscription:
    size_max = ctx.settings.group_consumer_max_size
    if len(group.members) >= size_max and request.member_id not in group.members:
        raise Refusal(ErrorCode.GROUP_MAX_SIZE_REACHED, "the group is full")
    names = [each.name for each in request.protocols]
    if not group.supports_classic(request.protocol_type, names):
        raise Refusal(
            ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "the members have no protocol in common"
        )
    try:
        return read_subscription(bytes(request.protocols[0].metadata))
    except RemoteProtocolError as error:
        raise Refusal(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, str(error)) from error


def _joining_member(
    progress: Progress, request: JoinGroupRequest, member_id: str, *, is_unknown: bool
) -> ConsumerMember:
    group = progress.group
    known = group.members.get(member_id)
    if request.group_instance_id is None:
        return known or ConsumerMember(member_id)
    static = group.static_member(request.group_instance_id)
    if is_unknown:
        if static is None:
            return ConsumerMember(member_id)
        return replace_static_member(progress, static, member_id)
    return _classic_member(group, member_id, request.group_instance_id)


def _with_request(
    member: ConsumerMember,
    ask: Ask,
    request: JoinGroupRequest,
    subscription: ConsumerProtocolSubscription,
) -> ConsumerMember:
    timed = ask.version >= REBALANCE_TIMEOUT_SINCE
    protocols = tuple((each.name, bytes(each.metadata)) for each in request.protocols)
    return replace(
        member,
        instance_id=request.group_instance_id or member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms if timed else request.session_timeout_ms,
        topics=tuple(sorted(subscription.topics)),
        pattern="",
        client_id=ask.client_id,
        client_host=ask.client_host,
        classic=ClassicMetadata(request.session_timeout_ms, protocols),
    )


def _owned(ctx: Context, subscription: ConsumerProtocolSubscription) -> dict[bytes, Sequence[int]]:
    """Return a member's owned partitions; a client that does not report them has none."""
    ids = ((ctx.topics.topic_id(each.topic), each) for each in subscription.owned_partitions)
    return {topic_id: each.partitions for topic_id, each in ids if topic_id is not None}


# -- SyncGroup, Heartbeat, LeaveGroup ------------------------------------------------------------


def sync_consumer_group(
    ctx: Context, now_ms: int, ask: Ask, group: ConsumerGroup
) -> Decision[SyncGroupResponse]:
    """Decide on a SyncGroup to a consumer group: a member fetches its partitions."""
    request = ask.request
    assert isinstance(request, SyncGroupRequest)
    if ask.version >= PROTOCOL_SAID_SINCE and not says_protocol(request):
        return Decision(SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
    try:
        member, classic = _member_in_generation(group, request)
    except Refusal as refusal:
        return Decision(SyncGroupResponse(error_code=refusal.code))
    if request.protocol_type not in {None, CONSUMER_PROTOCOL} or request.protocol_name not in {
        None,
        classic.protocols[0][0],
    }:
        return Decision(SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
    behind = group.group_epoch > member.member_epoch
    if behind and member.state is not MemberState.UNREVOKED_PARTITIONS:
        answer = SyncGroupResponse(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
        return Decision(answer, soft=_join_deadline(ctx, now_ms, group, member))
    names = ((ctx.topics.topic_name(each), member.assigned[each]) for each in member.assigned)
    named = {name: sorted(numbers) for name, numbers in names if name is not None}
    assignment = write_assignment(named, subscription_version(classic.protocols[0][1]))
    soft = (
        _timer(Timer.SYNC, group, member.member_id, None),
        _timer(Timer.SESSION, group, member.member_id, now_ms + classic.session_timeout_ms),
    )
    answer = SyncGroupResponse(
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=assignment,
    )
    return Decision(answer, soft=soft)


def beat_consumer_group(
    ctx: Context, now_ms: int, request: HeartbeatRequest, group: ConsumerGroup
) -> Decision[HeartbeatResponse]:
    """Extend a member's session; the answer tells whether it has to rejoin."""
    try:
        member, classic = _member_in_generation(group, request)
    except Refusal as refusal:
        return Decision(HeartbeatResponse(error_code=refusal.code))
    until_ms = now_ms + classic.session_timeout_ms
    soft: tuple[SetTimer, ...] = (_timer(Timer.SESSION, group, member.member_id, until_ms),)
    code = ErrorCode.NONE
    is_behind = member.member_epoch < group.group_epoch
    has_to_let_go = member.state is MemberState.UNREVOKED_PARTITIONS
    waits = member.state is MemberState.UNRELEASED_PARTITIONS
    if is_behind or has_to_let_go or (waits and not group.waits_for_release(member)):
        code = ErrorCode.REBALANCE_IN_PROGRESS
        soft += _join_deadline(ctx, now_ms, group, member)
    return Decision(HeartbeatResponse(error_code=code), soft=soft)


def leave_consumer_group(
    ctx: Context, now_ms: int, leaving: Iterable[MemberIdentity], group: ConsumerGroup
) -> Decision[LeaveGroupResponse]:
    """Remove members that leave, or that an administrator removes by instance id."""
    results = []
    gone: dict[str, None] = {}
    for each in leaving:
        code = ErrorCode.NONE
        try:
            member = _leaving_member(group, each)
            gone[member.member_id] = None
        except Refusal as refusal:
            code = refusal.code
        results.append(MemberResponse(each.member_id, each.group_instance_id, code))
    return fence(ctx, now_ms, group, list(gone), LeaveGroupResponse(members=results))


def _leaving_member(group: ConsumerGroup, identity: MemberIdentity) -> ConsumerMember:
    instance_id = identity.group_instance_id
    if instance_id is not None and not identity.member_id:
        static = group.static_member(instance_id)
        if static is None:
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, "unknown instance id")
        return static
    return _classic_member(group, identity.member_id, instance_id)


def _classic_member(
    group: ConsumerGroup, member_id: str, instance_id: str | None
) -> ConsumerMember:
    member = group.members.get(member_id)
    if instance_id is not None:
        static = group.static_member(instance_id)
        if static is not None and static.member_id != member_id:
            raise Refusal(ErrorCode.FENCED_INSTANCE_ID, "another member has this instance id")
        member = static
    if member is None:
        raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, "unknown member id")
    return member


def _member_in_generation(
    group: ConsumerGroup, request: SyncGroupRequest | HeartbeatRequest
) -> tuple[ConsumerMember, ClassicMetadata]:
    member = _classic_member(group, request.member_id, request.group_instance_id)
    if member.classic is None:
        raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, "the member uses KIP-848's protocol")
    if request.generation_id != member.member_epoch:
        raise Refusal(ErrorCode.ILLEGAL_GENERATION, "the member has another epoch")
    return member, member.classic


def _join_deadline(
    ctx: Context, now_ms: int, group: ConsumerGroup, member: ConsumerMember
) -> tuple[SetTimer, ...]:
    """Return the timer for a rejoin; it runs from the first request to rejoin."""
    key = TimerKey(Timer.JOIN, group.group_id, member.member_id)
    if ctx.timers.at(key) is not None:
        return ()
    return (SetTimer(key, now_ms + member.rebalance_timeout_ms),)


def _timer(timer: Timer, group: ConsumerGroup, member_id: str, at_ms: Any) -> SetTimer:
    return SetTimer(TimerKey(timer, group.group_id, member_id), at_ms)
