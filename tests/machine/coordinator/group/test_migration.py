"""From the classic protocol to KIP-848's and back, member by member."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import pytest
from fencepost_broker.coordinator.group.classic.subscriptions import (
    read_assignment,
    write_assignment,
)
from fencepost_protocol.generated.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
    TopicPartition,
)
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol

from tests.machine.coordinator.group.classic import REBALANCE_MS, SESSION_MS, Classic
from tests.machine.coordinator.group.consumers import Consumers
from tests.machine.coordinator.group.offsets import commit, committed
from tests.machine.coordinator.group.partition import Partition, code

ALL = {"t": [0, 1, 2, 3]}


@pytest.fixture
def partition() -> Partition:
    return Partition(group_initial_rebalance_delay_ms=0, group_consumer_assignment_interval_ms=0)


@pytest.fixture
def classic(partition: Partition) -> Classic:
    return Classic(partition)


@pytest.fixture
def modern(partition: Partition) -> Consumers:
    return Consumers(partition)


def owning(owned: Mapping[str, list[int]]) -> bytes:
    rows = [TopicPartition(*each) for each in owned.items()]
    out = bytearray(struct.pack(">h", 1))
    ConsumerProtocolSubscription(["t"], None, rows).encode(1, out)
    return bytes(out)


def rejoin(
    partition: Partition,
    member: str,
    owned: Mapping[str, list[int]],
    instance: str | None = None,
    version: int = 9,
) -> Any:
    """JoinGroup of a cooperative client, which says what it has."""
    protocols = [JoinGroupRequestProtocol("range", owning(owned))]
    request = JoinGroupRequest(
        "g", SESSION_MS, REBALANCE_MS, member, instance, "consumer", protocols
    )
    return partition.ask(request, version)


def classic_group(classic: Classic, *instances: str | None) -> list[str]:
    """Members of generation 1; the first one has everything."""
    members = classic.stable(*instances)
    classic.join(members[0])
    tokens = [classic.join(each) for each in members[1:]]
    assert all(isinstance(each, int) or not each.error_code for each in tokens)
    everything = write_assignment(ALL, 1)
    classic.sync(members[0], 2, {members[0]: everything})
    for member in members[1:]:
        classic.sync(member, 2)
    return members


class TestUpgrade:
    def test_members_stay_with_what_they_have(
        self, classic: Classic, modern: Consumers, partition: Partition
    ) -> None:
        (member,) = classic_group(classic, None)
        answer = modern.join("new", "t")
        assert (answer.member_epoch, modern.given(answer)) == (3, {})
        first = partition.written[0]
        assert (type(first.key).__name__, first.value) == ("GroupMetadataKey", None)
        assert set(partition.group("g").members) == {member, "new"}
        assert classic.beat(member, 2) == "REBALANCE_IN_PROGRESS"
        assert commit(partition, "g", {("t", 0): 7}, 2, member, version=7) == ["NONE"]
        joined = rejoin(partition, member, ALL)
        assert (joined.generation_id, joined.leader, joined.members) == (2, "", [])
        synced = classic.sync(member, 2)
        (row,) = read_assignment(synced.assignment).assigned_partitions
        kept = {row.topic: row.partitions}
        assert len(row.partitions) == 2
        assert classic.beat(member, 2) == "REBALANCE_IN_PROGRESS", "it has to let go of two"
        assert rejoin(partition, member, kept).generation_id == 3
        assert modern.given(modern.beat("new", 3, {})) == {
            "t": sorted(set(range(4)) - set(row.partitions))
        }
        classic.sync(member, 3)
        assert classic.beat(member, 3) == "NONE"
        assert modern.state == "Stable"

    def test_whoever_waits_joins_again(
        self, classic: Classic, modern: Consumers, partition: Partition
    ) -> None:
        first, _ = classic_group(classic, None, None)
        waiting = classic.join(first)
        modern.join("new", "t")
        assert code(classic.reply(waiting).error_code) == "REBALANCE_IN_PROGRESS"
        assert modern.state != "Dead"

    def test_a_new_client_of_the_old_kind(self, modern: Consumers, partition: Partition) -> None:
        modern.join("new", "t")
        asked = rejoin(partition, "", {})
        assert code(asked.error_code) == "MEMBER_ID_REQUIRED"
        joined = rejoin(partition, asked.member_id, {})
        assert (joined.generation_id, joined.protocol_name) == (3, "range")
        kept = modern.given(modern.beat("new", 2, ALL))
        modern.beat("new", 2, kept)
        classic = Classic(partition)
        assert classic.beat(asked.member_id, 3) == "REBALANCE_IN_PROGRESS", "there is something now"
        rejoin(partition, asked.member_id, {})
        synced = classic.sync(asked.member_id, 3)
        (row,) = read_assignment(synced.assignment).assigned_partitions
        assert len(row.partitions) == 2

    @pytest.mark.parametrize("policy", ["disabled", "downgrade", "DISABLED"])
    def test_the_policy_may_be_against_it(self, policy: str) -> None:
        partition = Partition(
            group_initial_rebalance_delay_ms=0, group_consumer_migration_policy=policy
        )
        classic_group(Classic(partition), None)
        answer = Consumers(partition).join("new", "t")
        assert code(answer.error_code) == "GROUP_ID_NOT_FOUND"
        assert "group.consumer.migration.policy" in answer.error_message
        assert partition.group("g").state_name == "Stable"

    def test_what_cannot_be_read(
        self, classic: Classic, modern: Consumers, partition: Partition
    ) -> None:
        member, token = classic.join_twice()
        partition.advance(0)
        classic.sync(member, classic.reply(token).generation_id, {member: b"\0\0\0\0\0\5x"})
        answer = modern.join("new", "t")
        assert code(answer.error_code) == "GROUP_ID_NOT_FOUND"
        assert "cannot be read" in answer.error_message

    def test_an_assignor_with_data_of_its_own(
        self, classic: Classic, modern: Consumers, partition: Partition
    ) -> None:
        member, _ = classic.join_twice()
        partition.advance(0)
        classic.sync(member, 1, {member: b"\0\0\0\0\0\0\0\0\0\1x"})
        assert "would be lost" in modern.join("new", "t").error_message

    def test_it_outlives_a_restart(
        self, classic: Classic, modern: Consumers, partition: Partition
    ) -> None:
        (member,) = classic_group(classic, None)
        commit(partition, "g", {("t", 0): 7}, 2, member)
        modern.join("new", "t")
        partition.restart()
        assert classic.beat(member, 2) == "REBALANCE_IN_PROGRESS"
        assert committed(partition, "g", ("t", 0)) == [7]


class TestTimers:
    def test_who_does_not_join_again_is_out(
        self, classic: Classic, modern: Consumers, partition: Partition
    ) -> None:
        (member,) = classic_group(classic, None)
        modern.join("new", "t")
        for _ in range(4):
            assert classic.beat(member, 2) == "REBALANCE_IN_PROGRESS"
            partition.advance(REBALANCE_MS // 4)
        assert classic.beat(member, 2) == "UNKNOWN_MEMBER_ID"
        assert modern.given(modern.beat("new", 3, {})) == ALL

    def test_who_does_not_sync_is_out(self, modern: Consumers, partition: Partition) -> None:
        modern.join("new", "t")
        member = rejoin(partition, "", {}, version=3).member_id
        classic = Classic(partition)
        for _ in range(4):
            assert classic.beat(member, 3) == "NONE"
            partition.advance(REBALANCE_MS // 4)
        assert classic.beat(member, 3) == "UNKNOWN_MEMBER_ID"

    def test_silence(self, modern: Consumers, partition: Partition) -> None:
        modern.join("new", "t")
        member = rejoin(partition, "", {}, version=3).member_id
        Classic(partition).sync(member, 3)
        partition.advance(SESSION_MS)
        assert set(partition.group("g").members) == {"new"}


class TestDowngrade:
    def test_the_last_new_one_goes(
        self, classic: Classic, modern: Consumers, partition: Partition
    ) -> None:
        (member,) = classic_group(classic, None)
        modern.join("new", "t")
        rejoin(partition, member, ALL)
        modern.leave("new")
        assert classic.state == "PreparingRebalance"
        assert classic.beat(member, 3) == "REBALANCE_IN_PROGRESS"
        answer = rejoin(partition, member, {"t": [0, 1]})
        assert (answer.generation_id, answer.leader) == (4, member)
        assert len(answer.members) == 1
        partition.restart()
        assert (classic.state, partition.group("g").generation) == ("Stable", 3)

    def test_or_falls_silent(self, modern: Consumers, partition: Partition) -> None:
        modern.join("new", "t")
        member = rejoin(partition, "", {}, version=3).member_id
        classic = Classic(partition)
        classic.sync(member, 3)
        for _ in range(5):
            partition.advance(SESSION_MS - 1)
            classic.beat(member, 3)
        assert classic.state == "PreparingRebalance"

    def test_a_static_member_comes_back_with_the_old_protocol(
        self, modern: Consumers, partition: Partition
    ) -> None:
        modern.join("new", "t", instance_id="i")
        answer = rejoin(partition, "", ALL, "i")
        classic = Classic(partition)
        assert (classic.state, answer.generation_id) == ("Stable", 2)
        (row,) = read_assignment(
            classic.sync(answer.member_id, 2, instance="i").assignment
        ).assigned_partitions
        assert {row.topic: row.partitions} == ALL
        assert classic.beat("new", 2) == "UNKNOWN_MEMBER_ID"

    def test_a_static_member_that_keeps_its_id_has_a_session(
        self, modern: Consumers, partition: Partition
    ) -> None:
        """It replaces itself, and its new session must not end with the old one's timers."""
        modern.join("same", "t", instance_id="i")
        rejoin(partition, "same", ALL, "i")
        classic = Classic(partition)
        assert classic.state == "Stable"
        partition.advance(SESSION_MS + 1)
        assert classic.state == "Empty"

    def test_the_policy_may_be_against_it(self) -> None:
        partition = Partition(group_consumer_migration_policy="upgrade")
        modern = Consumers(partition)
        modern.join("new", "t")
        rejoin(partition, "", {}, version=3)
        modern.leave("new")
        assert partition.group("g").TYPE == "Consumer"

    def test_members_that_leave_in_the_old_way(
        self, classic: Classic, modern: Consumers, partition: Partition
    ) -> None:
        modern.join("new", "t")
        member = rejoin(partition, "", {}, version=3).member_id
        assert classic.leave((member, None), ("x", None), ("", "i")) == [
            "NONE",
            "UNKNOWN_MEMBER_ID",
            "UNKNOWN_MEMBER_ID",
        ]
        assert set(partition.group("g").members) == {"new"}


class TestEmptyGroups:
    def test_they_change_at_once(
        self, classic: Classic, modern: Consumers, partition: Partition
    ) -> None:
        commit(partition, "g", {("t", 0): 7})
        assert modern.given(modern.join("new", "t")) == ALL
        assert committed(partition, "g", ("t", 0)) == [7]
        modern.leave("new")
        assert code(classic.join("made-up").error_code) == "UNKNOWN_MEMBER_ID"
        assert partition.group("g").TYPE == "Consumer"
        classic.join()
        kinds = [type(each.key).__name__ for each in partition.written]
        assert kinds[-2:] == ["ConsumerGroupMetadataKey", "GroupMetadataKey"]
        assert [each.value is None for each in partition.written[-2:]] == [True, False]
        assert partition.group("g").TYPE == "Classic"
        assert committed(partition, "g", ("t", 0)) == [7]
