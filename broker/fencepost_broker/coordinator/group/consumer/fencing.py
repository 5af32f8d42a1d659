"""Members that go: because they say so, because they are silent, or because they do not let go."""

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
    """Removes members; what they had is free, and the others are told with their heartbeats."""
    if not leaving:
        return Decision(answer)
    roster = Roster(group, gone=frozenset(leaving))
    if can_downgrade(ctx, roster):
        return downgrade_without(ctx, now_ms, roster, answer)
    records: list[LogRecord] = []
    for member_id in leaving:
        records += member_tombstones(group.group_id, member_id)
    for pattern in group.resolved:
        if not roster.has_pattern(pattern):
            records.append(pattern_tombstone(group.group_id, pattern))
    known = metadata_hash(ctx.topics, roster.topics())
    records.append(epoch_record(group.group_id, group.group_epoch + 1, known))
    soft = tuple(each for member_id in leaving for each in no_timers(group.group_id, member_id))
    return Decision(answer, tuple(records), soft=soft)


def go_away(group: ConsumerGroup, member: ConsumerMember) -> Decision[Any]:
    """A static member leaves and may come back within its session: nobody gets its partitions.

    When it does it begins at epoch 0, and so its partitions count as had since then (KIP-1251).
    """
    assigned = {each: dict.fromkeys(member.assigned[each], 0) for each in member.assigned}
    away = replace(member, member_epoch=AWAY, assigned=assigned, revoking={})
    answer = ConsumerGroupHeartbeatResponse(member_id=member.member_id, member_epoch=AWAY)
    return Decision(answer, (current_record(group.group_id, away),))


# -- what time makes happen ----------------------------------------------------------------------


def member_is_overdue(ctx: Context, now_ms: int, key: TimerKey) -> Decision[Any]:
    """A member was not heard of, or did not join or sync in time."""
    group = ctx.groups[key.group_id]
    assert isinstance(group, ConsumerGroup)
    if key.member_id not in group.members:
        return Decision(soft=(SetTimer(key, None),))
    return _tell(fence(ctx, now_ms, group, [key.member_id]), key, _MISSED[key.timer])


def revocation_is_overdue(ctx: Context, now_ms: int, key: TimerKey) -> Decision[Any]:
    """A member has not let go of its partitions in time."""
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
    """A whole session for every member that the log has, and time to let go for who must."""
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
    """After how much silence a member of this group is out."""
    own_ms = ctx.configs.number(group_id, "consumer.session.timeout.ms")
    return ctx.settings.group_consumer_session_timeout_ms if own_ms is None else own_ms
