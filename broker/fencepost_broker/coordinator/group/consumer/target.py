"""The target assignment of a consumer group, and the members and topics that it is made from."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from fencepost_broker.coordinator.group.consumer.assignors import ASSIGNORS, Subscriber
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup, same_partitions
from fencepost_broker.coordinator.group.consumer.member import ConsumerMember, Partitions
from fencepost_broker.coordinator.group.consumer.records import target_epoch_record, target_record
from fencepost_broker.coordinator.group.context import Context
from fencepost_broker.coordinator.group.ports import Topics
from fencepost_broker.coordinator.records import LogRecord

_NUMBERS: Final = struct.Struct(">16si")
_SIGNED: Final = struct.Struct(">q")
_NOTHING: Final[Partitions] = {}


@dataclass(slots=True)
class Roster:
    """A group's members as they will be after the replay of the decision."""

    group: ConsumerGroup
    changed: Mapping[str, ConsumerMember] = field(default_factory=dict)
    """New and changed members."""
    gone: frozenset[str] = frozenset()

    def members(self) -> Iterator[ConsumerMember]:
        """Return all members."""
        for member_id, member in self.group.members.items():
            if member_id not in self.gone:
                yield self.changed.get(member_id, member)
        for member_id, member in self.changed.items():
            if member_id not in self.group.members:
                yield member

    def topics(self) -> set[str]:
        """Return all topics that any member reads."""
        group = self.group
        names = Counter(group.names)
        for member_id in (*self.gone, *self.changed):
            if member_id in group.members:
                names.subtract(group.members[member_id].topics)
        for member in self.changed.values():
            names.update(member.topics)
        found = {name for name, count in names.items() if count}
        for pattern, known in group.resolved.items():
            if self.has_pattern(pattern):
                found |= known.topics
        return found

    def has_pattern(self, pattern: str) -> bool:
        """Whether a member subscribes with this expression."""
        known = self.group.members
        before = [known[each] for each in (*self.gone, *self.changed) if each in known]
        count = self.group.patterns.get(pattern, 0) - sum(
            each.pattern == pattern for each in before
        )
        return count > 0 or any(each.pattern == pattern for each in self.changed.values())


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
    """Return the assignor that most members prefer; without a preference, the first configured."""
    votes: dict[str, int] = {}
    for member in roster.members():
        if member.assignor is not None:
            votes[member.assignor] = votes.get(member.assignor, 0) + 1
    if not votes:
        return ctx.settings.group_consumer_assignors[0]
    return max(votes, key=lambda name: votes[name])


def spread_anew(
    ctx: Context,
    now_ms: int,
    roster: Roster,
    epoch: int,
    former: Mapping[str, str],
    records: list[LogRecord],
) -> dict[str, Partitions]:
    """Make the assignment for a group epoch, and add records of what has changed.

    ``former`` maps a member's new id to the one before, if it has changed.
    """
    group = roster.group
    ids = {name: ctx.topics.topic_id(name) for name in roster.topics()}
    counts = {
        topic_id: ctx.topics.partition_count(name)
        for name, topic_id in ids.items()
        if topic_id is not None
    }
    subscribers = []
    ids_of: dict[tuple[tuple[str, ...], str], frozenset[bytes]] = {}
    for member in roster.members():
        member_id = member.member_id
        subscription = member.topics, member.pattern
        wanted = ids_of.get(subscription)
        if wanted is None:
            found = (ids[name] for name in group.topics_of(member))
            wanted = ids_of[subscription] = frozenset(each for each in found if each is not None)
        had = group.target.get(former.get(member_id, member_id), _NOTHING)
        subscribers.append(Subscriber(member_id, member.instance_id, wanted, had))
    spread = ASSIGNORS[preferred_assignor(ctx, roster)](subscribers, counts)
    target: dict[str, Partitions] = {}
    for member_id, by_topic in spread.items():
        mine = {each: frozenset(by_topic[each]) for each in sorted(by_topic)}
        target[member_id] = mine
        before = group.target.get(member_id)
        if before is None or not (before == mine or same_partitions(before, mine)):
            records.append(target_record(group.group_id, member_id, mine))
    records.append(target_epoch_record(group.group_id, epoch, now_ms))
    return target
