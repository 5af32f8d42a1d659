"""State time that stands still, runs on, and is set forward or back."""

from __future__ import annotations

import pytest
from fencepost_broker.server import clock as clocks
from fencepost_broker.server.clock import StateClock


class Wall:
    """The system's time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at_ms = 1_000_000
        monkeypatch.setattr(clocks, "wall_ms", lambda: self.at_ms)


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
    wall.at_ms += 700
    clock.pause()
    assert clock.now_ms() == 1_000_000
    clock.resume()
    stands.append(clock.is_manual)
    assert stands == [True, False]
    assert clock.now_ms() == 1_000_000
    wall.at_ms += 5
    assert clock.now_ms() == 1_000_005
    clock.resume()
    assert follower.told == ["resumed at 1000000"]


def test_a_paused_clock_can_be_moved(wall: Wall) -> None:
    clock = StateClock()
    clock.pause()
    clock.advance(ms=30)
    clock.jump(ms=-10)
    wall.at_ms += 700
    assert clock.now_ms() == 1_000_020
    clock.resume()
    assert clock.now_ms() == 1_000_020


def test_a_manual_clock_can_be_let_run(wall: Wall) -> None:
    clock = StateClock(manual=True, at_ms=50)
    wall.at_ms += 700
    assert clock.now_ms() == 50
    clock.resume()
    wall.at_ms += 7
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
    wall.at_ms += 3
    assert clock.now_ms() == (65_002 if manual else 65_005)


def test_time_does_not_pass_backwards() -> None:
    with pytest.raises(ValueError, match="jump sets the clock back"):
        StateClock().advance(ms=-1)
