"""Progress of long work, told to a terminal, to a file, and to nobody."""

from __future__ import annotations

import io

import pytest
from fencepost_client.progress import Progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    return Clock()


def last_line(terminal: Terminal) -> str:
    return terminal.getvalue().rpartition("\r\x1b[K")[2]


def test_elsewhere_a_line_every_ten_seconds_with_an_estimate_of_the_end(clock: Clock) -> None:
    out = io.StringIO()
    progress = Progress(4_000, "bytes", out, clock)
    progress.begin("reading orders-0")
    assert out.getvalue() == "", "short work has no need of it"
    clock.now_s += 11
    progress.advance(1_000)
    assert out.getvalue() == "25%, 1,000 of 4,000 bytes, 33 s left, reading orders-0\n"
    clock.now_s += 5
    progress.advance(1_000)
    assert out.getvalue().count("\n") == 1
    clock.now_s += 6
    progress.advance(2_000)
    progress.clear()
    assert out.getvalue().endswith("\n100%, 4,000 of 4,000 bytes, reading orders-0\n")


def test_a_terminal_has_one_line_with_a_bar_and_no_colour(clock: Clock) -> None:
    out = Terminal()
    with Progress(20, "seeds", out, clock) as progress:
        progress.begin("")
        assert last_line(out).endswith("] 0%, 0 of 20 seeds"), "a first step may be long"
        for _ in range(10):
            clock.now_s += 0.3
            progress.advance()
        bar = "[###############---------------]"
        assert last_line(out) == f"{bar} 50%, 10 of 20 seeds, 3 s left"
    assert last_line(out) == ""
    assert "\n" not in out.getvalue()
    assert out.getvalue().count("\x1b") == out.getvalue().count("\x1b[K"), "with NO_COLOR, too"


def test_a_line_of_somebody_elses_has_room_and_the_bar_comes_again_at_once(clock: Clock) -> None:
    out = Terminal()
    progress = Progress(20, "seeds", out, clock)
    progress.clear()
    assert out.getvalue() == ""
    clock.now_s += 0.3
    progress.advance()
    progress.clear()
    out.write("seed 0 ok\n")
    progress.advance()
    assert out.getvalue().endswith("\r\x1b[Kseed 0 ok\n\r\x1b[K" + last_line(out))
    assert "2 of 20 seeds" in last_line(out)


def test_a_line_is_said_above_the_bar_and_alone_elsewhere(clock: Clock) -> None:
    terminal, file = Terminal(), io.StringIO()
    for out in (terminal, file):
        progress = Progress(2, "seeds", out, clock)
        clock.now_s += 0.3
        progress.advance()
        progress.say("seed 0 ok")
    assert "seed 0 ok\n\r\x1b[K[####" in terminal.getvalue()
    assert file.getvalue() == "seed 0 ok\n"
    Progress(2, "seeds", None, clock).say("to nobody")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (50, "[########---------] 50%, 10 of 20 seeds, 3 s left"),
        (40, "50%, 10 of 20 seeds, 3 s left"),
        (12, "50%, 10 of "),
    ],
)
def test_a_narrow_terminal_has_a_short_bar_or_none_and_no_second_line(
    columns: int, said: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = Terminal()
    progress = Progress(20, "seeds", out, clock)
    clock.now_s += 3
    progress.advance(10)
    assert last_line(out) == said
    assert len(last_line(out)) < columns


def test_a_dumb_terminal_gets_lines(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    out = Terminal()
    progress = Progress(2, "seeds", out, clock)
    clock.now_s += 11
    progress.advance()
    assert out.getvalue() == "50%, 1 of 2 seeds, 11 s left\n"


def test_without_a_total_it_counts_and_without_an_output_it_is_silent(clock: Clock) -> None:
    out = io.StringIO()
    for progress in (Progress(0, "records", out, clock), Progress(0, "records", None, clock)):
        clock.now_s += 11
        progress.reach(1_234)
        progress.clear()
    assert out.getvalue() == "1,234 records in 11 s\n"


def test_more_than_the_total_is_all_of_it(clock: Clock) -> None:
    out = io.StringIO()
    progress = Progress(2, "seeds", out, clock)
    clock.now_s += 11
    progress.advance(3)
    assert out.getvalue() == "100%, 3 of 2 seeds\n"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (99, "99 s"), (100, "2 min"), (5_900, "98 min"), (7_500, "2 h 5 min")],
)
def test_times_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
