"""Decisions on StreamsGroupHeartbeat, by which members join, leave and get their tasks (KIP-1071).

    1. the member is created or updated; the first one brings the topology
    2. the topology is compared with the topics; missing internal topics are made
    3. changed members, topics or settings begin a new group epoch, which leads to a new assignment,
       limited by the assignment interval, and for a new group by the initial rebalance delay
    4. the member takes its next step towards its tasks

As in Apache Kafka 4.3, there are no static members, no warm-up tasks, no regular expressions and no
changes of a group's topology: requests with these are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from fencepost_protocol.generated import streams_group_heartbeat as messages
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

from fencepost_broker.coordinator.effects import Tell
from fencepost_broker.coordinator.group.classic.group import ClassicGroup
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.group.consumer.member import LEFT
from fencepost_broker.coordinator.group.consumer.target import metadata_hash
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.refusal import Refusal
from fencepost_broker.coordinator.group.soft import Rebalanced, SetTimer, Timer, TimerKey
from fencepost_broker.coordinator.group.streams.assignor import assign
from fencepost_broker.coordinator.group.streams.checks import check
from fencepost_broker.coordinator.group.streams.commands import (
    CreateInternalTopics,
    EndpointsChanged,
    ShutdownRequested,
    TopologyConfigured,
)
from fencepost_broker.coordinator.group.streams.endpoints import endpoints_of
from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.coordinator.group.streams.members import (
    Endpoint,
    MemberState,
    StreamsMember,
    Target,
    by_subtopology,
    tasks_of,
)
from fencepost_broker.coordinator.group.streams.reconciliation import Reported, reconciled
from fencepost_broker.coordinator.group.streams.records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    target_epoch_record,
    target_record,
    topology_record,
)
from fencepost_broker.coordinator.group.streams.topology import (
    Configured,
    StatusCode,
    Topology,
    configure,
    topology_of,
)
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision

_STANDBYS: Final = "num.standby.replicas"
_NOTHING: Final = Target()


def streams_group_heartbeat(
    ctx: Context, now_ms: int, ask: Ask
) -> Decision[StreamsGroupHeartbeatResponse]:
    """Decide on a heartbeat of a member of a streams group."""
    request = ask.request
    assert isinstance(request, StreamsGroupHeartbeatRequest)
    if "streams" not in ctx.settings.group_coordinator_rebalance_protocols:
        return Decision(StreamsGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
    try:
        check(request)
        if request.member_epoch == LEFT:
            return _leave(ctx, request)
        return _beat(ctx, now_ms, ask, request)
    except Refusal as refusal:
        answer = StreamsGroupHeartbeatResponse(
            error_code=refusal.code, error_message=refusal.message, status=[]
        )
        return Decision(answer)


def streams_group(ctx: Context, group_id: str, *, create: bool = False) -> StreamsGroup:
    """Return a streams group; ``create`` makes one, also in place of an empty classic group."""
    group = ctx.groups.get(group_id)
    if isinstance(group, StreamsGroup):
        return group
    if create and (group is None or (isinstance(group, ClassicGroup) and group.is_empty)):
        return StreamsGroup(group_id, ctx.topics)
    what = "no group" if group is None else "no streams group"
    raise Refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"there is {what} {group_id!r}")


@dataclass(slots=True)
class _Work:
    """The unfinished decision about a group."""

    ctx: Context
    now_ms: int
    group: StreamsGroup
    members: dict[str, StreamsMember]
    """The members as they will be after it."""
    topology: Topology | None
    configured: Configured
    epoch: int
    records: list[LogRecord] = field(default_factory=list)
    soft: list[Any] = field(default_factory=list)

    @classmethod
    def on(cls, ctx: Context, now_ms: int, group: StreamsGroup) -> _Work:
        """Begin one without changes."""
        return cls(
            ctx,
            now_ms,
            group,
            dict(group.members),
            group.topology,
            group.configured,
            group.group_epoch,
        )

    def number(self, name: str, of_broker: int) -> int:
        """Return a setting of the group, or else of the broker."""
        return self.ctx.number(self.group.group_id, name, of_broker)

    def assignment_configs(self) -> dict[str, str]:
        """Return the settings that an assignment depends on."""
        of_broker = self.ctx.settings.group_streams_num_standby_replicas
        return {_STANDBYS: str(self.number("streams.num.standby.replicas", of_broker))}


def _beat(
    ctx: Context, now_ms: int, ask: Ask, request: StreamsGroupHeartbeatRequest
) -> Decision[StreamsGroupHeartbeatResponse]:
    joins = request.member_epoch == 0
    group = streams_group(ctx, request.group_id, create=joins)
    member_id = request.member_id
    size_max = ctx.settings.group_streams_max_size
    if joins and member_id not in group.members and len(group.members) >= size_max:
        message = f"group {group.group_id!r} has reached its limit of {size_max} members"
        raise Refusal(ErrorCode.GROUP_MAX_SIZE_REACHED, message)
    work = _Work.on(ctx, now_ms, group)
    former = ctx.groups.get(request.group_id)
    if former is not None and former is not group:
        work.records += former.tombstones()  # of a classic group, whose offsets stay
    before = _member(group, request)
    after = _changed(before, ask, request)
    work.members[member_id] = after
    is_changed = after != before or member_id not in group.members
    if is_changed:
        work.records.append(member_record(group.group_id, after))
    _take_topology(work, request)
    _bump_if_changed(work, bump=is_changed)
    waits = _waits_at_first(work)
    target, epoch = group.target.get(member_id, _NOTHING), group.assignment_epoch
    if work.epoch > epoch and not waits and _may_assign(work):
        target, epoch = _assign_anew(work)[member_id], work.epoch
    owned = None
    if request.active_tasks is not None and request.standby_tasks is not None:
        owned = Reported(tasks_of(request.active_tasks), tasks_of(request.standby_tasks))
    after = reconciled(group, after, epoch, target, owned)
    if after != work.members[member_id]:
        work.members[member_id] = after
        work.records.append(current_record(group.group_id, after))
        work.soft.append(_revocation(work, after))
    until_ms = now_ms + session_timeout_ms(ctx, group.group_id)
    work.soft.append(SetTimer(TimerKey(Timer.SESSION, group.group_id, member_id), until_ms))
    answer = _answer(work, request, after)
    if joins or not after.has_same_tasks(before):
        answer.active_tasks = _rows(after.active)
        answer.standby_tasks = _rows(after.standby)
        answer.warmup_tasks = []
    _tell_endpoints(work, request, answer, is_moved=joins or not after.has_same_tasks(before))
    _tell_status(work, request, answer, waits=waits)
    missing = work.configured.missing
    effects = (CreateInternalTopics(missing),) if missing else ()
    return Decision(answer, tuple(work.records), effects, tuple(work.soft))


def _member(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> StreamsMember:
    member = group.members.get(request.member_id)
    epoch = request.member_epoch
    if member is None:
        if epoch:
            message = f"group {group.group_id!r} has no member {request.member_id!r}"
            raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, message)
        return StreamsMember(request.member_id)
    if epoch in {0, member.member_epoch} or (
        epoch == member.previous_member_epoch < member.member_epoch and _has(member, request)
    ):
        return member
    message = (
        f"member {member.member_id!r} sent epoch {epoch}, but its epoch is"
        f" {member.member_epoch}: it must give up its tasks and join again"
    )
    raise Refusal(ErrorCode.FENCED_MEMBER_EPOCH, message)


def _has(member: StreamsMember, request: StreamsGroupHeartbeatRequest) -> bool:
    """Whether the member has all that it reports: then only an answer was lost."""
    if request.active_tasks is None or request.standby_tasks is None:
        return False
    active, standby = tasks_of(request.active_tasks), tasks_of(request.standby_tasks)
    return active <= member.active.keys() and standby <= member.standby


def _changed(
    member: StreamsMember, ask: Ask, request: StreamsGroupHeartbeatRequest
) -> StreamsMember:
    endpoint, tags = request.user_endpoint, request.client_tags
    timeout_ms, process_id = request.rebalance_timeout_ms, request.process_id
    return replace(
        member,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        topology_epoch=(
            member.topology_epoch if request.topology is None else request.topology.epoch
        ),
        process_id=member.process_id if process_id is None else process_id,
        endpoint=(member.endpoint if endpoint is None else Endpoint(endpoint.host, endpoint.port)),
        tags=member.tags if tags is None else tuple((each.key, each.value) for each in tags),
        client_id=ask.client_id,
        client_host=ask.client_host,
    )


# -- topology, epochs, assignment ------------------------------------------------------------------


def _take_topology(work: _Work, request: StreamsGroupHeartbeatRequest) -> None:
    group = work.group
    if request.topology is not None:
        told = topology_of(request.topology)
        if group.topology is None:
            work.topology = told
            work.records.append(topology_record(group.group_id, told))
        elif told != group.topology:
            message = "the topology of a streams group cannot change yet: use another group id"
            raise Refusal(ErrorCode.INVALID_REQUEST, message)


def _bump_if_changed(work: _Work, *, bump: bool) -> None:
    """Begin a new group epoch if anything has changed that the assignment depends on."""
    group, topology = work.group, work.topology
    known = group.metadata_hash
    if not (group.is_checked and group.members):  # without members, no change of topics is noted
        if topology is not None:
            work.configured = configure(topology, work.ctx.topics)
            known = metadata_hash(work.ctx.topics, topology.topics())
        work.soft.append(TopologyConfigured(group.group_id, work.configured))
    is_right = topology is not None and work.configured.is_ready
    validated = topology.epoch if topology is not None and is_right else -1
    configs = work.assignment_configs()
    now = known, validated, configs
    if bump or now != (group.metadata_hash, group.validated_epoch, group.assignment_configs):
        work.epoch += 1
        work.records.append(epoch_record(group.group_id, work.epoch, *now))
        work.soft.append(Rebalanced(group.TYPE))


def _waits_at_first(work: _Work) -> bool:
    """Whether a new group waits for more members before its first assignment."""
    ctx, group = work.ctx, work.group
    key = TimerKey(Timer.JOIN, group.group_id)
    if ctx.timers.at(key) is not None:
        return True
    of_broker = ctx.settings.group_streams_initial_rebalance_delay_ms
    delay_ms = work.number("streams.initial.rebalance.delay.ms", of_broker)
    if group.members or not delay_ms:
        return False
    work.soft.append(SetTimer(key, work.now_ms + delay_ms))
    return True


def _may_assign(work: _Work) -> bool:
    """Whether ``group.streams.assignment.interval.ms`` has passed since the last assignment."""
    of_broker = work.ctx.settings.group_streams_assignment_interval_ms
    interval_ms = work.number("streams.assignment.interval.ms", of_broker)
    since_ms = work.group.assignment_at_ms
    return not since_ms or not since_ms <= work.now_ms < since_ms + interval_ms


def _assign_anew(work: _Work) -> Mapping[str, Target]:
    group, configured = work.group, work.configured
    target = assign(
        {member_id: each.process_id for member_id, each in work.members.items()},
        group.target,
        configured.tasks,
        configured.stateful,
        int(work.assignment_configs()[_STANDBYS]),
    )
    for member_id, given in target.items():
        if given != group.target.get(member_id):
            work.records.append(target_record(group.group_id, member_id, given))
    work.records.append(target_epoch_record(group.group_id, work.epoch, work.now_ms))
    return target


def _revocation(work: _Work, member: StreamsMember) -> SetTimer:
    """Return the timer that limits a member's revocation to its rebalance timeout."""
    key = TimerKey(Timer.REBALANCE, work.group.group_id, member.member_id)
    waits = member.state is MemberState.UNREVOKED
    return SetTimer(key, work.now_ms + member.rebalance_timeout_ms if waits else None)


