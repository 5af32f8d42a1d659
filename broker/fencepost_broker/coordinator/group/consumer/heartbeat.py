"""Decisions on ConsumerGroupHeartbeat, by which members join, leave and reconcile.

    1. the member is created or updated; a changed subscription or changed topics begin a new
       group epoch
    2. a new group epoch leads to a new assignment, limited by the assignment interval
    3. the member takes its next step towards its part of the assignment

A heartbeat that changes nothing only moves one deadline.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final

from fencepost_protocol.generated.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseTopicPartitions,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.primitives import uuid_text

from fencepost_broker.coordinator.effects import Reply
from fencepost_broker.coordinator.group.classic.group import ClassicGroup
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.consumer.fencing import fence, go_away, session_timeout_ms
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.member import AWAY, LEFT, ConsumerMember
from fencepost_broker.coordinator.group.consumer.patterns import change_pattern
from fencepost_broker.coordinator.group.consumer.progress import (
    Progress,
    bump_if_changed,
    reconcile,
    replace_static_member,
)
from fencepost_broker.coordinator.group.consumer.records import member_record
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.refusal import Refusal
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.soft import SetTimer, Timer, TimerKey
from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.metadata.decision import Decision

MEMBER_MAKES_ITS_ID_SINCE: Final = 1
"""From this version on the member chooses its id; before, the broker chose it."""


def consumer_group_heartbeat(
    ctx: Context, now_ms: int, ask: Ask
) -> Decision[ConsumerGroupHeartbeatResponse]:
    """Decide on a heartbeat of a member of a consumer group."""
    request = ask.request
    assert isinstance(request, ConsumerGroupHeartbeatRequest)
    if "consumer" not in ctx.settings.group_coordinator_rebalance_protocols:
        return Decision(ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
    try:
        _check(ctx, request, ask.version)
        if request.member_epoch in {LEFT, AWAY}:
            return _leave(ctx, now_ms, request)
        return _beat(ctx, now_ms, ask, request)
    except Refusal as refusal:
        answer = ConsumerGroupHeartbeatResponse(
            error_code=refusal.code, error_message=refusal.message
        )
        return Decision(answer)


def _check(ctx: Context, request: ConsumerGroupHeartbeatRequest, version: int) -> None:
    problem = None
    has_id = version >= MEMBER_MAKES_ITS_ID_SINCE or request.member_epoch > 0
    if not request.member_id and (has_id or request.member_epoch == LEFT):
        problem = "a member needs an id"
    elif not request.group_id:
        problem = "the group has no id"
    elif request.instance_id == "":
        problem = "an instance id cannot be empty"
    elif request.rack_id == "":
        problem = "a rack id cannot be empty"
    elif request.member_epoch == 0:
        problem = _joining_problem(request)
    elif request.member_epoch == AWAY and request.instance_id is None:
        problem = "only a static member, with an instance id, can leave temporarily"
    elif request.member_epoch < AWAY:
        problem = f"the member epoch {request.member_epoch} is invalid"
    if problem is not None:
        raise Refusal(ErrorCode.INVALID_REQUEST, problem)
    known = ctx.settings.group_consumer_assignors
    if request.server_assignor is not None and request.server_assignor not in known:
        message = f"unknown assignor {request.server_assignor!r}; known are: {', '.join(known)}"
        raise Refusal(ErrorCode.UNSUPPORTED_ASSIGNOR, message)


def _joining_problem(request: ConsumerGroupHeartbeatRequest) -> str | None:
    if request.rebalance_timeout_ms == -1:
        return "the first heartbeat must have a rebalance timeout"
    if request.topic_partitions is None or request.topic_partitions:
        return "the first heartbeat must have an empty list of owned partitions"
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        return "the first heartbeat must have topic names or a regular expression"
    return None


@dataclass(slots=True)
class _Found:
    """The group of a heartbeat, which may be new or upgraded."""

    group: ConsumerGroup
    replies: list[Reply] = field(default_factory=list)
    soft: list[Any] = field(default_factory=list)


def _beat(
    ctx: Context, now_ms: int, ask: Ask, request: ConsumerGroupHeartbeatRequest
) -> Decision[ConsumerGroupHeartbeatResponse]:
    joins = request.member_epoch == 0
    progress = Progress(ctx, now_ms)
    found = _group(progress, request.group_id, joins=joins)
    group = progress.group = found.group
    size_max = ctx.settings.group_consumer_max_size
    if len(group.members) >= size_max and request.member_id not in group.members:
        message = f"group {group.group_id!r} has reached its limit of {size_max} members"
        raise Refusal(ErrorCode.GROUP_MAX_SIZE_REACHED, message)
    member_id = request.member_id or uuid_text(ctx.chance.randbytes(16))
    before = _member(progress, request, member_id, joins=joins)
    after = _changed(before, ask, request)
    if after != before:
        progress.records.append(member_record(group.group_id, after))
    names_changed = after.topics != before.topics
    former_id = progress.former.get(member_id, member_id)
    pattern = change_pattern(ctx, now_ms, group, before, after, former_id, progress.records)
    progress.change(after)
    bump_if_changed(progress, bump=names_changed or pattern.resolved)
    owned = request.topic_partitions
    changed = names_changed or pattern.changed
    after = reconcile(
        progress,
        after,
        None if owned is None else {each.topic_id: each.partitions for each in owned},
        subscription_changed=changed,
    )
    soft = [*found.soft, *progress.soft, *pattern.timers]
    until_ms = now_ms + session_timeout_ms(ctx, group.group_id)
    soft.append(SetTimer(TimerKey(Timer.SESSION, group.group_id, member_id), until_ms))
    answer = _answer(ctx, group.group_id, after)
    subscribes = (request.subscribed_topic_names, request.subscribed_topic_regex) != (None, None)
    is_full = subscribes and request.rebalance_timeout_ms != -1 and owned is not None
    if joins or is_full or not after.has_same_partitions(before):
        answer.assignment = _assignment(after)
    return Decision(answer, tuple(progress.records), tuple(found.replies), tuple(soft))


def _group(progress: Progress, group_id: str, *, joins: bool) -> _Found:
    ctx = progress.ctx
    group = ctx.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        return _Found(group)
    if not joins or isinstance(group, ShareGroup | StreamsGroup):
        message = f"there is no consumer group {group_id!r}"
        raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND, message)
    if group is None:
        return _Found(ConsumerGroup(group_id))
    assert isinstance(group, ClassicGroup)
    if group.is_empty:
        progress.records += group.tombstones()
        return _Found(ConsumerGroup(group_id))
    from fencepost_broker.coordinator.group.migration.upgrade import upgrade

    upgraded = upgrade(ctx, progress.now_ms, group)
    progress.records += upgraded.records
    return _Found(upgraded.group, upgraded.replies, upgraded.soft)


def _member(
    progress: Progress, request: ConsumerGroupHeartbeatRequest, member_id: str, *, joins: bool
) -> ConsumerMember:
    group = progress.group
    known = group.members.get(member_id)
    if request.instance_id is None:
        if known is None and not joins:
            message = f"group {group.group_id!r} has no member {member_id!r}"
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, message)
        member = known or ConsumerMember(member_id)
        _check_epoch(member, request)
        return member
    static = group.static_member(request.instance_id)
    if joins:
        if static is None:
            return known or ConsumerMember(member_id)
        if static.member_epoch != AWAY and static.classic is None:
            message = f"{request.instance_id!r} is still in the group as {static.member_id!r}"
            raise Refusal(ErrorCode.UNRELEASED_INSTANCE_ID, message)
        return replace_static_member(progress, static, member_id)
    return _static_member(group, request, member_id)


def _static_member(
    group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, member_id: str
) -> ConsumerMember:
    static = group.static_member(request.instance_id)
    if static is None:
        message = f"group {group.group_id!r} has no instance {request.instance_id!r}"
        raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, message)
    if static.member_id != member_id:
        message = f"{request.instance_id!r} is {static.member_id!r} now, and not {member_id!r}"
        raise Refusal(ErrorCode.FENCED_INSTANCE_ID, message)
    if request.member_epoch > 0:
        _check_epoch(static, request)
    return static


def _check_epoch(member: ConsumerMember, request: ConsumerGroupHeartbeatRequest) -> None:
    """Check a member's epoch; it may be the previous one if the last answer was lost."""
    epoch, known = request.member_epoch, member.member_epoch
    if epoch in {0, known}:
        return
    is_behind = epoch < known and epoch == member.previous_member_epoch
    if is_behind and request.topic_partitions is not None:
        has = member.assigned
        if all(
            number in has.get(each.topic_id, ())
            for each in request.topic_partitions
            for number in each.partitions
        ):
            return
    message = (
        f"member {member.member_id!r} sent epoch {epoch}, but its epoch is {known}:"
        " it must give up its partitions and join again"
    )
    raise Refusal(ErrorCode.FENCED_MEMBER_EPOCH, message)


