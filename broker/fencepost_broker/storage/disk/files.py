"""The disk of real files: a data directory.

A file is opened when it is first needed, and at most ``open_files_max`` are open at a time: a file
that was not used since the hand last passed it is closed (second chance), so that using one costs a
single store.

``os.pwrite``, ``os.pread`` and ``posix_fallocate`` are not everywhere: with ``positional=False``
they are done by seeking.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections import deque
from typing import Final

from fencepost_broker.storage.disk.directory_lock import FileLock
from fencepost_broker.storage.disk.read_memory import CAN_REUSE, LARGE_READ, ReadMemory
from fencepost_broker.storage.disk.room import release_room, reserve_room
from fencepost_broker.storage.log.disk import (
    Buffer,
    DirectoryLock,
    DiskUsage,
    FolderEntry,
    StorageError,
    Sync,
)

HAS_POSITIONAL: Final = hasattr(os, "pwrite") and hasattr(os, "pread")
_OPEN_FLAGS: Final = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ_FLAGS: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_ANEW_FLAGS: Final = _OPEN_FLAGS | os.O_CREAT | os.O_TRUNC
_NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT) if hasattr(errno, "EDQUOT") else (errno.ENOSPC,)
_MODE: Final = 0o600
"""For this user alone: the metadata log has credentials in it."""
_FOLDER_MODE: Final = 0o700
_COPY_BLOCK: Final = 1 << 20
_SMALL_FILE: Final = 64 * 1024
_LARGE_WRITE: Final = 8192
"""From here on a write costs less where room was reserved for it."""
_ROOM_MAX: Final = 4 << 20
_CLOSED: Final = -1

_datasync = getattr(os, "fdatasync", os.fsync)


def storage_error(operation: str, path: str | os.PathLike[str], error: OSError) -> StorageError:
    """What the operating system said, as the log's error."""
    reason = error.strerror or str(error)
    return StorageError(operation, str(path), reason, no_space=error.errno in _NO_SPACE)


