"""KIP-932: members of share groups come and go, and share partitions are initialized for them."""

from __future__ import annotations

from typing import Any

from fencepost_broker.coordinator.group.share.commands import (
    DeleteShareGroup,
    Errand,
    InitializeShares,
    SharesDeleted,
    SharesInitialized,
)
from fencepost_broker.coordinator.group.share.group import ShareGroup
from fencepost_protocol.generated.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.share_group_describe import ShareGroupDescribeRequest
from fencepost_protocol.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from fencepost_protocol.generated.share_group_state_partition_metadata import (
    ShareGroupStatePartitionMetadataKey,
)

from tests.machine.coordinator.group.partition import Partition

GROUP = "g"
AT_ONCE: Any = {"group_share_assignment_interval_ms": 0}


def beat(partition: Partition, member: str, epoch: int, *topics: str) -> Any:
    names = list(topics) if topics else None
    return partition.ask(ShareGroupHeartbeatRequest(GROUP, member, epoch, None, names))


def asked(partition: Partition) -> list[tuple[bytes, int, int]]:
    """What the last decision wants to have initialized: topic id, partition, state epoch."""
    return [
        (topic.topic_id, each.partition, each.state_epoch)
        for effect in partition.decisions[-1].effects
        if isinstance(effect, InitializeShares)
        for topic in effect.request.topics  # type: ignore[attr-defined]
        for each in topic.partitions
    ]


def initialized(partition: Partition, *names: str, failed: bool = False) -> None:
    done = {partition.topics.ids[name]: range(partition.topics.counts[name]) for name in names}
    told = SharesInitialized(GROUP, {} if failed else done, done if failed else {})
    partition.submit(told)


def joined(partition: Partition, member: str = "m", *topics: str) -> None:
    """A member that has its partitions."""
    epoch = beat(partition, member, 0, *(topics or ("t",))).member_epoch
    initialized(partition, *(topics or ("t",)))
    beat(partition, member, epoch)


def group_of(partition: Partition) -> ShareGroup:
    group = partition.machine.state.groups[GROUP]
    assert isinstance(group, ShareGroup)
    return group


def partitions_of(answer: Any) -> dict[bytes, list[int]]:
    return {each.topic_id: each.partitions for each in answer.assignment.topic_partitions}


def test_a_member_gets_partitions_once_they_are_initialized() -> None:
    partition = Partition(**AT_ONCE)
    first = beat(partition, "m", 0, "t")
    assert (first.member_epoch, partitions_of(first)) == (2, {})
    topic_id = partition.topics.ids["t"]
    assert asked(partition) == [(topic_id, number, 2) for number in range(4)]
    assert beat(partition, "m", 2).assignment is None
    assert asked(partition) == [], "they are asked for once"
    initialized(partition, "t")
    then = beat(partition, "m", 2)
    assert (then.member_epoch, partitions_of(then)) == (3, {topic_id: [0, 1, 2, 3]})
    assert beat(partition, "m", 2).member_epoch == 3, "the answer may have been lost"
    assert beat(partition, "m", 3).assignment is None
    assert partition.ask(ShareGroupDescribeRequest([GROUP])).groups[0].group_state == "Stable"


def test_what_is_not_initialized_is_asked_for_again() -> None:
    partition = Partition(**AT_ONCE)
    beat(partition, "m", 0, "t")
    initialized(partition, "t", failed=True)
    beat(partition, "m", 2)
    assert len(asked(partition)) == 4
    partition.advance(29_999)
    beat(partition, "m", 2)
    assert asked(partition) == []
    partition.advance(1)
    beat(partition, "m", 2)
    assert len(asked(partition)) == 4, "no answer has come"


def test_what_was_being_initialized_is_asked_for_by_another_coordinator() -> None:
    partition = Partition(**AT_ONCE)
    beat(partition, "m", 0, "t")
    partition.restart()
    beat(partition, "m", 2)
    assert len(asked(partition)) == 4


def test_new_partitions_are_initialized_and_assigned() -> None:
    partition = Partition(**AT_ONCE)
    joined(partition)
    partition.create_topic("t", 6)
    assert beat(partition, "m", 3).member_epoch == 4
    assert [number for _, number, _ in asked(partition)] == [4, 5]
    initialized(partition, "t")
    assert sum(map(len, partitions_of(beat(partition, "m", 4)).values())) == 6


def test_the_assignment_interval_delays_the_next_assignment() -> None:
    partition = Partition()
    beat(partition, "m", 0, "t")
    initialized(partition, "t")
    assert beat(partition, "m", 2).member_epoch == 2
    partition.advance(1000)
    assert beat(partition, "m", 2).member_epoch == 3


