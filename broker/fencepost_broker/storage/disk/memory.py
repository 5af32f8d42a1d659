"""The ephemeral disk: a data directory that is gone with its process.

Files are chunks of memory. All files of all disks draw on one budget; when it is used up, new
chunks are extents of one temporary file, which was unlinked when it was made: nothing is left of it
even after kill -9, and it takes one descriptor however many segments lie in it.

The written bytes of a chunk stay as they are as long as there are views of them: bytes that were
cut off are never written over, since a chunk is copied when it is cut.

A copy of a disk shares its chunks. A shared chunk is only as long as its written bytes, and
read-only, so an append finds no room in it: it goes to a larger copy of the chunk, as it does when
a chunk is full. Appends to files that were never copied pay nothing for this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from fencepost_broker.storage.disk.memory_chunks import (
    CHUNK_BITS,
    CHUNK_SIZE,
    MemoryBudget,
    SharedChunk,
    SpillFile,
)
from fencepost_broker.storage.log.disk import (
    Buffer,
    DirectoryLock,
    DiskUsage,
    FolderEntry,
    LockedError,
    StorageError,
    Sync,
)

_CHUNK_MASK: Final = CHUNK_SIZE - 1
_FIRST_SIZE: Final = 256
_GROWTH: Final = 4


_Chunk: TypeAlias = memoryview | int
"""Memory, or the position of an extent of the spill file."""


class MemoryFile:
    """One file in memory."""

    __slots__ = ("_budget", "_chunks", "_path", "_shared", "_size")

    def __init__(self, budget: MemoryBudget, path: str) -> None:
        self._budget = budget
        self._path = path
        self._chunks: list[_Chunk] = []
        self._size = 0
        self._shared: dict[int, SharedChunk] | None = None
        """The chunks, by number, that copies of this file may have too."""

    def copy(self) -> MemoryFile:
        """Return a file with the same bytes; both share the chunks until they write to them."""
        if self._shared is None:
            self._shared = {}
        for number, chunk in enumerate(self._chunks):
            if number not in self._shared:
                self._shared[number] = SharedChunk(self._budget, chunk)
                if not isinstance(chunk, int):
                    self._chunks[number] = chunk[: self._used(number)].toreadonly()
        made = MemoryFile(self._budget, self._path)
        made._chunks, made._shared = self._chunks.copy(), self._shared.copy()
        made._size = self._size
        return made

    def _used(self, number: int) -> int:
        """Return how many bytes of a chunk are the file's."""
        return max(min(self._size - (number << CHUNK_BITS), CHUNK_SIZE), 0)

    def size(self) -> int:
        return self._size

    def pread(self, position: int, length: int) -> bytes | memoryview:
        pieces = self.views(position, length)
        if len(pieces) == 1:
            return pieces[0]
        return b"".join(pieces)

    def views(self, position: int, length: int) -> list[memoryview]:
        end = min(position + length, self._size)
        pieces = []
        while position < end:
            chunk = self._chunks[position >> CHUNK_BITS]
            start = position & _CHUNK_MASK
            count = min(end - position, CHUNK_SIZE - start)
            if isinstance(chunk, int):
                spill = self._budget.spill
                assert spill is not None
                pieces.append(memoryview(spill.read(chunk + start, count)))
            else:
                pieces.append(chunk[start : start + count].toreadonly())
            position += count
        return pieces

    def pwrite(self, position: int, data: Buffer) -> None:
        if position == self._size:
            size = len(data)
            start = position & _CHUNK_MASK
            try:
                # What nearly all appends do. It fails if the chunk has no room, or is no memory.
                self._chunks[position >> CHUNK_BITS][start : start + size] = data  # type: ignore[index]
            except (IndexError, TypeError, ValueError):
                pass
            else:
                self._size = position + size
                return
        self._pwrite(position, memoryview(data))

    def _pwrite(self, position: int, view: memoryview) -> None:
        if position > self._size:
            self._fill(position)
        end = position + len(view)
        while view:
            number = position >> CHUNK_BITS
            start = position & _CHUNK_MASK
            count = min(len(view), CHUNK_SIZE - start)
            chunk = self._chunk(number, start + count)
            if isinstance(chunk, int):
                spill = self._budget.spill
                assert spill is not None
                spill.write(chunk + start, view[:count])
            else:
                chunk[start : start + count] = view[:count]
            position += count
            view = view[count:]
        self._size = max(self._size, end)

    def _fill(self, position: int) -> None:
        """Write zeros up to a position after the end, as a file system does."""
        while self._size < position:
            self.pwrite(self._size, bytes(min(position - self._size, CHUNK_SIZE)))

    def _chunk(self, number: int, size: int) -> _Chunk:
        """Give a chunk that has room for ``size`` bytes."""
        chunks = self._chunks
        budget = self._budget
        if number < len(chunks):
            chunk = chunks[number]
            if self._shared and number in self._shared:
                return self._own_chunk(self._shared, number, size)
            if isinstance(chunk, int) or size <= len(chunk):
                return chunk
            # Only a file's first chunk grows; the old one is left to those who have views of it.
            room = _room_for(size)
            if budget.take(room - len(chunk)):
                grown = budget.memory(room)
                grown[: len(chunk)] = chunk
                chunks[number] = grown
                return grown
            position = self._spill()
            self._budget_spill().write(position, chunk)
            budget.give_back(len(chunk))
            chunks[number] = position
            return position
        chunk = self._new_chunk(number, size)
        chunks.append(chunk)
        return chunk

    def _new_chunk(self, number: int, size: int) -> _Chunk:
        room = CHUNK_SIZE if number else _room_for(size)
        return self._budget.memory(room) if self._budget.take(room) else self._spill()

    def _own_chunk(self, shared: dict[int, SharedChunk], number: int, size: int) -> _Chunk:
        """Replace a shared chunk by a copy, which has room for ``size`` bytes."""
        used = self._used(number)
        made = self._new_chunk(number, max(size, used))
        for data in self.views(number << CHUNK_BITS, used):
            if isinstance(made, int):
                self._budget_spill().write(made, data)
            else:
                made[:used] = data
        self._chunks[number] = made
        del shared[number]
        return made

    def _budget_spill(self) -> SpillFile:
        spill = self._budget.spill
        if spill is None:
            raise StorageError("write", self._path, "the memory budget is used up", no_space=True)
        return spill

    def _spill(self) -> int:
        return self._budget_spill().take()

    def _release(self, number: int, chunk: _Chunk) -> None:
        if self._shared and self._shared.pop(number, None) is not None:
            return  # the last of the files that share it gives it back
        if isinstance(chunk, int):
            self._budget_spill().give_back(chunk)
        else:
            self._budget.give_back_memory(chunk)

    def seal(self) -> None:
        """Memory needs no map."""

    def reserve(self, size: int) -> None:
        """Memory comes when it is written."""

    def truncate(self, size: int) -> None:
        if size >= self._size:
            return
        keep = (size + CHUNK_SIZE - 1) >> CHUNK_BITS
        for number, chunk in enumerate(self._chunks[keep:], keep):
            self._release(number, chunk)
        del self._chunks[keep:]
        self._size = size
        if keep:
            last = self._chunks[-1]
            if isinstance(last, int):
                return
            if self._shared and keep - 1 in self._shared:
                self._chunks[-1] = last[: self._used(keep - 1)]
            else:
                self._chunks[-1] = memoryview(bytearray(last))

    def sync_later(self) -> Sync:
        return _nothing

    def close(self) -> None:
        """There is nothing to give back: the file is the memory."""

    def drop(self) -> None:
        """Give the memory back; views that were given out stay good."""
        self.truncate(0)


