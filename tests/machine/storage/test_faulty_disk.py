"""Faults of a disk under a partition's log: what is refused, what stays, and what comes back."""

from __future__ import annotations

import threading
from typing import Any

import msgspec
import pytest
from fencepost_broker.storage.disk.faults import (
    AnyDiskFault,
    DiskFault,
    DiskFull,
    FailingRead,
    FailingSync,
    FlippedBit,
    ReadOnlyDisk,
    SlowDisk,
    TornWrite,
)
from fencepost_broker.storage.disk.faulty import DiskFaults, FaultyDisk
from fencepost_broker.storage.flush_scheduler import flush_here
from fencepost_broker.storage.log import PartitionLog, StorageError
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import crc_is_valid

from tests.machine.storage.harness import (
    FOLDER,
    NOW,
    append,
    batch,
    kinds,
    memory_disk,
    open_log,
    read_all,
    reopen,
)

REFUSED = ErrorCode.KAFKA_STORAGE_ERROR
VALUE = b"v" * 40
SIZE = len(batch([VALUE]))


def faulty_log(**settings: Any) -> tuple[PartitionLog, DiskFaults]:
    """A log with one batch, whose files are open, and the faults of its disk."""
    faults = DiskFaults()
    log = open_log(FaultyDisk(memory_disk(), faults), **settings)
    faults.reopen = log.reopen_files
    append(log, batch([VALUE]))
    return log, faults


def refusal(log: PartitionLog) -> str:
    """What the log says to a batch that it must refuse."""
    result = log.append_as_leader(batch([VALUE]), 0, NOW)
    assert result.error is REFUSED, result
    return result.message or ""


def test_what_is_no_fault_of_a_disk_is_refused() -> None:
    faults = DiskFaults()
    given: Any = 5
    with pytest.raises(TypeError, match="5 is no fault of a disk"):
        faults.add(given)
    assert faults.loaded == ()


def test_without_a_fault_a_file_is_the_other_disks_own() -> None:
    log, faults = faulty_log()
    path = log.segments.active.path(".log")
    own = type(log.disk.open(path))
    assert own is type(memory_disk().open(path))
    full = faults.add(DiskFull())
    assert type(log.segments.active.open()) is not own
    full.remove()
    assert type(log.segments.active.open()) is own


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (DiskFull(), "No space left on device"),
        (ReadOnlyDisk(), "Read-only file system"),
        (TornWrite(kept_bytes=70, times=None), "Input/output error"),
    ],
)
def test_a_log_refuses_records_until_its_disk_is_mended(fault: DiskFault, reason: str) -> None:
    log, faults = faulty_log()
    loaded = faults.add(fault)
    for _ in range(2):
        assert reason in refusal(log)
    assert loaded.fired >= 2
    assert len(read_all(log)) == 1
    loaded.remove()
    append(log, batch([VALUE]))
    assert kinds(log) == ["append-failed", "append-recovered"]
    expected = read_all(log)
    assert len(expected) == 2
    assert read_all(reopen(log, clean=False, recovery_point=0)) == expected


def test_a_disk_is_full_after_so_many_bytes() -> None:
    log, faults = faulty_log()
    full = faults.add(DiskFull(after_bytes=2 * SIZE + 10, path="*.log"))
    append(log, batch([VALUE]))
    append(log, batch([VALUE]))
    assert full.fired == 0
    refusal(log)
    refusal(log)
    assert full.fired == 2
    assert log.segments.active.open().size() == 3 * SIZE, "what did not fit is cut off"


def test_a_fault_can_let_some_operations_pass_and_end_by_itself() -> None:
    log, faults = faulty_log()
    full = faults.add(DiskFull(path="*.log", skip=1, times=2))
    append(log, batch([VALUE]))
    refusal(log)
    refusal(log)
    append(log, batch([VALUE]))
    assert full.fired == 2


def test_faults_concern_the_files_that_they_name() -> None:
    for fault, hit in (
        (DiskFull(), {"orders-0/x.log", "orders-1/x.log", "my-orders-0/x.log", "meta.properties"}),
        (DiskFull(topic="orders"), {"orders-0/x.log", "orders-1/x.log"}),
        (DiskFull(topic="orders", partition=1), {"orders-1/x.log"}),
        (DiskFull(path="*orders-0/*"), {"orders-0/x.log", "my-orders-0/x.log"}),
    ):
        paths = {"orders-0/x.log", "orders-1/x.log", "my-orders-0/x.log", "meta.properties"}
        assert {path for path in paths if fault.concerns("write", path)} == hit, fault


def test_a_failed_sync_ends_a_log_until_the_next_start() -> None:
    log, faults = faulty_log()
    failing = faults.add(FailingSync(times=1))
    with pytest.raises(StorageError, match="Input/output error"):
        flush_here(log, NOW)
    assert failing.fired == 1
    assert log.recovery_point == 0
    refusal(log)
    failing.remove()
    refusal(log)
    assert len(read_all(log)) == 1
    again = reopen(log, clean=False)
    append(again, batch([VALUE]))


