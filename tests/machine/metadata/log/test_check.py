"""A damaged metadata log is refused and left alone, unless only its end is torn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fencepost_broker.metadata.log.check import METADATA_TOPIC_ID, check_metadata_log
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.log import CorruptFileError, LogEvent
from fencepost_broker.storage.log.checkpoints import (
    format_offsets,
    format_partition_metadata,
    parse_offsets,
)
from fencepost_protocol.records.writer import build_batch

FOLDER = "__cluster_metadata-0"
MARK = ".kafka_cleanshutdown"
BATCHES = 10


def batch(offset: int) -> bytes:
    return bytes(build_batch(None, [b"record %02d" % offset] * 2, 0, base_offset=offset))


def log(first: int, count: int) -> bytes:
    return b"".join(batch(first + 2 * number) for number in range(count))


def path(base_offset: int) -> str:
    return f"{FOLDER}/{base_offset:020d}.log"


def directory(*, clean: bool) -> MemoryDisk:
    """Two segments of ten batches, and a topic."""
    disk = MemoryDisk()
    disk.make_folder(FOLDER)
    disk.make_folder("orders-0")
    metadata = format_partition_metadata(METADATA_TOPIC_ID)
    disk.write(f"{FOLDER}/partition.metadata", metadata, durable=True)
    disk.write(path(0), log(0, BATCHES), durable=True)
    disk.write(path(20), log(20, BATCHES), durable=True)
    end = 40 if clean else 20
    points = format_offsets({("__cluster_metadata", 0): end, ("orders", 0): 0})
    disk.write("recovery-point-offset-checkpoint", points, durable=True)
    if clean:
        disk.write(MARK, b"{}", durable=True)
    return disk


def contents(disk: MemoryDisk) -> dict[str, bytes | None]:
    files = {each.name: disk.read(each.name) for each in disk.list_folder("") if not each.is_folder}
    for folder in (each.name for each in disk.list_folder("") if each.is_folder):
        for each in disk.list_folder(folder):
            files[f"{folder}/{each.name}"] = disk.read(f"{folder}/{each.name}")
    return files


def change(disk: MemoryDisk, name: str, change_it: Callable[[bytes], bytes]) -> None:
    data = disk.read(name)
    assert data is not None
    disk.write(name, change_it(bytes(data)), durable=True)


def check(disk: MemoryDisk, *, recover: bool = False, is_copy: bool = False) -> list[LogEvent]:
    return check_metadata_log(disk, recover=recover, is_copy=is_copy)


def refused(disk: MemoryDisk, text: str) -> None:
    before = contents(disk)
    for _ in range(2):
        with pytest.raises(CorruptFileError, match=text):
            check(disk)
    assert contents(disk) == before


@pytest.mark.parametrize("clean", [True, False])
def test_a_whole_log_is_not_touched(clean: bool) -> None:
    disk = directory(clean=clean)
    before = contents(disk)
    for recover in (False, True):
        assert check(disk, recover=recover) == []
    assert contents(disk) == before


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("position", range(0, len(log(0, BATCHES)), 7))
def test_a_wrong_bit_before_the_last_batch_is_refused_with_file_and_offset(
    clean: bool, position: int
) -> None:
    disk = directory(clean=clean)
    number = position // len(batch(0))

    def flip(data: bytes) -> bytes:
        return data[:position] + bytes([data[position] ^ 0x10]) + data[position + 1 :]

    change(disk, path(0), flip)
    if position % len(batch(0)) in range(12, 16):
        return  # the leader's epoch is not covered by the CRC, and says nothing here
    refused(disk, rf"{path(0)}: .* at byte {number * len(batch(0))} \(offset {2 * number}\)")


@pytest.mark.parametrize("kept", range(len(log(0, BATCHES)) - len(batch(0)), len(log(0, BATCHES))))
def test_a_torn_tail_is_cut_after_a_kill_and_refused_after_a_clean_stop(kept: int) -> None:
    killed = directory(clean=False)
    change(killed, path(20), lambda data: data[:kept])
    before = contents(killed)
    assert check(killed) == []
    assert contents(killed) == before  # opening the log cuts it, and tells so
    stopped = directory(clean=True)
    change(stopped, path(20), lambda data: data[:kept])
    refused(stopped, path(20) if kept % len(batch(0)) else "it ends at offset 38")


def test_damage_before_a_whole_batch_is_no_torn_tail() -> None:
    disk = directory(clean=False)
    size = len(batch(20))
    change(disk, path(20), lambda data: data[:size] + bytes(30) + data[size + 30 :])
    refused(disk, rf"{path(20)}: .* at byte {size} \(offset 22\)")


def test_a_lost_part_that_was_durable_is_refused_after_a_kill() -> None:
    disk = directory(clean=False)
    change(disk, path(0), lambda data: data[:-10])
    disk.remove(path(20))
    refused(disk, "it ends at offset 18, and had been written up to 20")


def test_a_missing_segment_is_refused() -> None:
    disk = directory(clean=False)
    disk.remove(path(0))
    refused(disk, "it begins at offset 20, and no whole snapshot leads there")
    disk = directory(clean=True)
    change(disk, path(0), lambda data: data[: len(batch(0))])
    refused(disk, r"the offsets 2 to 19 are missing at byte 0")


@pytest.mark.parametrize("clean", [True, False])
def test_no_metadata_for_the_topics_of_a_directory_is_refused(clean: bool) -> None:
    disk = directory(clean=clean)
    disk.remove_folder(FOLDER)
    refused(disk, "the metadata log is missing, but there are logs of 1 partition")
    disk = directory(clean=False)
    disk.remove(path(20))
    disk.write(path(0), b"", durable=True)
    refused(disk, "has no record that can be read, but there are logs of 1 partition")


def test_a_new_directory_has_no_metadata_log_yet() -> None:
    assert check(MemoryDisk()) == []


def test_recovery_keeps_the_damaged_files_and_what_was_before() -> None:
    disk = directory(clean=True)
    size = len(batch(0))
    before = contents(disk)
    change(disk, path(0), lambda data: data[: 3 * size] + b"x" * 100 + data[3 * size + 100 :])
    damaged = disk.read(path(0))
    (event,) = check(disk, recover=True)
    assert "offset 6" in event.text
    assert ".log.damaged" in event.text
    assert disk.read(path(0)) == log(0, 3)
    assert disk.read(path(0) + ".damaged") == damaged
    assert disk.read(path(20) + ".damaged") == before[path(20)]
    assert not disk.exists(path(20))
    assert check(disk) == []


def test_recovery_without_any_beginning_starts_anew_and_keeps_the_folder() -> None:
    disk = directory(clean=False)
    disk.remove(path(0))
    (event,) = check(disk, recover=True)
    assert "All metadata is lost" in event.text
    assert not disk.exists(FOLDER)
    (folder,) = (each.name for each in disk.list_folder("") if each.name.endswith("-stray"))
    assert disk.read(f"{folder}/{20:020d}.log") == log(20, BATCHES)


def test_recovery_of_a_wrong_id_keeps_the_log() -> None:
    disk = directory(clean=True)
    disk.write(f"{FOLDER}/partition.metadata", b"version: 0\ntopic_id: ????", durable=True)
    refused(disk, "partition.metadata: it has no topic id")
    (event,) = check(disk, recover=True)
    assert "partition.metadata.damaged" in event.text
    assert disk.read(path(20)) == log(20, BATCHES)


def test_a_copy_without_any_record_is_fetched_again_and_the_partitions_stay() -> None:
    disk = directory(clean=False)
    disk.write("orders-0/00000000000000000000.log", b"records", durable=True)
    disk.remove(path(20))
    disk.write(path(0), b"", durable=True)
    (event,) = check(disk, is_copy=True)
    assert "All metadata is fetched from the controller again" in event.text
    assert not disk.exists(FOLDER)
    assert disk.read("orders-0/00000000000000000000.log") == b"records"
    points = parse_offsets(disk.read("recovery-point-offset-checkpoint") or b"", "")
    assert [str(each) for each in points] == ["orders-0"]
    disk.make_folder(FOLDER)  # the log is made anew
    (event,) = check(disk, is_copy=True)  # it was stopped before it had fetched anything
    assert "is missing" in event.text


def test_of_copies_without_any_record_only_the_last_is_kept() -> None:
    disk = directory(clean=False)
    disk.remove(path(20))
    for number in range(3):
        disk.write(path(0), b"", durable=True)
        disk.write(f"{FOLDER}/{number}", b"", durable=True)
        check(disk, is_copy=True)
        (folder,) = (each.name for each in disk.list_folder("") if each.name.endswith("-stray"))
        assert disk.exists(f"{folder}/{number}")
        disk.make_folder(FOLDER)


def test_a_damaged_copy_keeps_what_was_before_and_the_rest_is_fetched_again() -> None:
    disk = directory(clean=True)
    change(disk, path(20), lambda data: data[: len(batch(0))] + bytes(len(data) - len(batch(0))))
    (event,) = check(disk, is_copy=True)
    assert "Metadata from offset 22 on is fetched from the controller again" in event.text
    assert disk.read(path(20)) == batch(20)
    assert check(disk, is_copy=True) == []