class RealFile:
    """One file of a data directory."""

    __slots__ = ("_descriptor", "_disk", "_path", "_room_end", "is_used")

    def __init__(self, disk: FileDisk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._descriptor = _CLOSED
        self._room_end = 0
        """How far room was reserved, or was tried to be."""
        self.is_used = False

    def _open(self, *, create: bool) -> int:
        """Open the file if it is closed; -1 when it does not exist and is only to be read."""
        disk = self._disk
        path = self._path
        if self._descriptor != _CLOSED:
            return self._descriptor
        disk.make_room()
        try:
            descriptor = os.open(path, _OPEN_FLAGS | (os.O_CREAT if create else 0), _MODE)
        except FileNotFoundError:
            if create:
                raise
            return _CLOSED
        except PermissionError:
            if create:
                raise
            descriptor = os.open(path, _READ_FLAGS)
        except OSError as error:
            if create or error.errno != errno.EROFS:
                raise
            descriptor = os.open(path, _READ_FLAGS)
        self._descriptor = descriptor
        # The use it was opened for does not count, or a row of such would drive out busy files.
        self.is_used = False
        disk.note_open(self)
        return descriptor

    def size(self) -> int:
        try:
            if self._descriptor != _CLOSED:
                return os.fstat(self._descriptor).st_size
            return os.stat(self._path).st_size
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise storage_error("look at", self._path, error) from error

    def pread(self, position: int, length: int) -> bytes | memoryview:
        self.is_used = True
        try:
            descriptor = self._descriptor
            if descriptor == _CLOSED:
                descriptor = self._open(create=False)
                if descriptor == _CLOSED:
                    return b""
            if self._disk.positional:
                return os.pread(descriptor, length, position)
            os.lseek(descriptor, position, os.SEEK_SET)
            return os.read(descriptor, length)
        except OSError as error:
            raise storage_error("read", self._path, error) from error

    def pwrite(self, position: int, data: Buffer) -> None:
        self.is_used = True
        try:
            descriptor = self._descriptor
            if descriptor == _CLOSED:
                descriptor = self._open(create=True)
            if self._disk.positional:
                written = os.pwrite(descriptor, data, position)
            else:
                os.lseek(descriptor, position, os.SEEK_SET)
                written = os.write(descriptor, data)
            if written != len(data):
                self._write_rest(descriptor, position + written, memoryview(data)[written:])
            elif written >= _LARGE_WRITE and position + 2 * written > self._room_end:
                self._reserve_ahead(descriptor, position + written)
        except OSError as error:
            raise storage_error("write", self._path, error) from error

    def _write_rest(self, descriptor: int, position: int, rest: memoryview) -> None:
        """Write on after a short write, which says why it was short only when tried again."""
        while rest:
            if self._disk.positional:
                written = os.pwrite(descriptor, rest, position)
            else:
                os.lseek(descriptor, position, os.SEEK_SET)
                written = os.write(descriptor, rest)
            position += written
            rest = rest[written:]

    def _reserve_ahead(self, descriptor: int, end: int) -> None:
        """Reserve room for what comes next: as much as the file has, up to a limit."""
        room = min(end, _ROOM_MAX)
        self._room_end = end + room
        if self._disk.positional:
            reserve_room(descriptor, end, room)

    def _release_room(self) -> None:
        if self._room_end and self._descriptor != _CLOSED:
            self._room_end = 0
            with contextlib.suppress(OSError):
                release_room(self._descriptor)

    def views(self, position: int, length: int) -> list[memoryview]:
        if length < LARGE_READ or not self._disk.reuses_memory:
            return [memoryview(self.pread(position, length))]
        self.is_used = True
        try:
            descriptor = self._open(create=False)
            if descriptor == _CLOSED:
                return []
            return self._disk.read_memory.read(descriptor, position, length)
        except OSError as error:
            raise storage_error("read", self._path, error) from error

    def seal(self) -> None:
        self._release_room()

    def reserve(self, size: int) -> None:
        try:
            descriptor = self._open(create=True)
            if self._disk.positional and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(descriptor, 0, size)
            else:
                os.ftruncate(descriptor, size)
        except OSError as error:
            raise storage_error("allocate room for", self._path, error) from error

    def truncate(self, size: int) -> None:
        try:
            self._room_end = 0
            descriptor = self._open(create=False)
            if descriptor != _CLOSED:
                os.ftruncate(descriptor, size)
        except OSError as error:
            raise storage_error("truncate", self._path, error) from error

    def sync_later(self) -> Sync:
        try:
            descriptor = self._open(create=False)
            if descriptor == _CLOSED:
                return _nothing
            # A descriptor of its own: this file may be closed before the other thread comes to it.
            return _Sync(self._path, os.dup(descriptor))
        except OSError as error:
            raise storage_error("sync", self._path, error) from error

    def close(self) -> None:
        if self._descriptor != _CLOSED:
            self._release_room()
            os.close(self._descriptor)
            self._descriptor = _CLOSED
            self._disk.note_closed(self)


class _Sync:
    """A descriptor that waits for its fsync."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def __call__(self) -> None:
        descriptor, self._descriptor = self._descriptor, _CLOSED
        if descriptor == _CLOSED:
            return
        try:
            _datasync(descriptor)
        except OSError as error:
            raise storage_error("sync", self._path, error) from error
        finally:
            os.close(descriptor)

    def __del__(self) -> None:
        if self._descriptor != _CLOSED:
            os.close(self._descriptor)


def _nothing() -> None:
    """Sync a file that does not exist."""


class FileDisk:
    """A data directory of real files."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        open_files_max: int = 512,
        positional: bool = HAS_POSITIONAL,
    ) -> None:
        self._root = os.path.abspath(root)
        self._open_files_max = open_files_max
        self._open: deque[RealFile] = deque()
        self.positional = positional
        self.reuses_memory = positional and CAN_REUSE
        self.read_memory = ReadMemory()
        try:
            os.makedirs(self._root, _FOLDER_MODE, exist_ok=True)
        except OSError as error:
            raise storage_error("make the data directory", self._root, error) from error

    @property
    def name(self) -> str:
        return self._root

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    # --- the files that are open ----------------------------------------------------------------

    def make_room(self) -> None:
        """Close files that were not used lately, until one more may be open."""
        opened = self._open
        turns = 2 * len(opened)
        while len(opened) >= self._open_files_max and turns:
            turns -= 1
            file = opened[0]
            if file.is_used:
                file.is_used = False
                opened.rotate(-1)
            else:
                file.close()

    def note_open(self, file: RealFile) -> None:
        """Count a file that has been opened."""
        self._open.append(file)

    def note_closed(self, file: RealFile) -> None:
        """Count a file that has been closed."""
        with contextlib.suppress(ValueError):
            self._open.remove(file)

    @property
    def open_files(self) -> int:
        """How many files are open now."""
        return len(self._open)

    # --- the directory --------------------------------------------------------------------------

    def open(self, path: str) -> RealFile:
        return RealFile(self, self._full(path))

    def list_folder(self, path: str) -> list[FolderEntry]:
        entries = []
        try:
            with os.scandir(self._full(path)) as found:
                for entry in found:
                    is_folder = entry.is_dir()
                    size = 0 if is_folder else entry.stat().st_size
                    entries.append(FolderEntry(entry.name, size, is_folder))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error("list", self._full(path), error) from error
        return entries

    def exists(self, path: str) -> bool:
        return os.path.lexists(self._full(path))

    def make_folder(self, path: str) -> None:
        full = self._full(path)
        try:
            os.mkdir(full, _FOLDER_MODE)
        except OSError as error:
            if not (isinstance(error, FileExistsError) and os.path.isdir(full)):
                raise storage_error("make the folder", full, error) from error

    def read(self, path: str) -> bytes | None:
        full = self._full(path)
        try:
            descriptor = os.open(full, _READ_FLAGS)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise storage_error("read", full, error) from error
        try:
            # A start reads three small files per partition: a file object would cost it double.
            data = os.read(descriptor, _SMALL_FILE)
            if len(data) == _SMALL_FILE:
                while block := os.read(descriptor, _COPY_BLOCK):
                    data += block
        except OSError as error:
            raise storage_error("read", full, error) from error
        finally:
            os.close(descriptor)
        return data

    def write(self, path: str, data: Buffer, *, durable: bool) -> None:
        full = self._full(path)
        aside = f"{full}.tmp"
        try:
            # Thousands of partitions write such files at once; file objects and paths cost double.
            descriptor = os.open(aside, _ANEW_FLAGS, _MODE)
            try:
                left = memoryview(data)
                while left:
                    left = left[os.write(descriptor, left) :]
                if durable:
                    _datasync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(aside, full)
            if durable:
                self.sync_folder_later(path.rpartition("/")[0])()
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(aside)
            raise storage_error("write", full, error) from error

    def rename(self, source: str, target: str) -> None:
        try:
            os.replace(self._full(source), self._full(target))
        except OSError as error:
            raise storage_error("rename", self._full(source), error) from error

    def remove(self, path: str) -> None:
        try:
            os.unlink(self._full(path))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise storage_error("remove", self._full(path), error) from error

    def remove_folder(self, path: str) -> None:
        import shutil

        try:
            shutil.rmtree(self._full(path))
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error("remove", self._full(path), error) from error

    def sync_folder_later(self, path: str) -> Sync:
        if sys.platform == "win32":
            return _nothing  # a folder cannot be opened there; names are durable by the journal
        full = self._full(path)
        try:
            return _Sync(full, os.open(full, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        except FileNotFoundError:
            return _nothing
        except OSError as error:
            raise storage_error("sync", full, error) from error

    def sync_all(self) -> bool:
        if not sys.platform.startswith("linux"):
            return False  # elsewhere sync() does not wait
        os.sync()
        return True

    def lock(self, path: str) -> DirectoryLock:
        full = self._full(path)
        try:
            return FileLock(full)
        except OSError as error:
            raise storage_error("lock", full, error) from error

    def usage(self) -> DiskUsage:
        import shutil

        try:
            total, _, free = shutil.disk_usage(self._root)
        except OSError as error:
            raise storage_error("look at", self._root, error) from error
        return DiskUsage(total, free)