# -- answers ---------------------------------------------------------------------------------------


def _answer(
    work: _Work, request: StreamsGroupHeartbeatRequest, member: StreamsMember
) -> StreamsGroupHeartbeatResponse:
    of_broker = work.ctx.settings.group_streams_heartbeat_interval_ms
    return StreamsGroupHeartbeatResponse(
        member_id=request.member_id,
        member_epoch=member.member_epoch,
        heartbeat_interval_ms=work.number("streams.heartbeat.interval.ms", of_broker),
        acceptable_recovery_lag=0,
        task_offset_interval_ms=0,
        status=[],
    )


def _rows(tasks: Any) -> list[messages.StreamsGroupHeartbeatResponseTaskIds]:
    return [messages.StreamsGroupHeartbeatResponseTaskIds(*row) for row in by_subtopology(tasks)]


def _tell_endpoints(
    work: _Work,
    request: StreamsGroupHeartbeatRequest,
    answer: StreamsGroupHeartbeatResponse,
    *,
    is_moved: bool,
) -> None:
    """Tell where state is, if the member does not know the current epoch of that."""
    group = work.group
    epoch = group.endpoints_epoch
    if is_moved and group.members and work.members[request.member_id].endpoint is not None:
        epoch += 1
        work.soft.append(EndpointsChanged(group.group_id))
    answer.endpoint_information_epoch = epoch
    if epoch != request.endpoint_information_epoch:
        answer.partitions_by_user_endpoint = endpoints_of(
            work.members.values(), work.topology, work.configured, work.ctx.topics
        )


