"""Files that are on their way out: renamed to ``.deleted`` already, removed when they are due."""

from __future__ import annotations

import heapq
from typing import Final

from fencepost_broker.storage.log.disk import Disk, StorageError

_AT_ONCE: Final = 64
"""Segments or folders that one call removes."""


class Removals:
    """Paths by when they are due; one object serves all partitions of a data directory."""

    __slots__ = ("_at_once", "_count", "_disk", "_heap")

    def __init__(self, disk: Disk, *, at_once: bool = False) -> None:
        """``at_once``: remove with the next upkeep, since no other process reads these files."""
        self._disk = disk
        self._at_once = at_once
        self._heap: list[tuple[int, int, tuple[str, ...], bool]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    @property
    def due_ms(self) -> int | None:
        """When the next ones go."""
        return self._heap[0][0] if self._heap else None

    def add(self, due_ms: int, paths: list[str]) -> None:
        """Remove files later."""
        self._push(due_ms, tuple(paths), is_folder=False)

    def add_folder(self, due_ms: int, path: str) -> None:
        """Remove a folder later."""
        self._push(due_ms, (path,), is_folder=True)

    def shift(self, by_ms: int) -> None:
        """Move all times, since the clock was set."""
        self._heap = [(each[0] + by_ms, *each[1:]) for each in self._heap]

    def _push(self, due_ms: int, paths: tuple[str, ...], *, is_folder: bool) -> None:
        if self._at_once:
            due_ms = 0
        self._count += 1  # keeps the order of those that are due at the same time
        heapq.heappush(self._heap, (due_ms, self._count, paths, is_folder))

    def remove_due(self, now_ms: int) -> list[StorageError]:
        """Remove some of what is due; return the errors. A failed removal is not tried again."""
        errors = []
        done = 0
        while self._heap and self._heap[0][0] <= now_ms and done < _AT_ONCE:
            _, _, paths, is_folder = heapq.heappop(self._heap)
            done += 1
            for path in paths:
                try:
                    if is_folder:
                        self._disk.remove_folder(path)
                    else:
                        self._disk.remove(path)
                except StorageError as error:
                    errors.append(error)
        return errors
