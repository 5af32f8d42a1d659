"""Whatever a crash leaves of what was not synced: the log comes back as it once was.

A disk that forgets: of every file, what was synced is there after the crash, and of the rest a
beginning of any length. The log that comes back must be one that existed at some moment between
the last finished flush and the crash, in all that can be asked of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.log import (
    Disk,
    DiskFile,
    LoadOptions,
    LogConfig,
    PartitionLog,
    UpperBound,
    load_partition,
)
from fencepost_broker.storage.log.disk import Buffer, Sync
from fencepost_broker.storage.log.segment import Segment
from fencepost_protocol.records.batch import BatchHeader
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.machine.storage.harness import (
    FOLDER,
    NOW,
    append,
    batch,
    of_producer,
    open_log,
    read_all,
)

SETTINGS: dict[str, Any] = {
    "segment_bytes": 400,
    "index_interval_bytes": 100,
    "file_delete_delay_ms": 0,
    "retention_ms": -1,
    "transaction_partition_verification_enable": False,
}


class ForgetfulDisk(MemoryDisk):
    """A disk that knows how much of each file is durable."""

    def __init__(self) -> None:
        super().__init__()
        self.durable: dict[str, int] = {}
        self.make_folder(FOLDER)

    def open(self, path: str) -> Any:
        return ForgetfulFile(self, super().open(path), path)

    def rename(self, source: str, target: str) -> None:
        super().rename(source, target)
        self.durable[target] = self.durable.pop(source, 0)

    def remove(self, path: str) -> None:
        super().remove(path)
        self.durable.pop(path, None)

    def write(self, path: str, data: Buffer, *, durable: bool) -> None:
        super().write(path, data, durable=durable)
        # Put in place by a rename, which file systems order behind the data.
        self.durable[path] = len(data)

    def forget_all(self) -> None:
        for path in sorted(self._files):
            super().open(path).truncate(self.durable.get(path, 0))

    def crash(self, data: st.DataObject) -> None:
        for path in sorted(self._files):
            file = super().open(path)
            size = file.size()
            durable = min(self.durable.get(path, 0), size)
            if durable < size:
                file.truncate(data.draw(st.integers(durable, size), label=path))


class ForgetfulFile:
    """A file of it."""

    def __init__(self, disk: ForgetfulDisk, file: DiskFile, path: str) -> None:
        self._disk = disk
        self._file = file
        self._path = path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def truncate(self, size: int) -> None:
        self._file.truncate(size)
        durable = self._disk.durable
        durable[self._path] = min(durable.get(self._path, 0), size)

    def sync_later(self) -> Sync:
        size = self._file.size()

        def sync() -> None:
            durable = self._disk.durable
            durable[self._path] = max(durable.get(self._path, 0), size)

        return sync


@dataclass
class History:
    """What the log was after each append."""

    batches: list[bytes] = field(default_factory=list)
    durable_count: int = 0


def oracle(batches: list[bytes]) -> PartitionLog:
    """The log that has exactly these batches."""
    log = open_log(**(SETTINGS | {"segment_bytes": 1 << 20}))
    for data in batches:
        assert not log.append_as_follower(memoryview(data), 99, NOW).error
    return log


def answers(log: PartitionLog) -> dict[str, object]:
    return {
        "end": (log.last_stable_offset, log.high_watermark, log.log_end_offset),
        "batches": read_all(log),
        "producers": sorted(log.describe_producers()),
        "epochs": log.epochs.entries(),
        "aborted": sorted(log.read(0, 1 << 20, UpperBound.LAST_STABLE).aborted or []),
        "largest": log.offset_of_max_timestamp(),
        "times": [log.offset_for_timestamp(NOW + shift) for shift in range(-12, 13, 4)],
        "each": [_header_at(log, offset) for offset in range(log.log_end_offset)],
    }


def _header_at(log: PartitionLog, offset: int) -> BatchHeader:
    return read_all(log, offset)[0][0]


def step(log: PartitionLog, history: History, kind: str, number: int, epoch: int) -> None:
    """One append of a kind."""
    time = NOW + (number * 7) % 23 - 11
    before = log.log_end_offset
    if kind == "plain":
        append(log, batch(1 + number % 3, time=time), epoch=epoch)
    elif kind == "marker":
        log.append_marker(
            8,
            0,
            committed=number % 2 == 0,
            coordinator_epoch=0,
            leader_epoch=epoch,
            now_ms=time,
            transaction_version=0,
        )
    else:
        producer = {"numbered": 7, "transactional": 8}[kind]
        known = log.producers.producers.get(producer)
        sequence = 0 if known is None else known.last_sequence + 1
        records = of_producer(sequence, 2, producer=producer, txn=producer == 8, time=time)
        append(log, records, epoch=epoch)
    found = [data for header, data in read_all(log, before) if header.base_offset >= before]
    history.batches += found


KINDS = st.sampled_from(["plain", "numbered", "transactional", "marker", "flush", "epoch"])


def test_a_segment_that_was_flushed_whole_before_it_was_rolled_keeps_its_indexes() -> None:
    for is_flushed_before_the_roll in (True, False):
        disk = ForgetfulDisk()
        log = load_partition(disk, FOLDER, LogConfig(**SETTINGS), NOW)
        history = History()
        for number, kind in enumerate(("plain", "plain", "transactional", "marker", "marker")):
            step(log, history, kind, number, 0)
        task = log.begin_flush()
        task.run()
        if is_flushed_before_the_roll:
            log.flushed(task, NOW)
        step(log, history, "plain", 6, 0)
        assert len(log.segments) == 2
        log.flushed(task, NOW)
        disk.forget_all()
        options = LoadOptions(clean_stop=False, recovery_point=log.recovery_point)
        again = load_partition(disk, FOLDER, log.config, NOW, options)
        assert answers(again) == answers(oracle(history.batches[: len(read_all(again))]))


@settings(max_examples=400, deadline=None)
@given(st.lists(KINDS, min_size=1, max_size=40), st.data())
def test_a_crash_leaves_a_log_that_was(kinds: list[str], data: st.DataObject) -> None:
    disk = ForgetfulDisk()
    log = load_partition(disk, FOLDER, LogConfig(**SETTINGS), NOW)
    history = History()
    epoch = 0
    recovery_point = 0
    for number, kind in enumerate(kinds):
        if kind == "flush":
            task = log.begin_flush()
            if number % 3:
                task.run()
                log.flushed(task, NOW)
                history.durable_count = len(history.batches)
                if number % 2:
                    recovery_point = log.recovery_point  # a checkpoint was written
        elif kind == "epoch":
            epoch += 1
        else:
            step(log, history, kind, number, epoch)
    disk.crash(data)
    options = LoadOptions(clean_stop=False, recovery_point=recovery_point)
    again = load_partition(disk, FOLDER, log.config, NOW, options)
    kept = len(read_all(again))
    assert kept >= history.durable_count
    assert answers(again) == answers(oracle(history.batches[:kept]))
    # It goes on as if nothing had been, and a clean stop keeps it so.
    step(again, history, "plain", 1, epoch + 1)
    expected = answers(again)
    again.close()
    assert answers(load_partition(disk, FOLDER, log.config, NOW)) == expected
    assert _no_leftovers(disk, again.segments)


def _no_leftovers(disk: Disk, segments: Iterable[Segment]) -> bool:
    """Every segment file belongs to a segment of the log."""
    bases = {f"{segment.base_offset:020d}" for segment in segments}
    return all(
        name[:20] in bases
        for name, _, _ in disk.list_folder(FOLDER)
        if name.endswith((".log", ".index", ".timeindex", ".txnindex"))
    )