def _tell_status(
    work: _Work,
    request: StreamsGroupHeartbeatRequest,
    answer: StreamsGroupHeartbeatResponse,
    *,
    waits: bool,
) -> None:
    found: list[tuple[StatusCode, str]] = []
    if work.configured.status is not None:
        found.append(work.configured.status)
    shutdown_by = work.group.shutdown_by
    if request.shutdown_application and shutdown_by is None:
        shutdown_by = request.member_id
        work.soft.append(ShutdownRequested(work.group.group_id, shutdown_by))
    if shutdown_by is not None:
        text = f"member {shutdown_by} has met a fatal error, and asks all members to stop"
        found.append((StatusCode.SHUTDOWN_APPLICATION, text))
    if waits:
        text = "a new group waits for members (group.streams.initial.rebalance.delay.ms)"
        found.append((StatusCode.ASSIGNMENT_DELAYED, text))
    answer.status = [messages.Status(*each) for each in found]


# -- leaving ---------------------------------------------------------------------------------------


def _leave(
    ctx: Context, request: StreamsGroupHeartbeatRequest
) -> Decision[StreamsGroupHeartbeatResponse]:
    group = streams_group(ctx, request.group_id)
    if request.member_id not in group.members:
        message = f"group {group.group_id!r} has no member {request.member_id!r}"
        raise Refusal(ErrorCode.UNKNOWN_MEMBER_ID, message)
    answer = StreamsGroupHeartbeatResponse(
        member_id=request.member_id, member_epoch=LEFT, status=[]
    )
    return _without(group, request.member_id, answer)


