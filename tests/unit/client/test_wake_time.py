"""A timer that fires at its time finds its deadline over, and is not set again."""

from __future__ import annotations

import heapq
from typing import Any

import pytest
from fencepost_client.network.wake_time import wake_time


class ExactLoop:
    """A loop whose timers fire at their very time, as those of a simulation do."""

    def __init__(self, at: float) -> None:
        self._at = at
        self.timers: list[tuple[float, int, Any]] = []

    def time(self) -> float:
        return self._at

    def call_at(self, when: float, call: Any) -> None:
        heapq.heappush(self.timers, (when, len(self.timers), call))

    def run(self, most: int) -> int:
        """Fire timers; gives how many there were."""
        fired = 0
        while self.timers and fired < most:
            self._at, _, call = heapq.heappop(self.timers)
            fired += 1
            call()
        return fired


@pytest.mark.parametrize("begin", [0.0, 1234.567, 98_765.4321, 1e7 + 1 / 3])
def test_a_deadline_is_over_when_its_timer_fires(begin: float) -> None:
    first_ms = int(begin * 1000)
    for deadline_ms in range(first_ms + 1, first_ms + 5000):
        assert int(wake_time(deadline_ms) * 1000) >= deadline_ms


def test_at_the_deadline_itself_it_may_not_be_over() -> None:
    """Why there is such a thing at all."""
    assert any(int(ms / 1000 * 1000) < ms for ms in range(100_000))


@pytest.mark.parametrize("begin", [0.0, 4.35, 1234.567, 98_765.4321])
def test_a_timer_is_set_once_for_each_deadline(begin: float) -> None:
    loop = ExactLoop(begin)
    deadlines = [int(begin * 1000) + each for each in range(1, 200)]

    def arm() -> None:
        while deadlines and int(loop.time() * 1000) >= deadlines[0]:
            del deadlines[0]
        if deadlines:
            loop.call_at(wake_time(deadlines[0]), arm)

    arm()
    assert loop.run(most=1000) <= 200
    assert not deadlines