def test_a_slow_sync_goes_on_when_the_disk_is_mended() -> None:
    log, faults = faulty_log()
    slow = faults.add(SlowDisk(sync_ms=600_000))
    flushing = threading.Thread(target=flush_here, args=(log, NOW))
    flushing.start()
    while not slow.fired:  # the thread waits, or is about to
        flushing.join(0.001)
    assert flushing.is_alive()
    assert log.recovery_point == 0
    slow.remove()
    flushing.join(60)
    assert log.recovery_point == 1


@pytest.mark.parametrize("kept_bytes", [0, 1, 61, SIZE - 1, SIZE, SIZE + 100])
def test_a_crash_in_a_write_leaves_torn_bytes_that_recovery_cuts(kept_bytes: int) -> None:
    log, faults = faulty_log()
    crashes: list[str] = []
    faults.on_crash = crashes.append
    faults.add(TornWrite(kept_bytes=kept_bytes, crash=True))
    refusal(log)
    assert len(crashes) == 1
    refusal(log)
    with pytest.raises(StorageError, match="crashed"):
        log.close()
    kept = min(kept_bytes, SIZE)
    assert log.segments.active.open().size() == SIZE + kept
    expected = read_all(log)
    faults.begin()
    again = reopen(log, clean=False, recovery_point=0)
    if kept == SIZE:
        assert len(read_all(again)) == 2, "it was written whole, though nobody was told"
    else:
        assert read_all(again) == expected
        assert again.segments.active.open().size() == SIZE
    append(again, batch([VALUE]))


def test_a_flipped_bit_is_read_and_its_crc_tells() -> None:
    log, faults = faulty_log()
    append(log, batch([VALUE]))
    flipped = faults.add(FlippedBit(topic="orders", partition=0, position=SIZE + 70, bit=3))
    (_, first), (_, second) = read_all(log)
    assert crc_is_valid(memoryview(first))
    assert not crc_is_valid(memoryview(second))
    assert flipped.fired > 0
    flipped.remove()
    assert all(crc_is_valid(memoryview(data)) for _, data in read_all(log))


def test_recovery_ends_a_log_before_a_flipped_bit() -> None:
    log, faults = faulty_log()
    append(log, batch([VALUE]))
    faults.add(FlippedBit(path=f"{FOLDER}/*.log", position=SIZE + 70))
    again = reopen(log, clean=False, recovery_point=0)
    assert again.log_end_offset == 1
    assert "tail-truncated" in kinds(again)


def test_rolled_segments_are_read_through_the_faults_too() -> None:
    log, faults = faulty_log(segment_bytes=SIZE)
    append(log, batch([VALUE]))
    assert len(log.segments) == 2
    read_all(log)
    failing = faults.add(FailingRead(path="*/00000000000000000000.log"))
    assert log.read(0, 1 << 20).error is REFUSED
    assert not log.read(1, 1 << 20).error
    failing.remove()
    assert len(read_all(log)) == 2


@pytest.mark.parametrize("fault", [DiskFull(), ReadOnlyDisk()])
def test_a_segment_is_not_rolled_on_a_disk_that_refuses(fault: DiskFault) -> None:
    log, faults = faulty_log(segment_bytes=SIZE)
    loaded = faults.add(fault)
    refusal(log)
    assert len(log.segments) == 1
    loaded.remove()
    append(log, batch([VALUE]))
    assert len(log.segments) == 2


def test_index_entries_in_memory_survive_that_files_are_opened_again() -> None:
    log, faults = faulty_log(index_interval_bytes=1)
    for _ in range(5):
        append(log, batch([VALUE]))
    count = log.segments.active.offsets.count
    assert count > 2
    faults.add(DiskFull()).remove()
    assert log.segments.active.offsets.count == count


def test_faults_are_read_by_their_type() -> None:
    for text, fault in (
        ('{"type": "disk-full", "after_bytes": 9}', DiskFull(after_bytes=9)),
        ('{"type": "disk-slow", "sync_ms": 5}', SlowDisk(sync_ms=5)),
        ('{"type": "disk-failing-sync", "topic": "t"}', FailingSync(topic="t")),
        ('{"type": "disk-failing-read", "path": "*.log"}', FailingRead(path="*.log")),
        ('{"type": "disk-torn-write", "crash": true}', TornWrite(crash=True)),
        ('{"type": "disk-flipped-bit", "topic": "t", "position": 7}',
         FlippedBit(topic="t", position=7)),
        ('{"type": "disk-read-only"}', ReadOnlyDisk()),
    ):  # fmt: skip
        assert msgspec.json.decode(text, type=AnyDiskFault) == fault
        assert msgspec.json.decode(msgspec.json.encode(fault), type=AnyDiskFault) == fault


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"type": "disk-full", "partition": 1}', "needs a topic"),
        ('{"type": "disk-full", "topic": "t", "path": "t-0/*"}', "not both"),
        ('{"type": "disk-flipped-bit", "position": 1}', "needs a topic or a path"),
        ('{"type": "disk-full", "after": 1}', "unknown field"),
        ('{"type": "disk-slow", "sync_ms": 0}', ">= 1"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(text: str, told: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=told):
        msgspec.json.decode(text, type=AnyDiskFault)
