"""Detection of standstills: times in which a controller, or a broker, itself did not run.

A process that was stopped, or busy for long, wakes with all its timers due, while heartbeats wait
unread in its sockets. So it checks the time several times in a session. A late check tells for how
long no heartbeat could be received; it decides nothing, and the next check follows when the sockets
were read. That one decides, however late it is: a machine that is always late must fence dead
brokers, too.
"""

from __future__ import annotations

from typing import Final, NamedTuple

LOOKS_A_SESSION: Final = 8
FIRST_LOOK_MS: Final = 1000
"""Time of the first check: until then a process has other work, and learns its brokers."""
READ_MS: Final = 100
"""Time to read sockets, and to accept lost connections again."""


class Check(NamedTuple):
    """Result of a check."""

    late_ms: int = 0
    """For how long no heartbeat could be received."""
    is_postponed: bool = False


class StandstillClock:
    """Times at which the controller checks the time, and how late it was."""

    def __init__(self, session_ms: int) -> None:
        self._apart_ms = max(session_ms // LOOKS_A_SESSION, 1)
        self._due_ms: int | None = None
        """``None`` while no heartbeat is expected."""
        self._is_postponed = False

    def deadline_ms(self, wanted_ms: int | None) -> int | None:
        """Return when to check next, if there is something to do at ``wanted_ms``."""
        if self._due_ms is None:
            return wanted_ms
        if self._is_postponed or wanted_ms is None:
            return self._due_ms
        return min(self._due_ms, wanted_ms)

    def begin(self, now_ms: int) -> None:
        """Begin to expect heartbeats; a standstill before the first check counts, too."""
        if self._due_ms is None:
            self._due_ms = now_ms + FIRST_LOOK_MS

    def jumped(self, by_ms: int) -> None:
        """Check as soon as before, now that the clock was set."""
        if self._due_ms is not None:
            self._due_ms += by_ms

    def check(self, now_ms: int, *, is_watched: bool) -> Check:
        """Check the time; ``is_watched``: heartbeats of other brokers are expected."""
        late_ms = 0 if self._due_ms is None else now_ms - self._due_ms
        if self._is_postponed and late_ms < 0:
            return Check(0, is_postponed=True)  # woken for something else: nothing was read yet
        if late_ms < self._apart_ms:
            late_ms = 0
        self._is_postponed = late_ms > 0 and not self._is_postponed
        wait_ms = READ_MS if self._is_postponed else self._apart_ms
        self._due_ms = now_ms + wait_ms if is_watched else None
        return Check(late_ms, self._is_postponed)


class BrokerStandstill:
    """Whether a broker stood still so long that others may lead what its metadata say it leads.

    It may then have been fenced; it knows when it has read the metadata that came meanwhile.
    """

    def __init__(self, session_ms: int, now_ms: int) -> None:
        self._session_ms = session_ms
        self._ran_ms = now_ms
        self._count = 0
        self._read = 0

    def count(self, now_ms: int) -> int:
        """Return the number of standstills; to be called several times in a session."""
        if now_ms - self._ran_ms > self._session_ms:
            self._count += 1
        self._ran_ms = now_ms
        return self._count

    def has_read(self, count: int) -> None:
        """Note that the metadata are from after so many standstills."""
        self._read = count

    def is_current(self, now_ms: int) -> bool:
        """Whether the metadata are from after the last standstill."""
        return self.count(now_ms) == self._read
