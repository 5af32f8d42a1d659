"""Whether the controller itself stood still, while it waited for heartbeats.

A process that was stopped, or busy for long, wakes with all its timers due, and what brokers have
sent meanwhile still waits in its sockets. So it looks at the time several times a session. A look
that comes late tells for how long nobody could be heard; it decides nothing, and the next one comes
when the sockets have been read. That one decides, however late it is: a machine that is always late
fences whoever is gone, too.
"""

from __future__ import annotations

from typing import Final, NamedTuple

LOOKS_A_SESSION: Final = 8
FIRST_LOOK_MS: Final = 1000
"""A process looks once a second, whatever it has to do: by then it knows whom it waits for."""
READ_MS: Final = 100
"""What waits in the sockets is read in this time, and connections that were given up are made."""


class Check(NamedTuple):
    """What is the matter with a look."""

    late_ms: int = 0
    """For so long nobody could be heard."""
    is_postponed: bool = False


class StandstillClock:
    """When the controller has to look at the time, and how late it came."""

    def __init__(self, session_ms: int) -> None:
        self._apart_ms = max(session_ms // LOOKS_A_SESSION, 1)
        self._due_ms: int | None = None
        """None while there is nobody to wait for."""
        self._is_postponed = False

    def deadline_ms(self, wanted_ms: int | None) -> int | None:
        """When to look next, if there is something to do at ``wanted_ms``."""
        if self._due_ms is None:
            return wanted_ms
        if self._is_postponed or wanted_ms is None:
            return self._due_ms
        return min(self._due_ms, wanted_ms)

    def begin(self, now_ms: int) -> None:
        """There is somebody to wait for; to stop before the first look is to be late, too."""
        if self._due_ms is None:
            self._due_ms = now_ms + FIRST_LOOK_MS

    def check(self, now_ms: int, *, is_watched: bool) -> Check:
        """It looks; ``is_watched``: there are brokers whose heartbeats are waited for."""
        late_ms = 0 if self._due_ms is None else now_ms - self._due_ms
        if self._is_postponed and late_ms < 0:
            return Check(0, is_postponed=True)  # woken for something else: nothing was read yet
        if late_ms < self._apart_ms:
            late_ms = 0
        self._is_postponed = late_ms > 0 and not self._is_postponed
        wait_ms = READ_MS if self._is_postponed else self._apart_ms
        self._due_ms = now_ms + wait_ms if is_watched else None
        return Check(late_ms, self._is_postponed)
