"""A data directory: partitions come and go, stops are clean or not, time is divided fairly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.log import (
    CorruptFileError,
    Disk,
    Identity,
    Intervals,
    LockedError,
    LogConfig,
    LogManager,
    StorageError,
)
from fencepost_broker.storage.log.disk import DirectoryLock
from fencepost_protocol.records.batch import renew_crc
from fencepost_protocol.records.compression import Compression

from tests.machine.storage.harness import (
    NOW,
    Faults,
    append,
    base_offsets,
    batch,
    faulty_disk,
    fill,
    of_producer,
    read_all,
)

IDENTITY = Identity(1, "cluster-id-of-22-chars", "AAAAAAAAAAAAAAAAAAAAAQ")
ID_A = bytes([1]) * 16
ID_B = bytes([2]) * 16


def open_manager(
    disk: Disk, config: LogConfig | None = None, now: int = NOW, **intervals: int
) -> LogManager:
    return LogManager.open(
        disk,
        IDENTITY,
        lambda topic: config or LogConfig(),
        now,
        Intervals(**intervals),  # type: ignore[arg-type]  # all but one are numbers
    )


def listing(disk: Disk, folder: str = "") -> list[str]:
    return sorted(entry.name for entry in disk.list_folder(folder))


@pytest.fixture(params=["memory", "files"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    return MemoryDisk() if request.param == "memory" else FileDisk(tmp_path)


def test_a_new_directory_gets_its_identity(disk: Disk) -> None:
    manager = open_manager(disk)
    assert disk.read("meta.properties") == (
        b"version=1\ncluster.id=cluster-id-of-22-chars\nnode.id=1\n"
        b"directory.id=AAAAAAAAAAAAAAAAAAAAAQ\n"
    )
    manager.close(NOW)
    again = LogManager.open(
        disk, IDENTITY._replace(directory_id="another"), lambda topic: LogConfig(), NOW
    )
    assert again.identity == IDENTITY
    assert again.was_clean


@pytest.mark.parametrize("change", [{"node_id": 2}, {"cluster_id": "another"}])
def test_somebody_elses_directory_is_refused(disk: Disk, change: dict[str, object]) -> None:
    open_manager(disk).close(NOW)
    other = IDENTITY._replace(**change)  # type: ignore[arg-type]
    with pytest.raises(CorruptFileError, match="belongs to"):
        LogManager.open(disk, other, lambda topic: LogConfig(), NOW)
    open_manager(disk)


def test_a_directory_is_locked() -> None:
    disk = MemoryDisk()
    manager = open_manager(disk)
    with pytest.raises(LockedError):
        open_manager(disk)
    manager.close(NOW)
    assert not manager.close(NOW), "once is enough"
    open_manager(disk)


def test_partitions_are_found_again(disk: Disk) -> None:
    manager = open_manager(disk)
    for number in range(3):
        log = manager.create("orders", number, ID_A, LogConfig(), NOW)
        fill(log, number)
    assert manager.create("orders", 1, ID_A, LogConfig(), NOW) is manager.get("orders", 1)
    assert manager.get("orders", 9) is None
    assert manager.close(NOW, broker_epoch=12)
    assert disk.read(".kafka_cleanshutdown") == b'{"version":0,"brokerEpoch":12}'
    again = open_manager(disk)
    assert (again.was_clean, again.previous_broker_epoch) == (True, 12)
    assert not disk.exists(".kafka_cleanshutdown")
    for number in range(3):
        log = again.logs["orders", number]
        assert (log.log_end_offset, log.topic_id) == (number, ID_A)
    assert again.take_events() == []


def test_after_a_crash_logs_are_recovered(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    locks = list[DirectoryLock]()
    take = disk.lock

    def lock(path: str) -> DirectoryLock:
        locks.append(take(path))
        return locks[-1]

    monkeypatch.setattr(disk, "lock", lock)
    manager = open_manager(disk)
    log = manager.create("orders", 0, ID_A, LogConfig(), NOW)
    fill(log, 5)
    locks[0].release()
    again = open_manager(disk)
    assert not again.was_clean
    assert again.logs["orders", 0].log_end_offset == 5
    assert [event.kind for event in again.take_events()] == ["recovered"]


def test_checkpoints(disk: Disk) -> None:
    manager = open_manager(disk)
    log = manager.create("orders", 0, ID_A, LogConfig(), NOW)
    manager.create("orders", 1, ID_A, LogConfig(), NOW)
    fill(log, 5)
    log.delete_records(2)
    log.cleaned_up_to = 3
    manager.write_checkpoints()
    assert disk.read("recovery-point-offset-checkpoint") == b"0\n2\norders 0 0\norders 1 0\n"
    assert disk.read("replication-offset-checkpoint") == b"0\n2\norders 0 5\norders 1 0\n"
    assert disk.read("log-start-offset-checkpoint") == b"0\n1\norders 0 2\n"
    assert disk.read("cleaner-offset-checkpoint") == b"0\n1\norders 0 3\n"
    manager.close(NOW)
    assert disk.read("recovery-point-offset-checkpoint") == b"0\n2\norders 0 5\norders 1 0\n"
    again = open_manager(disk)
    log = again.logs["orders", 0]
    assert (log.log_start_offset, log.recovery_point, log.cleaned_up_to) == (2, 5, 3)
    assert again.checkpointed_high_watermark("orders", 0) == 5


def test_a_damaged_checkpoint_is_told_and_not_used(disk: Disk) -> None:
    manager = open_manager(disk)
    fill(manager.create("orders", 0, ID_A, LogConfig(), NOW), 5)
    manager.close(NOW)
    disk.write("recovery-point-offset-checkpoint", b"nonsense", durable=False)
    again = open_manager(disk)
    assert again.logs["orders", 0].log_end_offset == 5
    assert [event.kind for event in again.take_events()] == ["checkpoint-ignored"]


def test_deleting_a_partition(disk: Disk) -> None:
    config = LogConfig(file_delete_delay_ms=1000)
    manager = open_manager(disk)
    log = manager.create("orders", 0, ID_A, config, NOW)
    fill(log, 3)
    kept = log.read(0, 1000)
    content = b"".join(kept.pieces or [])
    assert manager.delete("orders", 0, NOW)
    assert not manager.delete("orders", 0, NOW)
    assert manager.get("orders", 0) is None
    deleted = f"orders-0.{ID_A.hex()}-delete"
    assert deleted in listing(disk)
    assert "orders-0" not in listing(disk)
    new = manager.create("orders", 0, ID_B, config, NOW)
    assert new.log_end_offset == 0
    manager.maintain(NOW + 999)
    assert deleted in listing(disk)
    manager.maintain(NOW + 1000)
    assert deleted not in listing(disk)
    assert b"".join(kept.pieces or []) == content


def test_what_a_deletion_left_is_removed_at_the_next_start(disk: Disk) -> None:
    manager = open_manager(disk)
    fill(manager.create("orders", 0, ID_A, LogConfig(), NOW), 3)
    manager.delete("orders", 0, NOW)
    manager.close(NOW)
    again = open_manager(disk)
    assert not again.logs
    again.maintain(NOW)
    assert not [name for name in listing(disk) if name.endswith("-delete")]


def test_a_topic_of_the_same_name_does_not_get_old_records(disk: Disk) -> None:
    manager = open_manager(disk)
    fill(manager.create("orders", 0, ID_A, LogConfig(), NOW), 3)
    manager.close(NOW)
    again = open_manager(disk)
    log = again.create("orders", 0, ID_B, LogConfig(), NOW)
    assert (log.log_end_offset, log.topic_id) == (0, ID_B)


def test_settings_change_for_all_partitions(disk: Disk) -> None:
    manager = open_manager(disk)
    logs = [manager.create("orders", number, ID_A, LogConfig(), NOW) for number in range(2)]
    other = manager.create("other", 0, ID_B, LogConfig(), NOW)
    manager.configure("orders", LogConfig(max_message_bytes=100))
    for log in logs:
        assert log.append_as_leader(batch([b"x" * 100]), 0, NOW).error
    append(other, batch([b"x" * 100]))


def run(manager: LogManager, now: int) -> int:
    """Maintain until there is nothing more to do now."""
    for _ in range(10_000):
        due = manager.maintain(now)
        if due > now:
            return due
    raise AssertionError("it never ends")


def test_time_does_everything_in_its_turn() -> None:
    disk = MemoryDisk()
    manager = open_manager(disk)
    config = LogConfig(
        segment_bytes=400,
        retention_ms=3_600_000,
        file_delete_delay_ms=1000,
        producer_id_expiration_ms=1000,
    )
    log = manager.create("orders", 0, ID_A, config, NOW)
    for number in range(6):
        append(log, of_producer(number))
    fill(log, 6)
    assert run(manager, NOW) == NOW + 15_000, "compaction looks every 15 s"
    assert not disk.exists("recovery-point-offset-checkpoint")
    run(manager, NOW + 30_000)
    assert disk.exists("recovery-point-offset-checkpoint")
    assert log.describe_producers()
    run(manager, NOW + 600_000)
    assert not log.describe_producers()
    assert log.log_start_offset == 0
    late = NOW + 3_600_000 + 300_001
    run(manager, late)
    assert log.log_start_offset == 12
    assert listing(disk, "orders-0")
    assert run(manager, late + 1000) > late + 1000
    assert not [name for name in listing(disk, "orders-0") if name.endswith(".deleted")]
    assert [event.kind for event in manager.take_events()] == ["retention"]


def test_the_dirtiest_log_is_compacted_first() -> None:
    disk = MemoryDisk()
    manager = open_manager(disk)
    config = LogConfig(segment_bytes=600, compact=True, delete=False)
    order: list[str] = []
    for topic, clean in (("a", True), ("b", False), ("c", True)):
        log = manager.create(topic, 0, ID_A, config, NOW)
        for number in range(40):
            append(log, batch([b"x"], keys=[b"%d" % (number % 5)]))
        if clean:
            log.cleaned_up_to = base_offsets(log)[1]
    due = NOW + 30_000
    while due == NOW + 30_000:
        due = manager.maintain(due)
        order += [event.partition for event in manager.take_events()]
    assert order == ["b-0", "a-0", "c-0"]
    assert all(len(read_all(log)) < 40 for log in manager.logs.values())


def test_an_interval_that_is_set_later_counts_from_the_next_look_on() -> None:
    manager = open_manager(MemoryDisk(), log_cleaner_backoff=1000)
    assert run(manager, NOW + 1000) == NOW + 2000
    manager.intervals = Intervals(log_cleaner_backoff=7000)
    assert run(manager, NOW + 2000) == NOW + 9000


def test_a_log_with_records_that_cannot_be_read_is_left_alone_and_others_are_not() -> None:
    manager = open_manager(MemoryDisk())
    plain, compact = (
        LogConfig(segment_bytes=600, compact=each, walked_records_max=0) for each in (False, True)
    )
    for topic in ("a", "b"):
        log = manager.create(topic, 0, ID_A, plain, NOW)
        if topic == "a":
            # The header is right, the CRC too: that is all that this append looks at.
            records = batch([b"x" * 40], codec=Compression.ZSTD)
            records[61:] = b"\x55" * (len(records) - 61)
            renew_crc(records)
            append(log, records)
        for number in range(40):
            append(log, batch([b"x"], keys=[b"%d" % (number % 5)]))
        log.configure(compact)
    due = NOW + 30_000
    told = []
    for _ in range(10):
        while (again := manager.maintain(due)) == due:
            told += [(event.kind, event.partition) for event in manager.take_events()]
        due = again
    assert told.count(("compaction-failed", "a-0")) == 1, "once, and not every 15 seconds"
    assert len(read_all(manager.logs["a", 0])) == 41
    assert len(read_all(manager.logs["b", 0])) < 40


def test_a_pass_over_many_partitions_is_divided() -> None:
    disk = MemoryDisk()
    manager = open_manager(disk)
    for number in range(300):
        manager.create("orders", number, ID_A, LogConfig(), NOW)
    at_once = 0
    while manager.maintain(NOW + 30_000) == NOW + 30_000:
        at_once += 1
    assert at_once >= 3


def test_a_stop_with_a_broken_disk_is_not_clean() -> None:
    faults = Faults(lasting=True, only=frozenset({"write", "replace"}))
    disk = faulty_disk(MemoryDisk(), faults)
    manager = open_manager(disk)
    log = manager.create("orders", 0, ID_A, LogConfig(), NOW)
    fill(log, 3)
    faults.countdown = 0
    assert not manager.close(NOW)
    assert "storage-error" in [event.kind for event in manager.take_events()]
    faults.countdown = None
    again = open_manager(disk)
    assert not again.was_clean
    assert again.logs["orders", 0].log_end_offset == 3


def test_a_failed_creation_leaves_nothing_registered() -> None:
    faults = Faults(only=frozenset({"replace"}))
    disk = faulty_disk(MemoryDisk(), faults)
    manager = open_manager(disk)
    faults.countdown = 0
    with pytest.raises(StorageError):
        manager.create("orders", 0, ID_A, LogConfig(), NOW)
    assert manager.get("orders", 0) is None
    assert manager.create("orders", 0, ID_A, LogConfig(), NOW).log_end_offset == 0


def test_files_that_are_no_partitions_are_left_alone(disk: Disk) -> None:
    disk.make_folder("lost+found")
    disk.make_folder("orders-x")
    disk.write("notes.txt", b"x", durable=False)
    manager = open_manager(disk)
    assert not manager.logs
    manager.close(NOW)
    assert {"lost+found", "orders-x", "notes.txt"} <= set(listing(disk))


def test_topics_may_be_skipped(disk: Disk) -> None:
    manager = open_manager(disk)
    manager.create("__cluster_metadata", 0, ID_A, LogConfig(), NOW)
    manager.close(NOW)
    again = LogManager.open(
        disk, IDENTITY, lambda topic: LogConfig(), NOW, skip=frozenset({"__cluster_metadata"})
    )
    assert not again.logs


def test_logs_that_want_a_flush() -> None:
    manager = open_manager(MemoryDisk())
    log = manager.create("orders", 0, ID_A, LogConfig(flush_ms=100), NOW)
    manager.create("orders", 1, ID_A, LogConfig(flush_ms=100), NOW)
    fill(log, 1)
    assert manager.logs_to_flush(NOW + 99) == []
    assert manager.logs_to_flush(NOW + 100) == [log]


@pytest.mark.parametrize(
    "interval", ["log_retention_check_interval", "log_cleaner_backoff", "checkpoint"]
)
def test_what_is_to_be_done_often_does_not_wait_for_the_first_time(interval: str) -> None:
    """Kafka's first look is after 30 s, whatever the settings say."""
    intervals: dict[str, Any] = {interval: 100}
    manager = open_manager(MemoryDisk(), **intervals)
    assert manager.maintain(NOW) == NOW + 100
    assert open_manager(MemoryDisk(), checkpoint=1 << 40).maintain(NOW) == NOW + 15_000


@pytest.mark.parametrize("by_ms", [-1_000_000, 1_000_000])
def test_a_clock_that_is_set_leaves_the_times_between_two_looks(by_ms: int) -> None:
    disk = MemoryDisk()
    config = LogConfig(segment_bytes=200, file_delete_delay_ms=300, retention_bytes=0)
    manager = open_manager(disk, config, log_initial_task_delay=0, log_retention_check_interval=500)
    fill(manager.create("a", 0, ID_A, config, NOW), 3)
    while manager.maintain(NOW) <= NOW:
        pass
    assert any(name.endswith(".deleted") for name in listing(disk, "a-0"))
    now = NOW + by_ms
    manager.jumped(by_ms)
    due_ms = manager.maintain(now)
    assert due_ms == now + 300, "the removal of files"
    while manager.maintain(due_ms) <= due_ms:
        pass
    assert not any(name.endswith(".deleted") for name in listing(disk, "a-0"))
    assert manager.maintain(due_ms) == now + 500, "the next look at retention"
