"""How many bytes of requests may be in memory and not carried out (``queued.max.request.bytes``).

The whole of an unfinished frame is counted before its body is read, so that every frame which has
begun to be read can be finished. A frame that does not fit waits unread, and all that come later
wait after it, in order.

No deadlock. What is *busy*, unfinished frames and requests that a thread reads, needs nothing of
any other connection to come to an end. What is *held*, requests behind a parked one, may have to
wait for a request that is still to be read. So one frame is always admitted where nothing is busy,
however much is held. What came of a frame along with its size, before it had to wait, is counted,
but keeps no frame waiting.

Senders that are slow. While others wait, a frame has some periods to be complete; then its
connection is closed. Periods are counted rather than measured, so that a broker that stood still
does not count that time.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Final, Protocol

UNLIMITED: Final = sys.maxsize
BEGINNINGS_BYTES: Final = 1 << 24
"""What may be in memory beyond the bound before receives get small: beginnings of frames."""
PERIOD_S: Final = 5.0
PERIODS_MAX: Final = 6
"""Together as long as clients wait for an answer by default (``request.timeout.ms``)."""


class Receiver(Protocol):
    """A connection that receives a frame, or waits to do so."""

    def let_on(self) -> None:
        """There is room: receive the frame."""

    def drop(self, reason: str) -> None:
        """Close: the frame took too long."""


class QueuedBytes:
    """What all connections of a server have received, or are about to receive."""

    def __init__(self, most: int, on_full: Callable[[bool], None]) -> None:
        self.most = most
        self.is_full = False
        """Much more than the bound is here: then connections are read a little at a time."""
        self._on_full = on_full
        self._busy = 0
        self._held = 0
        self._begun = 0
        """The beginnings of those in the line."""
        self._receiving: dict[Receiver, tuple[int, int]] = {}
        """The size of each one's frame, and the period in which it was admitted."""
        self._line: dict[Receiver, tuple[int, int]] = {}
        """Those that wait for room: the size of the frame, and how much of it came already."""
        self._period = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        """How many bytes are counted now."""
        return self._busy + self._held + self._begun

    @property
    def waiting(self) -> int:
        """How many frames wait for room."""
        return len(self._line)

    def admit(self, receiver: Receiver, size: int, here: int) -> bool:
        """Whether a frame, of which some bytes are here, may be received now.

        If not, ``let_on`` is called when it may.
        """
        if receiver in self._line:
            return False
        if not self._line and self._fits(size):
            self._receive(receiver, size)
            return True
        self._line[receiver] = size, here
        if self._timer is None:
            self._start_timer()
        self._begun += here
        self._changed()
        return False

    def leave(self, receiver: Receiver) -> None:
        """Its frame is complete and counted otherwise, or it will never be."""
        if (waiting := self._line.pop(receiver, None)) is not None:
            self._begun -= waiting[1]
        if (received := self._receiving.pop(receiver, None)) is not None:
            self._busy -= received[0]
        self._changed()

    def hold(self, count: int) -> None:
        """So many more bytes wait behind parked requests, or fewer."""
        self._held += count
        self._changed()

    def work_on(self, count: int) -> None:
        """So many more bytes are being read in a thread, or fewer."""
        self._busy += count
        self._changed()

    def _fits(self, size: int) -> bool:
        return not self._busy or self._busy + self._held + size <= self.most

    def _receive(self, receiver: Receiver, size: int) -> None:
        self._receiving[receiver] = size, self._period
        self._busy += size

    def _changed(self) -> None:
        while self._line:
            receiver, (size, here) = next(iter(self._line.items()))
            if not self._fits(size):
                break
            del self._line[receiver]
            self._begun -= here
            self._receive(receiver, size)
            receiver.let_on()
        is_full = self.count > self.most + BEGINNINGS_BYTES
        if is_full is not self.is_full:
            self.is_full = is_full
            self._on_full(is_full)

    def _start_timer(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(PERIOD_S, self._end_of_period)

    def _end_of_period(self) -> None:
        self._timer = None
        self.end_period()
        if self._line:
            self._start_timer()

    def end_period(self) -> None:
        """Close those whose frame took too long, the oldest first, until no other waits."""
        if not self._line:
            return
        self._period += 1
        late = [
            (receiver, size)
            for receiver, (size, since) in self._receiving.items()
            if self._period - since > PERIODS_MAX
        ]
        for receiver, size in late:
            if not self._line:
                break
            receiver.drop(
                f"a frame of {size} bytes was not complete after {PERIODS_MAX * PERIOD_S:.0f} s, "
                f"and others wait for its room: {len(self._line)} (queued.max.request.bytes)"
            )
