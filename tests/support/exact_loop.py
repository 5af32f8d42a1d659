"""A loop whose timers fire at their very time, as those of a simulation do."""

from __future__ import annotations

import heapq
from typing import Any


class Timer:
    """A call that is made unless it is cancelled."""

    def __init__(self, call: Any) -> None:
        self.call = call

    def cancel(self) -> None:
        self.call = None


class ExactLoop:
    """The timers of a loop and its time, which goes from timer to timer."""

    def __init__(self, at: float) -> None:
        self._at = at
        self._made = 0
        self.timers: list[tuple[float, int, Timer]] = []

    def time(self) -> float:
        return self._at

    def call_at(self, when: float, call: Any) -> Timer:
        timer = Timer(call)
        self._made += 1
        heapq.heappush(self.timers, (when, self._made, timer))
        return timer

    def run(self, most: int) -> int:
        """Fire timers; gives how many there were."""
        fired = 0
        while self.timers and fired < most:
            when, _, timer = heapq.heappop(self.timers)
            if timer.call is not None:
                self._at = when
                fired += 1
                timer.call()
        return fired
