"""Removal of members that leave, send no heartbeats, or do not revoke partitions in time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse

from fencepost_broker.coordinator.effects import Tell
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.member import AWAY, ConsumerMember, MemberState
from fencepost_broker.coordinator.group.consumer.member_timers import no_timers
from fencepost_broker.coordinator.group.consumer.records import (
    current_record,
    epoch_record,
    member_tombstones,
    pattern_tombstone,
)
from fencepost_broker.coordinator.group.consumer.target import Roster, metadata_hash
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.migration.downgrade import can_downgrade, downgrade_without
from fencepost_broker.coordinator.group.soft import SetTimer, Timer, TimerKey
from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.metadata.decision import Decision

_MISSED: Final = {
    Timer.SESSION: "sent no heartbeat",
    Timer.JOIN: "sent no JoinGroup",
    Timer.SYNC: "sent no SyncGroup",
    Timer.REBALANCE: "did not give up its partitions",
}


def fence(
    ctx: Context, now_ms: int, group: ConsumerGroup, leaving: Collection[str], answer: Any = None
) -> Decision[Any]:
    """Remove members; their partitions are free, and the others learn of it by heartbeat."""
    if not leaving:
        return Decision(answer)
    roster = Roster(group, gone=frozenset(leaving))
    if can_downgrade(ctx, roster):
        return downgrade_without(ctx, now_ms, roster, answer)
    records: list[LogRecord] = []
    for member_id in leaving:
        records += member_tombstones(group.group_id, member_id)
    for pattern in group.resolved:
        if pattern not in roster.counts.patterns:
            records.append(pattern_tombstone(group.group_id, pattern))
    known = metadata_hash(ctx.topics, roster.topics())
    records.append(epoch_record(group.group_id, group.group_epoch + 1, known))
    soft = tuple(each for member_id in leaving for each in no_timers(group.group_id, member_id))
    return Decision(answer, tuple(records), soft=soft)


def go_away(group: ConsumerGroup, member: ConsumerMember) -> Decision[Any]:
    """Mark a static member as away; it keeps its partitions until its session ends.

    It returns with epoch 0, so its partitions count as assigned since that epoch (KIP-1251).
    """
    assigned = {each: dict.fromkeys(member.assigned[each], 0) for each in member.assigned}
    away = replace(member, member_epoch=AWAY, assigned=assigned, revoking={})
    answer = ConsumerGroupHeartbeatResponse(member_id=member.member_id, member_epoch=AWAY)
    return Decision(answer, (current_record(group.group_id, away),))


def begin_group_epoch(ctx: Context, group: ConsumerGroup) -> Decision[bool]:
    """Begin a new group epoch on request: members get a new assignment by their heartbeats."""
    known = metadata_hash(ctx.topics, Roster(group).topics())
    record = epoch_record(group.group_id, group.group_epoch + 1, known)
    return Decision(answer=True, records=(record,))


# -- deadlines -----------------------------------------------------------------------------------


def member_is_overdue(ctx: Context, now_ms: int, key: TimerKey) -> Decision[Any]:
    """Remove a member that sent no heartbeat, JoinGroup or SyncGroup in time."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, ConsumerGroup)
    if key.member_id not in group.members:
        return Decision(soft=(SetTimer(key, None),))
    return _tell(fence(ctx, now_ms, group, [key.member_id]), key, _MISSED[key.timer])


def revocation_is_overdue(ctx: Context, now_ms: int, key: TimerKey) -> Decision[Any]:
    """Remove a member that has not revoked its partitions in time."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, ConsumerGroup)
    member = group.members.get(key.member_id)
    if member is None or member.state is not MemberState.UNREVOKED_PARTITIONS:
        return Decision(soft=(SetTimer(key, None),))
    fenced = fence(ctx, now_ms, group, [key.member_id])
    return _tell(fenced, key, _MISSED[key.timer])


def _tell(decision: Decision[Any], key: TimerKey, why: str) -> Decision[Any]:
    kind = "member-silent" if key.timer is Timer.SESSION else "member-late"
    text = f"group {key.group_id!r}: member {key.member_id!r} {why} in time, and was removed"
    return replace(decision, effects=(*decision.effects, Tell(kind, text)))


def restored_members(ctx: Context, now_ms: int, group: ConsumerGroup) -> list[SetTimer]:
    """Start the sessions of a loaded group's members, and the timers of their revocations."""
    session_ms = session_timeout_ms(ctx, group.group_id)
    soft = []
    for member in group.members.values():
        key = TimerKey(Timer.SESSION, group.group_id, member.member_id)
        soft.append(SetTimer(key, now_ms + session_ms))
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            key = TimerKey(Timer.REBALANCE, group.group_id, member.member_id)
            soft.append(SetTimer(key, now_ms + member.rebalance_timeout_ms))
    return soft


def session_timeout_ms(ctx: Context, group_id: str) -> int:
    """Return the session timeout of a group's members."""
    of_broker = ctx.settings.group_consumer_session_timeout_ms
    return ctx.number(group_id, "consumer.session.timeout.ms", of_broker)
