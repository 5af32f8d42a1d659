"""Deadlines by key: there is one per member, and most of them are only moved later.

A member's heartbeat moves its deadline, which costs one store into a dictionary. The heap keeps the
old entry until it reaches the top; then it gets the new time. So an entry in the heap may be too
early but is never too late.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from typing import Final

_SLACK: Final = 64
"""The number of superfluous heap entries that are tolerated before a cleanup."""


class Timers:
    """Deadlines by keys that the caller chooses."""

    def __init__(self) -> None:
        self._at: dict[Hashable, int] = {}
        self._in_heap: dict[Hashable, int] = {}
        self._heap: list[tuple[int, int, Hashable]] = []
        self._pushed = 0
        self._aside: list[Hashable] = []
        """The keys that ``put_off`` has skipped; they have no entry in the heap."""

    def __len__(self) -> int:
        return len(self._at)

    def at(self, key: Hashable) -> int | None:
        """Return a key's deadline; ``None`` if it has none."""
        return self._at.get(key)

    def set(self, key: Hashable, at_ms: int) -> None:
        """Set or move a deadline."""
        self._at[key] = at_ms
        known = self._in_heap.get(key)
        if known is None or at_ms < known:
            self._push(key, at_ms)

    def cancel(self, key: Hashable) -> None:
        """Cancel a deadline, if there is one."""
        if self._at.pop(key, None) is not None and len(self._heap) > 2 * len(self._at) + _SLACK:
            self._heap.clear()
            self._in_heap.clear()
            for each, at_ms in self._at.items():
                self._push(each, at_ms)

    def shift(self, by_ms: int) -> None:
        """Move all deadlines, since the clock was set."""
        self._at = {key: at_ms + by_ms for key, at_ms in self._at.items()}
        self._in_heap = {key: at_ms + by_ms for key, at_ms in self._in_heap.items()}
        self._heap = [(at_ms + by_ms, number, key) for at_ms, number, key in self._heap]

    def next(self) -> tuple[int, Hashable] | None:
        """Return the earliest deadline and its key; of equal ones, the one that was set first."""
        heap = self._heap
        while heap:
            at_ms, _, key = heap[0]
            if self._in_heap.get(key) != at_ms:  # the key has a newer, earlier entry
                heapq.heappop(heap)
                continue
            now_at_ms = self._at.get(key)
            if now_at_ms == at_ms:
                return at_ms, key
            heapq.heappop(heap)
            del self._in_heap[key]
            if now_at_ms is not None:
                self._push(key, now_at_ms)
        return None

    def put_off(self) -> None:
        """Skip the result of ``next`` until it is set again or ``take_up`` is called."""
        if self.next() is not None:
            key = heapq.heappop(self._heap)[2]
            del self._in_heap[key]
            self._aside.append(key)

    def take_up(self) -> None:
        """Consider all skipped keys again."""
        aside, self._aside = self._aside, []
        for key in aside:
            at_ms = self._at.get(key)
            if at_ms is not None:
                self.set(key, at_ms)

    def _push(self, key: Hashable, at_ms: int) -> None:
        self._in_heap[key] = at_ms
        self._pushed += 1
        heapq.heappush(self._heap, (at_ms, self._pushed, key))
