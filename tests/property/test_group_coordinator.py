"""The group coordinator under anything clients may do, in any order, with time and restarts.

After every step the machine's durable state is that of a replay of its log (the driver sees to
it). Besides: nobody is answered twice, a classic group counts right, a partition of a consumer
group has one owner, offsets are those of a naive model, and when nobody comes any more every
request has been answered.
"""

from __future__ import annotations

from typing import Any

from fencepost_broker.coordinator.group.classic.group import ClassicGroup, State
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.machine.coordinator.group.classic import Classic
from tests.machine.coordinator.group.consumers import Consumers
from tests.machine.coordinator.group.offsets import (
    commit,
    commit_in_transaction,
    committed,
)
from tests.machine.coordinator.group.partition import Partition

GROUPS = st.sampled_from(["g", "h"])
INSTANCES = st.sampled_from([None, None, "i", "j"])
PROTOCOLS = st.sampled_from([("range",), ("range", "sticky"), ("sticky", "range")])
TOPICS = st.sampled_from([("t",), ("u",), ("t", "u"), ()])
PARTITIONS = st.sampled_from([("t", 0), ("t", 1), ("u", 0)])
PRODUCERS = st.integers(1, 3)
STEPS_MS = st.sampled_from([0, 1, 1000, 9_999, 10_000, 30_000, 60_000])
DAY_MS = 24 * 3600 * 1000


