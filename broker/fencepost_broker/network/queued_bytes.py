"""The limit on bytes of requests that are not carried out yet (``queued.max.request.bytes``).

The whole size of an incomplete frame is counted before its body is read, so that every frame whose
reading has begun can be completed. A frame that does not fit waits unread, and later frames wait
after it, in order.

No deadlock. *Busy* bytes, of incomplete frames and of requests that a thread decodes, need no other
connection to make progress. *Held* bytes, of requests that wait for a parked one, may depend on a
request that is still unread. So one frame is always admitted if nothing is busy, however much is
held. The bytes of a waiting frame that arrived along with its size are counted, but they make no
other frame wait.

Slow senders. While others wait, a frame has a number of periods to be complete; then its connection
is closed. Periods are counted rather than measured, so that the time of a suspended broker does not
count.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import Final, Protocol

UNLIMITED: Final = sys.maxsize
BEGINNINGS_BYTES: Final = 1 << 24
"""The bytes of frames' beginnings beyond the limit at which connections are read in small steps."""
PERIOD_S: Final = 5.0
PERIODS_MAX: Final = 6
"""Together as long as clients' default ``request.timeout.ms``."""


class Receiver(Protocol):
    """A connection that receives a frame, or waits to do so."""

    def let_on(self) -> None:
        """Receive the frame: there is room."""

    def drop(self, reason: str) -> None:
        """Close the connection: the frame took too long."""


class QueuedBytes:
    """The count of the bytes that a server's connections have received or were admitted to."""

    def __init__(self, most: int, on_full: Callable[[bool], None]) -> None:
        self.most = most
        self.is_full = False
        """Whether the limit is far exceeded; then connections are read in small steps."""
        self._on_full = on_full
        self._busy = 0
        self._held = 0
        self._begun = 0
        """The bytes of the beginnings of waiting frames."""
        self._receiving: dict[Receiver, tuple[int, int]] = {}
        """By receiver: the size of its frame, and the period in which it was admitted."""
        self._line: dict[Receiver, tuple[int, int]] = {}
        """By receiver that waits for room: the size of its frame, and the bytes received so far."""
        self._period = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        """The bytes that are counted now."""
        return self._busy + self._held + self._begun

    @property
    def waiting(self) -> int:
        """The number of frames that wait for room."""
        return len(self._line)

    def admit(self, receiver: Receiver, size: int, here: int) -> bool:
        """Return whether a frame, of which ``here`` bytes have arrived, may be received now.

        If not, ``let_on`` is called later.
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
        """Stop counting a receiver's frame: it is complete, or never will be."""
        if (waiting := self._line.pop(receiver, None)) is not None:
            self._begun -= waiting[1]
        if (received := self._receiving.pop(receiver, None)) is not None:
            self._busy -= received[0]
        self._changed()

    def hold(self, count: int) -> None:
        """Change the number of bytes that wait for parked requests."""
        self._held += count
        self._changed()

    def work_on(self, count: int) -> None:
        """Change the number of bytes that a thread decodes."""
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
        """Close connections whose frame took too long, oldest first, until no frame waits."""
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
                f"while {len(self._line)} others waited for room (queued.max.request.bytes)"
            )
