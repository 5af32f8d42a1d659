"""What tests of the log share: making batches, reading them back, and disks that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fencepost_broker.storage.disk.faults import DiskFault, Operation
from fencepost_broker.storage.disk.faulty import DiskFaults, FaultyDisk
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget, SpillFile
from fencepost_broker.storage.log import (
    AppendResult,
    Disk,
    LoadOptions,
    LogConfig,
    PartitionLog,
    UpperBound,
    load_partition,
)
from fencepost_protocol.records.batch import BatchHeader, split_batches
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

FOLDER = "orders-0"
NOW = 1_000_000


def memory_disk(limit: int = 1 << 30) -> MemoryDisk:
    """An ephemeral disk with the folder of one partition."""
    disk = MemoryDisk(MemoryBudget(limit, SpillFile()))
    disk.make_folder(FOLDER)
    return disk


def open_log(disk: Disk | None = None, now: int = NOW, **settings: Any) -> PartitionLog:
    """A log on a new disk, or the one on this disk after a clean stop."""
    config = LogConfig(**settings)
    return load_partition(memory_disk() if disk is None else disk, FOLDER, config, now)


def reopen(
    log: PartitionLog, now: int = NOW, *, clean: bool = True, recovery_point: int | None = None
) -> PartitionLog:
    """The log again, as the next process finds it."""
    if clean:
        log.close()
    options = LoadOptions(
        clean_stop=clean,
        log_start_offset=log.log_start_offset,
        recovery_point=log.recovery_point if recovery_point is None else recovery_point,
        cleaned_up_to=log.cleaned_up_to,
    )
    return load_partition(log.disk, log.folder, log.config, now, options)


def batch(
    values: list[bytes | None] | int = 1,
    *,
    keys: list[bytes | None] | None = None,
    time: int | list[int] = NOW,
    **options: Any,
) -> memoryview:
    """A batch of these values, or of so many, in a buffer that an append may write to."""
    if isinstance(values, int):
        values = [b"value"] * values
    return memoryview(build_batch(keys, values, time, **options))


def of_producer(
    sequence: int,
    count: int = 1,
    *,
    producer: int = 7,
    epoch: int = 0,
    txn: bool = False,
    **more: Any,
) -> memoryview:
    """A batch of an idempotent or transactional producer."""
    return batch(
        count,
        producer_id=producer,
        producer_epoch=epoch,
        base_sequence=sequence,
        transactional=txn,
        **more,
    )


def append(
    log: PartitionLog, records: memoryview, *, epoch: int = 0, now: int = NOW
) -> AppendResult:
    """Append what must not be refused."""
    result = log.append_as_leader(records, epoch, now)
    assert not result.error, result
    return result


def fill(
    log: PartitionLog, count: int, *, size: int = 100, start: int = NOW, step: int = 1
) -> None:
    """Append so many batches of one record each, with rising times."""
    for number in range(count):
        time = start + number * step
        append(log, batch([b"v" * size], time=time), now=time)


def flush(log: PartitionLog) -> None:
    """Make durable all that is in the log."""
    task = log.begin_flush()
    task.run()
    log.flushed(task, NOW)


def read_all(
    log: PartitionLog,
    offset: int | None = None,
    bound: UpperBound = UpperBound.LOG_END,
    max_bytes: int = 1 << 20,
) -> list[tuple[BatchHeader, bytes]]:
    """All batches as a consumer gets at them, fetch by fetch."""
    position = log.log_start_offset if offset is None else offset
    found = []
    while True:
        result = log.read(position, max_bytes, bound, min_one_batch=True)
        assert not result.error, result
        assert result.pieces is not None
        data = b"".join(result.pieces)
        assert len(data) == result.size
        before = position
        for header, view in split_batches(data, tolerate_partial=True):
            if header.next_offset <= position:
                continue
            found.append((header, bytes(view)))
            position = header.next_offset
        if position == before:
            return found


def offsets_and_values(log: PartitionLog, **where: Any) -> list[tuple[int, bytes | None]]:
    """The records of all batches but control ones."""
    return [
        (record.offset, None if record.value is None else bytes(record.value))
        for header, data in read_all(log, **where)
        if not header.is_control
        for record in iter_records(data)
    ]


def keys_and_values(log: PartitionLog) -> list[tuple[int, bytes | None, bytes | None]]:
    """Offset, key and value of all records but control ones."""
    return [
        (
            record.offset,
            None if record.key is None else bytes(record.key),
            None if record.value is None else bytes(record.value),
        )
        for header, data in read_all(log)
        if not header.is_control
        for record in iter_records(data)
    ]


def base_offsets(log: PartitionLog) -> list[int]:
    """Where the log's segments begin."""
    return [segment.base_offset for segment in log.segments]


