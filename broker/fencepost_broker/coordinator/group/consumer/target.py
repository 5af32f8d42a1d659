"""The target assignment of a consumer group, and the members and topics that it is made from."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from fencepost_broker.coordinator.group.consumer.assignors import (
    ASSIGNORS,
    Spread,
    Subscriber,
    spread_difference,
)
from fencepost_broker.coordinator.group.consumer.group import (
    ConsumerGroup,
    same_partitions,
)
from fencepost_broker.coordinator.group.consumer.member import ConsumerMember, Partitions
from fencepost_broker.coordinator.group.consumer.member_counts import MemberCounts
from fencepost_broker.coordinator.group.consumer.records import target_epoch_record, target_record
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.ports import Topics
from fencepost_broker.coordinator.records import LogRecord

_NUMBERS: Final = struct.Struct(">16si")
_SIGNED: Final = struct.Struct(">q")


@dataclass(slots=True)
class Roster:
    """A group's members as they will be after the replay of the decision."""

    group: ConsumerGroup
    changed: Mapping[str, ConsumerMember] = field(default_factory=dict)
    """New and changed members."""
    gone: frozenset[str] = frozenset()
    counts: MemberCounts = field(init=False)

    def __post_init__(self) -> None:
        known = self.group.members
        self.counts = self.group.counts.copy()
        for member_id in (*self.gone, *self.changed):
            if member_id in known:
                self.counts.count(known[member_id], -1)
        for member in self.changed.values():
            self.counts.count(member, 1)

    def members(self) -> Iterator[ConsumerMember]:
        """Return all members."""
        for member_id, member in self.group.members.items():
            if member_id not in self.gone:
                yield self.changed.get(member_id, member)
        for member_id, member in self.changed.items():
            if member_id not in self.group.members:
                yield member

    @property
    def joining(self) -> list[str]:
        """The ids of new members."""
        return [each for each in self.changed if each not in self.group.members]

    def topics(self) -> set[str]:
        """Return all topics that any member reads."""
        found = set(self.counts.names)
        for pattern, known in self.group.resolved.items():
            if pattern in self.counts.patterns:
                found |= known.topics
        return found


def metadata_hash(topics: Topics, names: Iterable[str]) -> int:
    """Return a hash of the ids and partition counts of the existing topics among these.

    It is in the group's record, so that a change of topics is noticed after a restart, too.
    """
    digest = blake2b(digest_size=_SIGNED.size)
    exist = False
    for name in sorted(names):
        topic_id = topics.topic_id(name)
        if topic_id is not None:
            exist = True
            encoded = name.encode()
            digest.update(len(encoded).to_bytes(2, "big") + encoded)
            digest.update(_NUMBERS.pack(topic_id, topics.partition_count(name)))
    value: int = _SIGNED.unpack(digest.digest())[0] if exist else 0
    return value


def may_assign(ctx: Context, group: ConsumerGroup, now_ms: int) -> bool:
    """Whether ``group.consumer.assignment.interval.ms`` has passed since the last assignment.

    An assignment of a time that is to come was made before the clock was set back.
    """
    of_broker = ctx.settings.group_consumer_assignment_interval_ms
    interval_ms = ctx.number(group.group_id, "consumer.assignment.interval.ms", of_broker)
    since_ms = group.assignment_at_ms
    return not since_ms or not since_ms <= now_ms < since_ms + interval_ms


def preferred_assignor(ctx: Context, roster: Roster) -> str:
    """Return the assignor that most members prefer; of equals, the one configured first."""
    votes = roster.counts.assignors
    return max(ctx.settings.group_consumer_assignors, key=lambda name: votes.get(name, 0))


def spread_anew(
    ctx: Context,
    now_ms: int,
    roster: Roster,
    epoch: int,
    former: Mapping[str, str],
    records: list[LogRecord],
) -> dict[str, Partitions]:
    """Make the assignment for a group epoch; return what changes, and add records of it.

    ``former`` maps a member's new id to the one before, if it has changed.
    """
    group = roster.group
    spread = spread_changes(ctx, roster, former)
    if spread is None:
        spread = spread_all(ctx, roster, former)
    changed: dict[str, Partitions] = {}
    for member_id, by_topic in spread.items():
        mine = {each: frozenset(by_topic[each]) for each in sorted(by_topic)}
        before = group.target.by_member.get(member_id)
        if before is None or not (before == mine or same_partitions(before, mine)):
            changed[member_id] = mine
            records.append(target_record(group.group_id, member_id, mine))
    records.append(target_epoch_record(group.group_id, epoch, now_ms))
    return changed


def spread_changes(ctx: Context, roster: Roster, former: Mapping[str, str]) -> Spread | None:
    """Make the assignment of the members for whom it changes, and perhaps of others.

    ``None`` if it has to be made for all: not all subscribe alike, or an assignor other than
    ``uniform`` is used, or a member has a new id.
    """
    if (
        former
        or not roster.counts.all_subscribe_alike()
        or preferred_assignor(ctx, roster) != "uniform"
    ):
        return None
    counts = _partition_counts(ctx, roster.topics())
    return spread_difference(roster.group.target, roster.joining, counts)


def spread_all(ctx: Context, roster: Roster, former: Mapping[str, str]) -> Spread:
    """Make the assignment of all members."""
    group = roster.group
    counts = _partition_counts(ctx, roster.topics())
    subscribers = []
    ids_of: dict[tuple[tuple[str, ...], str], frozenset[bytes]] = {}
    for member in roster.members():
        member_id = member.member_id
        subscription = member.topics, member.pattern
        wanted = ids_of.get(subscription)
        if wanted is None:
            found = map(ctx.topics.topic_id, group.topics_of(member))
            wanted = ids_of[subscription] = frozenset(each for each in found if each is not None)
        had = group.target.of(former.get(member_id, member_id))
        subscribers.append(Subscriber(member_id, member.instance_id, wanted, had))
    return ASSIGNORS[preferred_assignor(ctx, roster)](subscribers, counts)


def _partition_counts(ctx: Context, names: Iterable[str]) -> dict[bytes, int]:
    """Return the numbers of partitions of the topics that exist, by topic id."""
    ids = ((ctx.topics.topic_id(name), name) for name in names)
    return {
        topic_id: ctx.topics.partition_count(name) for topic_id, name in ids if topic_id is not None
    }
