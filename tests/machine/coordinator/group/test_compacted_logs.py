"""Logs that compaction has thinned out: records are gone that once stood between others."""

from __future__ import annotations

from fencepost_broker.coordinator.group.consumer.member import ConsumerMember, MemberState
from fencepost_broker.coordinator.group.consumer.records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    target_epoch_record,
    target_record,
)
from fencepost_broker.coordinator.records import LogRecord
from fencepost_protocol.generated.consumer_group_target_assignment_metadata import (
    ConsumerGroupTargetAssignmentMetadataKey,
)
from fencepost_protocol.generated.group_metadata import GroupMetadataKey
from fencepost_protocol.generated.legacy_offset_commit import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
)

from tests.machine.coordinator.group.offsets import commit, committed
from tests.machine.coordinator.group.partition import Partition

TOPIC = b"t".ljust(16, b".")


def member(member_id: str, *partitions: int, epoch: int = 3) -> ConsumerMember:
    assigned = {TOPIC: dict.fromkeys(partitions, epoch)}
    return ConsumerMember(member_id, topics=("t",), member_epoch=epoch, assigned=assigned)


def test_the_next_owner_comes_before_the_last_one_has_let_go() -> None:
    partition = Partition()
    a, b = member("a", 0, 1), member("b", 1)
    partition.replay(
        member_record("g", a),
        member_record("g", b),
        epoch_record("g", 3, 0),
        current_record("g", a),
        current_record("g", b),  # the record with which "a" let go of 1 came before this one
        current_record("g", member("a", 0)),
    )
    assert partition.group("g").owners == {TOPIC: {0: "a", 1: "b"}}
    partition.replay(*member_tombstones("g", "a"))
    assert partition.group("g").owners == {TOPIC: {1: "b"}}


def test_tombstones_of_what_is_not_there() -> None:
    partition = Partition()
    partition.replay(*member_tombstones("g", "a"), LogRecord(GroupMetadataKey("g"), None))
    partition.replay(LogRecord(ConsumerGroupTargetAssignmentMetadataKey("g"), None))
    assert partition.group("g") is None


def test_an_assignment_without_its_epoch_is_made_anew() -> None:
    partition = Partition()
    partition.replay(
        member_record("g", member("a")),
        epoch_record("g", 3, 0),
        target_record("g", "a", {TOPIC: frozenset([0])}),
        target_epoch_record("g", 3, partition.now_ms),
        LogRecord(ConsumerGroupTargetAssignmentMetadataKey("g"), None),
    )
    found = partition.group("g")
    assert (found.assignment_epoch, found.assignment_at_ms) == (1, 0)


def test_a_state_of_a_later_version() -> None:
    partition = Partition()
    record = current_record("g", member("a", 0))
    record.value.state = 99  # type: ignore[union-attr]
    partition.replay(record)
    assert partition.group("g").members["a"].state is MemberState.UNKNOWN


def test_a_consumer_group_takes_the_place_of_a_simple_one() -> None:
    partition = Partition()
    commit(partition, "g", {("t", 0): 5})
    partition.replay(member_record("g", member("a")), epoch_record("g", 3, 0))
    assert partition.group("g").TYPE == "Consumer"
    assert committed(partition, "g", ("t", 0)) == [5]


def test_offsets_of_kafka_0_8() -> None:
    partition = Partition()
    value = LegacyOffsetCommitValue(7, "old", partition.now_ms)
    partition.replay(LogRecord(LegacyOffsetCommitKey("g", "t", 0), value))
    assert committed(partition, "g", ("t", 0)) == [7]
