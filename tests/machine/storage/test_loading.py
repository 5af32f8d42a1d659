"""Starting: quickly after a clean stop, by recovery after any other, whatever is missing."""

from __future__ import annotations

import random

import pytest
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.log import Disk, LoadOptions, PartitionLog, UpperBound, load_partition
from fencepost_protocol.records.batch import NO_TIMESTAMP

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
    kinds,
    memory_disk,
    of_producer,
    open_log,
    read_all,
    reopen,
)

SETTINGS = {
    "segment_bytes": 900,
    "index_interval_bytes": 150,
    "transaction_partition_verification_enable": False,
}


def busy_log(count: int = 40, disk: Disk | None = None) -> PartitionLog:
    """A log with everything in it: several segments, epochs, producers, transactions."""
    log = open_log(disk, **SETTINGS)
    for number in range(count):
        epoch = number // 11
        append(log, of_producer(number, producer=1, time=NOW + number), epoch=epoch)
        append(
            log, of_producer(2 * number, 2, producer=2, txn=True, time=NOW - number), epoch=epoch
        )
        if number % 4 == 3:
            log.append_marker(
                2,
                0,
                committed=number % 8 == 3,
                coordinator_epoch=0,
                leader_epoch=epoch,
                now_ms=NOW,
                transaction_version=0,
            )
        fill(log, 1, size=number % 60)
    return log


def state(log: PartitionLog) -> dict[str, object]:
    """Everything that has to be the same after a restart."""
    return {
        "offsets": (log.log_start_offset, log.last_stable_offset, log.log_end_offset),
        "segments": base_offsets(log),
        "batches": read_all(log),
        "producers": sorted(log.describe_producers()),
        "epochs": log.epochs.entries(),
        "aborted": log.read(log.log_start_offset, 1 << 20, UpperBound.LAST_STABLE).aborted,
        "largest": log.offset_of_max_timestamp(),
        "by time": [log.offset_for_timestamp(NOW + shift) for shift in range(-30, 30, 7)],
        "indexes": [
            [index.read(0, index.count) for index in (segment.offsets, segment.times)]
            for segment in list(log.segments)[:-1]
        ],
    }


def test_a_clean_stop_and_a_start_change_nothing() -> None:
    log = busy_log()
    before = state(log)
    log = reopen(log)
    assert state(log) == before
    assert kinds(log) == []
    log = reopen(log)
    assert state(log) == before
    fill(log, 1)


def test_after_a_clean_stop_only_the_tail_is_read() -> None:
    faults = Faults()
    disk = faulty_disk(memory_disk(), faults)
    log = open_log(disk, segment_bytes=1 << 20)
    fill(log, 2000, size=400)
    log.close()
    faults.seen = 0
    again = load_partition(disk, FOLDER, log.config, NOW, LoadOptions())
    assert again.log_end_offset == 2000
    assert faults.seen < 12


def test_recovery_makes_everything_anew() -> None:
    log = busy_log()
    before = state(log)
    disk = log.disk
    for name, _ in list(every_file(disk)):
        if not name.endswith(".log"):
            disk.remove(f"{FOLDER}/{name}")
    log = load_partition(disk, FOLDER, log.config, NOW, LoadOptions(clean_stop=False))
    assert state(log) == before
    assert "recovered" in kinds(log)
    assert state(reopen(log)) == before


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_a_missing_index_is_made_anew(suffix: str) -> None:
    log = busy_log()
    before = state(log)
    log.close()
    for name, _ in list(every_file(log.disk)):
        if name.endswith(suffix):
            log.disk.remove(f"{FOLDER}/{name}")
    log = load_partition(log.disk, FOLDER, log.config, NOW)
    assert state(log) == before
    assert set(kinds(log)) == {"index-rebuilt"}


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".index", b"\1\2\3"),
        (".index", b"\x7f\xff\xff\xff\x7f\xff\xff\xff"),
        (".index", b"\0\0\0\0\xff\xff\xff\xff"),
        (".timeindex", b"\1\2\3"),
        (".timeindex", b"\xff" * 12),
        (".txnindex", b"\1\2\3"),
    ],
)
def test_a_corrupt_index_is_made_anew(suffix: str, content: bytes) -> None:
    log = busy_log()
    before = state(log)
    log.close()
    disk = log.disk
    for name, old in list(every_file(disk)):
        if name.endswith(suffix):
            disk.write(f"{FOLDER}/{name}", old + content, durable=False)
    log = load_partition(disk, FOLDER, log.config, NOW)
    assert state(log) == before
    assert set(kinds(log)) == {"index-rebuilt"}


