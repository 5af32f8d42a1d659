"""Where the connections of a loop receive: one buffer for all, and rooms for frames beyond it.

A large frame gets a room of its own for as long as it is received and carried out. Rooms are used
again: memory that is fresh from the system costs a page fault for every 4 KB and zeros on top,
which made frames of 6 MB four times as dear as those of 1 MB.
"""

from __future__ import annotations

from typing import Final

SHARED_BYTES: Final = 1 << 18
FIRST_ROOM_BYTES: Final = 1 << 21
"""What an announced frame gets at first; more as it arrives, or announcing would cost us memory."""
KEPT_BYTES_MAX: Final = 1 << 24
"""Rooms that wait for the next large frame, all together."""
_STEP: Final = 1 << 18
"""Rooms are multiples of this, so that one fits the next frame, too."""


class SharedBuffer:
    """Where all connections of a loop receive."""

    def __init__(self, size: int = SHARED_BYTES, *, scribble: bool = False) -> None:
        self.data = bytearray(size)
        self.view = memoryview(self.data)
        self.scribbles = scribble
        self._kept: list[bytearray] = []
        self._kept_bytes = 0

    def scribble(self, end: int) -> None:
        """In tests: overwrite what was dispatched, so that a kept view shows."""
        self.view[:end] = b"\xa5" * end

    def take_room(self, size: int, trusted: int) -> bytearray:
        """Room for a frame of ``size`` bytes, or for the first ``trusted`` of them, or more.

        A room that is there anyway costs nothing, however little of the frame has arrived.
        """
        kept = self._kept
        fitting = [at for at, room in enumerate(kept) if len(room) >= min(size, trusted)]
        if fitting:
            best = min(fitting, key=lambda at: (len(kept[at]) < size, abs(len(kept[at]) - size)))
            self._kept_bytes -= len(kept[best])
            return kept.pop(best)
        wanted = min(size, max(trusted, FIRST_ROOM_BYTES))
        return bytearray(-(-wanted // _STEP) * _STEP)

    def give_back(self, room: bytearray) -> None:
        """Nobody looks at what is in the room any more."""
        if self.scribbles:
            room[:] = b"\xa5" * len(room)
        if len(room) > KEPT_BYTES_MAX:
            return
        kept = self._kept
        kept.append(room)
        self._kept_bytes += len(room)
        while self._kept_bytes > KEPT_BYTES_MAX:
            smallest = min(range(len(kept)), key=lambda at: len(kept[at]))
            self._kept_bytes -= len(kept.pop(smallest))
