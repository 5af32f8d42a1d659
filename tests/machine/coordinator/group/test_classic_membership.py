"""Sessions, leaving, static members, restarts, and what administrators see of classic groups."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.leave_group import LeaveGroupRequest
from fencepost_protocol.generated.list_groups import ListGroupsRequest

from tests.machine.coordinator.group.classic import REBALANCE_MS, SESSION_MS, Classic
from tests.machine.coordinator.group.offsets import (
    commit,
    commit_in_transaction,
    committed,
    subscription,
)
from tests.machine.coordinator.group.partition import HOST, Partition, code


@pytest.fixture
def partition() -> Partition:
    return Partition(group_initial_rebalance_delay_ms=0)


@pytest.fixture
def group(partition: Partition) -> Classic:
    return Classic(partition)


class TestHeartbeat:
    def test_who_may(self, group: Classic, partition: Partition) -> None:
        assert group.beat("m", 1) == "UNKNOWN_MEMBER_ID"
        assert Classic(partition, "").beat("m", 1) == "INVALID_GROUP_ID"
        (member,) = group.stable("i")
        assert group.beat(member, 1, "i") == group.beat(member, 1) == "NONE"
        assert group.beat(member, 0) == "ILLEGAL_GENERATION"
        assert group.beat("other", 1) == "UNKNOWN_MEMBER_ID"
        assert group.beat("other", 1, "i") == "FENCED_INSTANCE_ID"
        assert group.beat(member, 1, "j") == "UNKNOWN_MEMBER_ID"

    def test_it_costs_one_deadline_and_no_draft(self, group: Classic, partition: Partition) -> None:
        (member,) = group.stable(None)
        partition.now_ms += 5
        group.beat(member, 1)
        decision = partition.decisions[-1]
        assert decision.records == ()
        (soft,) = decision.soft
        assert (soft.key.member_id, soft.at_ms) == (member, partition.now_ms + SESSION_MS)


class TestSessions:
    def test_silence_is_death(self, group: Classic, partition: Partition) -> None:
        silent, other = group.stable(None, None)
        partition.advance(SESSION_MS - 1)
        assert group.beat(other, 1) == "NONE"
        partition.advance(1)
        assert group.beat(other, 1) == "REBALANCE_IN_PROGRESS"
        assert group.beat(silent, 1) == "UNKNOWN_MEMBER_ID"
        assert partition.told == [
            f"group 'g': member '{silent}' sent no heartbeat for {SESSION_MS} ms, and was removed"
        ]

    def test_the_last_one_leaves_an_empty_group(self, group: Classic, partition: Partition) -> None:
        group.stable(None)
        partition.advance(SESSION_MS)
        assert group.state == "Empty"
        (record,) = partition.written
        stored: Any = record.value
        assert (stored.protocol_type, stored.generation) == ("consumer", 2)
        assert (stored.protocol, stored.leader, stored.members) == (None, None, [])

    def test_an_id_that_was_not_used(self, group: Classic, partition: Partition) -> None:
        member = group.join().member_id
        partition.advance(SESSION_MS)
        assert code(group.join(member).error_code) == "UNKNOWN_MEMBER_ID"

    def test_who_is_kept_waiting_is_alive(self, group: Classic, partition: Partition) -> None:
        late, early = group.stable(None, None)
        token = group.join(early, topics=["u"])
        for _ in range(3):
            group.beat(late, 1)
            partition.advance(SESSION_MS - 1)
        assert early in partition.group("g").members
        group.join(late)
        assert group.reply(token).generation_id == 2

    def test_a_new_member_does_not_wait_for_ever(
        self, group: Classic, partition: Partition
    ) -> None:
        (first,) = group.stable(None)
        group.join(first, rebalance_timeout_ms=3_600_000)
        partition.advance(0)
        waiting = group.join(version=3, rebalance_timeout_ms=3_600_000)
        for _ in range(50):
            group.beat(first, 2)
            partition.advance(6_000)
        answer = group.reply(waiting)
        assert (code(answer.error_code), answer.member_id) == ("UNKNOWN_MEMBER_ID", "")

    def test_an_answer_begins_a_whole_session(self, group: Classic, partition: Partition) -> None:
        tokens = [group.join_twice()[1] for _ in range(2)]
        partition.advance(0)
        leader, follower = [group.reply(each).member_id for each in tokens]
        group.sync(follower, 1)
        partition.advance(SESSION_MS - 1)
        group.sync(leader, 1, {})
        partition.advance(SESSION_MS - 1)
        assert follower in partition.group("g").members


class TestLeaving:
    def test_the_others_join_again(self, group: Classic, partition: Partition) -> None:
        first, second = group.stable(None, None)
        assert group.leave((first, None)) == ["NONE"]
        assert group.beat(second, 1) == "REBALANCE_IN_PROGRESS"
        assert group.join(second).leader == second

    def test_the_last_one(self, group: Classic, partition: Partition) -> None:
        (member,) = group.stable(None)
        assert group.leave((member, None)) == ["NONE"]
        assert group.state == "Empty"
        assert len(partition.written) == 1

    def test_several_at_once(self, group: Classic) -> None:
        dynamic, static, other = group.stable(None, "i", "j")
        codes = group.leave(
            (dynamic, None), ("", "i"), ("wrong", "j"), ("x", None), ("", None), ("", "k")
        )
        assert codes == [
            "NONE",
            "NONE",
            "FENCED_INSTANCE_ID",
            "UNKNOWN_MEMBER_ID",
            "UNKNOWN_MEMBER_ID",
            "UNKNOWN_MEMBER_ID",
        ]
        assert group.beat(other, 1) == "REBALANCE_IN_PROGRESS"
        assert group.beat(static, 1) == "UNKNOWN_MEMBER_ID"

    def test_of_an_unknown_group(self, group: Classic) -> None:
        assert group.leave(("m", None)) == ["UNKNOWN_MEMBER_ID"]

    def test_old_versions_name_one_member(self, group: Classic, partition: Partition) -> None:
        (member,) = group.stable(None)
        codes = [
            code(partition.ask(LeaveGroupRequest(*each), 2).error_code)
            for each in (("g", member), ("g", member), ("", member), ("h", member))
        ]
        unknown = "UNKNOWN_MEMBER_ID"
        assert codes == ["NONE", unknown, "INVALID_GROUP_ID", unknown]

    def test_who_waits_is_told(self, group: Classic, partition: Partition) -> None:
        first, second = group.stable(None, None)
        token = group.join(first)
        group.leave((first, None))
        assert code(group.reply(token).error_code) == "UNKNOWN_MEMBER_ID"
        assert group.join(second).generation_id == 2

    def test_during_the_first_rebalance_time_decides(self) -> None:
        partition = Partition(group_initial_rebalance_delay_ms=3000)
        group = Classic(partition)
        member, _ = group.join_twice()
        group.leave((member, None))
        assert group.state == "PreparingRebalance"
        partition.advance(3000)
        assert group.state == "Empty"


class TestStaticMembers:
    def test_a_restart_of_an_instance_is_no_rebalance(
        self, group: Classic, partition: Partition
    ) -> None:
        leader, member = group.stable("i", "j")
        answer = group.join(instance="j")
        assert (answer.generation_id, answer.leader) == (1, leader)
        assert (answer.skip_assignment, answer.members) == (False, [])
        new = answer.member_id
        assert new.startswith("j-")
        assert new != member
        assert group.state == "Stable"
        assert group.beat(member, 1, "j") == "FENCED_INSTANCE_ID"
        assert group.beat(member, 1) == "UNKNOWN_MEMBER_ID"
        assert group.sync(new, 1, instance="j").assignment == member.encode()

    def test_its_new_id_is_written(self, group: Classic, partition: Partition) -> None:
        group.stable("i")
        new = group.join(instance="i").member_id
        partition.restart()
        assert group.beat(new, 1, "i") == "NONE"
        assert partition.group("g").leader == new

    def test_a_leader_that_comes_back_is_told_to_leave_partitions_alone(
        self, group: Classic
    ) -> None:
        group.stable("i", "j")
        answer = group.join(instance="i")
        assert (answer.leader, answer.skip_assignment) == (answer.member_id, True)
        assert len(answer.members) == 2

    def test_an_old_client_is_not_told_that_it_leads(self, group: Classic) -> None:
        leader, _ = group.stable("i", "j")
        answer = group.join(instance="i", version=8)
        assert (answer.leader, answer.skip_assignment) == (leader, False)
        assert answer.members == []

    def test_it_may_be_away_for_a_session(self, group: Classic, partition: Partition) -> None:
        _, other = group.stable("i", "j")
        partition.advance(SESSION_MS - 1)
        group.join(instance="i")
        group.beat(other, 1)
        partition.advance(SESSION_MS - 1)
        assert group.state == "Stable"
        partition.advance(1)
        assert group.state != "Stable"

    def test_it_stays_through_a_rebalance_that_it_misses(
        self, group: Classic, partition: Partition
    ) -> None:
        _, dynamic = group.stable("i", None)
        group.join(dynamic, topics=["u"], session_timeout_ms=60_000)
        partition.group("g").members.values()
        for _ in range(4):
            group.beat(next(iter(partition.group("g").members)), 1)
            partition.advance(REBALANCE_MS // 4)
        found = partition.group("g")
        assert (found.generation, len(found.members)) == (2, 2)
        assert found.leader == dynamic, "the leader was away"

    def test_nobody_joins_but_static_members_stay(
        self, group: Classic, partition: Partition
    ) -> None:
        first, second = group.stable("i", "j")
        group.leave((second, "j"))
        for _ in range(4):
            assert group.beat(first, 1) == "REBALANCE_IN_PROGRESS"
            partition.advance(REBALANCE_MS // 4)
        assert (group.state, partition.group("g").generation) == ("PreparingRebalance", 1)
        assert group.join(first, "i").generation_id == 2

    def test_with_other_protocols_it_is_a_rebalance(
        self, group: Classic, partition: Partition
    ) -> None:
        tokens = [group.join(instance=each, protocols=["range", "sticky"]) for each in "ij"]
        partition.advance(0)
        leader = group.reply(tokens[0]).leader
        group.sync(leader, 1, {})
        token = group.join(instance="j", protocols=["sticky"])
        assert isinstance(token, int)
        assert group.state == "PreparingRebalance"
        group.join(leader, "i", protocols=["range", "sticky"])
        assert group.reply(token).protocol_name == "sticky"

    def test_who_waits_under_the_old_id_is_fenced(
        self, group: Classic, partition: Partition
    ) -> None:
        group.stable("i", None)
        waiting = group.join(partition.group("g").static_members["i"], "i")
        group.join(instance="i")
        assert code(group.reply(waiting).error_code) == "FENCED_INSTANCE_ID"

    def test_while_the_leader_assigns_it_is_a_rebalance(
        self, group: Classic, partition: Partition
    ) -> None:
        tokens = [group.join(instance=each) for each in "ij"]
        partition.advance(0)
        follower = group.reply(tokens[1]).member_id
        waiting = group.sync(follower, 1, instance="j")
        group.join(instance="j")
        assert code(group.reply(waiting).error_code) == "FENCED_INSTANCE_ID"
        assert group.state == "PreparingRebalance"

    def test_offsets_of_a_fenced_instance(self, group: Classic, partition: Partition) -> None:
        (member,) = group.stable("i")
        group.join(instance="i")
        fenced = ["FENCED_INSTANCE_ID"]
        assert commit(partition, "g", {("t", 0): 1}, 1, member, "i") == fenced
        assert commit_in_transaction(partition, "g", {("t", 0): 1}, 1, member, "i") == fenced

    def test_an_id_given_to_a_dynamic_member(self, group: Classic) -> None:
        member = group.join().member_id
        assert code(group.join(member, "i").error_code) == "UNKNOWN_SERVER_ERROR"


class TestRestart:
    def test_a_stable_group_is_still_stable(self, group: Classic, partition: Partition) -> None:
        members = group.stable(None, "i")
        partition.restart()
        assert group.state == "Stable"
        assert [group.beat(each, 1) for each in members] == ["NONE", "NONE"]
        assert group.sync(members[0], 1).assignment == members[0].encode()
        partition.advance(SESSION_MS)
        assert group.state == "Empty"

    def test_a_rebalance_is_forgotten(self, group: Classic, partition: Partition) -> None:
        (member,) = group.stable(None)
        group.join(member)
        partition.restart()
        assert (group.state, partition.group("g").generation) == ("Stable", 1)

    def test_whoever_waits_hears_when_the_partition_goes(
        self, group: Classic, partition: Partition
    ) -> None:
        tokens = [group.join_twice()[1] for _ in range(2)]
        partition.advance(0)
        _, follower = [group.reply(each).member_id for each in tokens]
        syncing = group.sync(follower, 1)
        joining = Classic(partition, "h").join_twice()[1]
        replies = {each.token: each.answer for each in partition.machine.unload().effects}
        assert {token: code(each.error_code) for token, each in replies.items()} == {
            syncing: "NOT_COORDINATOR",
            joining: "NOT_COORDINATOR",
        }


def described(partition: Partition, group_id: str, version: int = 6) -> Any:
    (found,) = partition.ask(DescribeGroupsRequest([group_id]), version).groups
    return found


class TestAdministration:
    def test_a_stable_group_is_described(self, group: Classic, partition: Partition) -> None:
        (member,) = group.stable("i")
        found = described(partition, "g")
        assert (found.group_state, found.protocol_type) == ("Stable", "consumer")
        assert found.protocol_data == "range"
        (row,) = found.members
        assert (row.member_id, row.group_instance_id) == (member, "i")
        assert (row.client_id, row.client_host) == ("c", HOST)
        assert (row.member_metadata, row.member_assignment) == (
            subscription(["t"]),
            member.encode(),
        )

    def test_in_between_members_have_nothing(self, group: Classic, partition: Partition) -> None:
        _, _ = group.join_twice()
        partition.advance(0)
        found = described(partition, "g")
        assert (found.group_state, found.protocol_data) == ("CompletingRebalance", "")
        assert [(each.member_metadata, each.member_assignment) for each in found.members] == [
            (b"", b"")
        ]

    def test_what_does_not_exist(self, partition: Partition) -> None:
        found = described(partition, "g", 5)
        assert (found.group_state, found.error_code) == ("Dead", 0)
        found = described(partition, "g", 6)
        assert (found.group_state, code(found.error_code)) == ("Dead", "GROUP_ID_NOT_FOUND")

    def test_lists_by_state_and_type(self, group: Classic, partition: Partition) -> None:
        group.stable(None)
        commit(partition, "simple", {("t", 0): 1})

        def listed(states: list[str], types: list[str]) -> list[tuple[str, str, str, str]]:
            answer = partition.ask(ListGroupsRequest(states, types))
            return [
                (each.group_id, each.protocol_type, each.group_state, each.group_type)
                for each in answer.groups
            ]

        stable = ("g", "consumer", "Stable", "classic")
        simple = ("simple", "", "Empty", "classic")
        assert listed([], []) == [stable, simple]
        assert listed(["STABLE", "Dead"], []) == [stable]
        assert listed([], ["Classic"]) == [stable, simple]
        assert listed([], ["consumer"]) == listed([], ["nonsense"]) == listed(["x"], []) == []

    def test_only_empty_groups_can_be_deleted(self, group: Classic, partition: Partition) -> None:
        (member,) = group.stable(None)
        commit(partition, "g", {("t", 0): 1}, 1, member)
        commit_in_transaction(partition, "g", {("t", 1): 1}, 1, member)

        def delete(*groups: str) -> list[tuple[str, str]]:
            answer = partition.ask(DeleteGroupsRequest(list(groups)))
            return [(each.group_id, code(each.error_code)) for each in answer.results]

        assert delete("g") == [("g", "NON_EMPTY_GROUP")]
        group.leave((member, None))
        assert delete("g", "h", "g") == [("g", "NONE"), ("h", "GROUP_ID_NOT_FOUND")]
        assert len(partition.written) == 3
        partition.end(7, committed=True)
        assert committed(partition, "g", ("t", 0), ("t", 1)) == [-1, -1]
        assert group.state == "Dead"

    def test_an_id_given_out_by_a_deleted_group(self, group: Classic, partition: Partition) -> None:
        member = group.join().member_id
        partition.ask(DeleteGroupsRequest(["g"]))
        assert code(group.join(member).error_code) == "UNKNOWN_MEMBER_ID"
        partition.advance(SESSION_MS)
        assert group.state == "Dead"
