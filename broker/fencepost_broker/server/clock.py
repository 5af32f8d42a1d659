"""The two clocks (ARCHITECTURE.md): state time, which tests can move, and wire time, the loop's.

State time drives what changes because time passed: retention, expiry, sessions, transaction
timeouts. Wire time drives what clients wait for on their sockets, and always runs by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, Protocol

SECOND_MS: Final = 1000
MINUTE_MS: Final = 60 * SECOND_MS
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
STEP_MS_MAX: Final = 100 * 365 * DAY_MS
"""The longest step, forward or back."""
LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999: programs that read timestamps know no later one."""
_NS_IN_MS: Final = 1_000_000
_TURN_S: Final = 0.1
_REST_S: Final = 0.01
"""An advance that takes longer than a turn lets the event loop do other things for so long."""


class Follower(Protocol):
    """A running broker, called when state time was moved."""

    def deadline_ms(self) -> int | None:
        """Return when the first of its machines has something due."""

    def expire(self) -> None:
        """Let machines do what is due now."""

    def catch_up(self) -> None:
        """Do all maintenance that is due now."""

    def jumped(self, by_ms: int) -> None:
        """Move the ends of durations that were begun before the clock was set."""

    def resumed(self) -> None:
        """Go on with what waits for time to pass."""


class StepError(ValueError):
    """A step that a clock cannot make, or a time that it cannot show."""


class ClockPosition(NamedTuple):
    """Where a state clock stands."""

    now_ms: int
    ahead_ms: int
    """How far it is ahead of the system's time."""


