"""Reconciliation: the steps of a member from its current partitions to its assignment.

A partition has one owner at a time. So a member first revokes the partitions that it loses and
confirms that. Then it gets the free partitions and the epoch of the assignment, and later those
that other members have yet to release. Partitions that it keeps also keep their assignment epoch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.member import (
    ConsumerMember,
    MemberState,
    Owned,
    Partitions,
)


@dataclass(slots=True)
class Goal:
    """The assignment that a member has to reach, and the data of its request."""

    epoch: int
    partitions: Partitions
    topic_ids: frozenset[bytes]
    """Its current subscription; a target from an earlier subscription may have more topics."""
    subscription_changed: bool
    owned: Mapping[bytes, Iterable[int]] | None
    """The partitions that it reports as owned; ``None`` if the request has no report."""
    former_id: str
    """Its id in the group so far."""


def reconciled(group: ConsumerGroup, member: ConsumerMember, goal: Goal) -> ConsumerMember:
    """Return the member after its next step, or unchanged if no step is possible."""
    if not goal.subscription_changed and member.has_reconciled(goal.epoch):
        return member
    if member.state is MemberState.STABLE and member.member_epoch == goal.epoch:
        return _without_unsubscribed(member, goal)
    if member.state is MemberState.UNREVOKED_PARTITIONS and _still_has(goal, member.revoking):
        return _without_unsubscribed(member, goal) if goal.subscription_changed else member
    return _next_step(group, member, goal)


def _still_has(goal: Goal, revoking: Owned) -> bool:
    if goal.owned is None:
        return True
    return any(
        number in revoking.get(topic_id, ())
        for topic_id, numbers in goal.owned.items()
        for number in numbers
    )


def _without_unsubscribed(member: ConsumerMember, goal: Goal) -> ConsumerMember:
    gone = {each: member.assigned[each] for each in member.assigned if each not in goal.topic_ids}
    if not gone:
        return member
    kept = {each: member.assigned[each] for each in member.assigned if each in goal.topic_ids}
    revoking: dict[bytes, Mapping[int, int]] = dict(member.revoking)
    for topic_id, numbers in gone.items():
        revoking[topic_id] = {**revoking.get(topic_id, {}), **numbers}
    if _still_has(goal, revoking):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            previous_member_epoch=member.member_epoch,
            assigned=kept,
            revoking=revoking,
        )
    return replace(member, previous_member_epoch=member.member_epoch, assigned=kept)


def _next_step(group: ConsumerGroup, member: ConsumerMember, goal: Goal) -> ConsumerMember:
    kept: dict[bytes, Mapping[int, int]] = {}
    revoking: dict[bytes, Mapping[int, int]] = {}
    free: dict[bytes, list[int]] = {}
    all_free = True
    for topic_id in dict.fromkeys([*goal.partitions, *member.assigned]):
        wanted = goal.partitions.get(topic_id, frozenset())
        if topic_id not in goal.topic_ids:
            wanted = frozenset()
        has = member.assigned.get(topic_id, {})
        stays = {number: since for number, since in has.items() if number in wanted}
        goes = {number: since for number, since in has.items() if number not in wanted}
        if stays:
            kept[topic_id] = stays
        if goes:
            revoking[topic_id] = goes
        for number in sorted(wanted.difference(stays)):
            if group.owner(topic_id, number) in {None, member.member_id, goal.former_id}:
                free.setdefault(topic_id, []).append(number)
            else:
                all_free = False
    before = member.member_epoch
    if revoking and _still_has(goal, revoking):
        return replace(
            member,
            state=MemberState.UNREVOKED_PARTITIONS,
            previous_member_epoch=before,
            assigned=kept,
            revoking=revoking,
        )
    for topic_id, numbers in free.items():
        kept[topic_id] = {**kept.get(topic_id, {}), **dict.fromkeys(numbers, goal.epoch)}
    return replace(
        member,
        state=MemberState.STABLE if all_free else MemberState.UNRELEASED_PARTITIONS,
        previous_member_epoch=before,
        member_epoch=goal.epoch,
        assigned=kept,
        revoking={},
    )
