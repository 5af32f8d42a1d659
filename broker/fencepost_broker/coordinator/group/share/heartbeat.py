"""Decisions on ShareGroupHeartbeat, by which members join, leave and get their partitions.

    1. the member is created or updated; a changed subscription, changed topics, or partitions that
       have just been initialized begin a new group epoch
    2. a new group epoch leads to a new assignment, limited by the assignment interval
    3. the member takes its whole part of the assignment
    4. partitions whose state has not begun are given to the share coordinators

A heartbeat that changes nothing only moves one deadline.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)

from fencepost_broker.coordinator.effects import Tell
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.consumer.group import same_partitions
from fencepost_broker.coordinator.group.consumer.member import LEFT, Partitions
from fencepost_broker.coordinator.group.consumer.target import metadata_hash
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.refusal import Refusal
from fencepost_broker.coordinator.group.share.assignor import assign
from fencepost_broker.coordinator.group.share.commands import InitializeShares
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_broker.coordinator.group.share.members import ShareMember
from fencepost_broker.coordinator.group.share.partitions import (
    request_to_initialize,
    to_initialize,
    with_initializing,
)
from fencepost_broker.coordinator.group.share.records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    states_record,
    target_epoch_record,
    target_record,
)
from fencepost_broker.coordinator.group.soft import (
    MetadataChecked,
    Rebalanced,
    SetTimer,
    SharesInitializing,
    Timer,
    TimerKey,
)
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision

MEMBER_ID_MAX: Final = 36
_NOTHING: Final[Partitions] = {}


def share_group_heartbeat(
    ctx: Context, now_ms: int, ask: Ask
) -> Decision[ShareGroupHeartbeatResponse]:
    """Decide on a heartbeat of a member of a share group."""
    request = ask.request
    assert isinstance(request, ShareGroupHeartbeatRequest)
    try:
        _check(request)
        if request.member_epoch == LEFT:
            return _leave(ctx, request)
        return _beat(ctx, now_ms, ask, request)
    except Refusal as refusal:
        answer = ShareGroupHeartbeatResponse(error_code=refusal.code, error_message=refusal.message)
        return Decision(answer)


def _check(request: ShareGroupHeartbeatRequest) -> None:
    problem = None
    if not 0 < len(request.member_id) <= MEMBER_ID_MAX:
        problem = f"a member needs an id of at most {MEMBER_ID_MAX} characters"
    elif not request.group_id:
        problem = "the group has no id"
    elif request.rack_id == "":
        problem = "a rack id cannot be empty"
    elif request.member_epoch == 0 and not request.subscribed_topic_names:
        problem = "the first heartbeat must have topic names"
    elif request.member_epoch < LEFT:
        problem = f"the member epoch {request.member_epoch} is invalid"
    if problem is not None:
        raise Refusal(ErrorCode.INVALID_REQUEST, problem)


def share_group(ctx: Context, group_id: str, *, create: bool = False) -> ShareGroup:
    """Return a share group; ``create`` makes one of an unused id."""
    group = ctx.groups.get(group_id)
    if isinstance(group, ShareGroup):
        return group
    if group is None and create:
        return ShareGroup(group_id)
    what = "no group" if group is None else "no share group"
    raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"there is {what} {group_id!r}")


@dataclass
class _Work:
    """The unfinished decision on a heartbeat."""

    ctx: Context
    now_ms: int
    group: ShareGroup
    member: ShareMember
    """The member as it has subscribed."""
    epoch: int
    records: list[LogRecord] = field(default_factory=list)
    soft: list[Any] = field(default_factory=list)

    @cached_property
    def topics(self) -> set[str]:
        """All topics that any member subscribes to."""
        return self.group.topics_after(self.member.member_id, self.member.topics)


def _beat(
    ctx: Context, now_ms: int, ask: Ask, request: ShareGroupHeartbeatRequest
) -> Decision[ShareGroupHeartbeatResponse]:
    joins = request.member_epoch == 0
    group = share_group(ctx, request.group_id, create=joins)
    member_id = request.member_id
    size_max = ctx.settings.group_share_max_size
    if joins and member_id not in group.members and len(group.members) >= size_max:
        message = f"group {group.group_id!r} has reached its limit of {size_max} members"
        raise Refusal(ErrorCode.GROUP_MAX_SIZE_REACHED, message)
    before = _member(group, request)
    names = request.subscribed_topic_names
    after = replace(
        before,
        rack_id=before.rack_id if request.rack_id is None else request.rack_id,
        topics=before.topics if names is None else tuple(sorted(set(names))),
        client_id=ask.client_id,
        client_host=ask.client_host,
    )
    work = _Work(ctx, now_ms, group, after, group.group_epoch)
    if after != before:
        work.records.append(member_record(group.group_id, after))
    is_new = member_id not in group.members
    bump = is_new or after.topics != before.topics
    is_checked = group.is_checked and not bump
    if not is_checked:
        _bump_if_changed(work, bump=bump)
    after = _assigned(work, after)
    initialize = () if is_checked else _initialize(work)
    until_ms = now_ms + session_timeout_ms(ctx, group.group_id)
    work.soft.append(SetTimer(TimerKey(Timer.SESSION, group.group_id, member_id), until_ms))
    of_broker = ctx.settings.group_share_heartbeat_interval_ms
    interval_ms = ctx.number(group.group_id, "share.heartbeat.interval.ms", of_broker)
    answer = ShareGroupHeartbeatResponse(
        member_id=member_id, member_epoch=after.member_epoch, heartbeat_interval_ms=interval_ms
    )
    if joins or names is not None or not same_partitions(before.assigned, after.assigned):
        rows = [TopicPartitions(each, sorted(mine)) for each, mine in after.assigned.items()]
        answer.assignment = Assignment(rows)
    return Decision(answer, tuple(work.records), initialize, tuple(work.soft))


def _member(group: ShareGroup, request: ShareGroupHeartbeatRequest) -> ShareMember:
    member = group.members.get(request.member_id)
    epoch = request.member_epoch
    if member is None:
        if epoch:
            message = f"group {group.group_id!r} has no member {request.member_id!r}"
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, message)
        return ShareMember(request.member_id)
    if epoch not in {0, member.member_epoch, member.previous_member_epoch}:
        message = (
            f"member {member.member_id!r} sent epoch {epoch}, but its epoch is"
            f" {member.member_epoch}: it must join again"
        )
        raise Refusal(ErrorCode.FENCED_MEMBER_EPOCH, message)
    return member


def _bump_if_changed(work: _Work, *, bump: bool) -> None:
    """Begin a new group epoch if anything has changed that the assignment depends on."""
    group = work.group
    known = metadata_hash(work.ctx.topics, work.topics)
    is_assigned = group.group_epoch == group.assignment_epoch
    if bump or known != group.metadata_hash or (is_assigned and _waits_for_assignment(work)):
        work.epoch += 1
        work.records.append(epoch_record(group.group_id, work.epoch, known))
        work.soft.append(Rebalanced(group.TYPE))


def _assignable(work: _Work) -> dict[bytes, frozenset[int]]:
    """Return the initialized partitions of the topics that are subscribed to."""
    topics = work.topics
    return {
        topic_id: topic.numbers
        for topic_id, topic in work.group.states.initialized.items()
        if topic.name in topics and work.ctx.topics.topic_id(topic.name) == topic_id
    }


def _waits_for_assignment(work: _Work) -> bool:
    """Whether partitions have been initialized since the last assignment."""
    if not work.group.members:
        return False
    assigned: dict[bytes, set[int]] = {}
    for partitions in work.group.target.values():
        for topic_id, numbers in partitions.items():
            assigned.setdefault(topic_id, set()).update(numbers)
    return any(
        not numbers <= assigned.get(topic_id, set())
        for topic_id, numbers in _assignable(work).items()
    )


def _assigned(work: _Work, member: ShareMember) -> ShareMember:
    """Make a new assignment for a new group epoch, and give the member its part."""
    group = work.group
    target: Mapping[str, Partitions] = group.target
    epoch = group.assignment_epoch
    if work.epoch > epoch and _may_assign(work):
        target, epoch = _spread_anew(work), work.epoch
    if member.member_epoch == epoch:
        return member
    after = replace(
        member,
        member_epoch=epoch,
        previous_member_epoch=member.member_epoch,
        assigned=target.get(member.member_id, _NOTHING),
    )
    work.records.append(current_record(group.group_id, after))
    return after


def _may_assign(work: _Work) -> bool:
    """Whether ``group.share.assignment.interval.ms`` has passed since the last assignment."""
    of_broker = work.ctx.settings.group_share_assignment_interval_ms
    interval_ms = work.ctx.number(work.group.group_id, "share.assignment.interval.ms", of_broker)
    since_ms = work.group.assignment_at_ms
    return not since_ms or not since_ms <= work.now_ms < since_ms + interval_ms


def _spread_anew(work: _Work) -> Mapping[str, Partitions]:
    group, topics = work.group, work.ctx.topics
    ids = {name: topics.topic_id(name) for name in work.topics}
    members = {**group.members, work.member.member_id: work.member}
    wanted = {
        member_id: [topic_id for name in each.topics if (topic_id := ids[name]) is not None]
        for member_id, each in members.items()
    }
    target = assign(wanted, group.target, _assignable(work))
    for member_id, partitions in target.items():
        before = group.target.get(member_id)
        if before is None or not (before == partitions or same_partitions(before, partitions)):
            work.records.append(target_record(group.group_id, member_id, partitions))
    work.records.append(target_epoch_record(group.group_id, work.epoch, work.now_ms))
    return target


def _initialize(work: _Work) -> tuple[InitializeShares, ...]:
    """Give partitions whose state has not begun to the share coordinators."""
    group = work.group
    stage = to_initialize(work.ctx, work.now_ms, group, work.topics)
    if not stage:
        if work.epoch == group.group_epoch and not group.states.initializing:
            work.soft.append(MetadataChecked(group.group_id))
        return ()
    after = with_initializing(group.states, stage)
    if after != group.states:
        work.records.append(states_record(group.group_id, after))
    work.soft.append(SharesInitializing(group.group_id, work.now_ms))
    request = request_to_initialize(group.group_id, work.epoch, stage)
    return (InitializeShares(group.group_id, request),)


# -- leaving ---------------------------------------------------------------------------------------


def _leave(
    ctx: Context, request: ShareGroupHeartbeatRequest
) -> Decision[ShareGroupHeartbeatResponse]:
    group = share_group(ctx, request.group_id)
    if request.member_id not in group.members:
        message = f"group {group.group_id!r} has no member {request.member_id!r}"
        raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, message)
    answer = ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=LEFT)
    return _without(ctx, group, request.member_id, answer)


def _without(ctx: Context, group: ShareGroup, member_id: str, answer: Any) -> Decision[Any]:
    known = metadata_hash(ctx.topics, group.topics_after(member_id, ()))
    records = [
        *member_tombstones(group.group_id, member_id),
        epoch_record(group.group_id, group.group_epoch + 1, known),
    ]
    soft = (SetTimer(TimerKey(Timer.SESSION, group.group_id, member_id), None),)
    return Decision(answer, tuple(records), soft=soft)


def share_member_is_overdue(ctx: Context, _now_ms: int, key: TimerKey) -> Decision[Any]:
    """Remove a member that sent no heartbeat in time."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, ShareGroup)
    if key.member_id not in group.members:
        return Decision(soft=(SetTimer(key, None),))
    text = f"group {key.group_id!r}: member {key.member_id!r} sent no heartbeat in time"
    decision = _without(ctx, group, key.member_id, None)
    return replace(decision, effects=(Tell("member-silent", f"{text}, and was removed"),))


def begin_share_group_epoch(ctx: Context, group: ShareGroup) -> Decision[bool]:
    """Begin a new group epoch on request: members get a new assignment by their heartbeats."""
    known = metadata_hash(ctx.topics, group.names)
    record = epoch_record(group.group_id, group.group_epoch + 1, known)
    return Decision(answer=True, records=(record,))


def restored_share_members(ctx: Context, now_ms: int, group: ShareGroup) -> list[SetTimer]:
    """Start the sessions of a loaded group's members."""
    until_ms = now_ms + session_timeout_ms(ctx, group.group_id)
    return [
        SetTimer(TimerKey(Timer.SESSION, group.group_id, member_id), until_ms)
        for member_id in group.members
    ]


def session_timeout_ms(ctx: Context, group_id: str) -> int:
    """Return the session timeout of a group's members."""
    of_broker = ctx.settings.group_share_session_timeout_ms
    return ctx.number(group_id, "share.session.timeout.ms", of_broker)
