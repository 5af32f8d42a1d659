"""Rolling, flushing, retention, DeleteRecords, truncation."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from fencepost_broker.simulation.disk import SimDisk
from fencepost_broker.storage.log import EpochEnd, PartitionLog
from fencepost_protocol.errors import ErrorCode

from tests.machine.storage.harness import (
    FOLDER,
    NOW,
    Faults,
    append,
    base_offsets,
    batch,
    every_file,
    faulty_disk,
    fill,
    flush,
    kinds,
    memory_disk,
    of_producer,
    offsets_and_values,
    open_log,
    read_all,
    reopen,
)


def names(log: PartitionLog, suffix: str = "") -> list[str]:
    return [name for name, _ in every_file(log.disk) if name.endswith(suffix)]


# --- rolling --------------------------------------------------------------------------------------


def test_rolls_by_size() -> None:
    size = len(batch([b"v" * 100]))
    log = open_log(segment_bytes=3 * size)
    fill(log, 10)
    assert base_offsets(log) == [0, 3, 6, 9]


def test_rolls_by_the_age_of_its_first_batch() -> None:
    log = open_log(segment_ms=1000)
    for time in (NOW, NOW + 1000, NOW + 1001, NOW + 500, NOW + 2001, NOW + 2002):
        append(log, batch(1, time=time), now=NOW)
    assert base_offsets(log) == [0, 2, 5]
    again = reopen(log)
    append(again, batch(1, time=NOW + 3003))
    assert base_offsets(again) == [0, 2, 5, 6]


def age_at_the_end(seed: int, step_ms: int = 10) -> int:
    """How old a segment gets, with a jitter of 400 of its 1000 ms."""
    log = open_log(segment_ms=1000, segment_jitter_ms=400, jitter_seed=seed)
    age_ms = 0
    while len(base_offsets(log)) == 1:
        append(log, batch(1, time=NOW + age_ms))
        age_ms += step_ms
    return age_ms - step_ms


def test_a_segment_may_end_earlier_by_chance() -> None:
    ages = [age_at_the_end(seed) for seed in range(50)]
    assert 600 < min(ages) < 650
    assert 960 < max(ages) <= 1010
    assert ages == [age_at_the_end(seed) for seed in range(50)]


def test_the_chance_is_the_same_after_a_restart_and_another_for_the_next_segment() -> None:
    log = open_log(segment_ms=1000, segment_jitter_ms=1 << 62, jitter_seed=7)
    append(log, batch(1))
    before = log.segments.active.roll_base
    assert NOW - 1000 < before < NOW
    direct = PartitionLog(memory_disk(), FOLDER, log.config, NOW)  # as a new topic's is made
    assert direct.segments.active.roll_jitter_ms == NOW - before
    log = reopen(log)
    assert log.segments.active.roll_base == before
    append(log, batch(1, time=NOW + 1001))
    assert len(base_offsets(log)) == 2
    assert log.segments.active.roll_base - (NOW + 1001) != before - NOW


def test_records_without_a_time_have_the_same_chance() -> None:
    log = open_log(segment_ms=1000, segment_jitter_ms=400, jitter_seed=3)
    append(log, batch(1, time=-1), now=NOW)
    age_ms = 1000 - log.segments.active.roll_jitter_ms
    assert age_ms < 1000
    append(log, batch(1, time=-1), now=NOW + age_ms)
    assert base_offsets(log) == [0]
    append(log, batch(1, time=-1), now=NOW + age_ms + 1)
    assert base_offsets(log) == [0, 2]


def test_rolls_by_the_clock_when_records_have_no_time() -> None:
    log = open_log(segment_ms=1000)
    append(log, batch(1, time=-1), now=NOW)
    append(log, batch(1, time=-1), now=NOW + 1000)
    assert base_offsets(log) == [0]
    append(log, batch(1, time=-1), now=NOW + 1001)
    assert base_offsets(log) == [0, 2]


def test_rolls_when_an_index_is_full() -> None:
    log = open_log(segment_index_bytes=48, index_interval_bytes=0)
    fill(log, 30)
    assert len(log.segments) > 3
    assert all(segment.offsets.size <= 48 for segment in log.segments)
    assert all(segment.times.size <= 48 for segment in log.segments)
    assert len(read_all(log)) == 30


def test_rolls_when_offsets_would_not_fit_into_the_index() -> None:
    log = open_log()
    far = batch(1, base_offset=3_000_000_000)
    assert not log.append_as_follower(batch(1), 0, NOW).error
    assert not log.append_as_follower(far, 0, NOW).error
    assert base_offsets(log) == [0, 3_000_000_000]
    assert [header.base_offset for header, _ in read_all(log)] == [0, 3_000_000_000]


def test_preallocated_segments_end_where_their_records_do() -> None:
    log = open_log(segment_bytes=1000, preallocate=True)
    fill(log, 25)
    log.close()
    sizes = {name: len(content) for name, content in every_file(log.disk) if name[-4:] == ".log"}
    assert list(sizes.values()) == [segment.size for segment in log.segments]
    assert len(read_all(reopen(log))) == 25


def test_an_index_entry_comes_when_more_than_its_interval_was_written() -> None:
    size = len(batch([b"v" * 100]))
    for interval, expected in ((size - 1, range(1, 9)), (size, range(2, 9, 2))):
        log = open_log(index_interval_bytes=interval)
        fill(log, 9)
        index = log.segments.active.offsets
        found = [index.entry(number) for number in range(index.count)]
        assert found == [(offset, offset * size) for offset in expected]


# --- flushing -------------------------------------------------------------------------------------


def test_a_flush_is_due_after_so_many_messages() -> None:
    log = open_log(flush_messages=3)
    fill(log, 2)
    assert not log.flush_is_due(NOW)
    fill(log, 1)
    assert log.flush_is_due(NOW)
    task = log.begin_flush()
    fill(log, 1)
    task.run()
    log.flushed(task, NOW)
    assert (log.recovery_point, log.unflushed_messages) == (3, 1)
    assert not log.flush_is_due(NOW)


def test_a_flush_is_due_after_a_time_and_after_a_roll() -> None:
    log = open_log(flush_ms=1000)
    assert not log.flush_is_due(NOW + 5000), "nothing to flush"
    fill(log, 1)
    assert not log.flush_is_due(NOW + 999)
    assert log.flush_is_due(NOW + 1000)
    log = open_log(segment_bytes=200)
    fill(log, 1)
    assert not log.flush_is_due(NOW)
    fill(log, 1)
    assert log.flush_is_due(NOW)


def test_a_flush_that_a_truncation_overtook_does_not_count() -> None:
    log = open_log()
    fill(log, 4)
    task = log.begin_flush()
    log.truncate_to(2, NOW)
    fill(log, 4)
    task.run()
    log.flushed(task, NOW)
    assert log.recovery_point == 0


def test_after_a_failed_sync_nothing_is_appended() -> None:
    faults = Faults(only=frozenset({"sync"}))
    log = open_log(faulty_disk(memory_disk(), faults))
    fill(log, 1)
    faults.countdown = 0
    task = log.begin_flush()
    with pytest.raises(Exception, match="no space left") as caught:
        task.run()
    log.flush_failed(caught.value)  # type: ignore[arg-type]
    assert log.append_as_leader(batch(1), 0, NOW).error is ErrorCode.KAFKA_STORAGE_ERROR
    assert len(read_all(log)) == 1


# --- retention ------------------------------------------------------------------------------------


def test_retention_by_time_takes_whole_segments_from_the_beginning() -> None:
    log = open_log(segment_bytes=520, retention_ms=1000)
    fill(log, 10, step=100)
    starts = base_offsets(log)
    assert log.apply_retention(NOW + 1000) == 0
    # The second segment's largest time is that of the record before the third's first.
    behind = NOW + (starts[2] - 1) * 100 + 1000
    assert log.apply_retention(behind) == 1
    assert log.apply_retention(behind + 1) == 1
    assert log.log_start_offset == base_offsets(log)[0] == starts[2]
    assert kinds(log) == ["retention", "retention"]


def test_retention_by_time_takes_everything_in_the_end() -> None:
    log = open_log(segment_bytes=520, retention_ms=1000)
    fill(log, 10)
    assert log.apply_retention(NOW + 5000) == 4
    assert (log.log_start_offset, log.log_end_offset) == (10, 10)
    assert base_offsets(log) == [10]
    assert log.apply_retention(NOW + 9000) == 0
    assert append(log, batch(1)).base_offset == 10
    assert reopen(log).log_start_offset == 10


def test_one_young_segment_keeps_those_behind_it() -> None:
    log = open_log(segment_bytes=200, retention_ms=1000)
    for time in (NOW, NOW + 5000, NOW, NOW):
        append(log, batch([b"x" * 100], time=time), now=NOW)
    assert log.apply_retention(NOW + 2000) == 1
    assert base_offsets(log) == [1, 2, 3]


def test_retention_by_size() -> None:
    size = len(batch([b"v" * 100]))
    log = open_log(segment_bytes=2 * size, retention_bytes=5 * size, retention_ms=-1)
    fill(log, 11)
    assert log.apply_retention(NOW) == 3
    assert log.size_in_bytes == 5 * size
    assert log.log_start_offset == 6
    assert log.apply_retention(NOW) == 0


def test_retention_keeps_what_is_not_replicated() -> None:
    log = open_log(segment_bytes=520, retention_ms=1000)
    log.follows_log_end = False
    fill(log, 10)
    log.set_high_watermark(4)
    assert log.apply_retention(NOW + 5000) == 1
    assert log.log_start_offset == 3


def test_a_compacted_topic_has_no_retention_of_its_own() -> None:
    log = open_log(segment_bytes=520, retention_ms=1000, compact=True, delete=False)
    for number in range(10):
        append(log, batch([b"v" * 100], keys=[b"%d" % number]))
    assert log.apply_retention(NOW + 5000) == 0
    log.delete_records(5)
    assert log.apply_retention(NOW + 5000) == 1


def test_files_go_after_the_delay() -> None:
    log = open_log(segment_bytes=520, retention_ms=1000, file_delete_delay_ms=500)
    fill(log, 10)
    log.apply_retention(NOW + 5000)
    assert len(names(log, ".log.deleted")) == 4
    assert len(names(log, ".log")) == 0
    log.removals.remove_due(NOW + 5499)
    assert len(names(log, ".deleted")) > 4
    log.removals.remove_due(NOW + 5500)
    assert names(log) == ["00000000000000000010.snapshot", "leader-epoch-checkpoint"]


def test_delete_records() -> None:
    log = open_log(segment_bytes=520)
    fill(log, 10)
    assert log.delete_records(4) is ErrorCode.NONE
    assert log.log_start_offset == 4
    assert [offset for offset, _ in offsets_and_values(log)] == list(range(4, 10))
    assert log.delete_records(2) is ErrorCode.NONE
    assert log.log_start_offset == 4
    for offset in (11, -2):
        assert log.delete_records(offset) is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.apply_retention(NOW) == 1
    assert base_offsets(log)[0] == 3
    assert log.delete_records(-1) is ErrorCode.NONE
    assert log.log_start_offset == 10
    assert log.apply_retention(NOW) == 2
    assert reopen(log).log_start_offset == 10


# --- truncation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", range(0, 31, 3))
def test_truncation_leaves_the_log_as_it_was_then(offset: int) -> None:
    settings: dict[str, Any] = {"segment_bytes": 700, "index_interval_bytes": 100}
    log = open_log(**settings)
    shorter = open_log(**settings)
    for number in range(30):
        for each in (log, shorter) if number < offset else (log,):
            append(each, of_producer(number, time=NOW + number), epoch=number // 7)
    log.truncate_to(offset, NOW)
    for clean in (None, True, False):
        again = log if clean is None else reopen(log, clean=clean, recovery_point=0)
        assert again.log_end_offset == offset
        assert read_all(again) == read_all(shorter)
        assert again.describe_producers() == shorter.describe_producers()
        assert again.epochs.entries() == shorter.epochs.entries()
        assert again.offset_of_max_timestamp() == shorter.offset_of_max_timestamp()
    append(again, batch(1))
    assert again.read(offset, 1000).size


@pytest.mark.parametrize("segment_bytes", [1 << 20, 200])
@pytest.mark.parametrize("seed", range(20))
def test_a_power_cut_does_not_bring_back_what_was_truncated(seed: int, segment_bytes: int) -> None:
    disk = SimDisk()
    disk.make_folder(FOLDER)
    log = open_log(disk, segment_bytes=segment_bytes)
    fill(log, 6)
    flush(log)
    log.truncate_to(3, NOW)
    for _ in range(3):
        append(log, batch([b"other"]), epoch=4)
    disk.cut_power(Random(seed))
    again = reopen(log, clean=False, recovery_point=0)
    assert all(header.partition_leader_epoch == 4 for header, _ in read_all(again)[3:])


def test_truncation_drops_a_batch_that_it_would_cut() -> None:
    log = open_log()
    append(log, batch(5))
    append(log, batch(5))
    log.truncate_to(7, NOW)
    assert [header.base_offset for header, _ in read_all(log)] == [0]
    assert log.log_end_offset == 7
    append(log, batch(1))
    assert [header.base_offset for header, _ in read_all(log)] == [0, 7]


def test_truncation_brings_back_transactions() -> None:
    log = open_log(transaction_partition_verification_enable=False, segment_bytes=300)
    append(log, of_producer(0, txn=True))
    fill(log, 3)
    log.append_marker(
        7,
        0,
        committed=False,
        coordinator_epoch=0,
        leader_epoch=0,
        now_ms=NOW,
        transaction_version=0,
    )
    fill(log, 3)
    assert log.last_stable_offset == 8
    log.truncate_to(4, NOW)
    assert log.last_stable_offset == 0
    assert not any(segment.transactions.count for segment in log.segments)
    assert log.offset_for_leader_epoch(0) == EpochEnd(0, 4)


def test_restarting_somewhere_else() -> None:
    log = open_log(segment_bytes=520, file_delete_delay_ms=0)
    for number in range(10):
        append(log, of_producer(number))
    log.restart_at(500, NOW)
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (500, 500, 500)
    assert log.describe_producers() == []
    assert append(log, batch(1)).base_offset == 500
    log.removals.remove_due(NOW)
    assert [header.base_offset for header, _ in read_all(reopen(log))] == [500]


# --- follower -------------------------------------------------------------------------------------


def test_a_follower_takes_offsets_and_epochs_as_they_are() -> None:
    leader = open_log(segment_bytes=500, transaction_partition_verification_enable=False)
    for number in range(20):
        append(leader, of_producer(number, txn=number % 2 == 1), epoch=number // 6)
        if number % 4 == 3:
            leader.append_marker(
                7,
                0,
                committed=False,
                coordinator_epoch=0,
                leader_epoch=3,
                now_ms=NOW,
                transaction_version=0,
            )
        if number % 2 == 1:
            leader.append_marker(
                7,
                0,
                committed=True,
                coordinator_epoch=0,
                leader_epoch=number // 6,
                now_ms=NOW,
                transaction_version=0,
            )
    follower = open_log(segment_bytes=900)
    follower.follows_log_end = False
    while follower.log_end_offset < leader.log_end_offset:
        fetched = leader.read(follower.log_end_offset, 333, min_one_batch=True)
        data = memoryview(b"".join(fetched.pieces or []))
        result = follower.append_as_follower(data, 9, NOW)
        assert not result.error
        follower.set_high_watermark(leader.high_watermark)
    assert read_all(follower) == read_all(leader)
    assert follower.describe_producers() == leader.describe_producers()
    assert follower.epochs.entries() == leader.epochs.entries()
    assert follower.last_stable_offset == leader.last_stable_offset


def test_a_follower_refuses_what_does_not_follow() -> None:
    log = open_log()
    assert not log.append_as_follower(batch(3, base_offset=5), 0, NOW).error
    result = log.append_as_follower(batch(3, base_offset=7), 0, NOW)
    assert result.error is ErrorCode.INVALID_RECORD
    damaged = batch(3, base_offset=8)
    damaged[-1] ^= 1
    assert log.append_as_follower(damaged, 0, NOW).error is ErrorCode.CORRUPT_MESSAGE
    assert log.log_end_offset == 8


def test_a_follower_leaves_out_batches_of_a_later_epoch() -> None:
    log = open_log()
    records = bytearray(batch(1, partition_leader_epoch=2))
    records += batch(1, base_offset=1, partition_leader_epoch=3)
    assert log.append_as_follower(memoryview(records), 2, NOW).last_offset == 0
    assert log.log_end_offset == 1


def test_the_folder_is_named_in_events() -> None:
    log = open_log(retention_ms=0, segment_bytes=200)
    fill(log, 2)
    log.apply_retention(NOW + 10)
    assert {event.partition for event in log.take_events()} == {FOLDER}
