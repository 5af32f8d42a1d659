"""Where an ephemeral disk's chunks come from: memory within a budget, then one unlinked file."""

from __future__ import annotations

import contextlib
import mmap
import os
import sys
from typing import Final

from fencepost_broker.storage.disk.files import storage_error
from fencepost_broker.storage.disk.read_memory import has_views

CHUNK_BITS: Final = 21
CHUNK_SIZE: Final = 1 << CHUNK_BITS
"""A huge page of x86 and most of ARM."""


class SpillFile:
    """An unlinked temporary file, handed out in extents of a chunk's size."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._descriptor = -1
        self._free: list[int] = []
        self._end = 0

    @property
    def size(self) -> int:
        """How much of it is in use."""
        return self._end - len(self._free) * CHUNK_SIZE

    def take(self) -> int:
        """Give the position of an extent."""
        if self._descriptor < 0:
            import tempfile

            try:
                # Unlinked at once (on Windows: when its last handle is closed, however that is).
                with tempfile.TemporaryFile(dir=self._folder, prefix="fencepost-") as file:
                    self._descriptor = os.dup(file.fileno())
            except OSError as error:
                raise storage_error("make", "a temporary file", error) from error
        if self._free:
            return self._free.pop()
        position = self._end
        self._end += CHUNK_SIZE
        return position

    def give_back(self, position: int) -> None:
        """Take an extent back."""
        self._free.append(position)

    def read(self, position: int, length: int) -> bytes:
        """Read from an extent."""
        try:
            if hasattr(os, "pread"):
                return os.pread(self._descriptor, length, position)
            os.lseek(self._descriptor, position, os.SEEK_SET)
            return os.read(self._descriptor, length)
        except OSError as error:
            raise storage_error("read", "the temporary file", error) from error

    def write(self, position: int, data: memoryview) -> None:
        """Write into an extent."""
        try:
            while data:
                if hasattr(os, "pwrite"):
                    written = os.pwrite(self._descriptor, data, position)
                else:
                    os.lseek(self._descriptor, position, os.SEEK_SET)
                    written = os.write(self._descriptor, data)
                position += written
                data = data[written:]
        except OSError as error:
            raise storage_error("write", "the temporary file", error) from error

    def close(self) -> None:
        """Give its room back to the system."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            self.close()


class MemoryBudget:
    """How much memory all files together may take, and where the rest goes.

    ``spill=None`` makes the budget a hard one: what does not fit is refused as on a full disk.
    """

    def __init__(self, limit_bytes: int, spill: SpillFile | None = None) -> None:
        self.limit_bytes = limit_bytes
        self.used_bytes = 0
        self.spill = spill
        self._kept: list[memoryview] = []
        """Whole chunks that were given back, for later files."""

    def take(self, size: int) -> bool:
        """Take some of it, if there is enough."""
        if self.used_bytes + size > self.limit_bytes:
            return False
        self.used_bytes += size
        return True

    def memory(self, size: int) -> memoryview:
        """Give memory that was taken before; what is in it is left from an earlier use, or zeros.

        Where memory was given back to the system, a virtual machine's host may have taken it, and
        a new chunk costs some thirty times as much as one that is used again.
        """
        kept = self._kept
        if size == CHUNK_SIZE and kept:
            return kept.pop()
        while kept and self.used_bytes + len(kept) * CHUNK_SIZE > self.limit_bytes:
            kept.pop()
        return memory_of(size)

    def give_back(self, size: int) -> None:
        """Give some of it back."""
        self.used_bytes -= size

    def give_back_memory(self, chunk: memoryview) -> None:
        """Give back a chunk, which is used again unless there are still views of it."""
        self.used_bytes -= len(chunk)
        mapped = chunk.obj
        if len(chunk) == CHUNK_SIZE and isinstance(mapped, mmap.mmap):
            with contextlib.suppress(BufferError):  # a view of the chunk itself
                chunk.release()
                if not has_views(mapped):
                    self._kept.append(memoryview(mapped))


class SharedChunk:
    """A chunk that files of several disks have; the last file that drops it gives it back."""

    __slots__ = ("_budget", "_position", "_size")

    def __init__(self, budget: MemoryBudget, chunk: memoryview | int) -> None:
        """``chunk`` is memory, or the position of an extent of the spill file."""
        self._budget = budget
        self._position = chunk if isinstance(chunk, int) else None
        self._size = 0 if isinstance(chunk, int) else len(chunk)

    def __del__(self) -> None:
        if self._position is None:
            self._budget.give_back(self._size)
        elif self._budget.spill is not None:
            self._budget.spill.give_back(self._position)


_ANONYMOUS: Final[int] = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)
_ADVICE: Final = tuple(
    advice
    for advice in (getattr(mmap, "MADV_HUGEPAGE", 0), 23 if sys.platform == "linux" else 0)
    if advice
)
"""Huge pages, please; and (MADV_POPULATE_WRITE, which Python has no name for) all of it now."""


def memory_of(size: int) -> memoryview:
    """Give zeroed memory.

    A whole chunk will be filled from its beginning to its end. As a huge page it costs a third of
    what small pages do (150 instead of 450 us of CPU for a MB written); where there are none,
    asking for all pages at once still costs half of running into each.
    """
    if size != CHUNK_SIZE or not _ADVICE:
        return memoryview(bytearray(size))
    try:
        chunk = mmap.mmap(-1, size, flags=_ANONYMOUS)
    except OSError:
        return memoryview(bytearray(size))
    for advice in _ADVICE:
        with contextlib.suppress(OSError):  # an older kernel, or one without huge pages
            chunk.madvise(advice)
    return memoryview(chunk)
