"""A timer that fires at its time finds its deadline over, and is not set again."""

from __future__ import annotations

import pytest
from fencepost_client.network.wake_time import wake_time

from tests.support.exact_loop import ExactLoop


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
