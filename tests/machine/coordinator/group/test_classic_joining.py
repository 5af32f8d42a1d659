"""JoinGroup and SyncGroup: from nobody to a stable group, and from one generation to the next."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_protocol.generated.sync_group import SyncGroupRequest

from tests.machine.coordinator.group.classic import REBALANCE_MS, SESSION_MS, Classic
from tests.machine.coordinator.group.offsets import commit, subscription
from tests.machine.coordinator.group.partition import HOST, Partition, code


@pytest.fixture
def partition() -> Partition:
    return Partition(group_initial_rebalance_delay_ms=0)


@pytest.fixture
def group(partition: Partition) -> Classic:
    return Classic(partition)


def values(partition: Partition) -> list[Any]:
    return [record.value for record in partition.written]


class TestFirstMember:
    def test_it_is_given_an_id_first(self, group: Classic, partition: Partition) -> None:
        answer = group.join(client="ours")
        assert code(answer.error_code) == "MEMBER_ID_REQUIRED"
        assert answer.member_id.startswith("ours-")
        assert len(answer.member_id) == len("ours-") + 36
        (empty,) = values(partition)
        assert (empty.protocol_type, empty.generation, empty.leader) == ("", 0, None)
        assert empty.current_state_timestamp == partition.now_ms
        assert group.state == "Empty"

    def test_it_becomes_leader_of_the_first_generation(
        self, group: Classic, partition: Partition
    ) -> None:
        member, token = group.join_twice()
        assert group.state == "PreparingRebalance"
        partition.advance(0)
        answer = group.reply(token)
        assert (answer.generation_id, answer.leader, answer.member_id) == (1, member, member)
        assert (answer.protocol_type, answer.protocol_name) == ("consumer", "range")
        assert [(each.member_id, each.metadata) for each in answer.members] == [
            (member, subscription(["t"]))
        ]
        assert group.state == "CompletingRebalance"

    def test_old_clients_join_at_once(self, group: Classic, partition: Partition) -> None:
        token = group.join(version=3)
        partition.advance(0)
        answer = group.reply(token)
        assert answer.generation_id == 1
        assert answer.leader == answer.member_id

    def test_the_stable_group_is_one_record(self, group: Classic, partition: Partition) -> None:
        member, token = group.join_twice()
        partition.advance(0)
        since_ms = partition.now_ms
        partition.now_ms += 5
        answer = group.sync(member, group.reply(token).generation_id, {member: b"all"})
        assert (answer.assignment, answer.protocol_name) == (b"all", "range")
        (record,) = partition.written
        assert record.value_version == 3
        (stored,) = values(partition)
        assert (stored.protocol_type, stored.generation, stored.protocol) == (
            "consumer",
            1,
            "range",
        )
        assert (stored.leader, stored.current_state_timestamp) == (member, since_ms)
        (row,) = stored.members
        assert (row.member_id, row.group_instance_id) == (member, None)
        assert (row.client_id, row.client_host) == ("c", HOST)
        assert (row.rebalance_timeout, row.session_timeout) == (REBALANCE_MS, SESSION_MS)
        assert (row.subscription, row.assignment) == (subscription(["t"]), b"all")

    def test_version_0_has_no_rebalance_timeout(self, group: Classic, partition: Partition) -> None:
        group.join(version=0)
        (member,) = partition.group("g").members.values()
        assert member.rebalance_timeout_ms == SESSION_MS

    def test_an_id_that_nobody_gave_out(self, group: Classic, partition: Partition) -> None:
        assert code(group.join("made-up").error_code) == "UNKNOWN_MEMBER_ID"
        assert group.state == "Dead"
        group.join()
        assert code(group.join("made-up").error_code) == "UNKNOWN_MEMBER_ID"

    @pytest.mark.parametrize(
        ("fields", "expected"),
        [
            ({"session_timeout_ms": 5999}, "INVALID_SESSION_TIMEOUT"),
            ({"session_timeout_ms": 1_800_001}, "INVALID_SESSION_TIMEOUT"),
            ({"protocol_type": ""}, "INCONSISTENT_GROUP_PROTOCOL"),
            ({"protocols": ()}, "INCONSISTENT_GROUP_PROTOCOL"),
        ],
    )
    def test_what_is_refused(self, group: Classic, fields: dict[str, Any], expected: str) -> None:
        assert code(group.join(**fields).error_code) == expected

    def test_an_empty_group_id(self, partition: Partition) -> None:
        assert code(Classic(partition, "").join("m").error_code) == "INVALID_GROUP_ID"

    def test_answers_of_old_versions_have_no_null(
        self, group: Classic, partition: Partition
    ) -> None:
        answer = group.join(version=6, protocols=())
        assert answer.protocol_name == ""
        assert group.join(version=7, protocols=()).protocol_name is None


class TestInitialDelay:
    def test_who_comes_in_time_is_in_the_first_generation(self) -> None:
        partition = Partition(group_initial_rebalance_delay_ms=3000)
        group = Classic(partition)
        _, first = group.join_twice()
        partition.advance(2999)
        _, second = group.join_twice()
        assert partition.replies == {}
        partition.advance(1)
        assert partition.replies == {}, "somebody came: three seconds more"
        partition.advance(3000)
        assert {group.reply(each).generation_id for each in (first, second)} == {1}

    def test_the_rebalance_timeout_bounds_it(self) -> None:
        partition = Partition(group_initial_rebalance_delay_ms=3000)
        group = Classic(partition)
        _, first = group.join_twice(rebalance_timeout_ms=7000)
        for _ in range(2):
            partition.advance(2000)
            group.join(version=3, rebalance_timeout_ms=7000)
            partition.advance(1000)
        assert first not in partition.replies
        group.join(version=3, rebalance_timeout_ms=7000)
        partition.advance(1000)
        assert group.reply(first).generation_id == 1

    def test_a_single_member_waits_no_longer_than_that(self) -> None:
        partition = Partition(group_initial_rebalance_delay_ms=3000)
        group = Classic(partition)
        _, first = group.join_twice()
        partition.advance(3000)
        assert group.reply(first).generation_id == 1


class TestSync:
    def test_followers_wait_for_the_leader(self, group: Classic, partition: Partition) -> None:
        tokens = [group.join_twice()[1] for _ in range(3)]
        partition.advance(0)
        leader, *others = [group.reply(token).member_id for token in tokens]
        assert group.reply(tokens[0]).leader == leader
        assert [len(group.reply(token).members) for token in tokens] == [3, 0, 0]
        early = group.sync(others[0], 1)
        assert early not in partition.replies
        group.sync(leader, 1, {leader: b"0", others[0]: b"1", "nobody": b"?"})
        assert group.reply(early).assignment == b"1"
        assert group.state == "Stable"
        late = group.sync(others[1], 1)
        assert (late.assignment, late.error_code) == (b"", 0), "the leader forgot it"

    def test_who_may(self, group: Classic, partition: Partition) -> None:
        member, token = group.join_twice()
        assert code(group.sync(member, 0).error_code) == "REBALANCE_IN_PROGRESS"
        partition.advance(0)
        assert group.reply(token).generation_id == 1
        refusals = [
            group.sync(member, 2),
            group.sync("other", 1),
            group.sync(member, 1, instance="i"),
            group.sync(member, 1, protocol_name="roundrobin"),
            group.sync(member, 1, protocol_type="connect"),
            group.sync(member, 1, protocol_name=None),
            Classic(partition, "").sync(member, 1),
            Classic(partition, "unknown").sync(member, 1),
        ]
        assert [code(each.error_code) for each in refusals] == [
            "ILLEGAL_GENERATION",
            "UNKNOWN_MEMBER_ID",
            "UNKNOWN_MEMBER_ID",
            "INCONSISTENT_GROUP_PROTOCOL",
            "INCONSISTENT_GROUP_PROTOCOL",
            "INCONSISTENT_GROUP_PROTOCOL",
            "INVALID_GROUP_ID",
            "UNKNOWN_MEMBER_ID",
        ]

    def test_old_versions_do_not_say_the_protocol(
        self, group: Classic, partition: Partition
    ) -> None:
        member, _ = group.join_twice()
        partition.advance(0)
        answer = partition.ask(SyncGroupRequest("g", 1, member), 4)
        assert answer.error_code == 0

    def test_again_in_a_stable_group(self, group: Classic) -> None:
        (member,) = group.stable(None)
        assert group.sync(member, 1).assignment == member.encode()

    def test_a_rebalance_in_between(self, group: Classic, partition: Partition) -> None:
        tokens = [group.join_twice()[1] for _ in range(2)]
        partition.advance(0)
        _, follower = [group.reply(token).member_id for token in tokens]
        waiting = group.sync(follower, 1)
        group.join_twice()
        assert code(group.reply(waiting).error_code) == "REBALANCE_IN_PROGRESS"
        assert group.state == "PreparingRebalance"

    def test_who_does_not_come_is_out(self, group: Classic, partition: Partition) -> None:
        tokens = [group.join_twice()[1] for _ in range(2)]
        partition.advance(0)
        leader, follower = [group.reply(token).member_id for token in tokens]
        group.sync(leader, 1, {leader: b"a", follower: b"b"})
        for _ in range(4):
            assert group.beat(leader, 1) == group.beat(follower, 1) == "NONE"
            partition.advance(REBALANCE_MS // 4)
        assert group.beat(leader, 1) == "REBALANCE_IN_PROGRESS"
        assert group.beat(follower, 1) == "UNKNOWN_MEMBER_ID"


class TestNextGeneration:
    def test_a_new_member_makes_the_others_join_again(
        self, group: Classic, partition: Partition
    ) -> None:
        (first,) = group.stable(None)
        second, waiting = group.join_twice()
        assert group.beat(first, 1) == "REBALANCE_IN_PROGRESS"
        assert waiting not in partition.replies
        answer = group.join(first)
        assert (answer.generation_id, answer.leader) == (2, first)
        assert [each.member_id for each in answer.members] == [first, second]
        assert group.reply(waiting).generation_id == 2

    def test_who_is_late_is_out(self, group: Classic, partition: Partition) -> None:
        leader, follower = group.stable(None, None)
        group.join(follower, protocols=["range", "sticky"])
        for _ in range(4):
            group.beat(leader, 1)
            partition.advance(REBALANCE_MS // 4)
        assert group.beat(leader, 1) == "UNKNOWN_MEMBER_ID"
        found = partition.group("g")
        assert (found.leader, found.generation) == (follower, 2)
        assert partition.told == [
            f"group 'g': member '{leader}' sent no JoinGroup in time, and was removed"
        ]

    def test_an_id_given_out_is_waited_for(self, group: Classic, partition: Partition) -> None:
        (first,) = group.stable(None)
        promised = group.join().member_id
        token = group.join(first)
        assert token not in partition.replies
        assert group.leave((promised, None)) == ["NONE"]
        assert group.reply(token).generation_id == 2

    def test_the_same_again_is_no_rebalance(self, group: Classic) -> None:
        leader, follower = group.stable(None, None)
        answer = group.join(follower)
        assert (answer.generation_id, answer.leader, answer.members) == (1, leader, [])
        assert group.state == "Stable"

    def test_a_leader_that_joins_again_wants_one(self, group: Classic) -> None:
        leader, _ = group.stable(None, None)
        assert isinstance(group.join(leader), int)
        assert group.state == "PreparingRebalance"

    def test_a_lost_answer_is_given_again(self, group: Classic, partition: Partition) -> None:
        member, _ = group.join_twice()
        partition.advance(0)
        answer = group.join(member)
        assert (answer.generation_id, len(answer.members)) == (1, 1)

    def test_other_topics_are_a_rebalance(self, group: Classic, partition: Partition) -> None:
        _, follower = group.stable(None, None)
        group.join(follower, topics=["u"])
        assert group.state == "PreparingRebalance"

    def test_a_request_that_was_sent_again_is_answered_once_each(
        self, group: Classic, partition: Partition
    ) -> None:
        leader, follower = group.stable(None, None)
        first = group.join(leader)
        second = group.join(leader)
        assert code(group.reply(first).error_code) == "REBALANCE_IN_PROGRESS"
        group.join(follower)
        assert group.reply(second).generation_id == 2

    def test_commits_go_on_while_it_is_prepared(self, group: Classic, partition: Partition) -> None:
        (member,) = group.stable(None)
        _, token = group.join_twice()
        assert commit(partition, "g", {("t", 0): 1}, 1, member) == ["NONE"]
        group.join(member)
        assert group.reply(token).generation_id == 2
        assert commit(partition, "g", {("t", 0): 1}, 2, member) == ["REBALANCE_IN_PROGRESS"]
        assert commit(partition, "g", {("t", 0): 1}, 1, member) == ["ILLEGAL_GENERATION"]


class TestProtocols:
    def chosen(self, partition: Partition, *preferences: list[str]) -> str:
        group = Classic(partition)
        tokens = [group.join(version=3, protocols=each) for each in preferences]
        partition.advance(0)
        return str(group.reply(tokens[0]).protocol_name)

    def test_most_votes_win(self, partition: Partition) -> None:
        assert self.chosen(partition, ["a", "b"], ["b", "a"], ["b", "a"]) == "b"

    def test_only_what_everybody_can_follow(self, partition: Partition) -> None:
        assert self.chosen(partition, ["a", "b"], ["a", "b"], ["c", "b"]) == "b"

    def test_a_cooperative_client_among_eager_ones(self, partition: Partition) -> None:
        both = ["cooperative-sticky", "range"]
        assert self.chosen(partition, both, ["range"]) == "range"

    def test_a_member_that_fits_to_nobody(self, group: Classic) -> None:
        group.stable(None)
        answer = group.join(protocols=["other"])
        assert code(answer.error_code) == "INCONSISTENT_GROUP_PROTOCOL"
        answer = group.join(protocol_type="connect")
        assert code(answer.error_code) == "INCONSISTENT_GROUP_PROTOCOL"
        assert group.state == "Stable"

    def test_an_empty_group_takes_any(self, group: Classic, partition: Partition) -> None:
        (member,) = group.stable(None)
        group.leave((member, None))
        _, token = group.join_twice(protocol_type="connect", protocols=["other"])
        partition.advance(0)
        assert group.reply(token).protocol_type == "connect"


class TestSize:
    def test_a_full_group(self) -> None:
        partition = Partition(group_initial_rebalance_delay_ms=0, group_max_size=2)
        group = Classic(partition)
        group.stable(None, None)
        answer = group.join()
        assert code(answer.error_code) == "GROUP_MAX_SIZE_REACHED"
        assert answer.member_id == ""
        assert group.state == "Stable"

    def test_one_that_is_filling_up(self) -> None:
        partition = Partition(group_initial_rebalance_delay_ms=0, group_max_size=2)
        group = Classic(partition)
        group.join_twice()
        group.join_twice()
        assert code(group.join().error_code) == "GROUP_MAX_SIZE_REACHED"

    def test_a_loaded_group_that_is_too_large_has_to_join_again(self) -> None:
        partition = Partition(group_initial_rebalance_delay_ms=0)
        group = Classic(partition)
        members = group.stable(None, None, None)
        partition.settings = type(partition.settings)(
            group_initial_rebalance_delay_ms=0, group_max_size=2
        )
        partition.restart()
        assert {group.beat(each, 1) for each in members} == {"REBALANCE_IN_PROGRESS"}
        tokens = [group.join(each) for each in members]
        assert code(tokens[2].error_code) == "GROUP_MAX_SIZE_REACHED"
        partition.advance(REBALANCE_MS)
        assert [group.reply(each).generation_id for each in tokens[:2]] == [2, 2]
