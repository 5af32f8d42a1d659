"""Connections that are muted because their client is above its quota (KIP-219)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from fencepost_broker.ports import Clock, Timer


class Mutable(Protocol):
    """A connection of which nothing may be carried out for a while."""

    def mute(self, on_end: Callable[[], None]) -> bool:
        """Carry out nothing more; ``on_end`` is called when it is lost, or unmuted.

        False if there is nothing to mute: it is being closed.
        """

    def unmute(self) -> None:
        """Carry out what waits, and what comes."""


class _Muted(NamedTuple):
    until_ms: int
    timer: Timer | None
    """``None`` where state time is moved by hand."""


class MutedConnections:
    """All muted connections of a broker. They end by a timer, or when state time is moved past."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._muted: dict[Mutable, _Muted] = {}

    def mute(self, connection: Mutable, wait_ms: int) -> None:
        """Mute a connection for so long."""
        if not connection.mute(lambda: self._ended(connection)):
            return
        clock = self._clock
        timer = clock.call_later(wait_ms, connection.unmute) if clock.runs else None
        self._muted[connection] = _Muted(clock.now_ms() + wait_ms, timer)

    def _ended(self, connection: Mutable) -> None:
        muted = self._muted.pop(connection, None)
        if muted is not None and muted.timer is not None:
            muted.timer.cancel()

    def deadline_ms(self) -> int | None:
        """When the first ends."""
        return min((each.until_ms for each in self._muted.values()), default=None)

    def expire(self, now_ms: int) -> None:
        """Unmute those whose time is over."""
        for connection, muted in list(self._muted.items()):
            if muted.until_ms <= now_ms:
                connection.unmute()
