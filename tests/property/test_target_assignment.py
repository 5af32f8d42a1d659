"""An assignment made from what changes is the one that is made from scratch.

A consumer group whose members come, go, subscribe to this and that, with topics that grow, after
restarts from whole and from compacted logs. After every step both assignments are made: of the
group as it is, and with one more member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.group.consumer.member import ConsumerMember
from fencepost_broker.coordinator.group.consumer.target import (
    Roster,
    preferred_assignor,
    spread_all,
    spread_changes,
)
from fencepost_broker.coordinator.group.consumer.target_assignment import (
    UNASSIGNED,
    TargetAssignment,
)
from fencepost_broker.metadata.decision import Decision
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.machine.coordinator.group.consumers import Consumers
from tests.machine.coordinator.group.partition import Partition

MEMBERS = st.sampled_from("abcdefgh")
NUMBERS = st.integers(0, 7)
NEW = "new"


class Group(RuleBasedStateMachine):
    """One group of up to eight members that mostly read the same."""

    @initialize(interval_ms=st.sampled_from([0, 0, 1000]), members=st.lists(MEMBERS, unique=True))
    def start(self, interval_ms: int, members: list[str]) -> None:
        self.partition = Partition(group_consumer_assignment_interval_ms=interval_ms)
        self.consumers = Consumers(self.partition)
        self.come_all(members)

    @property
    def members(self) -> Mapping[str, ConsumerMember]:
        group = self.partition.group("g")
        return {} if group is None else group.members

    # -- what happens ----------------------------------------------------------------------------

    @rule(
        member=MEMBERS, topics=st.sampled_from([("t", "u"), ("t", "u"), ("t", "u"), ("t",), ()]),
        pattern=st.sampled_from([None, None, None, "t|u", "u"]),
        assignor=st.sampled_from([None, None, None, "range", "uniform"]),
        instance=st.sampled_from([None, None, "i"]),
    )  # fmt: skip
    def come(
        self, member: str, topics: Any, pattern: str | None, assignor: str | None,
        instance: str | None,
    ) -> None:  # fmt: skip
        self.consumers.join(
            member, *topics, subscribed_topic_regex=pattern, server_assignor=assignor,
            instance_id=instance,
        )  # fmt: skip

    @rule(members=st.lists(MEMBERS, unique=True))
    def come_all(self, members: list[str]) -> None:
        for each in members:
            self.consumers.join(each, "t", "u")

    @rule(number=NUMBERS, epoch=st.sampled_from([-1, -1, -2]))
    def go(self, number: int, epoch: int) -> None:
        for member in list(self.members.values())[number : number + 1]:
            self.consumers.leave(member.member_id, epoch, instance_id=member.instance_id)

    @rule(numbers=st.lists(NUMBERS, min_size=1))
    def follow(self, numbers: list[int]) -> None:
        for number in numbers:
            for member in list(self.members.values())[number : number + 1]:
                names = {value: key for key, value in self.partition.topics.ids.items()}
                owned = {names[each]: member.assigned[each] for each in member.assigned}
                self.consumers.beat(
                    member.member_id, max(1, member.member_epoch), owned,
                    instance_id=member.instance_id,
                )  # fmt: skip

    @rule(topic=st.sampled_from("tu"), more=st.integers(1, 9))
    def grow(self, topic: str, more: int) -> None:
        self.partition.create_topic(topic, self.partition.topics.counts[topic] + more)

    @rule(partitions=st.integers(1, 9))
    def make_anew(self, partitions: int) -> None:
        """The topic has the same id again, and perhaps fewer partitions, which Kafka never does."""
        self.partition.topics_deleted("u")
        self.partition.create_topic("u", partitions)

    @rule()
    def wait(self) -> None:
        self.partition.advance(1000)

    @rule(is_compacted=st.booleans())
    def restart(self, is_compacted: bool) -> None:
        if is_compacted:
            self.partition = compacted(self.partition)
            self.consumers.partition = self.partition
        self.partition.restart()

    # -- what must be so -------------------------------------------------------------------------

    @invariant()
    def both_assignments_are_the_same(self) -> None:
        group = self.partition.group("g")
        if not isinstance(group, ConsumerGroup):
            return
        assert list(group.target.places) == list(group.members)
        assert group.target.by_load == counted_anew(group)
        for last in list(group.members.values())[-1:]:  # a member asks for each assignment
            self.compare(Roster(group))
            new = ConsumerMember(NEW, topics=last.topics, pattern=last.pattern)
            self.compare(Roster(group, {NEW: new}))
            self.compare(Roster(group, {last.member_id: replace(last, topics=("u",))}))
            self.compare(Roster(group, {last.member_id: replace(last, pattern="")}))

    def compare(self, roster: Roster) -> None:
        ctx, target = self.partition.machine.state, roster.group.target
        whole = spread_all(ctx, roster, {})
        changes = spread_changes(ctx, roster, {})
        if changes is None:
            assert not (
                roster.counts.all_subscribe_alike()
                and preferred_assignor(ctx, roster) == "uniform"
                and self.is_sound(roster)
            )
            return
        assert {each: plain(changes.get(each, target.of(each))) for each in whole} == {
            each: plain(mine) for each, mine in whole.items()
        }
        assert [each for each in whole if each in changes] == list(changes)
        assert changes.keys() >= whole.keys() - target.by_member.keys()

    def is_sound(self, roster: Roster) -> bool:
        """Whether the assignment so far has only partitions that exist, for one member each."""
        topics = self.partition.topics
        exist = {
            (topics.ids[name], n) for name in roster.topics() for n in range(topics.counts[name])
        }
        target: TargetAssignment = roster.group.target
        given = Counter(
            (topic_id, number)
            for by_topic in target.by_member.values()
            for topic_id, numbers in by_topic.items()
            for number in numbers
        )
        is_once = all(count == 1 for count in given.values())
        return is_once and given.keys() <= exist and target.by_member.keys() <= target.places.keys()


def plain(mine: Any) -> dict[bytes, set[int]]:
    return {each: set(numbers) for each, numbers in mine.items() if numbers}


def counted_anew(group: ConsumerGroup) -> dict[int, list[tuple[int, str]]]:
    """The members by the number of their partitions."""
    found: dict[int, list[tuple[int, str]]] = {}
    for member_id in group.members:
        partitions = group.target.by_member.get(member_id)
        load = UNASSIGNED if partitions is None else sum(map(len, partitions.values()))
        found.setdefault(load, []).append((group.target.places[member_id], member_id))
    return found


def compacted(partition: Partition) -> Partition:
    """The same partition after a compaction: of each key the last record, without tombstones."""
    last: dict[str, Any] = {}
    for record in (each for decision in partition.decisions for each in decision.records):
        key = repr(record.key)
        last.pop(key, None)
        last[key] = record
    interval_ms = partition.settings.group_consumer_assignment_interval_ms
    again = Partition(group_consumer_assignment_interval_ms=interval_ms)
    again.topics, again.now_ms = partition.topics, partition.now_ms
    again.machine.state.topics = again.topics
    kept = tuple(each for each in last.values() if each.value is not None)
    if kept:
        again.replay(*kept)
        again.decisions.append(Decision(records=kept))
    return again


TestGroup = Group.TestCase
TestGroup.settings = settings(
    max_examples=100, stateful_step_count=30, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