def _room_for(size: int) -> int:
    room = _FIRST_SIZE
    while room < size:
        room *= _GROWTH
    return min(room, CHUNK_SIZE)


def _nothing() -> None:
    """Sync memory."""


class MemoryDisk:
    """A data directory in memory."""

    def __init__(self, budget: MemoryBudget | None = None, name: str = "(memory)") -> None:
        self.budget = budget or MemoryBudget(256 * 1024 * 1024, SpillFile())
        self._name = name
        self._files: dict[str, MemoryFile] = {}
        self._folders: dict[str, set[str]] = {"": set()}
        self._locked = False

    def copy(self, budget: MemoryBudget | None = None) -> MemoryDisk:
        """Return a disk with the same files, which is not locked.

        With the same budget, both share all chunks until one of them writes to them.
        """
        made = MemoryDisk(budget or self.budget, self._name)
        made._folders = {path: names.copy() for path, names in self._folders.items()}
        for path, file in self._files.items():
            if made.budget is self.budget:
                made._files[path] = file.copy()
                continue
            copied = made._files[path] = MemoryFile(made.budget, path)
            for position in range(0, file.size(), CHUNK_SIZE):
                copied.pwrite(position, file.pread(position, CHUNK_SIZE))
        return made

    def walk(self) -> Iterator[tuple[str, MemoryFile]]:
        """Yield all files with their paths."""
        yield from sorted(self._files.items())

    def discard(self) -> None:
        """Give all memory back: nothing uses the disk any more."""
        for file in self._files.values():
            file.drop()
        self._files, self._folders = {}, {"": set()}

    def __del__(self) -> None:
        self.discard()

    @property
    def name(self) -> str:
        return self._name

    def open(self, path: str) -> _LazyFile:
        return _LazyFile(self, path)

    def find(self, path: str) -> MemoryFile | None:
        """Give a file that exists."""
        return self._files.get(path)

    def make(self, path: str) -> MemoryFile:
        """Give a file, a new one if there is none."""
        file = self._files.get(path)
        if file is None:
            folder, _, name = path.rpartition("/")
            names = self._folders.get(folder)
            if names is None:
                raise StorageError("write", path, "the folder does not exist")
            file = self._files[path] = MemoryFile(self.budget, path)
            names.add(name)
        return file

    def list_folder(self, path: str) -> list[FolderEntry]:
        prefix = f"{path}/" if path else ""
        entries = []
        for name in sorted(self._folders.get(path, ())):  # simulations are repeated exactly
            file = self._files.get(prefix + name)
            entries.append(FolderEntry(name, 0 if file is None else file.size(), file is None))
        return entries

    def exists(self, path: str) -> bool:
        return path in self._files or path in self._folders

    def make_folder(self, path: str) -> None:
        if path not in self._folders:
            folder, _, name = path.rpartition("/")
            self._folders[folder].add(name)
            self._folders[path] = set()

    def read(self, path: str) -> bytes | None:
        file = self._files.get(path)
        return None if file is None else bytes(file.pread(0, file.size()))

    def write(self, path: str, data: Buffer, *, durable: bool) -> None:  # noqa: ARG002 (Disk's)
        made = MemoryFile(self.budget, path)
        made.pwrite(0, data)
        old = self.make(path)
        self._files[path] = made
        old.drop()

    def rename(self, source: str, target: str) -> None:
        file = self._files.get(source)
        if file is not None:
            old = self._files.get(target)
            if old is not None:
                old.drop()
            self.make(target)
            self._files[target] = file
            self._forget(source)
        elif source in self._folders:
            self.make_folder(target)
            for name, _, is_folder in self.list_folder(source):
                assert not is_folder, "a partition's folder has no folders"
                self.rename(f"{source}/{name}", f"{target}/{name}")
            self.remove_folder(source)
        else:
            raise StorageError("rename", source, "it does not exist")

    def _forget(self, path: str) -> None:
        del self._files[path]
        folder, _, name = path.rpartition("/")
        self._folders[folder].discard(name)

    def remove(self, path: str) -> None:
        file = self._files.get(path)
        if file is not None:
            self._forget(path)
            file.drop()

    def remove_folder(self, path: str) -> None:
        if path not in self._folders:
            return
        for name, _, is_folder in self.list_folder(path):
            if is_folder:
                self.remove_folder(f"{path}/{name}")
            else:
                self.remove(f"{path}/{name}")
        del self._folders[path]
        folder, _, name = path.rpartition("/")
        self._folders[folder].discard(name)

    def sync_folder_later(self, path: str) -> Sync:  # noqa: ARG002 (Disk's)
        return _nothing

    def sync_all(self) -> bool:
        return True

    def lock(self, path: str) -> DirectoryLock:
        if self._locked:
            raise LockedError("lock", path, "another broker uses the directory")
        self._locked = True
        return _MemoryLock(self)

    def unlock(self) -> None:
        """Let another broker have it."""
        self._locked = False

    def usage(self) -> DiskUsage:
        budget = self.budget
        spilled = 0 if budget.spill is None else budget.spill.size
        return DiskUsage(
            budget.limit_bytes + spilled, max(budget.limit_bytes - budget.used_bytes, 0)
        )