def kinds(log: PartitionLog) -> list[str]:
    """What the log has to tell."""
    return [event.kind for event in log.take_events()]


# --- disks that fail ----------------------------------------------------------------------------


@dataclass
class Faults:
    """Which operation of a disk fails, and how."""

    countdown: int | None = None
    """So many operations from now one fails; ``None`` lets all succeed."""
    lasting: bool = False
    """All later ones fail as well, as on a disk that is full."""
    torn_bytes: int = 0
    """A write that fails leaves so many of its bytes behind."""
    only: frozenset[str] = frozenset()
    """Only operations of these names count; all of them, if it is empty."""
    below: tuple[str, ...] = ("",)
    """Only paths count that begin with one of these."""
    failed: int = 0
    seen: int = 0
    """How many operations there were, of any kind."""

    def check(self, operation: str, path: str) -> bool:
        """Whether this operation fails."""
        self.seen += 1
        if self.countdown is None or (self.only and operation not in self.only):
            return False
        if not path.startswith(self.below):
            return False
        if self.countdown > 0:
            self.countdown -= 1
            return False
        if not self.lasting:
            self.countdown = None
        self.failed += 1
        return True


class _AnyFault(DiskFault, kw_only=True, frozen=True, tag="any"):
    """A fault of any operation, which a test moves while it runs."""

    faults: Faults

    reason: ClassVar[str] = "no space left"
    no_space: ClassVar[bool] = True

    def concerns(self, operation: Operation, path: str, start: int = 0, length: int = 0) -> bool:
        return self.faults.check(operation, path)

    def kept(self, size: int, written: int) -> int | None:
        return min(size, self.faults.torn_bytes)


def faulty_disk(disk: Disk, faults: Faults) -> FaultyDisk:
    """A disk that fails as these faults say."""
    loaded = DiskFaults()
    loaded.add(_AnyFault(faults=faults))
    return FaultyDisk(disk, loaded)


def every_file(disk: Disk, folder: str = FOLDER) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files in a folder, in order."""
    for name, _, is_folder in sorted(disk.list_folder(folder)):
        if not is_folder:
            yield name, disk.read(f"{folder}/{name}") or b""


@dataclass
class Hands:
    """The worker, and the loop that calls back later."""

    runs: bool = False
    at_once: int = 1
    soon: list[Callable[[], None]] = field(default_factory=list)
    given: list[tuple[Callable[[], None], Callable[[], None]]] = field(default_factory=list)

    def now_ms(self) -> int:
        return NOW

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Hands:
        assert delay_ms == 0
        self.soon.append(call)
        return self

    def cancel(self) -> None:
        raise AssertionError

    def turn(self) -> None:
        """The loop goes round."""
        soon, self.soon = self.soon, []
        for call in soon:
            call()

    def run(self, work: Callable[[], None], done: Callable[[], None]) -> None:
        self.given.append((work, done))

    async def close(self) -> None:
        """Nothing to wait for."""

    def work(self) -> None:
        """Do one piece of work."""
        work, done = self.given.pop(0)
        work()
        done()
