"""The memory that connections receive into: one shared buffer, and rooms for incomplete frames.

A frame that has not arrived completely gets a room until it is carried out. All of it is anonymous
memory maps: the system provides memory as bytes arrive, and gets it back when the map is dropped. A
``bytearray`` would come from the heap, where glibc keeps blocks of up to 32 MB once larger ones
were freed: after a burst the process would not shrink.

Some rooms are reused, because fresh memory costs a page fault and zeroing for every 4 KB. A frame
only gets a room of its own size class, so it holds at most a quarter more memory than is counted
for it.
"""

from __future__ import annotations

import mmap
import sys
from typing import Any, Final

from fencepost_broker.network.queued_bytes import UNLIMITED, QueuedBytes

SHARED_BYTES: Final = 1 << 18
SMALL_BYTES: Final = 1 << 12
"""Incomplete frames up to this size are not counted: they cost no more than their connections."""
KEPT_BYTES_MAX: Final = 1 << 24
KEPT_ROOMS_MAX: Final = 32
"""The most unused rooms that are kept for later frames."""
_STRANGERS: Final = {
    b"\x16\x03": "this looks like TLS, but the listener is PLAINTEXT (security.protocol)",
    b"GET ": "this looks like HTTP, but this is the port of a Kafka broker",
}
"""Hints about other protocols that clients use by mistake, by their first bytes."""
SCRIBBLES = False
"""Whether dispatched frames are overwritten; the tests do so to detect views that were kept."""


def _memory(size: int) -> mmap.mmap:
    if sys.platform == "win32":
        made = mmap.mmap(-1, size)
    else:
        made = mmap.mmap(-1, size, mmap.MAP_PRIVATE)
    return made


class SharedBuffer:
    """The buffer that all connections of an event loop receive into."""

    def __init__(self, queued_bytes_max: int = UNLIMITED) -> None:
        self.view = memoryview(_memory(SHARED_BYTES))
        self.open = self.view
        """The part of the buffer for the next receive."""
        self.queued = QueuedBytes(queued_bytes_max, self._narrow)
        self.scribbles = SCRIBBLES
        self._kept: list[mmap.mmap] = []
        """Unused rooms, the most recently used one last."""
        self._kept_bytes = 0

    def _narrow(self, is_full: bool) -> None:
        self.open = self.view[:SMALL_BYTES] if is_full else self.view

    def scribble(self, end: int) -> None:
        """Overwrite the frames that were dispatched."""
        self.view[:end] = b"\xa5" * end

    def take_room(self, size: int) -> mmap.mmap:
        """Return room for a frame of ``size`` bytes; memory is allocated as it is filled."""
        step = max(1 << size.bit_length() - 3, mmap.PAGESIZE)
        rounded = -(-size // step) * step
        kept = self._kept
        for at in range(len(kept) - 1, -1, -1):
            if len(kept[at]) == rounded:
                self._kept_bytes -= rounded
                return kept.pop(at)
        return _memory(rounded)

    def give_back(self, room: Any) -> None:
        """Take back a room that is not used any more; ignore the memory of small frames."""
        if self.scribbles and not isinstance(room, bytes):
            room[:] = b"\xa5" * len(room)
        if not isinstance(room, mmap.mmap) or len(room) > KEPT_BYTES_MAX or room is self.view.obj:
            return
        kept = self._kept
        kept.append(room)
        self._kept_bytes += len(room)
        while self._kept_bytes > KEPT_BYTES_MAX or len(kept) > KEPT_ROOMS_MAX:
            self._kept_bytes -= len(kept.pop(0))

    def forget(self) -> None:
        """Return all unused rooms to the system."""
        self._kept.clear()
        self._kept_bytes = 0


def stranger(data: memoryview, pos: int) -> str:
    """Return a hint, if the bytes look like another protocol, to append to an error message."""
    for beginning, hint in _STRANGERS.items():
        if data[pos : pos + len(beginning)] == beginning:
            return f"; {hint}"
    return ""
