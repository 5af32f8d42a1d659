"""OffsetCommit, OffsetFetch and OffsetDelete outside of transactions."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from fencepost_broker.coordinator.group.classic.records import empty_group_record
from fencepost_broker.coordinator.group.offsets.fetch import failed_fetch
from fencepost_protocol.generated.error_code import ErrorCode
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
    OffsetFetchRequestTopics,
)

from tests.machine.coordinator.group.classic import Classic
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


class TestCommit:
    def test_a_stand_alone_consumer_commits_and_reads(self, partition: Partition) -> None:
        assert commit(partition, "g", {("t", 0): 5, ("t", 1): 6}) == ["NONE", "NONE"]
        assert committed(partition, "g", ("t", 0), ("t", 1), ("t", 2)) == [5, 6, -1]
        partition.restart()
        assert committed(partition, "g", ("t", 0)) == [5]

    def test_the_record_is_kafkas(self, partition: Partition) -> None:
        topic = OffsetCommitRequestTopic("t")
        topic.partitions = [OffsetCommitRequestPartition(3, 7, 2, "words")]
        partition.ask(OffsetCommitRequest("g", topics=[topic]), 9)
        (record,) = partition.written
        assert record.value_version == 4
        key, value = record.key, record.value
        assert (key.group, key.topic, key.partition) == ("g", "t", 3)  # type: ignore[attr-defined]
        assert (value.offset, value.leader_epoch, value.metadata) == (7, 2, "words")  # type: ignore[union-attr]
        assert value.commit_timestamp == partition.now_ms  # type: ignore[union-attr]
        assert value.topic_id == partition.topics.ids["t"]  # type: ignore[union-attr]

    def test_null_metadata_is_stored_empty(self, partition: Partition) -> None:
        topic = OffsetCommitRequestTopic("t")
        topic.partitions = [OffsetCommitRequestPartition(0, 7, -1, None)]
        partition.ask(OffsetCommitRequest("g", topics=[topic]), 9)
        (found,) = fetch(partition, "g", ("t", 0))
        assert found.metadata == ""

    def test_leader_epoch_and_metadata_come_back(self, partition: Partition) -> None:
        topic = OffsetCommitRequestTopic("t")
        topic.partitions = [OffsetCommitRequestPartition(0, 7, 4, "m")]
        partition.ask(OffsetCommitRequest("g", topics=[topic]), 9)
        (found,) = fetch(partition, "g", ("t", 0))
        assert (found.committed_leader_epoch, found.metadata) == (4, "m")

    def test_metadata_has_a_limit(self) -> None:
        partition = Partition(offset_metadata_max_bytes=3)
        topic = OffsetCommitRequestTopic("t")
        topic.partitions = [
            OffsetCommitRequestPartition(0, 7, -1, "abc"),
            OffsetCommitRequestPartition(1, 7, -1, "abcd"),
        ]
        answer = partition.ask(OffsetCommitRequest("g", topics=[topic]), 9)
        codes = [code(each.error_code) for each in answer.topics[0].partitions]
        assert codes == ["NONE", "OFFSET_METADATA_TOO_LARGE"]

    @pytest.mark.parametrize(
        ("version", "expected"), [(8, "ILLEGAL_GENERATION"), (9, "GROUP_ID_NOT_FOUND")]
    )
    def test_a_member_of_a_group_that_does_not_exist(
        self, partition: Partition, version: int, expected: str
    ) -> None:
        assert commit(partition, "g", {("t", 0): 1}, 3, "m", version=version) == [expected]
        assert partition.group("g") is None

    @pytest.mark.parametrize(
        ("generation", "member", "instance", "expected"),
        [
            (5, "m", None, "NONE"),
            (5, "s", "i", "NONE"),
            (4, "m", None, "ILLEGAL_GENERATION"),
            (6, "m", None, "ILLEGAL_GENERATION"),
            (-1, "m", None, "ILLEGAL_GENERATION"),
            (5, "other", None, "UNKNOWN_MEMBER_ID"),
            (5, "", None, "UNKNOWN_MEMBER_ID"),
            (-1, "", None, "UNKNOWN_MEMBER_ID"),
            (5, "other", "i", "FENCED_INSTANCE_ID"),
            (5, "s", "j", "UNKNOWN_MEMBER_ID"),
        ],
    )
    def test_who_may_commit_to_a_group_with_members(
        self,
        partition: Partition,
        generation: int,
        member: str,
        instance: str | None,
        expected: str,
    ) -> None:
        stable_group(partition, "g", 5, {"m": None, "s": "i"})
        codes = commit(partition, "g", {("t", 0): 1}, generation, member, instance)
        assert codes == [expected]

    def test_a_group_that_lost_its_members_takes_commits_of_nobody(
        self, partition: Partition
    ) -> None:
        stable_group(partition, "g", 5, {})
        assert commit(partition, "g", {("t", 0): 1}) == ["NONE"]
        assert commit(partition, "g", {("t", 0): 1}, 5, "m") == ["UNKNOWN_MEMBER_ID"]

    def test_a_commit_is_as_good_as_a_heartbeat(self, partition: Partition) -> None:
        stable_group(partition, "g", 5, {"m": None})
        commit(partition, "g", {("t", 0): 1}, 5, "m")
        (soft,) = partition.decisions[-1].soft
        assert soft.at_ms == partition.now_ms + 10_000


class TestFetch:
    def test_an_unknown_group_has_nothing(self, partition: Partition) -> None:
        assert committed(partition, "g", ("t", 0), ("nowhere", 1)) == [-1, -1]
        answer = partition.ask(
            OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=None)]), 9
        )
        assert answer.groups[0].topics == []

    def test_several_groups_at_once(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1})
        commit(partition, "h", {("t", 0): 2})
        groups = [
            OffsetFetchRequestGroup(
                each, topics=[OffsetFetchRequestTopics("t", partition_indexes=[0])]
            )
            for each in ("g", "h", "x")
        ]
        answer = partition.ask(OffsetFetchRequest(groups=groups), 8)
        offsets = [each.topics[0].partitions[0].committed_offset for each in answer.groups]
        assert offsets == [1, 2, -1]

    def test_all_offsets_of_a_group(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1, ("u", 1): 2, ("t", 3): 3})
        answer = partition.ask(OffsetFetchRequest("g", None), 7)
        found = {
            (topic.name, each.partition_index): each.committed_offset
            for topic in answer.topics
            for each in topic.partitions
        }
        assert found == {("t", 0): 1, ("u", 1): 2, ("t", 3): 3}

    def test_by_topic_id(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1})
        topics = [
            OffsetFetchRequestTopics(topic_id=partition.topics.ids["t"], partition_indexes=[0]),
            OffsetFetchRequestTopics(topic_id=b"?" * 16, partition_indexes=[0]),
        ]
        groups = [
            OffsetFetchRequestGroup("g", topics=topics),
            OffsetFetchRequestGroup("g", topics=None),
        ]
        answer = partition.ask(OffsetFetchRequest(groups=groups), 10)
        listed, everything = answer.groups
        rows = [
            (each.committed_offset, code(each.error_code))
            for topic in listed.topics
            for each in topic.partitions
        ]
        assert rows == [(1, "NONE"), (-1, "UNKNOWN_TOPIC_ID")]
        assert [each.topic_id for each in everything.topics] == [partition.topics.ids["t"]]

    def test_a_topic_created_anew_has_no_offsets_for_who_asks_by_id(
        self, partition: Partition
    ) -> None:
        commit(partition, "g", {("t", 0): 1})
        partition.topics.ids["t"] = b"!" * 16
        asked = OffsetFetchRequestTopics(topic_id=b"!" * 16, partition_indexes=[0])
        groups = [OffsetFetchRequestGroup("g", topics=[asked])]
        answer = partition.ask(OffsetFetchRequest(groups=groups), 10)
        assert answer.groups[0].topics[0].partitions[0].committed_offset == -1
        assert committed(partition, "g", ("t", 0)) == [1]

    @pytest.mark.parametrize("version", [1, 5, 7, 8, 10])
    def test_a_request_that_fails_as_a_whole(self, version: int) -> None:
        request = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0, 1])])
        request.groups = [OffsetFetchRequestGroup("g")]
        answer = failed_fetch(request, version, ErrorCode.NOT_COORDINATOR)
        answer.encode(version, bytearray())
        if version == 1:
            codes = {each.error_code for each in answer.topics[0].partitions}
            assert codes == {ErrorCode.NOT_COORDINATOR}
        elif version < 8:
            assert (answer.error_code, answer.topics) == (ErrorCode.NOT_COORDINATOR, [])
        else:
            assert [each.error_code for each in answer.groups] == [ErrorCode.NOT_COORDINATOR]


def delete(partition: Partition, group_id: str, offsets: Iterable[tuple[str, int]]) -> list[str]:
    topics = [
        OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(number)])
        for topic, number in offsets
    ]
    answer = partition.ask(OffsetDeleteRequest(group_id, topics))
    if answer.error_code:
        return [code(answer.error_code)]
    return [code(each.error_code) for topic in answer.topics for each in topic.partitions]


class TestDelete:
    def test_an_offset_goes(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1, ("t", 1): 1})
        assert delete(partition, "g", [("t", 0), ("t", 2)]) == ["NONE", "NONE"]
        assert len(partition.written) == 1
        assert committed(partition, "g", ("t", 0), ("t", 1)) == [-1, 1]

    def test_what_does_not_exist(self, partition: Partition) -> None:
        assert delete(partition, "g", [("t", 0)]) == ["GROUP_ID_NOT_FOUND"]
        assert delete(partition, "", [("t", 0)]) == ["INVALID_GROUP_ID"]

    def test_a_topic_that_members_read_is_left_alone(self, partition: Partition) -> None:
        stable_group(partition, "g", 1, {"m": None}, topics=["t"])
        commit(partition, "g", {("t", 0): 1, ("u", 0): 1}, 1, "m")
        codes = delete(partition, "g", [("t", 0), ("u", 0)])
        assert codes == ["GROUP_SUBSCRIBED_TO_TOPIC", "NONE"]

    def test_members_of_another_kind_may_read_anything(self, partition: Partition) -> None:
        stable_group(partition, "g", 1, {"m": None}, protocol_type="connect")
        assert delete(partition, "g", [("t", 0)]) == ["NON_EMPTY_GROUP"]

    def test_a_deleted_topic_takes_its_offsets_with_it(self, partition: Partition) -> None:
        commit(partition, "g", {("t", 0): 1, ("u", 0): 2})
        commit(partition, "h", {("t", 1): 1})
        partition.topics_deleted("t")
        assert sum(len(each.records) for each in partition.decisions[-2:]) == 2
        assert committed(partition, "g", ("t", 0), ("u", 0)) == [-1, 2]
        assert committed(partition, "h", ("t", 1)) == [-1]


class TestRetention:
    def test_offsets_of_a_stand_alone_consumer_grow_old(self) -> None:
        partition = Partition()
        commit(partition, "g", {("t", 0): 1})
        partition.advance(6 * DAY_MS)
        commit(partition, "g", {("t", 1): 1})
        partition.advance(DAY_MS + 600_000)
        assert committed(partition, "g", ("t", 0), ("t", 1)) == [-1, 1]
        assert partition.group("g") is not None
        partition.advance(6 * DAY_MS)
        assert partition.group("g") is None
        assert partition.machine.state.offsets.committed("g") == {}

    def test_offsets_of_a_group_grow_old_from_when_it_was_left(self, partition: Partition) -> None:
        stable_group(partition, "g", 1, {})
        partition.now_ms += 6 * DAY_MS
        commit(partition, "g", {("t", 0): 1})
        partition.advance(DAY_MS + 600_000)
        assert committed(partition, "g", ("t", 0)) == [-1]
        assert partition.group("g") is None

    def test_topics_that_members_read_keep_their_offsets(self, partition: Partition) -> None:
        stable_group(partition, "g", 1, {"m": None}, topics=["t"])
        commit_in_transaction(partition, "g", {("t", 0): 1, ("u", 0): 1})
        partition.end(7, committed=True)
        partition.advance(8 * DAY_MS)
        assert committed(partition, "g", ("t", 0), ("u", 0)) == [1, -1]

    def test_during_a_rebalance_nothing_grows_old(self) -> None:
        month_ms = 30 * DAY_MS
        partition = Partition(group_max_session_timeout_ms=month_ms)
        group = Classic(partition)
        forever = {"session_timeout_ms": month_ms, "rebalance_timeout_ms": month_ms}
        group.join_twice(**forever)
        partition.advance(3000)
        commit_in_transaction(partition, "g", {("u", 0): 1})
        partition.end(7, committed=True)
        partition.advance(8 * DAY_MS)
        assert group.state == "CompletingRebalance"
        assert committed(partition, "g", ("u", 0)) == [1]

    def test_a_commit_may_bring_its_own_time(self, partition: Partition) -> None:
        topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 1)])
        partition.ask(OffsetCommitRequest("g", retention_time_ms=60_000, topics=[topic]), 4)
        (record,) = partition.written
        assert record.value_version == 1
        commit(partition, "g", {("t", 1): 1})
        partition.advance(600_000)
        assert committed(partition, "g", ("t", 0), ("t", 1)) == [-1, 1]

    def test_an_empty_group_without_offsets_goes(self, partition: Partition) -> None:
        partition.replay(empty_group_record("g", partition.now_ms))
        partition.advance(600_000)
        assert partition.group("g") is None
        assert [type(each.key).__name__ for each in partition.decisions[-1].records] == [
            "GroupMetadataKey"
        ]

    def test_much_is_done_in_steps(self) -> None:
        partition = Partition()
        partition.topics.create("big", 600)
        for group_id in ("a", "b", "c"):
            commit(partition, group_id, {("big", number): 1 for number in range(600)})
        before = len(partition.decisions)
        partition.advance(8 * DAY_MS)
        sizes = [len(each.records) for each in partition.decisions[before:] if each.records]
        assert sizes == [1202, 601]
        assert partition.machine.state.groups == {}
