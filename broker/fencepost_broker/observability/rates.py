"""Rates of quotas, which are measured over several windows, as in Kafka.

A rate that exceeds a quota falls to it, over the time that the windows span, within

    wait = (rate - quota) / quota * span
"""

from __future__ import annotations

from typing import Final, NamedTuple

WAIT_MS_MAX: Final = (1 << 31) - 1
"""The highest value of ThrottleTimeMs."""


class Windows(NamedTuple):
    """The windows over which rates are measured; the last one is the current one."""

    number: int = 11
    """Kafka's ``quota.window.num``."""
    size_ms: int = 1000
    """Kafka's ``quota.window.size.seconds``."""

    @property
    def span_ms_min(self) -> int:
        """The shortest time that a rate is measured over."""
        return max(1, self.number - 1) * self.size_ms


class Rate:
    """What there is per second, over the last windows."""

    __slots__ = ("_of", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._of = windows
        self._windows: list[list[float]] = []
        """For each window its start, the time of its last addition, and its sum."""

    def add(self, amount: float, now_ms: int) -> None:
        """Add an amount, which may be negative."""
        self.forget(now_ms)
        windows = self._windows
        if not windows or now_ms - windows[-1][0] >= self._of.size_ms:
            windows.append([now_ms, now_ms, 0.0])
        windows[-1][1] = now_ms
        windows[-1][2] += amount

    def forget(self, now_ms: int) -> bool:
        """Drop windows that are over; return whether none is left."""
        windows = self._windows
        if windows and windows[-1][0] > now_ms:
            windows.clear()  # the clock was set back
        while windows and now_ms - windows[0][1] >= self._of.number * self._of.size_ms:
            del windows[0]
        return not windows

    def wait_ms(self, quota: float, now_ms: int) -> int:
        """Return the time until the rate is not above the quota."""
        if self.forget(now_ms):
            return 0
        number, size_ms = self._of
        span_ms = now_ms - self._windows[0][0]
        missing = number - 1 - span_ms // size_ms
        span_ms = max(span_ms + max(missing, 0) * size_ms, 1)
        rate = self._sum() * 1000 / span_ms
        return round(min((rate - quota) / quota * span_ms, WAIT_MS_MAX)) if rate > quota else 0

    def exceeds(self, quota: float, now_ms: int) -> bool:
        """Whether the rate since the oldest window is above the quota (Kafka's ``SimpleRate``).

        Windows before that do not count, so that little can be used up at once.
        """
        if self.forget(now_ms):
            return False
        span_ms = max(now_ms - self._windows[0][0], self._of.size_ms)
        return self._sum() * 1000 > quota * span_ms

    def _sum(self) -> float:
        return sum(amount for _, _, amount in self._windows)
