"""State time that stands still, runs on, and is set forward or back."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from fencepost_broker.server import clock as clocks
from fencepost_broker.server.clock import LAST_MS, StateClock, StepError

from tests.support.always_due import AlwaysDue
from tests.support.waiting import until

MS = 1_000_000


class Wall:
    """The system's time, beside a clock that cannot be set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ns, self._steady_ns = 1_000_000 * MS, 77 * MS
        self.paused_ms: list[int] = []
        """How long this process does not run before its next looks at the system's time."""
        functions = {"time_ns": self._time_ns, "perf_counter_ns": lambda: self._steady_ns}
        monkeypatch.setattr(clocks, "time", SimpleNamespace(**functions))

    def _time_ns(self) -> int:
        if self.paused_ms:
            self.passes(self.paused_ms.pop())
        return self._ns

    def passes(self, ms: int) -> None:
        self._ns += ms * MS
        self._steady_ns += ms * MS

    def is_set(self, by_ms: float) -> None:
        self._ns += int(by_ms * MS)


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    return Wall(monkeypatch)


class Follower:
    """Notes what it is told."""

    def __init__(self, clock: StateClock) -> None:
        self.clock = clock
        self.told: list[str] = []
        clock.follow(self)

    def deadline_ms(self) -> int | None:
        return None

    def expire(self) -> None:
        self.told.append(f"expire at {self.clock.now_ms()}")

    def catch_up(self) -> None:
        self.told.append(f"catch up at {self.clock.now_ms()}")

    def jumped(self, by_ms: int) -> None:
        self.told.append(f"jumped by {by_ms}")

    def resumed(self) -> None:
        self.told.append(f"resumed at {self.clock.now_ms()}")


def test_a_paused_clock_stands_still_and_runs_on_from_there(wall: Wall) -> None:
    clock = StateClock()
    follower = Follower(clock)
    clock.pause()
    stands = [clock.is_manual]
    wall.passes(700)
    clock.pause()
    assert clock.now_ms() == 1_000_000
    clock.resume()
    stands.append(clock.is_manual)
    assert stands == [True, False]
    assert clock.now_ms() == 1_000_000
    wall.passes(5)
    assert clock.now_ms() == 1_000_005
    clock.resume()
    assert follower.told == ["resumed at 1000000"]


def test_a_paused_clock_can_be_moved(wall: Wall) -> None:
    clock = StateClock()
    clock.pause()
    clock.advance(ms=30)
    clock.jump(ms=-10)
    wall.passes(700)
    assert clock.now_ms() == 1_000_020
    clock.resume()
    assert clock.now_ms() == 1_000_020


def test_a_manual_clock_can_be_let_run(wall: Wall) -> None:
    clock = StateClock(manual=True, at_ms=50)
    wall.passes(700)
    assert clock.now_ms() == 50
    clock.resume()
    wall.passes(7)
    assert clock.now_ms() == 57


@pytest.mark.parametrize("manual", [False, True])
def test_a_clock_is_set_back_and_forward(wall: Wall, manual: bool) -> None:
    clock = StateClock(manual=manual, at_ms=10_000)
    follower = Follower(clock)
    clock.jump(seconds=-5)
    assert clock.now_ms() == 5_000
    assert follower.told == ["jumped by -5000", "expire at 5000", "catch up at 5000"]
    clock.jump(minutes=1, ms=2)
    assert clock.now_ms() == 65_002
    wall.passes(3)
    assert clock.now_ms() == (65_002 if manual else 65_005)


def test_time_does_not_pass_backwards() -> None:
    with pytest.raises(ValueError, match="jump sets the clock back"):
        StateClock().advance(ms=-1)


@pytest.mark.parametrize("by_ms", [-3_600_000, 3_600_000, -2, 1])
def test_it_follows_a_system_clock_that_is_set_when_it_looks(wall: Wall, by_ms: int) -> None:
    clock = StateClock(at_ms=5_000)
    follower = Follower(clock)
    wall.is_set(by_ms)
    wall.passes(7)
    assert (clock.now_ms(), follower.told) == (5_007, [])
    clock.notice_step()
    clock.notice_step()
    assert (clock.now_ms(), follower.told) == (5_007 + by_ms, [f"jumped by {by_ms}"])


