"""TxnOffsetCommit: who may commit, and what a marker makes of it."""

from __future__ import annotations

import pytest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
)

from tests.machine.coordinator.group.offsets import (
    commit,
    commit_in_transaction,
    committed,
    fetch,
    stable_group,
)
from tests.machine.coordinator.group.partition import Partition, code

DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def partition() -> Partition:
    return Partition()


class TestWhoMay:
    @pytest.mark.parametrize(
        ("generation", "member", "instance", "expected"),
        [
            (-1, "", None, "NONE"),
            (-1, "m", None, "NONE"),
            (-1, "m", "i", "NONE"),
            (3, "m", None, "ILLEGAL_GENERATION"),
            (0, "", None, "ILLEGAL_GENERATION"),
        ],
    )
    def test_without_a_group(
        self,
        partition: Partition,
        generation: int,
        member: str,
        instance: str | None,
        expected: str,
    ) -> None:
        codes = commit_in_transaction(partition, "g", {("t", 0): 1}, generation, member, instance)
        assert codes == [expected]

    @pytest.mark.parametrize(
        ("generation", "member", "instance", "expected"),
        [
            (-1, "", None, "NONE"),
            (-1, "m", None, "NONE"),
            (-1, "m", "i", "NONE"),
            (3, "m", None, "UNKNOWN_MEMBER_ID"),
            (0, "", None, "UNKNOWN_MEMBER_ID"),
        ],
    )
    def test_of_a_group_without_members(
        self,
        partition: Partition,
        generation: int,
        member: str,
        instance: str | None,
        expected: str,
    ) -> None:
        commit(partition, "g", {("t", 0): 1})
        codes = commit_in_transaction(partition, "g", {("t", 0): 1}, generation, member, instance)
        assert codes == [expected]

    @pytest.mark.parametrize(
        ("generation", "member", "instance", "expected"),
        [
            (-1, "", None, "NONE"),
            (-1, "m", None, "ILLEGAL_GENERATION"),
            (-1, "other", None, "UNKNOWN_MEMBER_ID"),
            (-1, "", "j", "UNKNOWN_MEMBER_ID"),
            (4, "m", None, "ILLEGAL_GENERATION"),
            (5, "m", None, "NONE"),
            (5, "s", "i", "NONE"),
            (5, "other", None, "UNKNOWN_MEMBER_ID"),
            (5, "", None, "UNKNOWN_MEMBER_ID"),
            (5, "other", "i", "FENCED_INSTANCE_ID"),
            (-1, "", "i", "FENCED_INSTANCE_ID"),
        ],
    )
    def test_of_a_group_with_members(
        self,
        partition: Partition,
        generation: int,
        member: str,
        instance: str | None,
        expected: str,
    ) -> None:
        stable_group(partition, "g", 5, {"m": None, "s": "i"})
        codes = commit_in_transaction(partition, "g", {("t", 0): 1}, generation, member, instance)
        assert codes == [expected]

    def test_an_offset_of_minus_one_is_as_good_as_any(self, partition: Partition) -> None:
        assert commit_in_transaction(partition, "g", {("t", 0): -1}) == ["NONE"]

    def test_the_decision_is_part_of_the_transaction(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 1}, producer_id=9)
        decision = partition.decisions[-1]
        assert (decision.producer_id, decision.producer_epoch) == (9, 3)
        (record,) = decision.records
        assert record.value.topic_id == bytes(16)


class TestMarkers:
    def test_a_commit_makes_offsets_visible(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1})
        commit_in_transaction(partition, "g", {("t", 0): 2, ("t", 1): 3})
        assert committed(partition, "g", ("t", 0), ("t", 1)) == [1, -1]
        partition.end(7, committed=True)
        assert committed(partition, "g", ("t", 0), ("t", 1)) == [2, 3]

    def test_an_abort_leaves_nothing(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1})
        commit_in_transaction(partition, "g", {("t", 0): 2})
        partition.end(7, committed=False)
        assert committed(partition, "g", ("t", 0)) == [1]
        partition.end(7, committed=True)
        assert committed(partition, "g", ("t", 0)) == [1]

    def test_a_later_plain_commit_stands(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2})
        commit(partition, "g", {("t", 0): 5})
        assert committed(partition, "g", ("t", 0)) == [5]
        partition.end(7, committed=True)
        assert committed(partition, "g", ("t", 0)) == [5]

    def test_of_two_transactions_the_later_record_counts(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2}, producer_id=7)
        commit_in_transaction(partition, "g", {("t", 0): 3}, producer_id=8)
        partition.end(8, committed=True)
        partition.end(7, committed=True)
        assert committed(partition, "g", ("t", 0)) == [3]

    def test_a_marker_of_somebody_else_is_nothing(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2})
        partition.end(99, committed=True)
        assert committed(partition, "g", ("t", 0)) == [-1]

    def test_pending_offsets_outlive_a_restart(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2})
        partition.restart()
        (found,) = fetch(partition, "g", ("t", 0), stable=True)
        assert code(found.error_code) == "UNSTABLE_OFFSET_COMMIT"
        partition.end(7, committed=True)
        assert committed(partition, "g", ("t", 0)) == [2]

    def test_several_groups_in_one_transaction(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2})
        commit_in_transaction(partition, "h", {("t", 0): 3})
        partition.end(7, committed=True)
        assert committed(partition, "g", ("t", 0)) + committed(partition, "h", ("t", 0)) == [2, 3]


