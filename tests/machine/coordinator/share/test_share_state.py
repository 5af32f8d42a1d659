"""The share coordinator: what leaders read and write of share partitions, and who is fenced."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from fencepost_broker.coordinator.share.state import Batch, combined
from fencepost_broker.coordinator.share.upkeep import SNAPSHOTS_AT_ONCE
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.share_snapshot import ShareSnapshotKey, ShareSnapshotValue
from fencepost_protocol.generated.share_update import ShareUpdateValue

from tests.machine.coordinator.share.state_log import COLD_MS, PRUNE_MS, StateLog

AVAILABLE, ACKNOWLEDGED = 0, 2


def batches(result: object) -> list[tuple[int, int, int, int]]:
    return [
        (each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in result.state_batches  # type: ignore[attr-defined]
    ]


def test_nothing_is_read_or_written_before_the_beginning() -> None:
    log = StateLog()
    assert log.read(0).error_code == ErrorCode.INVALID_REQUEST
    assert log.write(0, 0, 0).error_code == ErrorCode.INVALID_REQUEST
    assert log.delete().error_code == 0
    summary = log.summary()
    assert (summary.error_code, summary.state_epoch, summary.start_offset) == (0, 0, -1)
    assert log.records() == []


def test_a_partition_that_does_not_exist() -> None:
    log = StateLog()
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    for number, topic in ((0, "no"), (4, "t")):
        assert log.initialize(1, number=number, topic=topic).error_code == unknown
        assert log.delete(number, topic).error_code == unknown
        assert log.summary(number, topic).error_code == unknown
    assert log.initialize(1, number=-1).error_code == ErrorCode.INVALID_REQUEST
    assert log.read(1, number=-1).error_code == ErrorCode.INVALID_REQUEST
    assert log.records() == []


def test_writes_are_merged_by_offset() -> None:
    log = StateLog()
    log.initialize(3)
    assert log.read(0).start_offset == -1
    log.write(3, 0, 0, (0, 9, AVAILABLE, 1), (10, 19, ACKNOWLEDGED, 1), complete=10)
    log.write(3, 0, -1, (3, 4, ACKNOWLEDGED, 2))
    read = log.read(0)
    assert (read.state_epoch, read.start_offset) == (3, 0)
    assert batches(read) == [
        (0, 2, AVAILABLE, 1),
        (3, 4, ACKNOWLEDGED, 2),
        (5, 9, AVAILABLE, 1),
        (10, 19, ACKNOWLEDGED, 1),
    ]
    log.write(3, 0, 12, complete=7)
    assert batches(log.read(0)) == [(12, 19, ACKNOWLEDGED, 1)]
    assert log.summary().delivery_complete_count == 7


def test_an_older_leader_is_fenced_once_a_later_one_has_read() -> None:
    log = StateLog()
    log.initialize(1)
    log.read(2)
    (_, update) = (each.value for each in log.records())
    assert isinstance(update, ShareUpdateValue)
    assert update.leader_epoch == 2
    assert log.read(2).error_code == 0
    assert len(log.records()) == 2, "a read by the same leader writes nothing"
    for refused in (log.read(1), log.write(1, 1, 0)):
        assert refused.error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert log.write(1, 5, 0).error_code == 0
    assert log.summary().leader_epoch == 2, "only a read stores it"
    assert log.read(-1).error_code == 0


def test_an_older_state_epoch_is_fenced() -> None:
    log = StateLog()
    log.initialize(5)
    assert log.initialize(4).error_code == ErrorCode.FENCED_STATE_EPOCH
    assert log.write(4, 0, 0).error_code == ErrorCode.FENCED_STATE_EPOCH
    assert log.write(6, 0, 0).error_code == 0
    assert log.initialize(7, 100).error_code == 0
    assert (log.read(0).state_epoch, log.read(0).start_offset) == (7, 100)


def test_a_snapshot_follows_enough_updates() -> None:
    log = StateLog(updates=2)
    log.initialize(1)
    for offset in range(5):
        log.write(1, 0, -1, (offset, offset, ACKNOWLEDGED, 1))
    kinds = [type(each.value) for each in log.records()]
    snapshot, update = ShareSnapshotValue, ShareUpdateValue
    assert kinds == [snapshot, update, update, snapshot, update, update]
    assert batches(log.read(0)) == [(0, 4, ACKNOWLEDGED, 1)]
    assert log.read(0).start_offset == -1


def test_a_log_that_begins_at_its_last_snapshot_has_the_same_state() -> None:
    log = StateLog(updates=2)
    log.initialize(1)
    log.read(3)
    for offset in range(3):
        log.write(1, 3, offset, (offset, offset + 1, ACKNOWLEDGED, offset))
    before = log.machine.state
    last = max(
        place
        for place, record in enumerate(log.records())
        if isinstance(record.value, ShareSnapshotValue)
    )
    log.appended = log.appended[last:]
    assert log.loaded().state == before


def test_deleted_state_begins_anew() -> None:
    log = StateLog()
    log.initialize(5, 7)
    assert log.delete().error_code == 0
    assert log.records()[-1].value is None
    assert log.read(0).error_code == ErrorCode.INVALID_REQUEST
    assert log.initialize(1).error_code == 0


def test_the_state_of_a_deleted_topic_goes() -> None:
    log = StateLog()
    log.topics.create("u", 1)
    log.initialize(1)
    log.initialize(1, topic="u")
    log.topic_deleted("u")
    assert [key[1] for key in log.machine.state] == [log.topics.ids["t"]]
    del log.topics.ids["t"]
    (left,) = log.loaded().activate(0).records
    assert isinstance(left.key, ShareSnapshotKey)
    assert left.value is None


def test_offsets_are_merged_as_one_by_one() -> None:
    rng = random.Random(5)
    for _ in range(300):
        given = []
        for _ in range(rng.randrange(8)):
            first = rng.randrange(20)
            last = first + rng.randrange(6)
            given.append(Batch(first, last, rng.choice((0, 2, 4)), rng.randrange(1, 4)))
        start = rng.randrange(-1, 12)
        wanted: dict[int, tuple[int, int]] = {}
        for each in given:
            for offset in range(max(each.first_offset, start), each.last_offset + 1):
                mine = (each.delivery_count, each.delivery_state)
                wanted[offset] = max(mine, wanted.get(offset, mine))
        found = combined(given, start)
        assert wanted == {
            offset: (each.delivery_count, each.delivery_state)
            for each in found
            for offset in range(each.first_offset, each.last_offset + 1)
        }
        for left, right in pairwise(found):
            assert left.last_offset < right.first_offset
            adjoin = left.last_offset + 1 == right.first_offset
            assert not (adjoin and left[2:] == right[2:]), "runs are as long as they can be"


# -- the log stays short ---------------------------------------------------------------------------


def test_records_before_the_oldest_snapshot_are_deleted() -> None:
    log = StateLog(updates=2)
    log.initialize(1)
    log.initialize(1, number=1)
    for end in range(1, 4):
        log.write(1, 0, end)
    assert [offset for offset, _ in log.appended] == [0, 1, 2, 3, 4]
    log.wait(PRUNE_MS)
    assert [offset for offset, _ in log.appended] == [1, 2, 3, 4], "1 has the other's snapshot"
    log.delete(number=1)
    log.wait(PRUNE_MS)
    assert [offset for offset, _ in log.appended] == [4, 5]
    log.delete()
    log.wait(PRUNE_MS)
    assert log.appended == []


def test_share_partitions_that_rest_are_written_again() -> None:
    log = StateLog()
    log.initialize(1, 7)
    log.initialize(1, number=1)
    log.write(1, 3, 9, (9, 12, ACKNOWLEDGED, 1), complete=4, number=1)
    before = {key: state.batches for key, state in log.machine.state.items()}
    log.wait(COLD_MS)
    again: list[Any] = [record.value for _, record in log.appended[-2:]]
    assert all(isinstance(each, ShareSnapshotValue) for each in again)
    assert [(each.start_offset, each.snapshot_epoch) for each in again] == [(7, 1), (9, 1)]
    assert [each.write_timestamp - each.create_timestamp for each in again] == [COLD_MS] * 2
    log.wait(PRUNE_MS)
    assert [offset for offset, _ in log.appended] == [3, 4]
    assert {key: state.batches for key, state in log.machine.state.items()} == before
    log.wait(10 * COLD_MS)
    assert log.end_offset == 5, "nothing has changed since"
    log.write(1, 3, 10, number=1)
    log.wait(COLD_MS)
    assert log.end_offset == 8


def test_only_old_snapshots_are_written_again() -> None:
    log = StateLog(updates=0)
    log.initialize(1)
    log.initialize(1, number=1)
    log.wait(COLD_MS - 1)
    log.write(1, 0, 5, number=1)
    log.wait(1)
    keys: list[Any] = [record.key for record in log.records()]
    assert [key.partition for key in keys[-2:]] == [1, 0]


def test_many_snapshots_are_written_in_several_batches() -> None:
    log = StateLog()
    log.topics.create("many", 2 * SNAPSHOTS_AT_ONCE + 1)
    for number in range(2 * SNAPSHOTS_AT_ONCE + 1):
        log.initialize(1, number=number, topic="many")
    assert log.machine.deadline() == log.now_ms + PRUNE_MS
    log.wait(COLD_MS)
    assert log.end_offset == 2 * (2 * SNAPSHOTS_AT_ONCE + 1)
    deadline_ms = log.machine.deadline()
    assert deadline_ms is not None
    assert deadline_ms > log.now_ms


def test_refused_snapshots_are_written_an_interval_later() -> None:
    log = StateLog()
    assert log.machine.deadline() is None, "an empty log needs no care"
    log.initialize(1)
    log.wait(COLD_MS - 1)
    log.now_ms += 1
    assert log.machine.expire(log.now_ms).records
    log.machine.put_off()
    log.wait(0)
    assert log.end_offset == 1
    log.machine.jumped(5 * COLD_MS)
    log.wait(5 * COLD_MS)
    assert log.end_offset == 1
    log.wait(COLD_MS)
    assert log.end_offset == 2
