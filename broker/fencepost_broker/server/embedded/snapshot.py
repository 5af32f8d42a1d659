"""The state of a broker in memory at one time, to go back to, to copy, and to keep in a file."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, TypeVar

from fencepost_broker.server.clock import ClockPosition, wall_ms
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import CHUNK_SIZE, MemoryBudget
from fencepost_broker.storage.log.checkpoints import parse_properties
from fencepost_broker.storage.log.names import LOCK, META_PROPERTIES

if TYPE_CHECKING:
    from fencepost_broker.server.broker_server import BrokerServer
    from fencepost_broker.server.controller_server import ControllerServer
    from fencepost_broker.server.embedded.snapshot_file import Manifest

SnapshotT = TypeVar("SnapshotT")
BYTES_MAX: Final = 1 << 30


class NoSnapshotsError(RuntimeError):
    """A broker cannot have snapshots: it has files, is part of a cluster, or is not running."""


class Snapshot:
    """All files of a broker's data directory, and its state time.

    A snapshot never changes, and any number of brokers can continue from it. It shares memory with
    the broker that made it, until that writes more.
    """

    def __init__(self, disk: MemoryDisk, at: ClockPosition, name: str = "") -> None:
        self._disk = disk
        self.at = at
        """Where the state clock stood."""
        self.name = name
        """Its name, or ``""``."""

    @property
    def size_bytes(self) -> int:
        """The size of all files together."""
        return sum(file.size() for _, file in self._disk.walk())

    @property
    def node_id(self) -> int:
        """The ``node.id`` of its broker, which a broker that continues from it must have too."""
        return int(self._properties().get("node.id", "-1"))

    @property
    def cluster_id(self) -> str:
        """The id of its cluster."""
        return self._properties().get("cluster.id", "")

    def _properties(self) -> dict[str, str]:
        return parse_properties(self._disk.read(META_PROPERTIES) or b"", META_PROPERTIES)

    def disk(self, budget: MemoryBudget | None = None) -> MemoryDisk:
        """Return a disk with these files, for one broker."""
        return self._disk.copy(budget)

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"<Snapshot {name}{self.size_bytes} bytes>"

    # -- files ---------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the snapshot to one file, which ``load`` reads, on any machine."""
        from pathlib import Path

        from fencepost_broker.server.embedded import snapshot_file

        snapshot_file.write(Path(path), self.manifest(), self._disk)

    def manifest(self) -> Manifest:
        """Return what the first entry of its file says."""
        from fencepost_broker.server.embedded import snapshot_file

        folders, files = snapshot_file.described(self._disk)
        return snapshot_file.Manifest(
            name=self.name,
            node_id=self.node_id,
            cluster_id=self.cluster_id,
            time_ms=self.at.now_ms,
            ahead_ms=self.at.ahead_ms,
            folders=folders,
            files=files,
        )

    @classmethod
    def load(cls, path: str | PathLike[str], *, bytes_max: int = BYTES_MAX) -> Snapshot:
        """Read the file of a snapshot, which may come from a stranger.

        Raises SnapshotError for every other file, for a damaged one, and for one that unpacks to
        more than ``bytes_max``.
        """
        from pathlib import Path

        from fencepost_broker.server.embedded import snapshot_file

        return cls.read(*snapshot_file.read(Path(path), bytes_max))

    @classmethod
    def read(cls, manifest: Manifest, disk: MemoryDisk) -> Snapshot:
        """Return the snapshot that a file has."""
        return cls(disk, ClockPosition(manifest.time_ms, manifest.ahead_ms), manifest.name)

    @classmethod
    def from_data_dir(cls, path: str | PathLike[str], name: str = "") -> Snapshot:
        """Return a snapshot of a data directory that no broker uses at the moment.

        If its broker was killed, one that continues from the snapshot recovers first. The state
        time is now. Raises SnapshotError or StorageError.
        """
        from pathlib import Path

        from fencepost_broker.server.embedded.snapshot_file import SnapshotError, check_path

        root = Path(path)
        if not (root / META_PROPERTIES).is_file():
            raise SnapshotError(f"{root} is no data directory: it has no {META_PROPERTIES}")
        source, disk = FileDisk(root), MemoryDisk()
        lock = source.lock(LOCK)
        try:
            for found in sorted(root.rglob("*")):
                relative = found.relative_to(root).as_posix()
                if relative == LOCK:
                    continue
                check_path(relative)
                if found.is_symlink() or not (found.is_file() or found.is_dir()):
                    raise SnapshotError(f"{found} is neither a file nor a folder")
                if found.is_dir():
                    disk.make_folder(relative)
                else:
                    _copy(source.open(relative), disk.make(relative))
        finally:
            lock.release()
        return cls(disk, ClockPosition(wall_ms(), 0), name)

    def write_data_dir(self, path: str | PathLike[str]) -> None:
        """Write the files to a new or empty folder: a data directory as of a clean stop."""
        from pathlib import Path

        from fencepost_broker.server.embedded.snapshot_file import SnapshotError

        root = Path(path)
        if root.exists() and (not root.is_dir() or any(root.iterdir())):
            raise SnapshotError(f"{root} is not empty: name a new folder")
        target = FileDisk(root)
        for entry in self._disk.list_folder(""):
            if entry.is_folder:
                target.make_folder(entry.name)
        for file_path, file in self._disk.walk():
            _copy(file, target.open(file_path))


def taken(
    server: BrokerServer | ControllerServer, disk: MemoryDisk, at: ClockPosition, name: str = ""
) -> Snapshot:
    """Return the state of a server that runs on this disk."""
    copies: list[MemoryDisk] = []

    def copy() -> MemoryDisk:
        copies.append(disk.copy())
        return copies[0]

    server.copied(copy)
    return Snapshot(copies[0], at, name)


def named(snapshots: Mapping[str, SnapshotT], snapshot: SnapshotT | str) -> SnapshotT:
    """Return a snapshot, or the one with this name; raises KeyError with the names there are."""
    if not isinstance(snapshot, str):
        return snapshot
    if snapshot not in snapshots:
        known = ", ".join(map(repr, snapshots)) or "none"
        raise KeyError(f"there is no snapshot {snapshot!r}; there is {known}")
    return snapshots[snapshot]


def _copy(source: Any, target: Any) -> None:
    target.pwrite(0, b"")  # an empty file is a file, too
    for position in range(0, source.size(), CHUNK_SIZE):
        target.pwrite(position, source.pread(position, CHUNK_SIZE))
    source.close()
    target.close()
