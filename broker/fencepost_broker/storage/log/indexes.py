"""The three indexes of a segment: files of fixed-size entries that grow at their end.

- offset index: i32 last offset of a batch, relative to the segment's base; i32 the position of
  that batch. One entry at least ``index.interval.bytes`` after the one before.
- time index: i64 timestamp, i32 relative offset: "all records up to this offset are this old or
  older". Written beside an offset entry when the largest timestamp has grown, and at the end.
- transaction index: i16 version (0), i64 producer id, i64 first offset, i64 last offset (the abort
  marker's), i64 last stable offset at that time. Only aborted transactions are in it.

New entries stay in memory, in the file's own format, until there are thousands of them or the
segment is rolled or closed: an index costs the append path no system call. Nothing is lost by it:
after a crash the segments from the recovery point on are scanned, and their indexes made anew.

Reads go to the tail in memory first. For what is on disk, a binary search reads entry by entry
until the range is small, then reads that range at once; no map and no copy of the file is kept.
"""

import contextlib
import struct
from typing import Final, NamedTuple

from fencepost_broker.storage.log.disk import CorruptFileError, Disk, DiskFile, StorageError

_OFFSET_ENTRY: Final = struct.Struct(">ii")
_TIME_ENTRY: Final = struct.Struct(">qi")
_TRANSACTION_ENTRY: Final = struct.Struct(">hqqqq")
_TRANSACTION_VERSION: Final = 0

_TAIL_MAX: Final = 32 * 1024
_PAGE_MAX: Final = 4096


class OffsetEntry(NamedTuple):
    """The batch that ends with ``offset`` begins at ``position``."""

    offset: int
    position: int


class TimeEntry(NamedTuple):
    """Everything up to ``offset`` has this timestamp or a smaller one."""

    timestamp: int
    offset: int


class AbortedEntry(NamedTuple):
    """An aborted transaction of this partition."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class IndexFile:
    """A growing file of entries, with its newest ones in memory."""

    __slots__ = ("_disk", "_entry", "_file", "_is_made", "_is_torn", "_path", "_tail", "_written")

    def __init__(self, disk: Disk, path: str, entry: struct.Struct, size: int | None) -> None:
        """``size`` is how long the file is now, ``None`` when there is none.

        It is not looked at before it is needed.
        """
        self._disk = disk
        self._path = path
        self._entry = entry
        self._file: DiskFile | None = None
        self._is_made = size is not None
        self._is_torn = False
        """A write failed: the file may be longer than what is known to be written."""
        self._written = 0 if size is None else size - size % entry.size
        # A bytearray from the first entry on: most partitions are idle.
        self._tail: bytes | bytearray = b""

    @property
    def count(self) -> int:
        """How many entries there are."""
        return (self._written + len(self._tail)) // self._entry.size

    @property
    def size(self) -> int:
        """How large the file is when all of it is written."""
        return self._written + len(self._tail)

    def open(self) -> DiskFile:
        """Give the file itself."""
        file = self._file
        if file is None:
            file = self._file = self._disk.open(self._path)
        return file

    def add(self, entry: bytes) -> None:
        """Append an entry; it is written later."""
        tail = self._tail
        if not isinstance(tail, bytearray):
            tail = self._tail = bytearray(tail)
        tail += entry
        if len(tail) > _TAIL_MAX:
            # A disk that refuses is told where it matters: when the segment is rolled or closed.
            with contextlib.suppress(StorageError):
                self.write_out()

    def write_out(self, *, make: bool = False) -> None:
        """Write the entries that are only in memory; on an error they stay there.

        With ``make`` the file is made even if it is empty.
        """
        if self._is_torn:
            self.open().truncate(self._written)
            self._is_torn = False
        if self._tail or (make and not self._is_made):
            self._is_torn = True
            self.open().pwrite(self._written, self._tail)
            self._is_torn = False
            self._written += len(self._tail)
            self._tail = b""
            self._is_made = True

    def read(self, first: int, count: int) -> bytes | memoryview:
        """Read entries that exist."""
        size = self._entry.size
        start, length = first * size, count * size
        if start >= self._written:
            start -= self._written
            return bytes(self._tail[start : start + length])
        wanted = min(length, self._written - start)
        on_disk = self.open().pread(start, wanted)
        if len(on_disk) != wanted:
            raise CorruptFileError(self._path, f"it ends before entry {first + count}")
        if wanted == length:
            return on_disk
        return bytes(on_disk) + bytes(self._tail[: start + length - self._written])

    def keep(self, count: int) -> None:
        """Drop all entries but the first ``count``."""
        size = count * self._entry.size
        if size >= self._written:
            self._tail = self._tail[: size - self._written]
            return
        self.open().truncate(size)
        self._written = size
        self._tail = b""

    def first_where_key_above(self, key: int) -> int:
        """Find the position of the first entry whose first field is above ``key``.

        The entries are in the order of their first field.
        """
        low, high = 0, self.count
        entry = self._entry
        page = max(_PAGE_MAX // entry.size, 1)
        while high - low > page:
            middle = (low + high) // 2
            if entry.unpack(self.read(middle, 1))[0] > key:
                high = middle
            else:
                low = middle + 1
        if low == high:
            return low
        start = low
        block = self.read(start, high - low)
        while low < high:
            middle = (low + high) // 2
            if entry.unpack_from(block, (middle - start) * entry.size)[0] > key:
                high = middle
            else:
                low = middle + 1
        return low

    def close(self) -> None:
        """Write what is left and close the file."""
        self.write_out()
        self.let_go()

    def move(self, path: str) -> None:
        """Go on under another name; the file is closed."""
        assert self._file is None, self._path
        self._path = path

    def forget(self) -> None:
        """Close the file without writing: it is about to go."""
        self._tail = b""
        self.let_go()

    def let_go(self) -> None:
        """Close the file; the next use opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None