def test_an_index_without_its_log_is_removed() -> None:
    log = busy_log(3)
    log.close()
    log.disk.write(f"{FOLDER}/00000000000000009999.index", bytes(8), durable=False)
    before = state(log)
    log = load_partition(log.disk, FOLDER, log.config, NOW)
    assert state(log) == before
    assert kinds(log) == ["orphaned-index"]
    assert not log.disk.exists(f"{FOLDER}/00000000000000009999.index")


def cut_at(disk: Disk, path: str, size: int) -> None:
    disk.open(path).truncate(size)


def test_a_torn_tail_is_cut_at_every_byte() -> None:
    """Whatever part of the last batches reached the disk: the log ends at a whole batch."""
    log = open_log(transaction_partition_verification_enable=False)
    ends = [0]
    for number in range(4):
        append(log, of_producer(number, txn=True, time=NOW + number), epoch=number)
        ends.append(log.segments.active.size)
    content = log.disk.read(f"{FOLDER}/00000000000000000000.log") or b""
    for size in range(len(content) + 1):
        disk = memory_disk()
        disk.open(f"{FOLDER}/00000000000000000000.log").pwrite(0, content[:size])
        log = load_partition(disk, FOLDER, log.config, NOW, LoadOptions(clean_stop=False))
        whole = sum(end <= size for end in ends) - 1
        assert log.log_end_offset == whole
        assert log.segments.active.size == ends[whole]
        assert disk.open(f"{FOLDER}/00000000000000000000.log").size() == ends[whole]
        assert len(read_all(log)) == whole
        assert log.epochs.latest == whole - 1
        assert ("tail-truncated" in kinds(log)) == (size != ends[whole])
        append(log, of_producer(whole, txn=True), epoch=9)


def test_a_damaged_batch_ends_the_log_and_drops_what_is_behind_it() -> None:
    chance = random.Random(1)
    for _ in range(60):
        log = busy_log(25)
        batches = read_all(log)
        number = chance.randrange(len(log.segments))
        segment = list(log.segments)[number]
        position = chance.randrange(segment.size)
        path = segment.path(".log")
        damaged = bytearray(log.disk.read(path) or b"")
        # Base offset and leader epoch of a batch are covered by nothing but the offsets' order.
        starts = [at for at, _ in segment.headers(0)]
        start = max(at for at in starts if at <= position)
        if position - start < 16:
            position = start + 16
        damaged[position] ^= 1 << chance.randrange(8)
        log.disk.write(path, damaged, durable=False)
        again = load_partition(log.disk, FOLDER, log.config, NOW, LoadOptions(clean_stop=False))
        kept = read_all(again)
        assert kept == batches[: len(kept)]
        assert again.log_end_offset == batches[len(kept)][0].base_offset
        assert "tail-truncated" in kinds(again)
        assert len(again.segments) == number + 1


def test_segments_below_the_recovery_point_are_not_read() -> None:
    log = busy_log()
    log.close()
    target = log.segments.first
    damaged = bytearray(log.disk.read(target.path(".log")) or b"")
    damaged[70] ^= 1
    log.disk.write(target.path(".log"), damaged, durable=False)
    again = reopen(log, clean=False, recovery_point=base_offsets(log)[2])
    assert again.log_end_offset == log.log_end_offset
    again = reopen(log, clean=False, recovery_point=0)
    assert again.log_end_offset == 0


def test_zeros_of_a_preallocated_file_are_not_records() -> None:
    log = open_log(preallocate=True, segment_bytes=5000)
    fill(log, 5)
    log.disk.open(f"{FOLDER}/00000000000000000000.log").pwrite(
        log.segments.active.size, bytes(4000)
    )
    again = reopen(log, clean=False)
    assert (again.log_end_offset, again.segments.active.size) == (5, log.segments.active.size)


