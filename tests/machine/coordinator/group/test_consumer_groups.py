"""KIP-848: members come, share, let go, and are fenced."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.coordinator.group.consumer.group import ConsumerGroup
from fencepost_broker.coordinator.records import LogRecord
from fencepost_protocol.generated.consumer_group_partition_metadata import (
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
)

from tests.machine.coordinator.group.consumers import REBALANCE_MS, Consumers
from tests.machine.coordinator.group.offsets import commit
from tests.machine.coordinator.group.partition import Partition, code

SESSION_MS = 45_000
ALL = {"t": [0, 1, 2, 3]}


@pytest.fixture
def partition() -> Partition:
    return Partition()


@pytest.fixture
def group(partition: Partition) -> Consumers:
    return Consumers(partition)


def kinds(partition: Partition) -> list[str]:
    return [type(each.key).__name__ for each in partition.written]


class TestOneMember:
    def test_it_gets_everything_at_once(self, group: Consumers, partition: Partition) -> None:
        answer = group.join("m", "t", "u")
        assert group.given(answer) == {"t": [0, 1, 2, 3], "u": [0, 1]}
        assert (answer.member_id, answer.member_epoch) == ("m", 2)
        assert answer.heartbeat_interval_ms == 5000
        assert group.state == "Stable"
        assert kinds(partition) == [
            "ConsumerGroupMemberMetadataKey",
            "ConsumerGroupMetadataKey",
            "ConsumerGroupTargetAssignmentMemberKey",
            "ConsumerGroupTargetAssignmentMetadataKey",
            "ConsumerGroupCurrentMemberAssignmentKey",
        ]

    def test_a_heartbeat_that_changes_nothing_is_one_deadline(
        self, group: Consumers, partition: Partition
    ) -> None:
        group.join("m", "t")
        answer = group.beat("m", 2)
        assert (answer.member_epoch, answer.assignment) == (2, None)
        decision = partition.decisions[-1]
        assert decision.records == ()
        assert len(decision.soft) == 1

    def test_a_full_heartbeat_is_answered_in_full(self, group: Consumers) -> None:
        group.join("m", "t")
        answer = group.beat("m", 2, ALL, rebalance_timeout_ms=5, subscribed_topic_names=["t"])
        assert group.given(answer) == ALL

    def test_topics_that_do_not_exist_give_nothing(self, group: Consumers) -> None:
        answer = group.join("m", "nowhere")
        assert (group.given(answer), answer.member_epoch) == ({}, 2)

    def test_no_topics_are_no_new_epoch(self, group: Consumers) -> None:
        answer = group.join("m")
        assert (group.given(answer), answer.member_epoch) == ({}, 1)

    def test_the_broker_makes_ids_for_version_0(self, group: Consumers) -> None:
        answer = group.join("", "t", version=0)
        assert len(answer.member_id) == 22
        assert code(group.join("", "t").error_code) == "INVALID_REQUEST"

    def test_another_subscription(self, group: Consumers) -> None:
        group.join("m", "t")
        group.partition.advance(1000)
        answer = group.beat("m", 2, ALL, subscribed_topic_names=["u"])
        assert group.given(answer) == {}
        assert group.beat("m", 2, ALL).member_epoch == 2, "it still has the old ones"
        answer = group.beat("m", 2, {})
        assert (group.given(answer), answer.member_epoch) == ({"u": [0, 1]}, 3)

    def test_it_is_there_after_a_restart(self, group: Consumers, partition: Partition) -> None:
        group.join("m", "t")
        partition.restart()
        assert group.beat("m", 2, ALL).error_code == 0
        assert group.state == "Stable"

    def test_the_group_can_be_turned_off(self) -> None:
        partition = Partition(group_coordinator_rebalance_protocols=("classic",))
        answer = Consumers(partition).join("m", "t")
        assert code(answer.error_code) == "UNSUPPORTED_VERSION"


class TestSharing:
    def test_from_one_to_two_and_back(self, group: Consumers) -> None:
        group.join("a", "t")
        assert group.given(group.join("b", "t")) == {}
        assert group.state == "Assigning", "not within a second of the last time"
        group.partition.advance(1000)
        shrunk = group.beat("a", 2, ALL)
        kept = group.given(shrunk)
        assert kept is not None
        assert (shrunk.member_epoch, len(kept["t"])) == (2, 2)
        assert group.state == "Reconciling"
        answer = group.beat("b", 2, {})
        assert (answer.member_epoch, answer.assignment) == (3, None), "nothing is free yet"
        assert group.beat("a", 2, kept).member_epoch == 3
        answer = group.beat("b", 3, {})
        assert group.given(answer) == {"t": sorted(set(range(4)) - set(kept["t"]))}
        assert group.state == "Stable"
        group.leave("a")
        group.partition.advance(1000)
        assert group.given(group.beat("b", 3)) == ALL

    def test_a_member_that_keeps_quiet_about_what_it_has(self, group: Consumers) -> None:
        group.join("a", "t")
        group.partition.advance(1000)
        group.join("b", "t")
        group.beat("a", 2)
        assert group.beat("a", 2).member_epoch == 2, "it has not said that it let go"

    def test_a_lost_answer(self, group: Consumers) -> None:
        group.join("a", "t")
        group.partition.advance(1000)
        group.join("b", "t")
        kept = group.given(group.beat("a", 2, ALL))
        assert kept is not None
        assert group.beat("a", 2, kept).member_epoch == 3
        assert group.beat("a", 2, kept).member_epoch == 3
        assert code(group.beat("a", 2, ALL).error_code) == "FENCED_MEMBER_EPOCH"
        assert code(group.beat("a", 2).error_code) == "FENCED_MEMBER_EPOCH"

    def test_many_members(self, group: Consumers) -> None:
        members = [f"m{number}" for number in range(6)]
        for member in members:
            group.join(member, "t", "u")
            group.partition.advance(1000)
        has = group.settle(*members)
        assert [sum(map(len, each.values())) for each in has.values()] == [1] * 6

    def test_the_range_assignor(self, group: Consumers) -> None:
        group.join("a", "t", "u", server_assignor="range")
        group.partition.advance(1000)
        group.join("b", "t", "u", server_assignor="range")
        has = group.settle("a", "b")
        assert has == {"a": {"t": [0, 1], "u": [0]}, "b": {"t": [2, 3], "u": [1]}}
        assert group.described().assignor_name == "range"

    def test_of_assignors_with_as_many_votes_the_one_that_is_configured_first(
        self, group: Consumers
    ) -> None:
        group.join("a", "t", server_assignor="range")
        group.join("b", "t", server_assignor="uniform")
        assert group.described().assignor_name == "uniform"

    def test_the_interval_can_be_set_for_a_group(self, partition: Partition) -> None:
        partition.configs["g", "consumer.assignment.interval.ms"] = 0
        group = Consumers(partition)
        group.join("a", "t")
        group.join("b", "t")
        assert group.state == "Reconciling"

    def test_a_full_group(self) -> None:
        group = Consumers(Partition(group_consumer_max_size=1))
        group.join("a", "t")
        assert code(group.join("b", "t").error_code) == "GROUP_MAX_SIZE_REACHED"
        assert group.beat("a", 2).error_code == 0


class TestTopics:
    def test_more_partitions_after_the_clock_was_set_back(
        self, group: Consumers, partition: Partition
    ) -> None:
        group.join("m", "t")
        partition.create_topic("t", 6)
        partition.jump(-900_000)
        assert group.given(group.beat("m", 2, ALL)) == {"t": [0, 1, 2, 3, 4, 5]}

    def test_more_partitions(self, group: Consumers, partition: Partition) -> None:
        group.join("m", "t")
        partition.create_topic("t", 6)
        partition.advance(1000)
        assert group.given(group.beat("m", 2, ALL)) == {"t": [0, 1, 2, 3, 4, 5]}

    def test_a_topic_that_others_read(self, group: Consumers, partition: Partition) -> None:
        group.join("m", "t")
        partition.create_topic("u", 9)
        assert partition.group("g").is_checked, "nobody has to look"
        partition.advance(1000)
        assert group.beat("m", 2).member_epoch == 2

    def test_a_topic_that_was_awaited(self, group: Consumers, partition: Partition) -> None:
        group.join("m", "new")
        partition.create_topic("new", 2)
        partition.advance(1000)
        assert group.given(group.beat("m", 2)) == {"new": [0, 1]}

    def test_a_topic_that_is_deleted(self, group: Consumers, partition: Partition) -> None:
        group.join("m", "t", "u")
        partition.advance(1000)
        partition.topics_deleted("u")
        shrunk = group.beat("m", 2, rebalance_timeout_ms=5)
        assert shrunk.member_epoch == 2
        assert group.state == "Reconciling"
        answer = group.beat("m", 2, ALL)
        assert answer.member_epoch == 3

    def test_a_change_while_nobody_ran_is_noticed(
        self, group: Consumers, partition: Partition
    ) -> None:
        group.join("m", "t")
        partition.topics.create("t", 5)
        partition.restart()
        partition.advance(1000)
        assert group.given(group.beat("m", 2, ALL)) == {"t": [0, 1, 2, 3, 4]}

    def test_metadata_as_kafka_4_0_wrote_it_goes(
        self, group: Consumers, partition: Partition
    ) -> None:
        group.join("m", "t")
        key = ConsumerGroupPartitionMetadataKey("g")
        partition.replay(LogRecord(key, ConsumerGroupPartitionMetadataValue([])))
        group.beat("m", 2, subscribed_topic_names=["t", "u"])
        assert "ConsumerGroupPartitionMetadataKey" in kinds(partition)


class TestGoing:
    def test_a_member_leaves(self, group: Consumers, partition: Partition) -> None:
        group.join("m", "t")
        answer = group.leave("m")
        assert (answer.member_id, answer.member_epoch) == ("m", -1)
        assert group.state == "Empty"
        assert kinds(partition) == [
            "ConsumerGroupCurrentMemberAssignmentKey",
            "ConsumerGroupTargetAssignmentMemberKey",
            "ConsumerGroupMemberMetadataKey",
            "ConsumerGroupMetadataKey",
        ]
        assert code(group.beat("m", 2).error_code) == "UNKNOWN_MEMBER_ID"

    def test_silence(self, group: Consumers, partition: Partition) -> None:
        group.join("a", "t")
        partition.advance(1000)
        group.join("b", "t")
        partition.advance(SESSION_MS - 1000)
        assert code(group.beat("a", 2).error_code) == "UNKNOWN_MEMBER_ID"
        assert group.given(group.beat("b", 3, {})) == ALL

    def test_a_groups_own_session_timeout(self, partition: Partition) -> None:
        partition.configs["g", "consumer.session.timeout.ms"] = 5
        group = Consumers(partition)
        group.join("m", "t")
        partition.advance(5)
        assert group.state == "Empty"

    def test_who_does_not_let_go_is_out(self, group: Consumers, partition: Partition) -> None:
        group.join("a", "t", rebalance_timeout_ms=REBALANCE_MS)
        partition.advance(1000)
        group.join("b", "t")
        group.beat("a", 2, ALL)
        for _ in range(6):
            partition.advance(REBALANCE_MS // 6)
            group.beat("a", 2, ALL)
            last = group.beat("b", 3, {})
        assert code(group.beat("a", 2, ALL).error_code) == "UNKNOWN_MEMBER_ID"
        assert group.given(last) == ALL
        assert partition.told == [
            "group 'g': member 'a' did not give up its partitions in time, and was removed"
        ]

    def test_who_lets_go_in_time_is_not(self, group: Consumers, partition: Partition) -> None:
        group.join("a", "t")
        partition.advance(1000)
        group.join("b", "t")
        kept = group.given(group.beat("a", 2, ALL))
        group.beat("a", 2, kept)
        for _ in range(6):
            partition.advance(REBALANCE_MS // 5)
            assert group.beat("a", 3).error_code == 0
            assert group.beat("b", 3, {}).error_code == 0

    def test_timers_run_on_after_a_restart(self, group: Consumers, partition: Partition) -> None:
        group.join("a", "t", rebalance_timeout_ms=1000)
        partition.advance(1000)
        group.join("b", "t")
        group.beat("a", 2, ALL)
        partition.restart()
        partition.advance(1000)
        assert set(partition.group("g").members) == {"b"}
        partition.advance(SESSION_MS)
        assert group.state == "Empty"

    def test_an_old_group_without_offsets_goes(
        self, group: Consumers, partition: Partition
    ) -> None:
        group.join("m", "t")
        group.leave("m")
        partition.advance(600_000)
        assert group.state == "Dead"

    def test_epochs(self, group: Consumers) -> None:
        group.join("m", "t")
        answer = group.beat("m", 3)
        assert code(answer.error_code) == "FENCED_MEMBER_EPOCH"
        assert "it must give up its partitions" in answer.error_message
        assert code(group.beat("m", 1).error_code) == "FENCED_MEMBER_EPOCH"
        assert group.beat("m", 0, rebalance_timeout_ms=1, subscribed_topic_names=["t"]).error_code


class TestStaticMembers:
    def test_one_goes_and_comes_back(self, group: Consumers, partition: Partition) -> None:
        group.join("a", "t", instance_id="i")
        group.leave("a", -2, instance_id="i")
        assert partition.group("g").members["a"].member_epoch == -2
        answer = group.join("b", "t", instance_id="i")
        assert (group.given(answer), answer.member_epoch) == (ALL, 2)
        assert code(group.beat("a", 2, instance_id="i").error_code) == "FENCED_INSTANCE_ID"
        assert set(partition.group("g").members) == {"b"}

    def test_nobody_gets_its_partitions_meanwhile(
        self, group: Consumers, partition: Partition
    ) -> None:
        group.join("a", "t", instance_id="i")
        group.leave("a", -2, instance_id="i")
        partition.advance(1000)
        answer = group.join("b", "t", instance_id="j")
        assert group.given(answer) == {}
        partition.advance(SESSION_MS - 1001)
        assert group.given(group.beat("b", 3, {}, instance_id="j")) is None
        partition.advance(1000)
        assert group.given(group.beat("b", 3, {}, instance_id="j")) == ALL

    def test_one_that_is_still_there(self, group: Consumers) -> None:
        group.join("a", "t", instance_id="i")
        answer = group.join("b", "t", instance_id="i")
        assert code(answer.error_code) == "UNRELEASED_INSTANCE_ID"

    def test_one_that_goes_for_good(self, group: Consumers) -> None:
        group.join("a", "t", instance_id="i")
        assert code(group.leave("b", -1, instance_id="i").error_code) == "FENCED_INSTANCE_ID"
        assert code(group.leave("a", -1, instance_id="j").error_code) == "UNKNOWN_MEMBER_ID"
        group.leave("a", -1, instance_id="i")
        assert group.state == "Empty"
        assert group.join("b", "t", instance_id="i").error_code == 0


class TestPatterns:
    def regex(self, group: Consumers, member: str, pattern: str) -> Any:
        return group.join(member, subscribed_topic_names=None, subscribed_topic_regex=pattern)

    def test_topics_come_with_the_next_heartbeat(
        self, group: Consumers, partition: Partition
    ) -> None:
        answer = self.regex(group, "m", "[tu]")
        assert group.given(answer) == {}
        partition.advance(0)
        assert group.given(group.beat("m", 1)) == {"t": [0, 1, 2, 3], "u": [0, 1]}
        (member,) = group.described().members
        assert member.subscribed_topic_regex == "[tu]"

    def test_one_that_is_wrong(self, group: Consumers, partition: Partition) -> None:
        answer = self.regex(group, "m", "(")
        assert code(answer.error_code) == "INVALID_REGULAR_EXPRESSION"
        assert "'('" in answer.error_message
        assert group.state == "Dead"

    def test_new_topics_are_seen_after_ten_seconds(
        self, group: Consumers, partition: Partition
    ) -> None:
        self.regex(group, "m", "t.*")
        partition.advance(0)
        group.beat("m", 1)
        partition.create_topic("tt", 1)
        partition.advance(10_000)
        group.beat("m", 2)
        partition.advance(1)
        group.beat("m", 2)
        partition.advance(0)
        assert group.given(group.beat("m", 2)) == {"t": [0, 1, 2, 3], "tt": [0]}

    def test_new_topics_are_seen_after_the_clock_was_set_back(
        self, group: Consumers, partition: Partition
    ) -> None:
        self.regex(group, "m", "t.*")
        partition.advance(0)
        group.beat("m", 1)
        partition.create_topic("tt", 1)
        partition.jump(-900_000)
        group.beat("m", 2)
        partition.advance(0)
        assert group.given(group.beat("m", 2)) == {"t": [0, 1, 2, 3], "tt": [0]}

    def test_the_last_one_takes_its_expression_with_it(
        self, group: Consumers, partition: Partition
    ) -> None:
        self.regex(group, "a", "t")
        self.regex(group, "b", "t")
        partition.advance(0)
        group.leave("a")
        assert set(partition.group("g").resolved) == {"t"}
        group.leave("b")
        assert partition.group("g").resolved == {}

    def test_members_with_the_same_names_of_whom_one_has_an_expression_too(
        self, group: Consumers, partition: Partition
    ) -> None:
        group.join("a", "t", subscribed_topic_regex="u")
        group.join("b", "t")
        partition.advance(1000)
        shared = group.settle("a", "b")
        assert shared == {"a": {"t": [0], "u": [0, 1]}, "b": {"t": [1, 2, 3]}}

    def test_from_a_pattern_to_names(self, group: Consumers, partition: Partition) -> None:
        self.regex(group, "m", "t")
        partition.advance(0)
        group.beat("m", 1)
        partition.advance(1000)
        answer = group.beat("m", 2, ALL, subscribed_topic_names=["u"], subscribed_topic_regex="")
        assert group.given(answer) == {}
        assert group.given(group.beat("m", 2, {})) == {"u": [0, 1]}
        assert partition.group("g").resolved == {}

    def test_offsets_of_matched_topics_stay(self, group: Consumers, partition: Partition) -> None:
        self.regex(group, "m", "t")
        partition.advance(0)
        found = partition.group("g")
        assert isinstance(found, ConsumerGroup)
        assert (found.is_subscribed("t"), found.is_subscribed("u")) == (True, False)


class TestAdministration:
    def test_a_group_is_described(self, group: Consumers) -> None:
        group.join("m", "t", rack_id="r", instance_id="i")
        found = group.described()
        assert (found.group_state, found.group_epoch, found.assignment_epoch) == ("Stable", 2, 2)
        assert found.assignor_name == "uniform"
        (member,) = found.members
        assert (member.member_id, member.instance_id, member.rack_id) == ("m", "i", "r")
        assert (member.member_epoch, member.subscribed_topic_names) == (2, ["t"])
        (row,) = member.assignment.topic_partitions
        assert (row.topic_name, row.partitions) == ("t", [0, 1, 2, 3])
        assert member.target_assignment == member.assignment
        assert member.member_type == 1

    def test_what_does_not_exist(self, partition: Partition) -> None:
        assert code(Consumers(partition, "x").described().error_code) == "GROUP_ID_NOT_FOUND"
        assert code(Consumers(partition, "").described().error_code) == "INVALID_GROUP_ID"
        commit(partition, "g", {("t", 0): 1})
        found = Consumers(partition).described()
        assert code(found.error_code) == "GROUP_ID_NOT_FOUND"
        assert "no consumer group" in found.error_message