class OffsetIndex(IndexFile):
    """Positions by offset."""

    __slots__ = ("_base_offset",)

    def __init__(self, disk: Disk, path: str, base_offset: int, size: int | None) -> None:
        super().__init__(disk, path, _OFFSET_ENTRY, size)
        self._base_offset = base_offset

    def append(self, offset: int, position: int) -> None:
        """Note that the batch that ends with ``offset`` begins at ``position``."""
        self.add(_OFFSET_ENTRY.pack(offset - self._base_offset, position))

    def entry(self, number: int) -> OffsetEntry:
        """Give one entry."""
        relative, position = _OFFSET_ENTRY.unpack(self.read(number, 1))
        return OffsetEntry(self._base_offset + relative, position)

    def lookup(self, offset: int) -> int:
        """Give a position at or before the batch with ``offset``."""
        number = self.first_where_key_above(offset - self._base_offset)
        return self.entry(number - 1).position if number else 0

    def offset_from(self, position: int) -> int | None:
        """Return the last offset of the first indexed batch at or after ``position``, if any."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self.entry(middle).position < position:
                low = middle + 1
            else:
                high = middle
        return self.entry(low).offset if low < self.count else None

    def truncate_to_position(self, position: int) -> None:
        """Drop the entries of batches at or after ``position``."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self.entry(middle).position < position:
                low = middle + 1
            else:
                high = middle
        self.keep(low)


class TimeIndex(IndexFile):
    """Offsets by time."""

    __slots__ = ("_base_offset",)

    def __init__(self, disk: Disk, path: str, base_offset: int, size: int | None) -> None:
        super().__init__(disk, path, _TIME_ENTRY, size)
        self._base_offset = base_offset

    def append(self, timestamp: int, offset: int) -> None:
        """Note that all up to ``offset`` is ``timestamp`` old, unless that is known."""
        tail = self._tail
        if tail:  # as in ``last``, without an object: each batch of 4 KB or more comes here
            newest = _TIME_ENTRY.unpack_from(tail, len(tail) - _TIME_ENTRY.size)[0]
        else:
            last = self.last()
            newest = timestamp - 1 if last is None else last.timestamp
        if timestamp > newest:
            self.add(_TIME_ENTRY.pack(timestamp, offset - self._base_offset))

    def entry(self, number: int) -> TimeEntry:
        """Give one entry."""
        timestamp, relative = _TIME_ENTRY.unpack(self.read(number, 1))
        return TimeEntry(timestamp, self._base_offset + relative)

    def last(self) -> TimeEntry | None:
        """Give the newest entry."""
        tail = self._tail
        if tail:
            timestamp, relative = _TIME_ENTRY.unpack_from(tail, len(tail) - _TIME_ENTRY.size)
            return TimeEntry(timestamp, self._base_offset + relative)
        count = self.count
        return self.entry(count - 1) if count else None

    def lookup(self, timestamp: int) -> int:
        """Give an offset up to which everything is older than ``timestamp``."""
        number = self.first_where_key_above(timestamp - 1)
        return self.entry(number - 1).offset if number else self._base_offset

    def truncate_to_offset(self, offset: int) -> None:
        """Drop the entries of records at or after ``offset``."""
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if self.entry(middle).offset < offset:
                low = middle + 1
            else:
                high = middle
        self.keep(low)


class TransactionIndex(IndexFile):
    """The aborted transactions of a segment, in the order of their markers."""

    __slots__ = ()

    def __init__(self, disk: Disk, path: str, size: int | None) -> None:
        super().__init__(disk, path, _TRANSACTION_ENTRY, size)

    def append(self, entry: AbortedEntry) -> None:
        """Note an aborted transaction."""
        self.add(_TRANSACTION_ENTRY.pack(_TRANSACTION_VERSION, *entry))

    def entries(self) -> list[AbortedEntry]:
        """Give all of them."""
        count = self.count
        if not count:
            return []
        block = self.read(0, count)
        whole = len(block) - len(block) % _TRANSACTION_ENTRY.size
        return [
            AbortedEntry(*fields[1:])
            for fields in _TRANSACTION_ENTRY.iter_unpack(block[:whole])
            if fields[0] >= _TRANSACTION_VERSION
        ]

    def truncate_to_offset(self, offset: int) -> None:
        """Drop the transactions whose markers are at or after ``offset``."""
        kept = 0
        for entry in self.entries():
            if entry.last_offset >= offset:
                break
            kept += 1
        if kept < self.count:
            self.keep(kept)
