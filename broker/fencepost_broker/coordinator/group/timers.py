"""Deadlines by key, of which there are as many as members, and most of which only ever move.

A member's heartbeat moves its deadline a little further. That is one store into a dictionary: the
heap keeps the old entry, and only when that comes up does it learn the new time. So the heap has
at most one entry a key that is due too early, and none that is due too late.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable
from typing import Final

_SLACK: Final = 64
"""How many entries of cancelled keys the heap may hold beyond as many as there are keys."""


class Timers:
    """When something is to happen, by a key of the caller's."""

    def __init__(self) -> None:
        self._at: dict[Hashable, int] = {}
        self._in_heap: dict[Hashable, int] = {}
        self._heap: list[tuple[int, int, Hashable]] = []
        self._pushed = 0
        self._aside: list[Hashable] = []
        """Keys without an entry in the heap, because what they stand for cannot be done now."""

    def __len__(self) -> int:
        return len(self._at)

    def at(self, key: Hashable) -> int | None:
        """When this is due; None when nothing is set."""
        return self._at.get(key)

    def set(self, key: Hashable, at_ms: int) -> None:
        """Sets or moves a deadline."""
        self._at[key] = at_ms
        known = self._in_heap.get(key)
        if known is None or at_ms < known:
            self._push(key, at_ms)

    def cancel(self, key: Hashable) -> None:
        """Forgets a deadline, if there is one."""
        if self._at.pop(key, None) is not None and len(self._heap) > 2 * len(self._at) + _SLACK:
            self._heap.clear()
            self._in_heap.clear()
            for each, at_ms in self._at.items():
                self._push(each, at_ms)

    def next(self) -> tuple[int, Hashable] | None:
        """The earliest deadline, and of what; of equal ones the one that was set first."""
        heap = self._heap
        while heap:
            at_ms, _, key = heap[0]
            if self._in_heap.get(key) != at_ms:  # moved forward meanwhile: another entry counts
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
        """Pass over what ``next`` gives, until it is set anew or taken up."""
        if self.next() is not None:
            key = heapq.heappop(self._heap)[2]
            del self._in_heap[key]
            self._aside.append(key)

    def take_up(self) -> None:
        """Pass over nothing any more."""
        aside, self._aside = self._aside, []
        for key in aside:
            at_ms = self._at.get(key)
            if at_ms is not None:
                self.set(key, at_ms)

    def _push(self, key: Hashable, at_ms: int) -> None:
        self._in_heap[key] = at_ms
        self._pushed += 1
        heapq.heappush(self._heap, (at_ms, self._pushed, key))