def test_a_silent_member_is_removed_and_the_others_take_over() -> None:
    partition = Partition(**AT_ONCE)
    joined(partition)
    beat(partition, "n", 0, "t")
    assert len(partitions_of(beat(partition, "m", 3))[partition.topics.ids["t"]]) == 2
    partition.advance(44_999)
    beat(partition, "m", 4)
    partition.advance(1)
    assert list(group_of(partition).members) == ["m"]
    assert len(partitions_of(beat(partition, "m", 4))[partition.topics.ids["t"]]) == 4
    assert beat(partition, "n", 4).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    partition.advance(45_000)
    assert group_of(partition).is_empty


def test_sessions_go_on_after_a_restart() -> None:
    partition = Partition(**AT_ONCE)
    joined(partition)
    partition.restart()
    partition.advance(44_999)
    assert list(group_of(partition).members) == ["m"]
    partition.advance(1)
    assert group_of(partition).is_empty


def test_a_wrong_epoch_is_fenced() -> None:
    partition = Partition(**AT_ONCE)
    joined(partition)
    for epoch in (1, 4):
        assert beat(partition, "m", epoch).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert beat(partition, "m", 0, "t").member_epoch == 3


def test_a_group_is_full() -> None:
    partition = Partition(group_share_max_size=1, **AT_ONCE)
    joined(partition)
    assert beat(partition, "n", 0, "t").error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert beat(partition, "m", 0, "t").error_code == 0


def test_settings_of_the_group_go_first() -> None:
    partition = Partition(**AT_ONCE)
    partition.configs[GROUP, "share.heartbeat.interval.ms"] = 777
    partition.configs[GROUP, "share.session.timeout.ms"] = 10_000
    partition.configs[GROUP, "share.assignment.interval.ms"] = 500
    assert beat(partition, "m", 0, "t").heartbeat_interval_ms == 777
    initialized(partition, "t")
    assert beat(partition, "m", 2).member_epoch == 2
    partition.advance(500)
    assert beat(partition, "m", 2).member_epoch == 3
    partition.advance(10_000)
    assert group_of(partition).is_empty


def test_a_deleted_topic_is_forgotten() -> None:
    partition = Partition(**AT_ONCE)
    joined(partition, "m", "t", "u")
    partition.topics_deleted("t")
    assert [each.name for each in group_of(partition).states.initialized.values()] == ["u"]
    assert list(partitions_of(beat(partition, "m", 3))) == [partition.topics.ids["u"]]


def test_a_group_is_deleted_after_its_state() -> None:
    partition = Partition(**AT_ONCE)
    joined(partition)
    (refused,) = partition.ask(DeleteGroupsRequest([GROUP])).results
    assert refused.error_code == ErrorCode.NON_EMPTY_GROUP
    beat(partition, "m", -1)
    for _ in range(2):  # the first attempt may fail half-way
        errand = partition.ask(DeleteGroupsRequest([GROUP]))
        assert isinstance(errand, Errand)
        assert len(errand.request.topics[0].partitions) == 4  # type: ignore[union-attr]
        assert list(group_of(partition).states.deleting) == [partition.topics.ids["t"]]
        partition.restart()
    assert partition.submit(DeleteShareGroup(GROUP)) is True
    assert GROUP not in partition.machine.state.groups


def test_an_empty_group_stays_until_it_is_deleted() -> None:
    partition = Partition(**AT_ONCE)
    joined(partition)
    beat(partition, "m", -1)
    partition.advance(30 * 24 * 3_600_000)
    assert group_of(partition).is_empty


def test_offsets_are_altered_and_deleted_through_the_share_coordinators() -> None:
    partition = Partition(**AT_ONCE)
    topic_id = partition.topics.ids["t"]
    start = AlterShareGroupOffsetsRequestPartition(1, 77)
    rows = [AlterShareGroupOffsetsRequestTopic("t", [start])]
    errand = partition.ask(AlterShareGroupOffsetsRequest(GROUP, rows))
    (row,) = errand.request.topics[0].partitions
    assert (row.partition, row.state_epoch, row.start_offset) == (1, 1, 77)
    partition.submit(SharesInitialized(GROUP, {topic_id: [1]}, {}))
    assert group_of(partition).states.initialized[topic_id].numbers == {1}
    topic = DeleteShareGroupOffsetsRequestTopic("t")
    errand = partition.ask(DeleteShareGroupOffsetsRequest(GROUP, [topic]))
    assert [each.partition for each in errand.request.topics[0].partitions] == [1]
    partition.submit(SharesDeleted(GROUP, [topic_id]))
    assert not group_of(partition).states
    last = partition.decisions[-1].records[-1]
    assert isinstance(last.key, ShareGroupStatePartitionMetadataKey)