class Groups(RuleBasedStateMachine):
    """Two groups that clients of all kinds use."""

    def __init__(self) -> None:
        super().__init__()
        self.partition = Partition(
            group_initial_rebalance_delay_ms=100, offset_fetch_pending_legacy="kafka"
        )
        self.asked: set[int] = set()
        self.offsets: dict[tuple[str, str, int], tuple[int, int]] = {}
        """Of every partition: which record said it, and what."""
        self.pending: dict[int, dict[tuple[str, str, int], tuple[int, int]]] = {}
        self.value = 0

    # -- who may ask for whom ----------------------------------------------------------------

    def members(self, group_id: str) -> list[str]:
        group = self.partition.group(group_id)
        known = [] if group is None else list(group.members)
        if isinstance(group, ClassicGroup):
            known += sorted(group.pending_joins)
        return [*known, "nobody"]

    def epoch(self, group_id: str, member: str) -> int:
        group = self.partition.group(group_id)
        if isinstance(group, ConsumerGroup):
            found = group.members.get(member)
            return 1 if found is None else found.member_epoch
        return 0 if group is None else int(group.generation)

    def note(self, answer: Any) -> None:
        if isinstance(answer, int):
            self.asked.add(answer)

    # -- classic clients ---------------------------------------------------------------------

    @rule(
        group_id=GROUPS, data=st.data(), instance=INSTANCES, protocols=PROTOCOLS, topics=TOPICS,
        version=st.sampled_from([3, 8, 9]),
    )  # fmt: skip
    def join(
        self, group_id: str, data: Any, instance: str | None, protocols: Any, topics: Any,
        version: int,
    ) -> None:  # fmt: skip
        member = data.draw(st.sampled_from(["", *self.members(group_id)]))
        client = Classic(self.partition, group_id)
        self.note(client.join(member, instance, version, protocols=protocols, topics=topics))

    @rule(group_id=GROUPS, data=st.data())
    def sync(self, group_id: str, data: Any) -> None:
        member = data.draw(st.sampled_from(self.members(group_id)))
        group = self.partition.group(group_id)
        fields: dict[str, Any] = {}
        if isinstance(group, ClassicGroup):
            fields = {"protocol_name": group.protocol or "range"}
        assignment = {each: each.encode() for each in self.members(group_id)}
        client = Classic(self.partition, group_id)
        self.note(client.sync(member, self.epoch(group_id, member), assignment, **fields))

    @rule(group_id=GROUPS, data=st.data(), wrong=st.integers(0, 3))
    def beat(self, group_id: str, data: Any, wrong: int) -> None:
        member = data.draw(st.sampled_from(self.members(group_id)))
        generation = self.epoch(group_id, member) + (wrong == 1)
        Classic(self.partition, group_id).beat(member, generation)

    @rule(group_id=GROUPS, data=st.data(), instance=INSTANCES)
    def leave(self, group_id: str, data: Any, instance: str | None) -> None:
        members = ["", *self.members(group_id)]
        leaving = data.draw(st.lists(st.sampled_from(members), max_size=2, unique=True))
        Classic(self.partition, group_id).leave(*((each, instance) for each in leaving))

    # -- consumers of KIP-848 ----------------------------------------------------------------

    @rule(
        group_id=GROUPS, member=st.sampled_from("abc"), topics=TOPICS, instance=INSTANCES,
        pattern=st.sampled_from([None, None, "t|u", "u"]),
        assignor=st.sampled_from([None, "range"]),
    )  # fmt: skip
    def come(
        self, group_id: str, member: str, topics: Any, instance: str | None,
        pattern: str | None, assignor: str | None,
    ) -> None:  # fmt: skip
        Consumers(self.partition, group_id).join(
            member, *topics, instance_id=instance, subscribed_topic_regex=pattern,
            server_assignor=assignor,
        )  # fmt: skip

    @rule(group_id=GROUPS, data=st.data(), obedient=st.booleans(), instance=INSTANCES)
    def follow(self, group_id: str, data: Any, obedient: bool, instance: str | None) -> None:
        member = data.draw(st.sampled_from(self.members(group_id)))
        group = self.partition.group(group_id)
        owned: dict[str, list[int]] | None = None
        if obedient and isinstance(group, ConsumerGroup) and member in group.members:
            names = {value: key for key, value in self.partition.topics.ids.items()}
            found = group.members[member]
            owned = {names[each]: sorted(found.assigned[each]) for each in found.assigned}
            instance = found.instance_id
        epoch = max(1, self.epoch(group_id, member))
        Consumers(self.partition, group_id).beat(member, epoch, owned, instance_id=instance)

    @rule(group_id=GROUPS, data=st.data(), epoch=st.sampled_from([-1, -2]), instance=INSTANCES)
    def go(self, group_id: str, data: Any, epoch: int, instance: str | None) -> None:
        member = data.draw(st.sampled_from(self.members(group_id)))
        Consumers(self.partition, group_id).leave(member, epoch, instance_id=instance)

    # -- offsets -----------------------------------------------------------------------------

    @rule(group_id=GROUPS, data=st.data(), where=PARTITIONS, alone=st.booleans())
    def commit(self, group_id: str, data: Any, where: tuple[str, int], alone: bool) -> None:
        member = "" if alone else data.draw(st.sampled_from(self.members(group_id)))
        generation = -1 if alone else self.epoch(group_id, member)
        self.value += 1
        at = self.partition.next_offset
        if commit(self.partition, group_id, {where: self.value}, generation, member) == ["NONE"]:
            self.offsets[group_id, *where] = (at, self.value)

    @rule(group_id=GROUPS, where=PARTITIONS, producer=PRODUCERS)
    def commit_in_transaction(self, group_id: str, where: tuple[str, int], producer: int) -> None:
        self.value += 1
        at = self.partition.next_offset
        codes = commit_in_transaction(
            self.partition, group_id, {where: self.value}, producer_id=producer
        )
        assert codes == ["NONE"]
        self.pending.setdefault(producer, {})[group_id, *where] = (at, self.value)

    @rule(producer=PRODUCERS, outcome=st.booleans())
    def end(self, producer: int, outcome: bool) -> None:
        self.partition.end(producer, committed=outcome)
        for key, found in self.pending.pop(producer, {}).items():
            if outcome and found > self.offsets.get(key, (-1, -1)):
                self.offsets[key] = found

    @invariant()
    def offsets_are_those_of_the_model(self) -> None:
        for group_id in ("g", "h"):
            for where in (("t", 0), ("t", 1), ("u", 0)):
                (found,) = committed(self.partition, group_id, where)
                assert found == self.offsets.get((group_id, *where), (-1, -1))[1]

    # -- time --------------------------------------------------------------------------------

    @rule(by_ms=STEPS_MS)
    def wait(self, by_ms: int) -> None:
        self.partition.advance(by_ms)

    @rule()
    def restart(self) -> None:
        self.asked.clear()  # their connections are gone
        self.partition.restart()

    @rule(count=st.integers(1, 5))
    def grow(self, count: int) -> None:
        topics = self.partition.topics
        self.partition.create_topic("u", max(count, topics.counts["u"]))

    # -- what must be so ---------------------------------------------------------------------

    @invariant()
    def groups_are_in_order(self) -> None:
        for group in self.partition.machine.state.groups.values():
            if isinstance(group, ClassicGroup):
                self.check_classic(group)
            else:
                assert isinstance(group, ConsumerGroup)
                self.check_consumer(group)

    def check_classic(self, group: ClassicGroup) -> None:
        members = group.members.values()
        assert group.awaiting_joins == sum(each.join_token is not None for each in members)
        assert group.static_members == {
            each.instance_id: each.member_id for each in members if each.instance_id is not None
        }
        assert (group.leader in group.members) if group.members else group.leader is None
        assert group.pending_syncs <= group.members.keys()
        if group.state is State.EMPTY:
            assert not group.members
        if group.state is State.STABLE:
            assert group.members
            assert not any(each.sync_token or each.join_token for each in members)

    def check_consumer(self, group: ConsumerGroup) -> None:
        owners: dict[tuple[bytes, int], str] = {}
        for member in group.members.values():
            for owned in (member.assigned, member.revoking):
                for topic_id, numbers in owned.items():
                    for number in numbers:
                        assert owners.setdefault((topic_id, number), member.member_id) == (
                            member.member_id
                        ), "two owners"
        found = {
            (topic_id, number): member
            for topic_id, by_number in group.owners.items()
            for number, member in by_number.items()
        }
        assert found == owners
        speak_classic = [each for each in group.members.values() if each.classic is not None]
        assert group.counts.classic == len(speak_classic)

    def teardown(self) -> None:
        if hasattr(self, "partition"):
            self.partition.advance(2 * 3600 * 1000)
            waiting = self.asked - self.partition.replies.keys()
            assert not waiting, "somebody still waits, though all sessions are over"
            assert all(group.is_empty for group in self.partition.machine.state.groups.values())


TestGroups = Groups.TestCase
TestGroups.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