def test_parts_of_a_millisecond_are_no_step(wall: Wall) -> None:
    clock = StateClock()
    follower = Follower(clock)
    for by_ms in (0.6, -0.9, 0.5, -0.7):
        wall.is_set(by_ms)
        clock.notice_step()
    assert (clock.now_ms(), follower.told) == (1_000_000, [])


def test_a_busy_machine_is_no_step(wall: Wall) -> None:
    clock = StateClock()
    follower = Follower(clock)
    wall.paused_ms = [30, 700]
    clock.notice_step()
    assert (clock.now_ms(), follower.told) == (1_000_730, [])


def test_a_paused_clock_runs_on_from_where_it_stands_after_the_systems_was_set(wall: Wall) -> None:
    clock = StateClock()
    clock.pause()
    wall.is_set(-5_000)
    clock.notice_step()
    assert (clock.now_ms(), clock.position.ahead_ms) == (1_000_000, 5_000)
    clock.resume()
    clock.notice_step()
    assert (clock.now_ms(), clock.position.ahead_ms) == (1_000_000, 5_000)


@pytest.mark.parametrize("move", ["advance", "jump"])
@pytest.mark.parametrize(
    ("step", "told"),
    [
        ({"days": 36_501}, "days=36501: a step is at most 100 years"),
        ({"days": 10**30, "ms": 1}, "ms=1: a step is at most 100 years"),
        ({"hours": float("inf")}, "hours=inf: a step is at most 100 years"),
        ({"seconds": float("nan")}, "seconds=nan: a step is at most 100 years"),
        ({"days": 36_500}, "days=36500: state time cannot be before 1970 or after the year 9999"),
    ],
)
def test_a_step_that_a_clock_cannot_make_changes_nothing(
    move: str, step: dict[str, Any], told: str
) -> None:
    clock = StateClock(manual=True, at_ms=LAST_MS - 1000)
    with pytest.raises(StepError) as caught:
        getattr(clock, move)(**step)
    assert told in str(caught.value)
    assert clock.now_ms() == LAST_MS - 1000


def test_a_clock_cannot_be_set_to_a_time_before_1970() -> None:
    clock = StateClock(manual=True, at_ms=1000)
    with pytest.raises(StepError, match=r"seconds=-2: state time cannot be before 1970"):
        clock.jump(seconds=-2)
    assert clock.now_ms() == 1000
    clock.jump(seconds=-1)
    assert clock.now_ms() == 0
    with pytest.raises(StepError, match="at_ms=-1: state time cannot be before 1970"):
        StateClock(at_ms=-1)


def test_a_step_is_a_whole_number_of_milliseconds() -> None:
    clock = StateClock(manual=True, at_ms=0)
    clock.advance(seconds=0.5, ms=1.6)  # type: ignore[arg-type]
    assert (clock.now_ms(), type(clock.now_ms())) == (502, int)


@pytest.mark.asyncio
async def test_a_long_advance_lets_the_loop_do_other_things() -> None:
    clock = StateClock(manual=True, at_ms=0)
    due = AlwaysDue(clock)
    advances = [asyncio.create_task(clock.advance_in_turns(ms=each)) for each in (300, 40)]
    await until(lambda: due.expired)
    clock.jump(ms=5)
    due.is_over = True
    await asyncio.gather(*advances)
    assert clock.now_ms() == 345


@pytest.mark.asyncio
async def test_a_short_advance_is_done_at_once() -> None:
    clock = StateClock(manual=True, at_ms=0)
    follower = Follower(clock)
    advance = clock.advance_in_turns(seconds=1)
    with pytest.raises(StopIteration):
        advance.send(None)
    assert follower.told == ["catch up at 1000"]
    with pytest.raises(StepError, match="jump sets the clock back"):
        await clock.advance_in_turns(ms=-1)
