"""Logs: which lines are written, in which form, and that nothing in them can do harm."""

from __future__ import annotations

import argparse
import io
import json
from datetime import UTC, timedelta, timezone

import pytest
import structlog
from fencepost_broker.observability.log_levels import AREAS, LEVELS
from fencepost_broker.observability.logging import (
    Logger,
    Logs,
    add_log_arguments,
    logs_from,
    parse_areas,
)

NOW_MS = 1_735_689_600_123  # 2025-01-01T00:00:00.123Z


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def now() -> int:
    return NOW_MS


def human(**options: object) -> tuple[io.StringIO, Logs]:
    stream = Terminal()
    given = {"colour": False, "zone": UTC, **options}
    return stream, Logs(stream, now, **given)  # type: ignore[arg-type]


def test_a_line_for_a_program_is_json() -> None:
    stream = io.StringIO()
    log = Logs(stream, now).area("connection").bind(client="127.0.0.1:5")
    log.info("closed", reason="idle", bytes=7, raw=b"\xff")
    assert stream.getvalue().count("\n") == 1
    told = json.loads(stream.getvalue())
    assert list(told.items()) == [
        ("time", "2025-01-01T00:00:00.123Z"),
        ("level", "info"),
        ("area", "connection"),
        ("event", "closed"),
        ("client", "127.0.0.1:5"),
        ("reason", "idle"),
        ("bytes", 7),
        ("raw", r"b'\xff'"),
    ]


def test_a_line_for_a_person_has_columns() -> None:
    stream, logs = human()
    logs.area("server").info("listening on 127.0.0.1:9092", topics=3, kept="in memory", none="")
    assert stream.getvalue() == (
        "00:00:00.123  info     server       listening on 127.0.0.1:9092"
        "  topics=3  kept='in memory'  none=''\n"
    )


def test_the_zone_of_a_persons_lines() -> None:
    stream, logs = human(zone=timezone(timedelta(hours=5, minutes=30)))
    logs.area("tap").error("x")
    assert stream.getvalue() == "05:30:00.123  error    tap          x\n"


def test_colours_are_for_terminals_only() -> None:
    terminal, file = Terminal(), io.StringIO()
    Logs(terminal, now).area("log").warning("slow", path="a")
    Logs(file, now, as_json=False).area("log").warning("slow", path="a")
    assert "\x1b[33mwarning\x1b[0m" in terminal.getvalue()
    assert "\x1b" not in file.getvalue()


@pytest.mark.parametrize("as_json", [True, False])
def test_what_clients_send_cannot_break_lines_or_move_the_cursor(as_json: bool) -> None:
    stream, logs = human(as_json=as_json)
    logs.area("group").info("joined\x1b[2J", member_id="a\nb\x1b]0;x\x07", group="\u202ex")
    assert stream.getvalue().count("\n") == 1
    assert stream.getvalue().rstrip("\n").isprintable()


def fail(why: str) -> None:
    raise RuntimeError(why)


@pytest.mark.parametrize("as_json", [True, False])
def test_an_exception_has_its_traceback(as_json: bool) -> None:
    stream, logs = human(as_json=as_json)
    try:
        fail("broken\x1b[2J")
    except RuntimeError:
        logs.area("controller").exception("our bug", topic="t")
    lines = stream.getvalue().splitlines()
    if as_json:
        told = json.loads(lines[0])
        assert told["level"] == "error"
        assert told["exception"].endswith("RuntimeError: broken\x1b[2J")
    else:
        assert lines[0] == "00:00:00.123  error    controller   our bug  topic=t"
        assert lines[1] == "Traceback (most recent call last):"
        assert lines[-1] == r"RuntimeError: broken\x1b[2J"


@pytest.mark.parametrize("level", LEVELS)
def test_levels(level: str) -> None:
    stream = io.StringIO()
    log = Logs(stream, now, level=level).area("log")
    for each in LEVELS:
        getattr(log, each)("x")
    written = [json.loads(line)["level"] for line in stream.getvalue().splitlines()]
    assert written == list(LEVELS)[list(LEVELS).index(level) :]


def test_each_area_has_a_level_of_its_own() -> None:
    stream = io.StringIO()
    logs = Logs(stream, now, level="warning", areas={"group": "debug", "tap": "error"})
    for area in AREAS:
        logs.area(area).debug("d")
        logs.area(area).bind(a=1).warning("w")
    written = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [each["area"] for each in written if each["event"] == "d"] == ["group"]
    warned = [each["area"] for each in written if each["event"] == "w"]
    assert warned == [area for area in AREAS if area != "tap"]


def test_brokers_of_one_process_log_apart() -> None:
    first, second = io.StringIO(), io.StringIO()
    one, other = Logs(first, now), Logs(second, now, level="debug")
    one.area("log").debug("x")
    other.area("log").debug("x")
    assert (first.getvalue(), second.getvalue().count("\n")) == ("", 1)
    assert not structlog.is_configured()


def test_what_is_filtered_is_an_empty_method_also_when_bound() -> None:
    """The cost of debug lines at the default level: the call itself, whatever is bound."""
    log: Logger = Logs(io.StringIO(), now).area("connection").bind(client="127.0.0.1:5")
    called = []

    class Costly:
        def __str__(self) -> str:
            called.append(1)
            return ""

    log.debug("x", value=Costly())
    assert called == []
    assert type(log).__name__ == "BoundLoggerFilteringAtInfo"


class Broken(io.StringIO):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


@pytest.mark.parametrize("error", [BrokenPipeError(), OSError(28, "full"), ValueError("closed")])
def test_a_stream_that_takes_nothing_does_not_stop_the_broker(error: Exception) -> None:
    logs = Logs(Broken(error), now)
    logs.area("server").info("x")
    logs.area("tap").error("y")
    assert logs.lost == 2


def test_a_closed_stream_does_not_either() -> None:
    stream = io.StringIO()
    logs = Logs(stream, now)
    stream.close()
    logs.area("server").info("x")
    assert logs.lost == 1


def test_options() -> None:
    parser = argparse.ArgumentParser()
    add_log_arguments(parser)
    given = ["--log-level", "error", "--log", "group=debug", "--log", " tap = info "]
    stream = io.StringIO()
    logs = logs_from(parser.parse_args(given), stream, now)
    for area in ("group", "tap", "server"):
        logs.area(area).debug("d")
        logs.area(area).info("i")
    told = [json.loads(line) for line in stream.getvalue().splitlines()]
    written = [(each["area"], each["event"]) for each in told]
    assert written == [("group", "d"), ("group", "i"), ("tap", "i")]
    assert parser.parse_args([]).log_level == "info"


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("group", "must be AREA=LEVEL"),
        ("groups=debug", "there is no log area groups; the areas are server, connection"),
        ("group=loud", "there is no log level loud; the levels are debug, info"),
        ("=debug", "there is no log area"),
    ],
)
def test_wrong_options_are_explained(word: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        parse_areas([word])


def test_wrong_levels_are_explained() -> None:
    with pytest.raises(ValueError, match="no log area x"):
        Logs(io.StringIO(), now, areas={"x": "info"})
    with pytest.raises(ValueError, match="no log level x"):
        Logs(io.StringIO(), now, level="x")
