"""Where the connections of a loop receive: one buffer for all, and rooms for unfinished frames.

A frame that has not arrived whole gets a room until it is carried out. Rooms are anonymous maps:
the system gives them memory as bytes arrive, and has it back at once when they are dropped. A
``bytearray`` would be the heap's, where glibc keeps blocks of up to 32 MB as soon as larger ones
were freed: after a burst the process would stay as large as it was.

Rooms are used again, some of them: memory that is fresh from the system costs a page fault for
every 4 KB, and zeros on top. A frame gets only a room of its own size class, so what it holds is
at most a quarter more than what is counted for it.
"""

from __future__ import annotations

import mmap
from typing import Any, Final

from fencepost_broker.network.queued_bytes import UNLIMITED, QueuedBytes

SHARED_BYTES: Final = 1 << 18
SMALL_BYTES: Final = 1 << 12
"""An unfinished frame of up to this size costs no more than its connection: it is not counted."""
KEPT_BYTES_MAX: Final = 1 << 24
KEPT_ROOMS_MAX: Final = 32
"""Rooms that wait for the next frame, all together."""
_STRANGERS: Final = {
    b"\x16\x03": "this looks like TLS: listeners here are PLAINTEXT (security.protocol)",
    b"GET ": "this looks like HTTP: this is the port of a Kafka broker",
}
"""What else comes to a broker's port, by its first bytes, and what to say about it."""
_PRIVATE: Final[dict[str, int]] = (
    {"flags": mmap.MAP_PRIVATE} if hasattr(mmap, "MAP_PRIVATE") else {}
)
SCRIBBLES = False
"""Whether frames that were dispatched are overwritten. In tests they are: a kept view shows."""


class SharedBuffer:
    """Where all connections of a loop receive."""

    def __init__(self, queued_bytes_max: int = UNLIMITED) -> None:
        self.data = bytearray(SHARED_BYTES)
        self.view = memoryview(self.data)
        self.open = self.view
        """The part of it that the next receive gets."""
        self.queued = QueuedBytes(queued_bytes_max, self._narrow)
        self.scribbles = SCRIBBLES
        self._kept: list[mmap.mmap] = []
        """The one that was used last is last."""
        self._kept_bytes = 0

    def _narrow(self, is_full: bool) -> None:
        self.open = self.view[:SMALL_BYTES] if is_full else self.view

    def scribble(self, end: int) -> None:
        """Overwrite what was dispatched."""
        self.view[:end] = b"\xa5" * end

    def take_room(self, size: int) -> mmap.mmap:
        """Room for a frame of ``size`` bytes; it takes memory as it is filled."""
        step = max(1 << size.bit_length() - 3, mmap.PAGESIZE)
        rounded = -(-size // step) * step
        kept = self._kept
        for at in range(len(kept) - 1, -1, -1):
            if len(kept[at]) == rounded:
                self._kept_bytes -= rounded
                return kept.pop(at)
        return mmap.mmap(-1, rounded, **_PRIVATE)

    def give_back(self, room: Any) -> None:
        """Nothing looks at what is in the room any more; small frames had none."""
        if self.scribbles and not isinstance(room, bytes):
            room[:] = b"\xa5" * len(room)
        if not isinstance(room, mmap.mmap) or len(room) > KEPT_BYTES_MAX:
            return
        kept = self._kept
        kept.append(room)
        self._kept_bytes += len(room)
        while self._kept_bytes > KEPT_BYTES_MAX or len(kept) > KEPT_ROOMS_MAX:
            self._kept_bytes -= len(kept.pop(0))

    def forget(self) -> None:
        """Give the system back what waits for the next frame."""
        self._kept.clear()
        self._kept_bytes = 0


def stranger(data: bytearray, pos: int) -> str:
    """A word on who it may be that does not speak Kafka's protocol."""
    for beginning, hint in _STRANGERS.items():
        if data.startswith(beginning, pos):
            return f"; {hint}"
    return ""