def _changed(
    member: ConsumerMember, ask: Ask, request: ConsumerGroupHeartbeatRequest
) -> ConsumerMember:
    names, pattern = request.subscribed_topic_names, request.subscribed_topic_regex
    timeout_ms = request.rebalance_timeout_ms
    return replace(
        member,
        instance_id=member.instance_id if request.instance_id is None else request.instance_id,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        assignor=member.assignor if request.server_assignor is None else request.server_assignor,
        topics=member.topics if names is None else tuple(sorted(names)),
        pattern=member.pattern if pattern is None else pattern,
        client_id=ask.client_id,
        client_host=ask.client_host,
        classic=None,
    )


def _answer(ctx: Context, group_id: str, member: ConsumerMember) -> ConsumerGroupHeartbeatResponse:
    of_broker = ctx.settings.group_consumer_heartbeat_interval_ms
    interval_ms = ctx.number(group_id, "consumer.heartbeat.interval.ms", of_broker)
    return ConsumerGroupHeartbeatResponse(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        heartbeat_interval_ms=interval_ms,
    )


def _assignment(member: ConsumerMember) -> Assignment:
    return Assignment(
        [
            ConsumerGroupHeartbeatResponseTopicPartitions(topic_id, sorted(numbers))
            for topic_id, numbers in member.assigned.items()
        ]
    )


def _leave(
    ctx: Context, now_ms: int, request: ConsumerGroupHeartbeatRequest
) -> Decision[ConsumerGroupHeartbeatResponse]:
    group = ctx.groups.get(request.group_id)
    if not isinstance(group, ConsumerGroup):
        message = f"there is no consumer group {request.group_id!r}"
        raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND, message)
    member_id = request.member_id
    if request.instance_id is None:
        if member_id not in group.members:
            message = f"group {group.group_id!r} has no member {member_id!r}"
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, message)
    else:
        static = _static_member(group, request, member_id)
        if request.member_epoch == AWAY:
            return go_away(group, static)
    answer = ConsumerGroupHeartbeatResponse(member_id=member_id, member_epoch=request.member_epoch)
    return fence(ctx, now_ms, group, [member_id], answer)
