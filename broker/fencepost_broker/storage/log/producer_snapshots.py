"""The ``.snapshot`` files of one partition: what was known of its producers at some offsets."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost_broker.storage.log.disk import Disk
from fencepost_broker.storage.log.names import DELETED, SNAPSHOT, file_name
from fencepost_broker.storage.log.producers import ProducerState


class ProducerSnapshots:
    """The snapshots that exist, each of the producers' state at an offset."""

    __slots__ = ("_disk", "_folder", "offsets")

    def __init__(self, disk: Disk, folder: str, offsets: Iterable[int] = ()) -> None:
        self._disk = disk
        self._folder = folder
        self.offsets = sorted(offsets)

    def _path(self, offset: int) -> str:
        return f"{self._folder}/{file_name(offset, SNAPSHOT)}"

    def write(self, producers: ProducerState, offset: int) -> None:
        """Write the state at the log's end, unless that is written already."""
        if self.offsets and self.offsets[-1] >= offset:
            return
        self._disk.write(self._path(offset), producers.snapshot(), durable=False)
        self.offsets.append(offset)

    def load(self, producers: ProducerState, offset: int) -> None:
        """Read the snapshot of an offset; ``CorruptFileError`` if it is damaged."""
        path = self._path(offset)
        producers.load(self._disk.read(path) or b"", path)

    def remove_above(self, offset: int) -> None:
        """Remove the snapshots of later offsets."""
        for later in [each for each in self.offsets if each > offset]:
            self._disk.remove(self._path(later))
            self.offsets.remove(later)

    def set_aside(self, offset: int) -> str | None:
        """Rename a snapshot, to be removed later; return its new path, if there is one."""
        if offset not in self.offsets:
            return None
        self.offsets.remove(offset)
        path = self._path(offset)
        self._disk.rename(path, path + DELETED)
        return path + DELETED
