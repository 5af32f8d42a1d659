"""A disk that can be made to fail while it is in use.

    faults = DiskFaults()
    disk = FaultyDisk(FileDisk("data"), faults)
    full = faults.add(DiskFull(topic="orders"))
    full.remove()

While no fault is loaded, ``open`` gives the other disk's own files, so that reads and writes cost
what they cost there. The first fault and the removal of the last one therefore need the files to be
opened again: ``DiskFaults.reopen`` is called for that.

A slow sync waits in the thread that does it. A sync in the thread of an event loop is not delayed,
which would stop all clients.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from fencepost_broker.storage.log.disk import (
    Buffer,
    DirectoryLock,
    Disk,
    DiskFile,
    DiskUsage,
    FolderEntry,
    StorageError,
    Sync,
)

if TYPE_CHECKING:
    from fencepost_broker.storage.disk.faults import DiskFault, Operation

_CRASHED: Final = "the broker has crashed"
_VERBS: Final = {
    "replace": "write",
    "make_folder": "make the folder",
    "reserve": "allocate room for",
}
"""Words for operations in errors, where the operation's name is none."""


class LoadedDiskFault:
    """A fault that is in force until it is removed."""

    def __init__(self, faults: DiskFaults, fault: DiskFault, number: int) -> None:
        self.fault = fault
        self.number = number
        """Counts the faults of this disk."""
        self.fired = 0
        """How many operations it has changed."""
        self._faults = faults
        self._skipped = 0
        self._written = 0
        self._lock = threading.Lock()
        self._removed = threading.Event()

    def remove(self) -> None:
        """Mend the disk; syncs that wait go on."""
        self._removed.set()
        self._faults.drop(self)

    def hits(self, operation: Operation, path: str, start: int = 0, length: int = 0) -> bool:
        """Count an operation; return whether the fault changes it."""
        return self.cut(operation, path, start, length) is not None

    def cut(self, operation: Operation, path: str, start: int, length: int) -> int | None:
        """Count a write; return how many of its bytes are left, ``None`` for all."""
        fault = self.fault
        if not fault.concerns(operation, path, start, length):
            return None
        with self._lock:
            kept = fault.kept(length, self._written)
            is_spent = fault.times is not None and self.fired >= fault.times
            if kept is None or is_spent or self._skipped < fault.skip:
                self._skipped += kept is not None
                self._written += length
                return None
            self._written += kept
            self.fired += 1
            return kept

    def wait(self) -> None:
        """Let time pass, unless the thread has an event loop to run."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            self._removed.wait(self.fault.delay_ms() / 1000)


class DiskFaults:
    """The faults of one disk."""

    def __init__(self) -> None:
        self.loaded: tuple[LoadedDiskFault, ...] = ()
        """Faults in force, in the order in which they were added."""
        self.is_crashed = False
        """Nothing reaches the disk any more, until the next start."""
        self.reopen: Callable[[], None] = _nothing
        """Has all files opened again, by those that use them."""
        self.on_crash: Callable[[str], None] = lambda _: None
        """Called with the reason when a fault lets the broker crash."""
        self.on_failed_sync: Callable[[str], None] = lambda _: None
        """Called with the path of each file whose sync fails."""
        self._added = 0

    @property
    def may_fail(self) -> bool:
        """Whether an operation may fail because of a fault."""
        return bool(self.loaded) or self.is_crashed

    def add(self, fault: DiskFault) -> LoadedDiskFault:
        """Put a fault in force until it is removed."""
        from fencepost_broker.storage.disk.faults import DiskFault

        if not isinstance(fault, DiskFault):
            raise TypeError(
                f"{fault!r:.80} is no fault of a disk: give one such as fencepost_broker.DiskFull()"
            )
        self._added += 1
        added = LoadedDiskFault(self, fault, self._added)
        self._use((*self.loaded, added))
        return added

    def drop(self, loaded: LoadedDiskFault) -> None:
        """Put a fault out of force."""
        self._use(tuple(each for each in self.loaded if each is not loaded))

    def clear(self) -> None:
        """Put all faults out of force."""
        for each in self.loaded:
            each.remove()

    def begin(self) -> None:
        """Let a broker start after a crash."""
        self.is_crashed = False

    def _use(self, loaded: tuple[LoadedDiskFault, ...]) -> None:
        might_fail, self.loaded = self.may_fail, loaded
        if self.may_fail != might_fail:
            self.reopen()

    def check(self, operation: Operation, path: str) -> None:
        """Raise the error that a fault has for an operation; wait if it is slow."""
        verb = _VERBS.get(operation, operation)
        if self.is_crashed and operation not in ("list", "read"):
            raise StorageError(verb, path, _CRASHED)
        for each in self.loaded:
            fault = each.fault
            if (fault.reason or fault.delay_ms()) and each.hits(operation, path):
                if fault.reason:
                    raise StorageError(verb, path, fault.reason, no_space=fault.no_space)
                each.wait()

    def write(self, file: DiskFile, path: str, position: int, data: Buffer) -> None:
        """Write to a file, or as much of it as the faults allow."""
        if self.is_crashed:
            raise StorageError("write", path, _CRASHED)
        for each in self.loaded:
            kept = each.cut("write", path, position, len(data))
            if kept is None:
                continue
            if kept:
                file.pwrite(position, memoryview(data)[:kept])
            fault = each.fault
            error = StorageError("write", path, fault.reason, no_space=fault.no_space)
            if fault.crashes:
                self.is_crashed = True
                self.on_crash(f"a fault lets the broker crash: {error}")
            raise error
        file.pwrite(position, data)

    def changed(self, path: str, position: int, views: list[memoryview]) -> list[memoryview]:
        """Return what was read, with the bits flipped that faults flip."""
        length = sum(map(len, views))
        for each in self.loaded:
            if not each.fault.reason and each.hits("read", path, position, length):
                data = bytearray(b"".join(views))
                each.fault.changed(data, position)
                views = [memoryview(data).toreadonly()]
        return views


class FaultyDisk:
    """A data directory whose operations may fail."""

    def __init__(self, disk: Disk, faults: DiskFaults) -> None:
        self.disk = disk
        self.faults = faults

    @property
    def name(self) -> str:
        return self.disk.name

    def open(self, path: str) -> DiskFile:
        file = self.disk.open(path)
        return _FaultyFile(file, path, self.faults) if self.faults.may_fail else file

    def list_folder(self, path: str) -> list[FolderEntry]:
        self.faults.check("list", path)
        return self.disk.list_folder(path)

    def exists(self, path: str) -> bool:
        return self.disk.exists(path)

    def make_folder(self, path: str) -> None:
        if not self.disk.exists(path):
            self.faults.check("make_folder", path)
        self.disk.make_folder(path)

    def read(self, path: str) -> bytes | None:
        self.faults.check("read", path)
        data = self.disk.read(path)
        if data is None or not self.faults.loaded:
            return data
        [view] = self.faults.changed(path, 0, [memoryview(data)])
        return bytes(view)

    def write(self, path: str, data: Buffer, *, durable: bool) -> None:
        self.faults.check("replace", path)
        if durable:
            self.faults.check("sync", path)
        self.disk.write(path, data, durable=durable)

    def rename(self, source: str, target: str) -> None:
        self.faults.check("rename", source)
        self.disk.rename(source, target)

    def remove(self, path: str) -> None:
        self.faults.check("remove", path)
        self.disk.remove(path)

    def remove_folder(self, path: str) -> None:
        self.faults.check("remove", path)
        self.disk.remove_folder(path)

    def sync_folder_later(self, path: str) -> Sync:
        return self._checked(path, self.disk.sync_folder_later(path))

    def _checked(self, path: str, sync: Sync) -> Sync:
        return checked_sync(self.faults, path, sync) if self.faults.may_fail else sync

    def sync_all(self) -> bool:
        # With faults, files are synced one by one, so that each fault meets its own.
        return not self.faults.may_fail and self.disk.sync_all()

    def lock(self, path: str) -> DirectoryLock:
        return self.disk.lock(path)

    def usage(self) -> DiskUsage:
        return self.disk.usage()


class _FaultyFile:
    """A file whose operations may fail."""

    __slots__ = ("_faults", "_file", "_path")

    def __init__(self, file: DiskFile, path: str, faults: DiskFaults) -> None:
        self._file = file
        self._path = path
        self._faults = faults

    def size(self) -> int:
        return self._file.size()

    def pread(self, position: int, length: int) -> bytes | memoryview:
        self._faults.check("read", self._path)
        data = self._file.pread(position, length)
        [view] = self._faults.changed(self._path, position, [memoryview(data)])
        return view

    def views(self, position: int, length: int) -> list[memoryview]:
        self._faults.check("read", self._path)
        return self._faults.changed(self._path, position, self._file.views(position, length))

    def pwrite(self, position: int, data: Buffer) -> None:
        self._faults.write(self._file, self._path, position, data)

    def seal(self) -> None:
        self._file.seal()

    def reserve(self, size: int) -> None:
        self._faults.check("reserve", self._path)
        self._file.reserve(size)

    def truncate(self, size: int) -> None:
        self._faults.check("truncate", self._path)
        self._file.truncate(size)

    def sync_later(self) -> Sync:
        return checked_sync(self._faults, self._path, self._file.sync_later())

    def close(self) -> None:
        self._file.close()


def checked_sync(faults: DiskFaults, path: str, sync: Sync) -> Sync:
    """Return a sync that fails, or takes longer, if a fault says so when it is called."""

    def checked() -> None:
        try:
            faults.check("sync", path)
        except StorageError:
            faults.on_failed_sync(path)
            raise
        sync()

    return checked


def _nothing() -> None:
    """Open no files: there are none yet."""
