"""Construction of a decision about a consumer group.

The group itself does not change here: ``Progress`` collects records. A step that depends on the
changes of earlier steps reads the roster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.member import (
    ConsumerMember,
    MemberState,
)
from fencepost_broker.coordinator.group.consumer.member_timers import no_timers
from fencepost_broker.coordinator.group.consumer.reconciliation import Goal, reconciled
from fencepost_broker.coordinator.group.consumer.records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    partition_metadata_tombstone,
    target_record,
)
from fencepost_broker.coordinator.group.consumer.target import (
    Roster,
    may_assign,
    metadata_hash,
    spread_anew,
)
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.soft import (
    MetadataChecked,
    Rebalanced,
    SetTimer,
    Timer,
    TimerKey,
)
from fencepost_broker.coordinator.records import LogRecord


@dataclass(slots=True)
class Progress:
    """The unfinished decision on a heartbeat, or on a JoinGroup to a consumer group."""

    ctx: Context
    now_ms: int
    group: ConsumerGroup = field(default_factory=lambda: ConsumerGroup(""))
    records: list[LogRecord] = field(default_factory=list)
    soft: list[Any] = field(default_factory=list)
    changed: dict[str, ConsumerMember] = field(default_factory=dict)
    former: dict[str, str] = field(default_factory=dict)
    """By member id: the id of the same member in the group so far."""
    epoch: int = 0
    """The new group epoch; 0 if no step has made one."""

    def change(self, member: ConsumerMember) -> None:
        """Set a member's new state."""
        self.changed[member.member_id] = member

    @property
    def roster(self) -> Roster:
        """The members after this decision."""
        gone = frozenset(self.former.values()) - self.changed.keys()
        return Roster(self.group, self.changed, gone)

    @property
    def group_epoch(self) -> int:
        """The group's epoch after this decision."""
        return self.epoch or self.group.group_epoch


def replace_static_member(
    progress: Progress, static: ConsumerMember, member_id: str
) -> ConsumerMember:
    """Give a returning static member its new id, with the assignment of the old one."""
    group = progress.group
    member = replace(static, member_id=member_id, member_epoch=0, previous_member_epoch=0)
    target = group.target.of(static.member_id)
    progress.records += [
        *member_tombstones(group.group_id, static.member_id),
        member_record(group.group_id, member),
        target_record(group.group_id, member_id, target),
        current_record(group.group_id, member),
    ]
    progress.former[member_id] = static.member_id
    if static.member_id != member_id:
        progress.soft += no_timers(group.group_id, static.member_id)
    return member


def bump_if_changed(progress: Progress, *, bump: bool) -> None:
    """Begin a new group epoch if ``bump`` is set or the metadata of the topics has changed."""
    group = progress.group
    if not bump and group.is_checked:
        return
    known = metadata_hash(progress.ctx.topics, progress.roster.topics())
    if bump or known != group.metadata_hash:
        progress.epoch = group.group_epoch + 1
        progress.records.append(epoch_record(group.group_id, progress.epoch, known))
        progress.soft.append(Rebalanced(group.TYPE))
    progress.soft.append(MetadataChecked(group.group_id))
    if group.has_partition_metadata:
        progress.records.append(partition_metadata_tombstone(group.group_id))


def reconcile(
    progress: Progress,
    member: ConsumerMember,
    owned: Mapping[bytes, Iterable[int]] | None,
    *,
    subscription_changed: bool,
) -> ConsumerMember:
    """Make a new assignment for a new group epoch, and take the member's next step towards it."""
    ctx, group = progress.ctx, progress.group
    former_id = progress.former.get(member.member_id, member.member_id)
    target_epoch = group.assignment_epoch
    target = group.target.of(former_id)
    if progress.group_epoch > target_epoch and may_assign(ctx, group, progress.now_ms):
        target_epoch = progress.group_epoch
        changed = spread_anew(
            ctx, progress.now_ms, progress.roster, target_epoch, progress.former, progress.records
        )
        target = changed.get(member.member_id, target)
    if not subscription_changed and member.has_reconciled(target_epoch):
        return member
    topic_ids = (ctx.topics.topic_id(name) for name in group.topics_of(member))
    goal = Goal(
        target_epoch,
        target,
        frozenset(each for each in topic_ids if each is not None),
        subscription_changed,
        owned,
        former_id,
    )
    after = reconciled(group, member, goal)
    if after != member:
        progress.records.append(current_record(group.group_id, after))
        progress.change(after)
        if after.classic is None:
            progress.soft.append(_revocation(progress, after))
    return after


def _revocation(progress: Progress, member: ConsumerMember) -> SetTimer:
    """Return the timer that limits a member's revocation to its rebalance timeout."""
    key = TimerKey(Timer.REBALANCE, progress.group.group_id, member.member_id)
    waits = member.state is MemberState.UNREVOKED_PARTITIONS
    return SetTimer(key, progress.now_ms + member.rebalance_timeout_ms if waits else None)
