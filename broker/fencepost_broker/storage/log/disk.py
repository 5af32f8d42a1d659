"""What a log needs of a disk, and the one error that a disk may answer with.

A log never touches the operating system. It works on a ``Disk``, which is a data directory: paths
are strings relative to it, with ``/`` between folder and file. Real files and the ephemeral disk
are in :mod:`fencepost_broker.storage.disk`; tests put faulty disks in between.

A ``DiskFile`` may be made for any path at no cost: it opens (and creates) the file when it is first
needed and may close it at any time, so that ten thousand partitions do not need ten thousand file
descriptors. Close the ``DiskFile`` before you rename or remove its file.

Every failure is a ``StorageError``. A write that failed may have written some of its bytes; the log
remembers where its good bytes end, and writes over the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview
Sync: TypeAlias = Callable[[], None]
"""Makes durable what was written before it was made. It may be called in another thread, once, even
when the file has been closed, renamed or removed in the meantime."""


class StorageError(Exception):
    """The disk refused: KAFKA_STORAGE_ERROR, seen from outside."""

    def __init__(self, operation: str, path: str, reason: str, *, no_space: bool = False) -> None:
        self.operation = operation
        self.path = path
        self.reason = reason
        self.no_space = no_space
        """Whether more room on the disk would help."""
        super().__init__(f"cannot {operation} {path}: {reason}")


class LockedError(StorageError):
    """Another process uses the data directory."""


class CorruptFileError(StorageError):
    """The content of a file is damaged, and cannot be made again from others."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__("read", path, reason)
        self.args = (f"{path}: {reason}",)


class FolderEntry(NamedTuple):
    """One name in a folder."""

    name: str
    size: int
    is_folder: bool


class DiskUsage(NamedTuple):
    """How large the volume is and how much of it may still be used."""

    total_bytes: int
    usable_bytes: int


class DiskFile(Protocol):
    """One file, by position."""

    def size(self) -> int:
        """How long the file is; 0 when it does not exist."""

    def pread(self, position: int, length: int) -> bytes | memoryview:
        """Read up to ``length`` bytes; fewer at the file's end. For looking at, not for keeping."""

    def pwrite(self, position: int, data: Buffer) -> None:
        """Write all of ``data``; the file is created when it does not exist."""

    def views(self, position: int, length: int) -> list[memoryview]:
        """Give read-only views of a range of the file for keeping.

        Their bytes never change, whatever happens to the file afterwards.
        """

    def seal(self) -> None:
        """Announce that no more will be written for now: room reserved ahead is given back."""

    def reserve(self, size: int) -> None:
        """Make the file ``size`` long, with its blocks allocated where that can be done."""

    def truncate(self, size: int) -> None:
        """Cut the file; views given out keep their bytes. It may be written again."""

    def sync_later(self) -> Sync:
        """Give a call that makes durable what has been written so far."""

    def close(self) -> None:
        """Close the descriptor, if there is one; the next use opens the file again."""


class DirectoryLock(Protocol):
    """The lock of a data directory."""

    def release(self) -> None:
        """Release the lock."""


class Disk(Protocol):
    """A data directory."""

    @property
    def name(self) -> str:
        """Where it is, for messages and DescribeLogDirs."""

    def open(self, path: str) -> DiskFile:
        """Give the file of that name, which need not exist."""

    def list_folder(self, path: str) -> list[FolderEntry]:
        """List a folder (``""`` is the data directory), in no particular order."""

    def exists(self, path: str) -> bool:
        """Say whether there is a file or a folder of that name."""

    def make_folder(self, path: str) -> None:
        """Make a folder, unless it exists."""

    def read(self, path: str) -> bytes | None:
        """Read a small file whole; ``None`` when there is none."""

    def write(self, path: str, data: Buffer, *, durable: bool) -> None:
        """Put a small file in place at once: a reader sees the old content or the new.

        With ``durable`` it is on disk before its name changes.
        """

    def rename(self, source: str, target: str) -> None:
        """Rename a file or a folder; a file that has the name ``target`` is replaced."""

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""

    def remove_folder(self, path: str) -> None:
        """Remove a folder and all that is in it, if it exists."""

    def sync_folder_later(self, path: str) -> Sync:
        """Give a call that makes durable the names in a folder."""

    def sync_all(self) -> bool:
        """Make everything durable at once, if the system can; says whether it did."""

    def lock(self, path: str) -> DirectoryLock:
        """Lock the directory by that file, or raise ``LockedError``."""

    def usage(self) -> DiskUsage:
        """Say how full the volume is."""
