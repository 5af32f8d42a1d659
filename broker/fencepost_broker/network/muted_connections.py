"""Connections that are muted because their client exceeds its quota (KIP-219)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from fencepost_broker.ports import Clock, Timer


class Mutable(Protocol):
    """A connection whose requests can be held back."""

    def mute(self, on_end: Callable[[], None]) -> bool:
        """Carry out no requests; ``on_end`` is called when the connection is lost or unmuted.

        Return False if the connection is being closed already.
        """

    def unmute(self) -> None:
        """Carry out waiting and new requests again."""

    def end(self) -> None:
        """Close the connection."""


class _Muted(NamedTuple):
    until_ms: int
    timer: Timer | None
    """``None`` if a test advances state time itself."""
    then_close: bool
    """Whether its requests are never carried out."""


class MutedConnections:
    """All muted connections of a broker; muting ends by a timer, or when a test advances time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._muted: dict[Mutable, _Muted] = {}

    def mute(self, connection: Mutable, wait_ms: int, *, then_close: bool = False) -> None:
        """Mute a connection for ``wait_ms``; it may be closed then."""
        if not connection.mute(lambda: self._ended(connection)):
            return
        clock = self._clock
        timer = clock.call_later(wait_ms, connection.unmute) if clock.runs else None
        self._muted[connection] = _Muted(clock.now_ms() + wait_ms, timer, then_close)

    def _ended(self, connection: Mutable) -> None:
        muted = self._muted.pop(connection, None)
        if muted is None:
            return
        if muted.timer is not None:
            muted.timer.cancel()
        if muted.then_close:
            connection.end()

    def deadline_ms(self) -> int | None:
        """Return the time at which the next connection is unmuted, if any."""
        return min((each.until_ms for each in self._muted.values()), default=None)

    def jumped(self, by_ms: int) -> None:
        """Move the ends of waits: the clock was set."""
        for connection, muted in self._muted.items():
            self._muted[connection] = muted._replace(until_ms=muted.until_ms + by_ms)

    def expire(self, now_ms: int) -> None:
        """Unmute the connections whose time is over."""
        for connection, muted in list(self._muted.items()):
            if muted.until_ms <= now_ms:
                connection.unmute()
