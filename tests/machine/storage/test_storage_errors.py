"""A disk that fails at any operation: nothing half done is seen, and the log goes on afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget
from fencepost_broker.storage.flush_scheduler import flush_here
from fencepost_broker.storage.log import LoadOptions, PartitionLog, StorageError, load_partition
from fencepost_protocol.errors import ErrorCode

from tests.machine.storage.harness import (
    FOLDER,
    NOW,
    Faults,
    append,
    batch,
    faulty_disk,
    kinds,
    memory_disk,
    of_producer,
    open_log,
    read_all,
    reopen,
)

SETTINGS: dict[str, Any] = {
    "segment_bytes": 500,
    "index_interval_bytes": 100,
    "transaction_partition_verification_enable": False,
}


def script(log: PartitionLog) -> list[bytes]:
    """Appends of all kinds; whatever is refused is tried again. Gives what was acknowledged."""
    acknowledged = []
    for number in range(14):
        for attempt in range(3):
            if number % 5 == 4:
                result = log.append_marker(
                    7,
                    0,
                    committed=number % 2 == 0,
                    coordinator_epoch=0,
                    leader_epoch=number // 4,
                    now_ms=NOW,
                    transaction_version=0,
                )
            else:
                sequence = number - number // 5
                records = of_producer(sequence, txn=True, time=NOW + number)
                result = log.append_as_leader(records, number // 4, NOW)
            assert result.error in (ErrorCode.NONE, ErrorCode.KAFKA_STORAGE_ERROR), result
            assert not result.duplicate, "what was refused is not in the log"
            check(log)
            if not result.error:
                acknowledged.append(number)
                break
            assert attempt < 2
    return [b"%d" % number for number in acknowledged]


def check(log: PartitionLog) -> None:
    batches = read_all(log)
    assert [header.base_offset for header, _ in batches] == list(range(log.log_end_offset))
    assert log.high_watermark == log.log_end_offset
    for _, data in batches:
        assert data


@pytest.mark.parametrize("torn_bytes", [0, 1, 61, 80])
def test_any_single_failure_is_survived(torn_bytes: int) -> None:
    unharmed = open_log(**SETTINGS)
    script(unharmed)
    expected = read_all(unharmed)
    number = 0
    writes = frozenset({"write", "replace", "truncate", "rename", "remove", "reserve"})
    while True:
        faults = Faults(countdown=None, torn_bytes=torn_bytes, only=writes)
        disk = faulty_disk(memory_disk(), faults)
        log = open_log(disk, **SETTINGS)
        faults.countdown = number
        assert len(script(log)) == 14
        hit = faults.failed
        faults.countdown = None
        assert read_all(log) == expected
        assert log.describe_producers() == unharmed.describe_producers()
        for clean in (True, False):
            log = reopen(log, clean=clean, recovery_point=0)
            assert read_all(log) == expected, (number, clean)
            assert log.describe_producers() == unharmed.describe_producers()
            assert [
                entry for segment in log.segments for entry in segment.transactions.entries()
            ] == [
                entry for segment in unharmed.segments for entry in segment.transactions.entries()
            ]
        if not hit:
            break
        number += 1
    assert number > 14


def test_a_crash_right_after_a_failed_write_leaves_no_trace_of_it() -> None:
    for torn_bytes in range(1, 117, 5):
        faults = Faults(torn_bytes=torn_bytes)
        log = open_log(faulty_disk(memory_disk(), faults), **SETTINGS)
        append(log, of_producer(0))
        faults.countdown = 0
        assert log.append_as_leader(of_producer(1, 5), 0, NOW).error
        again = reopen(log, clean=False)
        assert again.log_end_offset == 1
        append(again, of_producer(1))


def test_a_full_disk_is_told_and_the_log_recovers_when_there_is_room() -> None:
    budget = MemoryBudget(8192)
    disk = MemoryDisk(budget)
    disk.make_folder(FOLDER)
    log = open_log(disk, file_delete_delay_ms=0, segment_bytes=1000, retention_ms=1000)
    written = 0
    while True:
        result = log.append_as_leader(batch([b"x" * 300]), 0, NOW)
        if result.error:
            break
        written += 1
    assert result.error is ErrorCode.KAFKA_STORAGE_ERROR
    assert "memory budget" in (result.message or "")
    assert len(read_all(log)) == written == log.log_end_offset
    for _ in range(3):
        assert log.append_as_leader(batch([b"x" * 300]), 0, NOW).error
        flush_here(log, NOW)  # which says nothing about room
    assert kinds(log) == ["append-failed"], "once, not for every append"
    budget.limit_bytes *= 2
    assert append(log, batch([b"x" * 300])).base_offset == written
    assert kinds(log) == ["append-recovered"]
    log.close()
    again = load_partition(disk, FOLDER, log.config, NOW)
    assert len(read_all(again)) == written + 1


def test_reads_that_fail_say_so() -> None:
    faults = Faults()
    log = open_log(faulty_disk(memory_disk(), faults))
    append(log, batch(1))
    faults.countdown = 0
    result = log.read(0, 100)
    assert result.error is ErrorCode.KAFKA_STORAGE_ERROR
    assert (result.size, result.pieces) == (0, None)
    assert log.read(0, 100).size


def test_a_failure_while_opening_is_raised() -> None:
    faults = Faults()
    disk = faulty_disk(memory_disk(), faults)
    log = open_log(disk, **SETTINGS)
    script(log)
    log.close()
    number = 0
    while True:
        faults.countdown, faults.failed = number, 0
        try:
            again = load_partition(
                disk, FOLDER, log.config, NOW, LoadOptions(clean_stop=number % 2 == 0)
            )
        except StorageError:
            number += 1
            continue
        if not faults.failed:
            break
        number += 1
    faults.countdown = None
    assert read_all(again) == read_all(log)


def test_a_retention_that_cannot_rename_still_ends() -> None:
    faults = Faults(only=frozenset({"rename"}), lasting=True)
    log = open_log(faulty_disk(memory_disk(), faults), segment_bytes=300, file_delete_delay_ms=0)
    for number in range(6):
        append(log, of_producer(number))
    log.delete_records(4)
    faults.countdown = 0
    assert log.apply_retention(NOW) > 0
    assert "storage-error" in [event.kind for event in log.take_events()]
    faults.countdown = None
    log.removals.remove_due(NOW)
    assert reopen(log).log_end_offset == 6
