"""A write that failed leaves nothing in its file, and recovery keeps what follows torn bytes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from fencepost_broker.simulation.disk import SimDisk
from fencepost_broker.storage.log import LoadOptions, PartitionLog, StorageError, load_partition
from fencepost_protocol.errors import ErrorCode

from tests.machine.storage.harness import (
    FOLDER,
    NOW,
    Faults,
    append,
    base_offsets,
    batch,
    faulty_disk,
    fill,
    flush,
    kinds,
    memory_disk,
    of_producer,
    open_log,
    read_all,
    reopen,
)

SETTINGS: dict[str, Any] = {"segment_bytes": 600, "index_interval_bytes": 100}
SMALL, LARGE = b"s" * 20, b"l" * 400
LARGE_SIZE = len(batch([LARGE]))


def file_sizes_agree(log: PartitionLog) -> None:
    """Every file of the log ends where the log says."""
    for segment in log.segments:
        assert segment.open().size() == segment.size, segment.path(".log")
        for index in (segment.offsets, segment.times, segment.transactions):
            assert index.open().size() <= index.size


def recovered(log: PartitionLog) -> PartitionLog:
    """The log after a kill, when nothing of it was known to be on disk."""
    return reopen(log, clean=False, recovery_point=0)


@pytest.mark.parametrize("preallocate", [False, True])
@pytest.mark.parametrize("torn_bytes", range(LARGE_SIZE + 1))
def test_what_follows_a_failed_write_survives_a_kill(torn_bytes: int, preallocate: bool) -> None:
    """The retried batch rolls the segment, so nothing is written over the torn bytes."""
    faults = Faults(torn_bytes=torn_bytes, only=frozenset({"write"}))
    settings = SETTINGS | {"segment_bytes": 800, "preallocate": preallocate}
    log = open_log(faulty_disk(memory_disk(), faults), **settings)
    append(log, batch([SMALL]))
    append(log, batch([SMALL]))
    faults.countdown = 0
    assert log.append_as_leader(batch([LARGE]), 0, NOW).error is ErrorCode.KAFKA_STORAGE_ERROR
    file_sizes_agree(log)
    log.roll(NOW)
    for _ in range(4):
        append(log, batch([LARGE]))
    expected = read_all(log)
    assert read_all(recovered(log)) == expected


@pytest.mark.parametrize("torn_bytes", [1, 61, LARGE_SIZE])
def test_a_followers_failed_write_leaves_nothing(torn_bytes: int) -> None:
    leader = open_log(**SETTINGS)
    for value in (SMALL, LARGE, SMALL):
        append(leader, batch([value]))
    fetched = [memoryview(bytearray(data)) for _, data in read_all(leader)]
    faults = Faults(torn_bytes=torn_bytes, only=frozenset({"write"}))
    log = open_log(faulty_disk(memory_disk(), faults), **SETTINGS)
    assert not log.append_as_follower(fetched[0], 0, NOW).error
    faults.countdown = 0
    assert log.append_as_follower(fetched[1], 0, NOW).error
    file_sizes_agree(log)
    log.roll(NOW)
    for data in fetched[1:]:
        assert not log.append_as_follower(data, 0, NOW).error
    assert read_all(recovered(log)) == read_all(leader)


def test_nothing_is_written_before_torn_bytes_could_be_cut() -> None:
    faults = Faults(torn_bytes=200, lasting=True, only=frozenset({"write", "truncate"}))
    log = open_log(faulty_disk(memory_disk(), faults), **SETTINGS)
    append(log, batch([SMALL]))
    size = log.segments.active.size
    faults.countdown = 0
    assert log.append_as_leader(batch([LARGE]), 0, NOW).error
    assert log.segments.active.open().size() == size + 200
    faults.only = frozenset({"truncate"})
    for value in (SMALL, LARGE):
        refused = log.append_as_leader(batch([value]), 0, NOW)
        assert refused.error is ErrorCode.KAFKA_STORAGE_ERROR
        assert "truncate" in (refused.message or "")
    as_leader = memoryview(bytearray(batch([SMALL])))
    as_leader[7] = 1
    assert log.append_as_follower(as_leader, 0, NOW).error is ErrorCode.KAFKA_STORAGE_ERROR
    with pytest.raises(StorageError):
        log.roll(NOW)
    assert len(log.segments) == 1
    faults.countdown = None
    append(log, batch([LARGE]))
    append(log, batch([LARGE]))
    file_sizes_agree(log)
    assert len(log.segments) == 2
    assert kinds(log) == ["append-failed", "append-recovered"]
    assert read_all(recovered(log)) == read_all(log)


def test_a_failed_write_of_an_index_leaves_nothing_after_its_entries() -> None:
    faults = Faults(torn_bytes=30, only=frozenset({"write"}), below=(f"{FOLDER}/",))
    log = open_log(
        faulty_disk(memory_disk(), faults), segment_bytes=100_000, index_interval_bytes=1
    )
    fill(log, 8)
    faults.countdown = 0
    with pytest.raises(StorageError):
        log.segments.active.write_out_indexes()
    log.truncate_to(2, NOW)
    log.roll(NOW)
    (segment, _) = log.segments
    for index in (segment.offsets, segment.times):
        assert index.open().size() == index.size


def old_directory(torn: dict[int, bytes], **settings: Any) -> PartitionLog:
    """Whole segments of which some end with bytes that a former version left there."""
    log = open_log(**{**SETTINGS, **settings})
    for number in range(9):
        append(log, of_producer(number, keys=[b"k%d" % number], time=NOW + number))
        if number % 2:
            log.roll(NOW)
    for number, data in torn.items():
        segment = list(log.segments)[number]
        log.disk.open(segment.path(".log")).pwrite(segment.size, data)
    log.take_events()
    return log


@pytest.mark.parametrize("settings", [{}, {"compact": True, "delete": False}])
def test_segments_after_torn_bytes_of_a_former_version_are_kept(settings: dict[str, Any]) -> None:
    bases = base_offsets(old_directory({}))
    expected = old_directory({})
    size_of_one = len(of_producer(9, keys=[b"k9"]))
    for size in (*range(1, size_of_one, 7), size_of_one):
        torn = {}
        for number in (0, 2):
            # What was refused had the offset that the next segment's first batch has now.
            refused = of_producer(9, keys=[b"k9"])
            refused[:8] = bases[number + 1].to_bytes(8, "big")
            torn[number] = bytes(refused[:size])
        again = recovered(old_directory(torn, **settings))
        assert read_all(again) == read_all(expected), size
        assert again.describe_producers() == expected.describe_producers()
        told = [event.text for event in again.take_events() if event.kind == "tail-truncated"]
        assert len(told) == 2
        for number, text in zip(torn, told, strict=True):
            assert list(again.segments)[number].path(".log") in text
            assert f"cut {size} bytes" in text
            assert f"offset {base_offsets(again)[number + 1]}" in text
        file_sizes_agree(again)


def test_each_segment_that_recovery_removes_is_told() -> None:
    log = old_directory({})
    damaged = list(log.segments)[1]
    path = damaged.path(".log")
    data = bytearray(log.disk.read(path) or b"")
    data[-1] ^= 1
    log.disk.write(path, data, durable=False)
    sizes = [segment.size for segment in log.segments]
    again = recovered(log)
    assert again.log_end_offset == 3
    told = [event.text for event in again.take_events() if event.kind == "tail-truncated"]
    assert path in told[0]
    assert f"cut {sizes[1] // 2} bytes" in told[0]
    assert len(told) == 1 + len(log.segments) - 2
    for number, text in enumerate(told[1:], 2):
        base = base_offsets(log)[number]
        end = (*base_offsets(log), log.log_end_offset)[number + 1]
        assert list(log.segments)[number].path(".log") in text
        assert f"offsets {base} to {end - 1}" in text
        assert f"{sizes[number]} bytes" in text


@pytest.mark.parametrize("size", [1, 61, 75])
def test_torn_bytes_of_a_former_version_are_not_read_after_a_clean_stop(size: int) -> None:
    refused = of_producer(9, keys=[b"k9"])
    refused[:8] = base_offsets(old_directory({}))[1].to_bytes(8, "big")
    assert len(refused) == 75, "the last size is a whole batch"
    log = old_directory({0: bytes(refused[:size])})
    again = reopen(log)
    assert read_all(again) == read_all(old_directory({}))
    assert again.segments.first.size == old_directory({}).segments.first.size
    assert any(f"its last {size} bytes are not read" in e.text for e in again.take_events())


def test_a_rebuilt_index_tells_what_it_leaves_out() -> None:
    log = old_directory({0: b"torn"})
    log.close()
    log.disk.remove(log.segments.first.path(".index"))
    again = load_partition(log.disk, FOLDER, log.config, NOW, LoadOptions())
    assert any("no whole batch at byte" in event.text for event in again.take_events())
    assert len(read_all(again)) == 9


def test_what_a_failed_sync_has_left_is_written_again_after_a_restart() -> None:
    """Linux takes its pages for written: readable, but no sync writes them any more."""
    disk = SimDisk()
    disk.make_folder(FOLDER)
    log = open_log(disk, **SETTINGS)
    fill(log, 2)
    disk.take_for_written(log.segments.active.path(".log"))
    log = recovered(log)
    fill(log, 1)
    flush(log)
    expected = read_all(log)
    disk.cut_power(Random(0))
    assert read_all(recovered(log)) == expected
