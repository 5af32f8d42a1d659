"""The two clocks (ARCHITECTURE.md): state time, which tests can move, and wire time, the loop's.

State time drives what changes because time passed: retention, expiry, sessions, transaction
timeouts. Wire time drives what clients wait for on their sockets, and always runs by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

SECOND_MS: Final = 1000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS


class Follower(Protocol):
    """A running broker, called when state time was moved."""

    def deadline_ms(self) -> int | None:
        """Return when the first of its machines has something due."""

    def expire(self) -> None:
        """Let machines do what is due now."""

    def catch_up(self) -> None:
        """Do all maintenance that is due now."""


class ClockPosition(NamedTuple):
    """Where a state clock stands."""

    now_ms: int
    ahead_ms: int
    """How far it is ahead of the system's time; 0 for a manual clock."""


class StateClock:
    """State time: the system's time or, if it is ``manual``, moved by ``advance`` only."""

    def __init__(self, *, manual: bool = False, at_ms: int | None = None) -> None:
        """``at_ms`` is the first time, in milliseconds since 1970 (default: now)."""
        really_ms = wall_ms()
        begin_ms = really_ms if at_ms is None else at_ms
        self.is_manual = manual
        self._stands_at_ms = begin_ms if manual else None
        self._ahead_ms = 0 if manual else begin_ms - really_ms
        self._followers: list[Follower] = []

    def now_ms(self) -> int:
        """Return state time, in milliseconds since 1970."""
        stands_at_ms = self._stands_at_ms
        return wall_ms() + self._ahead_ms if stands_at_ms is None else stands_at_ms

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0,
        ms: int = 0,
    ) -> None:  # fmt: skip
        """Move state time forward, and do everything that becomes due before this returns.

        Machines are woken at each of their deadlines on the way, in order, so that consequences
        come at their own time. Maintenance of logs is done once, at the end. A clock that is not
        manual continues from there.
        """
        by_ms = ms + round(
            days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS
        )
        if by_ms < 0:
            raise ValueError(f"state time cannot go back: {by_ms} ms")
        target_ms = self.now_ms() + by_ms
        while (due_ms := self._next_deadline_ms()) is not None and due_ms <= target_ms:
            self._move_to(due_ms)
            for follower in self._followers.copy():
                follower.expire()
        self._move_to(target_ms)
        for follower in self._followers.copy():
            follower.catch_up()

    @property
    def position(self) -> ClockPosition:
        """Where the clock stands, so that ``set`` can set a clock of the same kind to it."""
        return ClockPosition(self.now_ms(), self._ahead_ms)

    def set(self, position: ClockPosition) -> None:
        """Set the clock to where a snapshot had it, unless another broker goes by it too.

        A manual clock stands at the snapshot's time again. Another one is as far ahead of the
        system's time as it was.
        """
        if len(self._followers) > 1:
            return
        if self._stands_at_ms is None:
            self._ahead_ms = position.ahead_ms
        else:
            self._stands_at_ms = position.now_ms

    def follow(self, follower: Follower) -> None:
        """Call this broker whenever the clock is moved."""
        self._followers.append(follower)

    def unfollow(self, follower: Follower) -> None:
        """Do not call it any more."""
        if follower in self._followers:
            self._followers.remove(follower)

    def _next_deadline_ms(self) -> int | None:
        deadlines = [follower.deadline_ms() for follower in self._followers]
        return min((each for each in deadlines if each is not None), default=None)

    def _move_to(self, at_ms: int) -> None:
        by_ms = max(at_ms - self.now_ms(), 0)
        if self._stands_at_ms is None:
            self._ahead_ms += by_ms
        else:
            self._stands_at_ms += by_ms


class ProcessClock:
    """Both clocks, for the parts of a process."""

    def __init__(self, state: StateClock, loop: asyncio.AbstractEventLoop) -> None:
        self.now_ms: Callable[[], int] = state.now_ms
        self.runs = not state.is_manual
        self._loop = loop

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Make a call later, by wire time."""
        return self._loop.call_later(delay_ms / 1000, call)


def wall_ms() -> int:
    """Return the system's time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
