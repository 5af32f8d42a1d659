"""Reading: ranges, bounds, sizes, and views that stay as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker.cli.machine import is_compiled
from fencepost_broker.storage.disk.files import HAS_POSITIONAL, FileDisk
from fencepost_broker.storage.log import Disk, PartitionLog, UpperBound
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import read_header

from tests.machine.storage.harness import (
    FOLDER,
    NOW,
    append,
    batch,
    fill,
    memory_disk,
    open_log,
    read_all,
    reopen,
)


@pytest.fixture(params=["memory", "files", "files by seeking"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    if request.param == "memory":
        return memory_disk()
    positional = request.param == "files"
    if positional and not HAS_POSITIONAL:
        pytest.skip("Windows can only seek, as the other disk does")
    made = FileDisk(tmp_path, positional=positional)
    made.make_folder(FOLDER)
    return made


def test_an_empty_log() -> None:
    log = open_log()
    result = log.read(0, 1000)
    assert (result.error, result.size, result.pieces) == (ErrorCode.NONE, 0, [])
    for offset in (-1, 1):
        result = log.read(offset, 1000)
        assert result.error is ErrorCode.OFFSET_OUT_OF_RANGE
        assert result.pieces is None


def test_every_offset_of_every_segment_finds_its_batch(disk: Disk) -> None:
    log = open_log(disk, segment_bytes=2000, index_interval_bytes=300)
    sizes = [3, 1, 7, 2]
    for number in range(60):
        append(log, batch([b"x" * (number % 50)] * sizes[number % 4], time=NOW + number))
    assert len(log.segments) > 4
    for again in (log, reopen(log)):
        expected = read_all(again)
        assert sum(header.record_count for header, _ in expected) == log.log_end_offset
        for header, data in expected:
            for offset in range(header.base_offset, header.next_offset):
                result = again.read(offset, len(data))
                assert b"".join(result.pieces or []) == data


def test_max_bytes_cuts_within_a_batch() -> None:
    log = open_log()
    fill(log, 10)
    size = log.size_in_bytes // 10
    assert log.read(0, size * 2 + 5).size == size * 2 + 5
    assert log.read(0, 5).size == 5
    assert log.read(0, 0).size == 0


def test_min_one_batch_gives_the_first_batch_whole() -> None:
    log = open_log()
    append(log, batch([b"x" * 5000]))
    append(log, batch([b"y"]))
    result = log.read(0, 10, min_one_batch=True)
    assert result.size == len(batch([b"x" * 5000]))
    assert log.read(0, 0, min_one_batch=True).size == result.size


def test_a_read_goes_on_into_the_next_segments(disk: Disk) -> None:
    log = open_log(disk, segment_bytes=1000)
    fill(log, 30)
    assert len(log.segments) > 3
    result = log.read(0, 1 << 20)
    assert result.size == log.size_in_bytes
    assert len(result.pieces or []) == len(log.segments)


def test_bounds() -> None:
    log = open_log(segment_bytes=700)
    log.follows_log_end = False
    fill(log, 10)
    assert log.read(0, 1 << 20).size == 0
    assert log.read(0, 1 << 20, UpperBound.LOG_END).size == log.size_in_bytes
    for high_watermark in range(11):
        log.set_high_watermark(high_watermark)
        got = read_all(log, bound=UpperBound.HIGH_WATERMARK)
        assert [header.base_offset for header, _ in got] == list(range(high_watermark))
    assert log.read(11, 100, UpperBound.LOG_END).error is ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_result_says_where_the_log_stands() -> None:
    log = open_log()
    fill(log, 5)
    log.delete_records(2)
    result = log.read(3, 100)
    assert (result.log_start_offset, result.high_watermark, result.last_stable_offset) == (2, 5, 5)
    assert log.read(1, 100).error is ErrorCode.OFFSET_OUT_OF_RANGE
    assert log.read(1, 100).log_start_offset == 2


def test_views_stay_as_they_are(disk: Disk) -> None:
    """Whatever becomes of the log: appended to, rolled, cut, removed."""
    log = open_log(disk, segment_bytes=3000, file_delete_delay_ms=0)
    fill(log, 40)
    kept = [log.read(offset, 1 << 20) for offset in (0, 13, 30, 39)]
    copies = [b"".join(result.pieces or []) for result in kept]
    fill(log, 5)
    log.truncate_to(14, NOW)
    fill(log, 40, size=77)
    log.restart_at(1000, NOW)
    fill(log, 40, size=33)
    log.removals.remove_due(NOW)
    assert [b"".join(result.pieces or []) for result in kept] == copies


@pytest.mark.skipif(
    is_compiled("fencepost_broker.storage.log.segment"),
    reason="in a compiled build a segment cannot be without its index",
)
def test_a_reader_at_the_end_finds_its_place_without_the_index() -> None:
    log = open_log()
    fill(log, 3)
    assert log.read(3, 100).size == 0  # a long poll begins
    append(log, batch(1))
    log.segments.active.offsets = None  # type: ignore[assignment]
    result = log.read(3, 1000)
    assert read_header((result.pieces or [])[0]).base_offset == 3
    assert log.read(4, 100).size == 0


def test_the_bytes_that_wait_for_a_reader() -> None:
    log = open_log(segment_bytes=700)
    fill(log, 20)
    sizes = [len(data) for _, data in read_all(log)]
    for offset in range(21):
        assert log.bytes_available(offset, UpperBound.LOG_END) == sum(sizes[offset:])
    log.set_high_watermark(10)
    assert log.bytes_available(3, UpperBound.HIGH_WATERMARK) == sum(sizes[3:10])
    assert log.bytes_available(10, UpperBound.HIGH_WATERMARK) == 0
    assert log.bytes_available(99, UpperBound.LOG_END) == 0


def test_ten_thousand_partitions_need_few_open_files(tmp_path: Path) -> None:
    disk = FileDisk(tmp_path, open_files_max=8)
    logs: list[PartitionLog] = []
    for number in range(50):
        folder = f"t-{number}"
        disk.make_folder(folder)
        logs.append(PartitionLog(disk, folder, open_log().config, NOW))
    for turn in range(3):
        for log in logs:
            fill(log, 2, start=NOW + turn)
            assert disk.open_files <= 8
    for log in logs:
        assert len(read_all(log)) == 6
        assert disk.open_files <= 8