class StateClock:
    """State time: the system's time or, if it is ``manual``, moved by ``advance`` only.

    A manual clock is one that is paused from its first moment; ``resume`` lets it run. One that
    runs goes at the pace of a clock that cannot be set. If the system's clock is set, it follows in
    ``notice_step``, between two requests: so no duration is begun by one time and ended by another.
    """

    def __init__(self, *, manual: bool = False, at_ms: int | None = None) -> None:
        """``at_ms`` is the first time, in milliseconds since 1970 (default: now)."""
        if at_ms is not None:
            _check_time(at_ms, f"at_ms={at_ms}")
        self._apart_ns = _apart_ns()
        really_ms = self._system_ms()
        begin_ms = really_ms if at_ms is None else at_ms
        self._stands_at_ms = begin_ms if manual else None
        self._ahead_ms = 0 if manual else begin_ms - really_ms
        self._followers: list[Follower] = []

    def now_ms(self) -> int:
        """Return state time, in milliseconds since 1970."""
        if self._stands_at_ms is not None:
            return self._stands_at_ms
        return (time.perf_counter_ns() + self._apart_ns) // _NS_IN_MS + self._ahead_ms

    def _system_ms(self) -> int:
        """The system's time, by what was known of it at the last look."""
        return (time.perf_counter_ns() + self._apart_ns) // _NS_IN_MS

    @property
    def is_manual(self) -> bool:
        """Whether time stands still, unless it is moved."""
        return self._stands_at_ms is not None

    def pause(self) -> None:
        """Let state time stand still; ``advance`` and ``jump`` still move it."""
        self._stands_at_ms = self.now_ms()

    def resume(self) -> None:
        """Let state time run on from where it stands."""
        if self._stands_at_ms is None:
            return
        self._apart_ns = _apart_ns()
        self._ahead_ms, self._stands_at_ms = self._stands_at_ms - self._system_ms(), None
        for follower in self._followers.copy():
            follower.resumed()

    def jump(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0,
        ms: int = 0,
    ) -> None:  # fmt: skip
        """Set the clock forward, or back by a negative number, as an operator sets it.

        No time passes by that. Sessions, rebalances and the times between two looks at logs go on
        as before, because they are durations. Retention, timeouts of transactions, expiry of ids
        and offsets, and the timestamps that the broker gives compare the clock, and see the step.
        Raises ``StepError`` for more than 100 years, and for times before 1970 or after 9999.
        """
        by_ms = self._step_ms(days, hours, minutes, seconds, ms)
        self._step(by_ms)
        for follower in self._followers.copy():
            follower.jumped(by_ms)
        for follower in self._followers.copy():
            follower.expire()
            follower.catch_up()

    def notice_step(self) -> None:
        """Look whether the system's clock was set, and follow it as in ``jump``.

        What is due then is left to the followers' timers. It is called at least each second.
        """
        by_ms = (_apart_ns() - self._apart_ns) // _NS_IN_MS
        if by_ms in (-1, 0) or self.is_manual:
            return  # the two clocks are not read in the same instant
        self._apart_ns += by_ms * _NS_IN_MS
        for follower in self._followers.copy():
            follower.jumped(by_ms)

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0,
        ms: int = 0,
    ) -> None:  # fmt: skip
        """Move state time forward, and do everything that becomes due before this returns.

        Machines are woken at each of their deadlines on the way, in order, so that consequences
        come at their own time. Maintenance of logs is done once, at the end. A clock that is not
        manual continues from there. Raises ``StepError`` as ``jump`` does.
        """
        for _ in self._advancing(self._step_ms(days, hours, minutes, seconds, ms)):
            pass

    async def advance_in_turns(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0,
        ms: int = 0,
    ) -> None:  # fmt: skip
        """Do as ``advance``, and let the event loop have its turn if that takes long.

        Years in which share groups write a snapshot each five minutes take minutes. Meanwhile, the
        broker answers requests, at the time that it is then, and can be stopped. What takes less
        than a tenth of a second is done at once.
        """
        loop = asyncio.get_running_loop()
        turn_is_over_s = loop.time() + _TURN_S
        for _ in self._advancing(self._step_ms(days, hours, minutes, seconds, ms)):
            if loop.time() >= turn_is_over_s:
                await asyncio.sleep(_REST_S)
                turn_is_over_s = loop.time() + _TURN_S

    def _advancing(self, by_ms: int) -> Iterator[None]:
        """Advance; yields after each deadline, where the clock may be moved by others, too."""
        if by_ms < 0:
            raise StepError(f"time cannot pass backwards ({by_ms} ms): jump sets the clock back")
        left_ms = by_ms
        while (due_ms := self.next_deadline_ms()) is not None:
            next_ms = max(due_ms - self.now_ms(), 0)
            if next_ms > left_ms:
                break
            self._step(next_ms)
            left_ms -= next_ms
            for follower in self._followers.copy():
                follower.expire()
            yield
        self._step(left_ms)
        for follower in self._followers.copy():
            follower.catch_up()

    @property
    def position(self) -> ClockPosition:
        """Where the clock stands, so that ``set`` can set a clock to it."""
        now_ms = self.now_ms()
        ahead_ms = now_ms - wall_ms() if self.is_manual else self._ahead_ms
        return ClockPosition(now_ms, ahead_ms)

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

    def next_deadline_ms(self) -> int | None:
        deadlines = [follower.deadline_ms() for follower in self._followers]
        return min((each for each in deadlines if each is not None), default=None)

    def _step_ms(self, days: float, hours: float, minutes: float, seconds: float, ms: int) -> int:
        """Return how far to move; raises ``StepError`` if the clock cannot be moved so far."""
        parts = {"days": days, "hours": hours, "minutes": minutes, "seconds": seconds, "ms": ms}
        told = ", ".join(f"{name}={part!r:.30}" for name, part in parts.items() if part)
        try:
            by_ms = round(
                days * DAY_MS + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS + ms
            )
        except (OverflowError, ValueError):  # infinite, or not a number
            by_ms = STEP_MS_MAX + 1
        if abs(by_ms) > STEP_MS_MAX:
            raise StepError(f"{told}: a step is at most 100 years, forward or back")
        _check_time(self.now_ms() + by_ms, told)
        return by_ms

    def _step(self, by_ms: int) -> None:
        if self._stands_at_ms is None:
            self._ahead_ms += by_ms
        else:
            self._stands_at_ms += by_ms


class ProcessClock:
    """Both clocks, for the parts of a process."""

    def __init__(self, state: StateClock, loop: asyncio.AbstractEventLoop) -> None:
        self.now_ms: Callable[[], int] = state.now_ms
        self._state = state
        self._loop = loop

    @property
    def runs(self) -> bool:
        """Whether state time passes by itself."""
        return not self._state.is_manual

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Make a call later, by wire time."""
        return self._loop.call_later(delay_ms / 1000, call)


def _check_time(at_ms: int, told: str) -> None:
    if not 0 <= at_ms <= LAST_MS:
        raise StepError(f"{told}: state time cannot be before 1970 or after the year 9999")


def wall_ms() -> int:
    """Return the system's time, in milliseconds since 1970."""
    return time.time_ns() // _NS_IN_MS


def _apart_ns() -> int:
    """How far the system's clock is ahead of one that cannot be set, to a millisecond.

    Another process may run between the two looks: then they are taken again.
    """
    while True:
        steady_ns = time.perf_counter_ns()
        apart_ns = time.time_ns() - steady_ns
        if time.perf_counter_ns() - steady_ns < _NS_IN_MS:
            return apart_ns
