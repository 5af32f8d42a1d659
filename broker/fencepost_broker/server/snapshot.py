"""The state of a broker in memory at one time, to go back to, to copy, and to keep in a file."""

from __future__ import annotations

from fencepost_broker.server.clock import ClockPosition
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget


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

    @property
    def size_bytes(self) -> int:
        """The size of all files together."""
        return sum(file.size() for _, file in self._disk.walk())

    def disk(self, budget: MemoryBudget | None = None) -> MemoryDisk:
        """Return a disk with these files, for one broker."""
        return self._disk.copy(budget)

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"<Snapshot {name}{self.size_bytes} bytes>"
