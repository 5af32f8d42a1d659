"""Connections that are muted, until when, and who ends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from fencepost_broker.ports import Timer


class Mutable(Protocol):
    """A connection of which nothing may be carried out for a while."""

    def mute(self, on_end: Callable[[], None]) -> bool:
        """Carry out nothing more; ``on_end`` is called when it is lost, or unmuted.

        False if there is nothing to mute: it is being closed.
        """

    def unmute(self) -> None:
        """Carry out what waits, and what comes."""


class Time(Protocol):
    """Both clocks."""

    @property
    def time_runs(self) -> bool:
        """Whether state time passes by itself."""

    def now_ms(self) -> int:
        """State time."""

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Timer:
        """Wire time: make a call later."""


class MutedConnections:
    """All muted connections of a broker. They end by a timer, or when state time is moved past."""

    def __init__(self, time: Time) -> None:
        self._time = time
        self._until_ms: dict[Mutable, int] = {}

    def mute(self, connection: Mutable, wait_ms: int) -> None:
        """Mute a connection for so long."""
        timer: list[Timer] = []

        def ended() -> None:
            self._until_ms.pop(connection, None)
            for each in timer:
                each.cancel()

        if not connection.mute(ended):
            return
        self._until_ms[connection] = self._time.now_ms() + wait_ms
        if self._time.time_runs:
            timer.append(self._time.call_later(wait_ms, connection.unmute))

    def deadline_ms(self) -> int | None:
        """When the first ends."""
        return min(self._until_ms.values(), default=None)

    def expire(self, now_ms: int) -> None:
        """Unmute those whose time is over."""
        for connection, until_ms in list(self._until_ms.items()):
            if until_ms <= now_ms:
                connection.unmute()