class _LazyFile:
    """A path that becomes a file with its first byte."""

    __slots__ = ("_disk", "_file", "_path", "pwrite")

    def __init__(self, disk: MemoryDisk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._file: MemoryFile | None = None
        self.pwrite: Callable[[int, Buffer], None] = self._make_and_write
        """From the first one on, the file's own: every append of the broker comes by here."""

    def _find(self) -> MemoryFile | None:
        file = self._file
        if file is None:
            file = self._file = self._disk.find(self._path)
        return file

    def size(self) -> int:
        file = self._find()
        return 0 if file is None else file.size()

    def pread(self, position: int, length: int) -> bytes | memoryview:
        file = self._find()
        return b"" if file is None else file.pread(position, length)

    def views(self, position: int, length: int) -> list[memoryview]:
        file = self._find()
        return [] if file is None else file.views(position, length)

    def _make_and_write(self, position: int, data: Buffer) -> None:
        file = self._file
        if file is None:
            file = self._file = self._disk.make(self._path)
        self.pwrite = file.pwrite
        file.pwrite(position, data)

    def seal(self) -> None:
        """Memory needs no map."""

    def reserve(self, size: int) -> None:
        """Memory comes when it is written."""

    def truncate(self, size: int) -> None:
        file = self._find()
        if file is not None:
            file.truncate(size)

    def sync_later(self) -> Sync:
        return _nothing

    def close(self) -> None:
        self._file = None
        self.pwrite = self._make_and_write


class _MemoryLock:
    """A lock within one process."""

    __slots__ = ("_disk",)

    def __init__(self, disk: MemoryDisk) -> None:
        self._disk = disk

    def release(self) -> None:
        self._disk.unlock()