def _without(group: StreamsGroup, member_id: str, answer: Any) -> Decision[Any]:
    records = [
        *member_tombstones(group.group_id, member_id),
        _next_epoch(group),
    ]
    keys = [TimerKey(timer, group.group_id, member_id) for timer in _OF_MEMBER]
    if group.members.keys() == {member_id}:
        keys.append(TimerKey(Timer.JOIN, group.group_id))
    return Decision(answer, tuple(records), soft=tuple(SetTimer(key, None) for key in keys))


def _next_epoch(group: StreamsGroup) -> LogRecord:
    return epoch_record(
        group.group_id,
        group.group_epoch + 1,
        group.metadata_hash,
        group.validated_epoch,
        group.assignment_configs,
    )


_OF_MEMBER: Final = (Timer.SESSION, Timer.REBALANCE)


# -- deadlines -------------------------------------------------------------------------------------


def streams_member_is_overdue(ctx: Context, _now_ms: int, key: TimerKey) -> Decision[Any]:
    """Remove a member that sent no heartbeat, or did not give up its tasks, in time."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, StreamsGroup)
    member = group.members.get(key.member_id)
    is_revocation = key.timer is Timer.REBALANCE
    if member is None or (is_revocation and member.state is not MemberState.UNREVOKED):
        return Decision(soft=(SetTimer(key, None),))
    kind = "member-late" if is_revocation else "member-silent"
    why = "did not give up its tasks" if is_revocation else "sent no heartbeat"
    text = f"group {key.group_id!r}: member {key.member_id!r} {why} in time, and was removed"
    return replace(_without(group, key.member_id, None), effects=(Tell(kind, text),))


def first_assignment_is_due(ctx: Context, now_ms: int, key: TimerKey) -> Decision[Any]:
    """Make the first assignment of a group after its initial rebalance delay."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, StreamsGroup)
    work = _Work.on(ctx, now_ms, group)
    if group.members and group.topology is not None:
        work.configured = configure(group.topology, ctx.topics)
        _assign_anew(work)
    return Decision(records=tuple(work.records), soft=(SetTimer(key, None),))


def begin_streams_group_epoch(group: StreamsGroup) -> Decision[bool]:
    """Begin a new group epoch on request: members get a new assignment by their heartbeats."""
    return Decision(answer=True, records=(_next_epoch(group),))


def restored_streams_members(ctx: Context, now_ms: int, group: StreamsGroup) -> list[SetTimer]:
    """Start the sessions of a loaded group's members, and the timers of their revocations."""
    until_ms = now_ms + session_timeout_ms(ctx, group.group_id)
    soft = []
    for member in group.members.values():
        soft.append(SetTimer(TimerKey(Timer.SESSION, group.group_id, member.member_id), until_ms))
        if member.state is MemberState.UNREVOKED:
            key = TimerKey(Timer.REBALANCE, group.group_id, member.member_id)
            soft.append(SetTimer(key, now_ms + member.rebalance_timeout_ms))
    return soft


def session_timeout_ms(ctx: Context, group_id: str) -> int:
    """Return the session timeout of a group's members."""
    of_broker = ctx.settings.group_streams_session_timeout_ms
    return ctx.number(group_id, "streams.session.timeout.ms", of_broker)