class TestUnstable:
    def test_who_asks_for_stable_offsets_is_told_for_that_partition(
        self, partition: Partition
    ) -> None:
        commit(partition, "g", {("t", 0): 1, ("t", 1): 1})
        commit_in_transaction(partition, "g", {("t", 0): 2})
        found = fetch(partition, "g", ("t", 0), ("t", 1), stable=True)
        assert [
            (each.committed_offset, each.metadata, code(each.error_code)) for each in found
        ] == [
            (-1, "", "UNSTABLE_OFFSET_COMMIT"),
            (1, "", "NONE"),
        ]

    def test_until_both_transactions_have_ended(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2}, producer_id=7)
        commit_in_transaction(partition, "g", {("t", 0): 3}, producer_id=8)
        seen = []
        for producer_id in (7, 8):
            (found,) = fetch(partition, "g", ("t", 0), stable=True)
            seen.append(code(found.error_code))
            partition.end(producer_id, committed=producer_id == 7)
        assert seen == ["UNSTABLE_OFFSET_COMMIT"] * 2
        assert committed(partition, "g", ("t", 0)) == [2]

    def test_everything_lists_what_was_committed_before(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1})
        commit_in_transaction(partition, "g", {("t", 0): 2, ("t", 1): 3})
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)])
        request.require_stable = True
        (topic,) = partition.ask(request, 9).groups[0].topics
        rows = [(each.partition_index, code(each.error_code)) for each in topic.partitions]
        assert rows == [(0, "UNSTABLE_OFFSET_COMMIT")]

    @pytest.mark.parametrize("version", [1, 2, 6])
    def test_old_clients_are_asked_to_come_again(self, partition: Partition, version: int) -> None:
        commit(partition, "g", {("t", 0): 1, ("t", 1): 1})
        commit_in_transaction(partition, "g", {("t", 0): 2})
        request = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0, 1])])
        answer = partition.ask(request, version)
        assert code(answer.error_code) == "COORDINATOR_LOAD_IN_PROGRESS"
        rows = {
            (each.committed_offset, code(each.error_code)) for each in answer.topics[0].partitions
        }
        assert rows == {(-1, "COORDINATOR_LOAD_IN_PROGRESS")}
        partition.end(7, committed=True)
        answer = partition.ask(request, version)
        assert answer.error_code == 0
        assert [each.committed_offset for each in answer.topics[0].partitions] == [2, 1]

    def test_only_when_they_ask_for_that_partition(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2})
        other = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [1])])
        assert partition.ask(other, 6).error_code == 0
        everything = OffsetFetchRequest("g", None)
        assert code(partition.ask(everything, 6).error_code) == "COORDINATOR_LOAD_IN_PROGRESS"

    def test_who_could_ask_and_does_not_gets_the_offset_before(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1})
        commit_in_transaction(partition, "g", {("t", 0): 2})
        answer = partition.ask(OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0])]), 7)
        assert answer.topics[0].partitions[0].committed_offset == 1

    @pytest.mark.parametrize("version", [1, 6, 7])
    def test_kafkas_way_is_the_offset_before(self, version: int) -> None:
        partition = Partition(offset_fetch_pending_legacy="kafka")
        commit(partition, "g", {("t", 0): 1})
        commit_in_transaction(partition, "g", {("t", 0): 2})
        request = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0])])
        answer = partition.ask(request, version)
        assert answer.error_code == 0
        assert answer.topics[0].partitions[0].committed_offset == 1


class TestRemoval:
    def test_a_deleted_offset_does_not_come_back(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2})
        topic = OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])
        answer = partition.ask(OffsetDeleteRequest("g", [topic]))
        assert code(answer.topics[0].partitions[0].error_code) == "NONE"
        assert len(partition.written) == 1
        partition.end(7, committed=True)
        assert committed(partition, "g", ("t", 0)) == [-1]

    def test_nor_does_one_of_a_deleted_topic(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2})
        partition.topics_deleted("t")
        partition.end(7, committed=True)
        assert committed(partition, "g", ("t", 0)) == [-1]

    def test_an_offset_about_to_be_replaced_does_not_expire(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1, ("t", 1): 1})
        commit_in_transaction(partition, "g", {("t", 0): 2})
        partition.advance(8 * DAY_MS)
        assert committed(partition, "g", ("t", 0), ("t", 1)) == [1, -1]
        partition.end(7, committed=False)
        partition.advance(600_000)
        assert partition.group("g") is None

    def test_a_group_stays_while_a_transaction_is_open(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2})
        partition.advance(8 * DAY_MS)
        assert partition.group("g") is not None

    def test_commits_of_a_transaction_expire_as_others(self, partition: Partition) -> None:
        commit_in_transaction(partition, "g", {("t", 0): 2})
        partition.end(7, committed=True)
        topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(1, 1)])
        partition.advance(8 * DAY_MS)
        partition.ask(OffsetCommitRequest("g", topics=[topic]), 9)
        assert committed(partition, "g", ("t", 0), ("t", 1)) == [-1, 1]