def test_a_log_that_ends_before_its_start_begins_anew() -> None:
    log = busy_log(5)
    log.close()
    options = LoadOptions(log_start_offset=1000)
    log = load_partition(log.disk, FOLDER, log.config, NOW, options)
    assert (log.log_start_offset, log.log_end_offset, base_offsets(log)) == (1000, 1000, [1000])
    assert kinds(log) == ["restarted"]
    append(log, batch(1))


def test_the_logs_start_within_a_segment_survives() -> None:
    log = open_log()
    fill(log, 10)
    log.delete_records(4)
    again = reopen(log)
    assert again.log_start_offset == 4
    assert again.epochs.entries() == [(0, 4)]


def test_what_deletion_left_behind_is_removed() -> None:
    log = busy_log()
    log.delete_records(60)
    log.apply_retention(NOW)
    assert any(name.endswith(".deleted") for name, _ in every_file(log.disk))
    before = read_all(log)
    again = reopen(log)
    assert not any(name.endswith(".deleted") for name, _ in every_file(log.disk))
    assert read_all(again) == before


def test_a_corrupt_epoch_file_is_told_and_made_anew_by_recovery() -> None:
    log = busy_log()
    epochs = log.epochs.entries()
    log.disk.write(f"{FOLDER}/leader-epoch-checkpoint", b"nonsense", durable=False)
    again = reopen(log, clean=False, recovery_point=0)
    assert "leader-epochs-lost" in kinds(again)
    assert again.epochs.entries() == epochs


def test_the_topic_id_is_read() -> None:
    disk = memory_disk()
    disk.write(
        f"{FOLDER}/partition.metadata",
        b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw",
        durable=False,
    )
    assert open_log(disk).topic_id == bytes(range(16))


def test_an_empty_folder_is_an_empty_log() -> None:
    log = open_log()
    assert (log.log_end_offset, log.take_events()) == (0, [])
    assert log.offset_of_max_timestamp() is None
    assert reopen(log).log_end_offset == 0
    assert reopen(log, clean=False).log_end_offset == 0
    assert list(every_file(log.disk)) == []


def test_indexes_are_what_recovery_makes_of_the_log() -> None:
    """The indexes that appending writes and those that recovery builds are the same, but for the
    last entry of a segment's time index, which a later start cannot know to be of an append."""
    log = busy_log(60)
    log.close()
    files = dict(every_file(log.disk))
    disk = MemoryDisk()
    disk.make_folder(FOLDER)
    for name, content in files.items():
        if name.endswith(".log"):
            disk.write(f"{FOLDER}/{name}", content, durable=False)
    again = load_partition(disk, FOLDER, log.config, NOW, LoadOptions(clean_stop=False))
    again.close()
    made = dict(every_file(disk))
    for name, content in files.items():
        if not name.endswith(".snapshot"):
            assert made[name] == content, name


def test_a_segment_without_times_is_loaded() -> None:
    log = open_log()
    append(log, batch(1, time=NO_TIMESTAMP))
    again = reopen(log)
    assert again.segments.active.max_timestamp == NO_TIMESTAMP
    append(again, batch(1))


def test_an_epoch_without_records_costs_no_file_and_one_with_records_outlives_a_crash() -> None:
    log = open_log()
    path = f"{FOLDER}/leader-epoch-checkpoint"
    log.begin_leader_epoch(3)
    log.begin_leader_epoch(4)
    assert log.latest_epoch == 4
    assert log.disk.read(path) is None
    append(log, batch(), epoch=4)
    assert log.disk.read(path) == b"0\n1\n4 0\n"
    log.begin_leader_epoch(5)
    assert log.disk.read(path) == b"0\n1\n4 0\n"
    again = reopen(log, clean=False, recovery_point=log.log_end_offset)
    assert again.epochs.entries() == [(4, 0)]


def test_an_epoch_of_the_file_that_has_no_records_is_gone_behind_the_next_append() -> None:
    """Else it would be said to begin where another epoch has records."""
    log = open_log()
    append(log, batch(), epoch=4)
    path = f"{FOLDER}/leader-epoch-checkpoint"
    log.disk.write(path, b"0\n2\n4 0\n7 1\n", durable=False)
    again = reopen(log)
    assert again.epochs.entries() == [(4, 0)]
    append(again, batch(), epoch=4)
    assert reopen(again).epochs.entries() == [(4, 0)]
