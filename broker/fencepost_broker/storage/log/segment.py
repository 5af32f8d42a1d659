"""One segment: a file of record batches and its three indexes.

Only the last segment of a partition, the active one, is written. While it is preallocated its file
is longer than ``size``, and no reader looks past that. A write that failed may have left some of
its bytes there: they are cut off at once, and if that fails, before anything else is written.
Everything here may raise ``StorageError``, and then nothing has changed.

How a position is found for an offset, cheapest first: a reader that has read to the end of the
segment comes back with the offset that followed, so the last few ends are remembered with their
positions; else the offset index gives a batch at or before it, and the headers from there on are
walked.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from typing import Final

from fencepost_protocol.records.batch import (
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    MIN_BATCH_LENGTH,
    NO_TIMESTAMP,
    BatchHeader,
    RawHeader,
)

from fencepost_broker.storage.log.disk import (
    Buffer,
    CorruptFileError,
    Disk,
    DiskFile,
    StorageError,
    Sync,
)
from fencepost_broker.storage.log.indexes import OffsetIndex, TimeIndex, TransactionIndex
from fencepost_broker.storage.log.names import (
    LOG,
    OFFSET_INDEX,
    SEGMENT_SUFFIXES,
    TIME_INDEX,
    TRANSACTION_INDEX,
    file_name,
)

_unpack_header = HEADER.unpack_from
_unpack_extent = struct.Struct(">qi11xi").unpack_from
"""Base offset, length and last offset delta: all that walking needs."""
_EXTENT_SIZE: Final = 27

_MAX_RELATIVE_OFFSET: Final = 0x7FFF_FFFF
_REMEMBERED_ENDS_MAX: Final = 8
_SCAN_BLOCK: Final = 256 * 1024
NEVER: Final = (1 << 63) - 1
UNTIMED: Final = -(1 << 64)
"""The ``roll_base`` of a segment that has no first timestamp: older than any ``segment.ms``, so
that each append looks whether it is to be rolled."""
UNKNOWN: Final = -2
"""A largest timestamp that has not been looked up yet."""


class Segment:
    """A segment of a partition's log."""

    __slots__ = (
        "_disk",
        "_ends",
        "_folder",
        "_max_timestamp",
        "_offset_of_max",
        "appended_ms",
        "base_offset",
        "created_ms",
        "file",
        "first_timestamp",
        "index_gap",
        "index_is_full",
        "index_size_max",
        "is_torn",
        "last_offset_max",
        "offsets",
        "roll_base",
        "roll_jitter_ms",
        "size",
        "state",
        "times",
        "transactions",
    )

    def __init__(
        self,
        disk: Disk,
        folder: str,
        base_offset: int,
        now_ms: int,
        index_size_max: int,
        *,
        sizes: dict[str, int] | None = None,
        state: str = "",
    ) -> None:
        """``sizes`` tells how large the files are that exist, by suffix."""
        sizes = sizes or {}
        self._disk = disk
        self._folder = folder
        self.base_offset = base_offset
        self.last_offset_max = base_offset + _MAX_RELATIVE_OFFSET
        """Later offsets cannot be told apart by 32 bits from the segment's first."""
        self.state = state
        """What its file names end with: "", or .cleaned while compaction writes it."""
        self.file: DiskFile | None = None
        self.is_torn = False
        """A write failed, and what it may have left after ``size`` is not cut off yet."""
        self.size = sizes.get(LOG, 0)
        self.offsets = OffsetIndex(
            disk, self.path(OFFSET_INDEX), base_offset, sizes.get(OFFSET_INDEX)
        )
        self.times = TimeIndex(disk, self.path(TIME_INDEX), base_offset, sizes.get(TIME_INDEX))
        self.transactions = TransactionIndex(
            disk, self.path(TRANSACTION_INDEX), sizes.get(TRANSACTION_INDEX)
        )
        self.index_gap = 0
        """Bytes since the last entry of the offset index."""
        self.index_size_max = index_size_max
        self.index_is_full = False
        self.roll_base = UNTIMED
        """What ``segment.ms`` counts from: the first batch's timestamp, less the jitter."""
        self.roll_jitter_ms = 0
        self.created_ms = now_ms
        self.appended_ms = now_ms
        """Of the last append, or of the start of this broker."""
        self.first_timestamp: int | None = None
        """The largest timestamp of the first batch; ``None`` when it has not been looked up."""
        self._max_timestamp = UNKNOWN if self.size else NO_TIMESTAMP
        self._offset_of_max = base_offset
        self._ends: dict[int, int] | None = None

    def path(self, suffix: str) -> str:
        """Name one of the segment's files."""
        return f"{self._folder}/{file_name(self.base_offset, suffix, self.state)}"

    def open(self) -> DiskFile:
        """Give the file of batches."""
        file = self.file
        if file is None:
            file = self.file = self._disk.open(self.path(LOG))
        return file

    # --- writing ------------------------------------------------------------------------------

    def can_hold(self, offset: int) -> bool:
        """Whether the segment can have this offset."""
        return self.base_offset <= offset <= self.last_offset_max

    def note_batch(
        self,
        last_offset: int,
        position: int,
        size: int,
        max_timestamp: int,
        index_interval: int,
    ) -> None:
        """Count a batch that has just been written at the segment's end."""
        self.size = position + size
        if not position:
            self.first_timestamp = max_timestamp
            self.roll_base = max_timestamp - self.roll_jitter_ms if max_timestamp >= 0 else UNTIMED
        largest = self._max_timestamp
        if max_timestamp > largest and (largest != UNKNOWN or max_timestamp > self.max_timestamp):
            self._max_timestamp = max_timestamp
            self._offset_of_max = last_offset
        if self.index_gap > index_interval:
            self.offsets.append(last_offset, position)
            if self._max_timestamp >= 0:
                self.times.append(self._max_timestamp, self._offset_of_max)
            self.index_gap = size
            room = self.index_size_max
            self.index_is_full = self.offsets.size + 8 > room or self.times.size + 24 > room
        else:
            self.index_gap += size

    def put(self, data: Buffer) -> None:
        """Write at the end; ``note_batch`` counts it. A write that fails leaves nothing there."""
        if self.is_torn:
            self.cut_torn()
        file = self.file
        try:
            (self.open() if file is None else file).pwrite(self.size, data)
        except StorageError:
            self.is_torn = True
            with contextlib.suppress(StorageError):
                self.cut_torn()  # if this fails too, the next write or roll tries it again
            raise

    def cut_torn(self) -> None:
        """Cut off what a failed write left, if that is still to be done."""
        if self.is_torn:
            self.open().truncate(self.size)
            self.is_torn = False

    def write(
        self,
        data: Buffer,
        batches: list[tuple[int, int, int]],
        index_interval: int,
    ) -> None:
        """Append batches in one write; of each its last offset, size and largest timestamp."""
        position = self.size
        self.put(data)
        for last_offset, size, max_timestamp in batches:
            self.note_batch(last_offset, position, size, max_timestamp, index_interval)
            position += size

    def index_syncs(self) -> list[Sync]:
        """Say what makes the indexes durable, once they are written out."""
        indexes = (self.offsets, self.times, self.transactions)
        return [index.open().sync_later() for index in indexes if index.count]

    def write_out_indexes(self, *, final: bool = False) -> None:
        """Write what the indexes have in memory; at the end also the largest timestamp."""
        if final and self.size and self._max_timestamp >= 0:
            self.times.append(self._max_timestamp, self._offset_of_max)
        make = final and self.size > 0
        self.offsets.write_out(make=make)
        self.times.write_out(make=make)
        self.transactions.write_out()

    def seal(self, *, preallocated: bool) -> None:
        """Make this a segment that is only read from now on."""
        self.write_out_indexes(final=True)
        if self.size:
            file = self.open()
            if preallocated:
                file.truncate(self.size)
            file.seal()

    # --- reading ------------------------------------------------------------------------------

    @property
    def max_timestamp(self) -> int:
        """The largest timestamp of the segment, -1 without one."""
        if self._max_timestamp == UNKNOWN:
            last = self.times.last()
            if last is not None:
                self._max_timestamp, self._offset_of_max = last
            else:
                self._max_timestamp, self._offset_of_max = self._scan_max_timestamp(0)
        return self._max_timestamp

    @property
    def offset_of_max_timestamp(self) -> int:
        """The last offset of the batch that has the largest timestamp."""
        if self._max_timestamp == UNKNOWN and self.max_timestamp < 0:
            return self.base_offset
        return self._offset_of_max

    def first_batch_timestamp(self) -> int:
        """The largest timestamp of the first batch, -1 for none."""
        if self.first_timestamp is None:
            header = self.header_at(0) if self.size else None
            self.first_timestamp = NO_TIMESTAMP if header is None else header.max_timestamp
        return self.first_timestamp

    def _scan_max_timestamp(self, position: int) -> tuple[int, int]:
        best, offset = NO_TIMESTAMP, self.base_offset
        for _, raw in self.headers(position):
            header = BatchHeader._make(raw)
            if header.max_timestamp > best:
                best, offset = header.max_timestamp, header.last_offset
        return best, offset

    def header_at(self, position: int) -> BatchHeader | None:
        """Read the header at a position, if a whole batch could be there."""
        if self.size - position < HEADER_SIZE:
            return None
        block = self.open().pread(position, HEADER_SIZE)
        if len(block) < HEADER_SIZE:
            return None
        header = BatchHeader._make(_unpack_header(block))
        room = self.size - position - LOG_OVERHEAD
        if header.magic != MAGIC or not MIN_BATCH_LENGTH <= header.batch_length <= room:
            return None
        return header

    def headers(self, position: int, end: int | None = None) -> Iterator[tuple[int, RawHeader]]:
        """Walk the headers from a batch's position on; stops at what is no batch."""
        end = self.size if end is None else end
        file = self.open()
        block: bytes | memoryview = b""
        block_start = position
        while position < end:
            at = position - block_start
            if at + HEADER_SIZE > len(block):
                block = file.pread(position, min(_SCAN_BLOCK, end - position))
                block_start, at = position, 0
                if len(block) < HEADER_SIZE:
                    return
            header: RawHeader = _unpack_header(block, at)
            length = header[1]
            next_position = position + LOG_OVERHEAD + length
            if header[3] != MAGIC or length < MIN_BATCH_LENGTH or next_position > end:
                return
            yield position, header
            position = next_position

    def remember_end(self, offset: int) -> None:
        """Note that ``offset``, which comes next, will be found at the segment's present end."""
        ends = self._ends
        if ends is None:
            self._ends = {offset: self.size}
            return
        if len(ends) >= _REMEMBERED_ENDS_MAX:
            del ends[next(iter(ends))]
        ends[offset] = self.size

    def position_of(self, offset: int) -> int:
        """Find the first batch that has ``offset`` or a later one; the end, if there is none."""
        ends = self._ends
        if ends is not None:
            found = ends.get(offset)
            if found is not None:
                return found
        position = self.offsets.lookup(offset) if offset > self.base_offset else 0
        file = self.open()
        size = self.size
        block: bytes | memoryview = b""
        block_start = position
        while position < size:
            at = position - block_start
            if at + _EXTENT_SIZE > len(block):
                block = file.pread(position, min(8192, size - position))
                block_start, at = position, 0
                if len(block) < _EXTENT_SIZE:
                    raise CorruptFileError(self.path(LOG), f"no batch at byte {position}")
            base_offset, length, last_delta = _unpack_extent(block, at)
            if base_offset + last_delta >= offset:
                return position
            if length < MIN_BATCH_LENGTH:
                raise CorruptFileError(self.path(LOG), f"no batch at byte {position}")
            position += LOG_OVERHEAD + length
        return size

    def batch_size_at(self, position: int) -> int:
        """Say how long the batch at a position is."""
        block = self.open().pread(position, _EXTENT_SIZE)
        if len(block) < _EXTENT_SIZE:
            raise CorruptFileError(self.path(LOG), f"no batch at byte {position}")
        length: int = _unpack_extent(block)[1]
        return LOG_OVERHEAD + length

    def next_offset(self) -> int:
        """Find the offset after the last batch, from the last index entry on."""
        return self.end()[1]

    def end(self, limit: int = NEVER) -> tuple[int, int]:
        """Find position and offset after the last batch below ``limit``, as ``next_offset`` does.

        The segment is whole, as far as this tells, if that position is its size.
        """
        count = self.offsets.count
        position = self.offsets.entry(count - 1).position if count else 0
        offset = self.base_offset
        for at, raw in self.headers(position):
            header = BatchHeader._make(raw)
            if header.last_offset >= limit:
                break
            offset = header.next_offset
            position = at + header.size_in_bytes
        return position, offset

    # --- the end ------------------------------------------------------------------------------

    def truncate(self, position: int, offset: int) -> None:
        """Cut the file at a batch's position; ``offset`` is that batch's.

        The cut is durable at once. Otherwise, a power cut could bring the old batches back, while
        the leader epochs on disk are those of the new ones.
        """
        file = self.open()
        file.truncate(position)
        file.sync_later()()
        self.size = position
        self._ends = None
        self.offsets.truncate_to_position(position)
        self.times.truncate_to_offset(offset)
        self.transactions.truncate_to_offset(offset)
        count = self.offsets.count
        last_indexed = self.offsets.entry(count - 1).position if count else 0
        self.index_gap = position - last_indexed
        self.forget_timestamps(last_indexed)

    def forget_timestamps(self, scan_from: int) -> None:
        """Learn the largest timestamp again: from the time index, and the batches after it."""
        last = self.times.last()
        best, offset = (NO_TIMESTAMP, self.base_offset) if last is None else last
        scanned, scanned_offset = self._scan_max_timestamp(scan_from)
        if scanned > best:
            best, offset = scanned, scanned_offset
        self._max_timestamp, self._offset_of_max = best, offset
        if not self.size:
            self.first_timestamp = None
            self.roll_base = UNTIMED

    def start_anew(self) -> None:
        """Empty the indexes: they are about to be built again from the batches."""
        for index in (self.offsets, self.times, self.transactions):
            if index.count or index.open().size():
                index.keep(0)
                index.open().truncate(0)
        self.index_gap = 0
        self._max_timestamp = NO_TIMESTAMP
        self._offset_of_max = self.base_offset
        self.first_timestamp = None
        self._ends = None

    def close(self, *, cut: bool) -> None:
        """Write what is left and close the files; ``cut`` removes bytes after the end."""
        self.write_out_indexes(final=True)
        if self.file is not None:
            if cut:
                self.file.truncate(self.size)
            self.file.close()
            self.file = None
        for index in (self.offsets, self.times, self.transactions):
            index.close()

    def forget(self) -> None:
        """Close the files without writing: they are about to be renamed or removed."""
        if self.file is not None:
            self.file.close()
            self.file = None
        for index in (self.offsets, self.times, self.transactions):
            index.forget()

    def reopen(self, *, is_sealed: bool) -> None:
        """Open the files again, since the disk gives others for them now."""
        if self.file is not None:
            self.file.close()
            self.file = None
            if is_sealed:
                self.open().seal()
        for index in (self.offsets, self.times, self.transactions):
            index.let_go()

    def rename(self, state: str) -> None:
        """Rename the files; views that were given out stay good. The .log goes last.

        A .log under its new name means that its indexes have theirs already.
        """
        self.forget()
        for suffix in reversed(SEGMENT_SUFFIXES):
            old = self.path(suffix)
            if self._disk.exists(old):
                self._disk.rename(old, old.removesuffix(self.state) + state)
        self.state = state
        for index, suffix in (
            (self.offsets, OFFSET_INDEX),
            (self.times, TIME_INDEX),
            (self.transactions, TRANSACTION_INDEX),
        ):
            index.move(self.path(suffix))

    def remove(self) -> None:
        """Remove the files."""
        self.forget()
        for suffix in SEGMENT_SUFFIXES:
            self._disk.remove(self.path(suffix))
