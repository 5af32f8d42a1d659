"""Offsets by time and by leader epoch."""

from __future__ import annotations

import pytest
from fencepost_broker.storage.log import EpochEnd, FoundOffset, UpperBound
from fencepost_protocol.records.batch import TimestampType

from tests.machine.storage.harness import NOW, append, batch, fill, open_log, reopen


def test_offsets_by_time_over_many_segments() -> None:
    log = open_log(segment_bytes=1500, index_interval_bytes=200)
    times = []
    for number in range(80):
        in_batch = [NOW + number * 10 + shift for shift in (0, 7, 3)]
        append(log, batch(3, time=in_batch), epoch=number // 30)
        times += in_batch
    for again in (log, reopen(log)):
        for wanted in range(NOW - 5, NOW + 810, 3):
            expected = next(
                (
                    FoundOffset(offset, time, offset // 90)
                    for offset, time in enumerate(times)
                    if time >= wanted
                ),
                None,
            )
            assert again.offset_for_timestamp(wanted) == expected, wanted


def test_times_that_jump_back() -> None:
    log = open_log(segment_bytes=600, index_interval_bytes=1)
    times = [50, 90, 20, 10, 95, 95, 30, 99, 1, 2, 3]
    for time in times:
        append(log, batch([b"x" * 50], time=time))
    for wanted in range(101):
        expected = next((number for number, time in enumerate(times) if time >= wanted), None)
        found = log.offset_for_timestamp(wanted)
        assert (None if found is None else found.offset) == expected, wanted
    assert log.offset_of_max_timestamp() == FoundOffset(7, 99, 0)


def test_records_before_the_logs_start_are_not_found() -> None:
    log = open_log()
    append(log, batch(4, time=[10, 20, 30, 40]))
    log.delete_records(2)
    assert log.offset_for_timestamp(0) == FoundOffset(2, 30, 0)


def test_largest_timestamp() -> None:
    log = open_log(segment_bytes=500)
    assert log.offset_of_max_timestamp() is None
    fill(log, 10)
    append(log, batch(3, time=[NOW, NOW + 5000, NOW + 5000]))
    fill(log, 10)
    for clean in (None, True, False):
        again = log if clean is None else reopen(log, clean=clean, recovery_point=0)
        assert again.offset_of_max_timestamp() == FoundOffset(11, NOW + 5000, 0)


def test_with_log_append_time_a_batch_has_one_time() -> None:
    log = open_log(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
    append(log, batch(3, time=5), now=NOW)
    append(log, batch(3, time=5), now=NOW + 10)
    assert log.offset_for_timestamp(NOW - 1) == FoundOffset(0, NOW, 0)
    assert log.offset_for_timestamp(NOW + 1) == FoundOffset(3, NOW + 10, 0)
    assert log.offset_of_max_timestamp() == FoundOffset(3, NOW + 10, 0)


def test_records_without_a_time() -> None:
    log = open_log(segment_bytes=300)
    for _ in range(8):
        append(log, batch(1, time=-1))
    assert log.offset_for_timestamp(0) is None
    assert log.offset_of_max_timestamp() is None
    assert reopen(log).offset_of_max_timestamp() is None


def test_earliest_and_latest() -> None:
    log = open_log()
    append(log, batch(2), epoch=3)
    append(log, batch(2), epoch=5)
    log.delete_records(1)
    assert log.earliest_offset() == FoundOffset(1, -1, 3)
    assert log.latest_offset() == FoundOffset(4, -1, 5)
    assert log.latest_offset(UpperBound.LAST_STABLE) == FoundOffset(4, -1, 5)


@pytest.mark.parametrize("clean", [True, False])
def test_ends_of_leader_epochs(clean: bool) -> None:
    log = open_log(segment_bytes=500)
    for epoch in (0, 0, 2, 2, 2, 5):
        append(log, batch(2), epoch=epoch)
    for again in (log, reopen(log, clean=clean, recovery_point=0)):
        found = {epoch: again.offset_for_leader_epoch(epoch) for epoch in range(-1, 7)}
        assert found == {
            -1: EpochEnd(-1, -1),
            0: EpochEnd(0, 4),
            1: EpochEnd(0, 4),
            2: EpochEnd(2, 10),
            3: EpochEnd(2, 10),
            4: EpochEnd(2, 10),
            5: EpochEnd(5, 12),
            6: EpochEnd(-1, -1),
        }


def test_epochs_older_than_the_log() -> None:
    log = open_log()
    append(log, batch(2), epoch=3)
    assert log.offset_for_leader_epoch(1) == EpochEnd(1, 0)


def test_where_a_fetcher_diverges() -> None:
    log = open_log()
    append(log, batch(4), epoch=1)
    append(log, batch(4), epoch=4)
    assert log.diverging_epoch(4, 1) is None
    assert log.diverging_epoch(6, 4) is None
    assert log.diverging_epoch(6, 1) == EpochEnd(1, 4)
    assert log.diverging_epoch(6, 3) == EpochEnd(1, 4)
    assert log.diverging_epoch(9, 4) == EpochEnd(4, 8)
