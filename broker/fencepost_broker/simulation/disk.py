"""A disk in memory that knows what was synced, so that a power cut can lose the rest.

Each change of a file remembers how it is undone, until the file is synced. A power cut undoes some
of the last ones, and may tear the first of those that are lost. Names (of new, renamed and removed
files) are in order on the whole disk, as in the journal of a file system. The sync of a folder
writes them all. The sync of a file writes none: POSIX promises no more, though most file systems do
more.

After a failed sync, Linux takes the pages for written: they can be read, no later sync writes them,
and a power cut leaves zeros in their place. Only what is written again is synced again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

from fencepost_broker.storage.disk.memory import MemoryDisk, MemoryFile
from fencepost_broker.storage.log.disk import Buffer, DiskFile, FolderEntry, Sync

UNSYNCED_MAX: Final = 256
"""Changes of a file, and of names, that can be lost; those before have been written back."""


class _Write:
    """What a write has changed."""

    __slots__ = ("end", "old", "position", "size")

    def __init__(self, file: DiskFile, position: int, length: int) -> None:
        self.position = position
        self.end = position + length
        self.size = file.size()
        overwritten = max(min(self.end, self.size) - position, 0)
        self.old = bytes(file.pread(position, overwritten)) if overwritten else b""

    def undo(self, file: MemoryFile, keep: int = 0) -> None:
        """Undo it, but for its first ``keep`` bytes."""
        file.truncate(max(self.size, min(self.position + keep, self.end)))
        if self.old[keep:]:
            file.pwrite(self.position + keep, self.old[keep:])


class _Cut:
    """What a truncation has removed."""

    __slots__ = ("end", "old", "position")

    def __init__(self, file: DiskFile, size: int) -> None:
        self.position = self.end = size
        self.old = bytes(file.pread(size, file.size() - size))

    def undo(self, file: MemoryFile, keep: int = 0) -> None:
        """Undo it."""
        del keep
        file.pwrite(self.position, self.old)


_Changes: TypeAlias = "deque[_Write | _Cut]"
_Undo: TypeAlias = Callable[[], None]


class SimDisk(MemoryDisk):
    """A disk that a power cut can set back."""

    def __init__(self) -> None:
        super().__init__(name="(simulated)")
        self._changes: dict[str, _Changes] = {}
        """The changes of each file since it was synced, oldest first."""
        self._unwritten: dict[str, list[tuple[int, int]]] = {}
        """The ranges of each file that no sync writes, since one has failed."""
        self._names: deque[_Undo] = deque(maxlen=UNSYNCED_MAX)
        """How changes of names are undone."""

    # -- what is remembered ----------------------------------------------------------------------

    def changes(self, path: str) -> _Changes:
        """Return the unsynced changes of a file."""
        found = self._changes.get(path)
        if found is None:
            found = self._changes[path] = deque(maxlen=UNSYNCED_MAX)
        return found

    def open(self, path: str) -> DiskFile:  # type: ignore[override]
        return _SimFile(self, path, super().open(path))

    def note_name(self, undo: _Undo) -> None:
        """Remember how a change of names is undone."""
        self._names.append(undo)

    def synced(self, path: str, changes: list[_Write | _Cut]) -> None:
        """Forget how these changes of a file are undone."""
        left = self._changes.get(path)
        done = set(map(id, changes))
        if left is not None:
            kept = [each for each in left if id(each) not in done]
            left.clear()
            left.extend(kept)

    def take_for_written(self, path: str) -> None:
        """Take what was appended to a file for written, though its sync has failed."""
        changes = self._changes.pop(path, None) or ()
        lost = [(each.size, each.end) for each in changes if isinstance(each, _Write)]
        self._unwritten.setdefault(path, []).extend(lost)

    def written(self, path: str, start: int, end: int) -> None:
        """Take note that a range of a file is written again, or is no more."""
        for low, high in self._unwritten.pop(path, ()):
            left = [(low, min(high, start)), (max(low, end), high)]
            self._unwritten.setdefault(path, []).extend(each for each in left if each[0] < each[1])

    # -- names -----------------------------------------------------------------------------------

    def make_folder(self, path: str) -> None:
        if path not in self._folders:
            super().make_folder(path)
            self.note_name(lambda: MemoryDisk.remove_folder(self, path))

    def write(self, path: str, data: Buffer, *, durable: bool) -> None:
        old = self.read(path)
        super().write(path, data, durable=durable)
        self._changes.pop(path, None)
        self._unwritten.pop(path, None)
        self.note_name(lambda: self._put_back(path, old))
        if durable:
            self._names.clear()

    def rename(self, source: str, target: str) -> None:
        replaced = self.read(target)
        super().rename(source, target)
        for kept in (self._changes, self._unwritten):
            for path in [each for each in kept if f"{each}/".startswith(f"{source}/")]:
                kept[target + path[len(source) :]] = kept.pop(path)  # type: ignore[assignment]

        def undo() -> None:
            MemoryDisk.rename(self, target, source)
            if replaced is not None:
                self._put_back(target, replaced)

        self.note_name(undo)

    def remove(self, path: str) -> None:
        old = self.read(path)
        super().remove(path)
        self._changes.pop(path, None)
        self._unwritten.pop(path, None)
        if old is not None:
            self.note_name(lambda: self._put_back(path, old))

    def remove_folder(self, path: str) -> None:
        if path in self._folders:
            super().remove_folder(path)  # removes the files by ``remove``
            self.note_name(lambda: MemoryDisk.make_folder(self, path))

    def _put_back(self, path: str, data: bytes | None) -> None:
        if data is None:
            MemoryDisk.remove(self, path)
        else:
            MemoryDisk.write(self, path, data, durable=False)

    def sync_folder_later(self, path: str) -> Sync:
        del path
        return self._names.clear

    def list_folder(self, path: str) -> list[FolderEntry]:
        return sorted(super().list_folder(path))

    # -- the end of the process ------------------------------------------------------------------

    def cut_power(self, random: Random) -> int:
        """Lose some of what was not synced; returns how many changes are lost."""
        count = 0
        for path, changes in sorted(self._changes.items()):
            file = self.find(path)
            if file is None:
                continue
            lost = random.randint(0, len(changes))
            for number in range(lost):
                change = changes.pop()
                torn = random.randint(0, change.end - change.position) if number == lost - 1 else 0
                change.undo(file, torn)
                count += 1
        for path, ranges in sorted(self._unwritten.items()):
            file = self.find(path)
            if file is None:
                continue
            for start, end in ranges:
                lost = min(end, file.size()) - start
                if lost > 0:
                    file.pwrite(start, bytes(lost))
                    count += 1
        for _ in range(random.randint(0, len(self._names))):
            self._names.pop()()
            count += 1
        self._changes.clear()
        self._unwritten.clear()
        self._names.clear()
        return count


class _SimFile:
    """A file whose changes are remembered."""

    __slots__ = ("_disk", "_file", "_path", "close", "pread", "reserve", "seal", "size", "views")

    def __init__(self, disk: SimDisk, path: str, file: DiskFile) -> None:
        self._disk = disk
        self._path = path
        self._file = file
        self.size = file.size
        self.pread = file.pread
        self.views = file.views
        self.seal = file.seal
        self.reserve = file.reserve
        self.close = file.close

    def pwrite(self, position: int, data: Buffer) -> None:
        disk, path = self._disk, self._path
        if not disk.exists(path):
            disk.note_name(lambda: MemoryDisk.remove(disk, path))
        disk.changes(path).append(_Write(self._file, position, len(data)))
        disk.written(path, position, position + len(data))
        self._file.pwrite(position, data)

    def truncate(self, size: int) -> None:
        if size < self._file.size():
            self._disk.changes(self._path).append(_Cut(self._file, size))
            self._disk.written(self._path, size, self._file.size())
        self._file.truncate(size)

    def sync_later(self) -> Sync:
        changes = list(self._disk.changes(self._path))
        return lambda: self._disk.synced(self._path, changes)
