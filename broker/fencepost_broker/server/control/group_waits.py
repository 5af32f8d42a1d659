"""What a group waits for: members that hold up a rebalance, and offsets of open transactions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Final

from msgspec import Meta, Struct

from fencepost_broker.coordinator.group.classic.group import ClassicGroup, State
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.member import MemberState
from fencepost_broker.coordinator.group.model import Group
from fencepost_broker.coordinator.group.offsets.store import OffsetStore

_JOINS: Final = "It has not joined again: it does so with its next poll or heartbeat."
_NEVER_JOINED: Final = "It got its member id, and has not joined with it."
_LEADS: Final = "It is the leader, and has not sent the assignment."
_SYNCS: Final = "It has not asked for its partitions."
_REVOKES: Final = "It has partitions that others are to get, and has not given them up."
_BEATS: Final = "It has not sent a heartbeat since the assignment changed."


class Awaited(Struct, frozen=True):
    """A member that a rebalance waits for."""

    member_id: str
    why: str


class Rebalance(Struct, frozen=True):
    """A rebalance that is not complete."""

    waited_ms: Annotated[int, Meta(description="how long, in state time")]
    members: list[Awaited]


class PendingOffset(Struct, frozen=True):
    """An offset in an open transaction, which is committed with it."""

    topic: str
    partition: int
    offset: int
    producer_id: int


def rebalance_of(group: Group, now_ms: int) -> Rebalance | None:
    """Return what a rebalance waits for; ``None``: there is no rebalance."""
    if isinstance(group, ClassicGroup):
        awaited = list(_of_classic(group))
        since_ms = group.state_since_ms
        if group.state not in (State.PREPARING_REBALANCE, State.COMPLETING_REBALANCE):
            return None
    elif isinstance(group, ConsumerGroup):
        awaited = list(_of_consumer(group))
        since_ms = group.assignment_at_ms
        if all(each.has_reconciled(group.assignment_epoch) for each in group.members.values()):
            return None
    else:
        return None
    return Rebalance(max(0, now_ms - since_ms), awaited)


def _of_classic(group: ClassicGroup) -> Iterator[Awaited]:
    if group.state is State.PREPARING_REBALANCE:
        for member in group.members.values():
            if member.join_token is None:
                yield Awaited(member.member_id, _JOINS)
        for member_id in sorted(group.pending_joins):
            yield Awaited(member_id, _NEVER_JOINED)
    elif group.leader in group.pending_syncs:
        yield Awaited(str(group.leader), _LEADS)
    else:
        for member_id in sorted(group.pending_syncs):
            yield Awaited(member_id, _SYNCS)


def _of_consumer(group: ConsumerGroup) -> Iterator[Awaited]:
    for member in group.members.values():
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            yield Awaited(member.member_id, _REVOKES)
        elif member.state is MemberState.STABLE and member.member_epoch < group.assignment_epoch:
            yield Awaited(member.member_id, _BEATS)


def pending_offsets(offsets: OffsetStore, group_id: str) -> list[PendingOffset]:
    """Return the offsets of a group in open transactions, by partition."""
    return sorted(
        (
            PendingOffset(*partition, offset, producer_id)
            for partition, producer_id, offset in offsets.pending_offsets(group_id)
        ),
        key=lambda each: (each.topic, each.partition, each.producer_id),
    )
