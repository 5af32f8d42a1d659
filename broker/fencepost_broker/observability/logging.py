"""Logging: columns on a terminal, JSON elsewhere.

Every part of the broker logs under the name of its area, and each area has a level. A logger is
made for its level, so that a filtered line costs the call of an empty method (0.1 us; a written
line costs a hundred times that). Nothing is logged for each request, except at debug.

    logs = Logs(sys.stderr, clock_ms, level="info", areas={"group": "debug"})
    log = logs.area("connection").bind(client="127.0.0.1:50123")
    log.info("closed", reason="idle")
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, Any, Final, Protocol, TextIO

from fencepost_broker.observability.log_levels import AREAS, DEFAULT_LEVEL, LEVELS, LogLevels

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, MutableMapping
    from datetime import tzinfo

    from structlog.typing import Processor


_COLOURS: Final = {"warning": "\x1b[33m", "error": "\x1b[31m", "critical": "\x1b[31m"}
_DIM: Final = "\x1b[2m"
_PLAIN: Final = "\x1b[0m"
_LEVEL_WIDTH: Final = max(map(len, LEVELS))
_AREA_WIDTH: Final = max(map(len, AREAS))


class Logger(Protocol):
    """Logger of an area: takes an event as text, and values by name."""

    def bind(self, **values: Any) -> Logger:
        """Return a logger that adds these values to every line."""

    def debug(self, event: str, /, **values: Any) -> Any:
        """Log details for finding faults."""

    def info(self, event: str, /, **values: Any) -> Any:
        """Log a normal, infrequent event."""

    def warning(self, event: str, /, **values: Any) -> Any:
        """Log something that a person should look into."""

    def error(self, event: str, /, **values: Any) -> Any:
        """Log a failure."""

    def exception(self, event: str, /, **values: Any) -> Any:
        """Log a failure with the traceback of the exception that is being handled."""


class Logs:
    """Loggers of all areas, which write to one stream.

    ``clock_ms`` returns the time in milliseconds since 1970. ``as_json`` and ``colour`` depend on
    the stream unless they are given; ``zone`` is the time zone of columns, the local one by
    default.
    """

    def __init__(
        self,
        stream: TextIO,
        clock_ms: Callable[[], int],
        *,
        level: str = DEFAULT_LEVEL,
        areas: Mapping[str, str] | None = None,
        as_json: bool | None = None,
        colour: bool | None = None,
        zone: tzinfo | None = None,
    ) -> None:
        structlog = import_structlog()

        is_terminal = stream.isatty()
        as_json = not is_terminal if as_json is None else as_json
        colour = is_terminal if colour is None else colour
        render = _JsonLine(clock_ms) if as_json else _HumanLine(clock_ms, zone, colour=colour)
        processors: list[Processor] = [
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            render,
        ]
        self._output = _Output(stream)
        levels = LogLevels(level, areas)
        self._loggers: dict[str, Logger] = {}
        for area in AREAS:
            # No global configuration: brokers in one process log apart from each other.
            logger: Any = structlog.make_filtering_bound_logger(levels.at_least(area))
            self._loggers[area] = logger(self._output, processors, {"area": area})

    def area(self, name: str) -> Logger:
        """Return the logger of an area; bind it to values that several lines share."""
        return self._loggers[name]

    @property
    def lost(self) -> int:
        """Number of lines that could not be written."""
        return self._output.lost


def import_structlog() -> Any:
    """Import structlog with the first line: many commands never log.

    Its renderer for terminals, which is not used here, imports rich where rich is installed, which
    takes 50 ms of a broker's start. So rich is hidden from it, unless it is imported already.
    """
    if "structlog" in sys.modules or "rich" in sys.modules:
        return importlib.import_module("structlog")
    sys.modules["rich"] = None  # type: ignore[assignment]  # importing it now is an ImportError
    try:
        return importlib.import_module("structlog")
    finally:
        del sys.modules["rich"]


class LazyLogs:
    """Logs that are made with the first line, and whose levels can change.

    Importing structlog takes longer than starting a broker in a test. ``make`` returns logs that
    write every line; the levels are applied here.
    """

    def __init__(self, make: Callable[[], Logs], levels: LogLevels) -> None:
        self._make = make
        self._made: Logs | None = None
        self.levels = levels
        self.on_line: Callable[[str, str, str, dict[str, Any]], None] | None = None
        """Called with area, level, event and values of every line, whatever the levels are; lines
        of debugging are left out."""

    def area(self, name: str) -> Logger:
        """Return the logger of an area."""
        return _LazyLogger(self, name, {})

    def made(self) -> Logs:
        """Return the logs."""
        if self._made is None:
            self._made = self._make()
        return self._made


class _LazyLogger:
    """Drops lines below the level, and makes the logs for the first other one."""

    def __init__(self, logs: LazyLogs, area: str, bound: dict[str, Any]) -> None:
        self._logs = logs
        self._area = area
        self._bound = bound

    def bind(self, **values: Any) -> _LazyLogger:
        return _LazyLogger(self._logs, self._area, self._bound | values)

    def _tell(self, level: str, event: str, values: dict[str, Any]) -> None:
        if self._logs.on_line is not None and level != "debug":
            self._logs.on_line(self._area, level, event, self._bound | values)
        if LEVELS[level] >= self._logs.levels.at_least(self._area):
            getattr(self._logs.made().area(self._area), level)(event, **self._bound | values)

    def debug(self, event: str, /, **values: Any) -> None:
        self._tell("debug", event, values)

    def info(self, event: str, /, **values: Any) -> None:
        self._tell("info", event, values)

    def warning(self, event: str, /, **values: Any) -> None:
        self._tell("warning", event, values)

    def error(self, event: str, /, **values: Any) -> None:
        self._tell("error", event, values)

    def exception(self, event: str, /, **values: Any) -> None:
        self.error(event, exc_info=True, **values)


def add_log_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for log levels; ``logs_from`` reads them."""
    parser.add_argument(
        "--log-level",
        choices=list(LEVELS),
        default=DEFAULT_LEVEL,
        help=f"the lowest level that is logged ({DEFAULT_LEVEL})",
    )
    parser.add_argument(
        "--log",
        metavar="AREA=LEVEL",
        action="append",
        default=[],
        help=f"the level of one area: {', '.join(AREAS)}",
    )


def logs_from(options: argparse.Namespace, stream: TextIO, clock_ms: Callable[[], int]) -> LazyLogs:
    """Return logs with the levels of a command's options; raises ValueError for invalid ones."""
    levels = LogLevels(options.log_level, parse_areas(options.log))
    return LazyLogs(lambda: Logs(stream, clock_ms, level="debug"), levels)


def parse_areas(given: Iterable[str]) -> dict[str, str]:
    """Return levels by area from ``area=level`` each; raises ValueError for invalid ones."""
    found: dict[str, str] = {}
    for word in given:
        area, equals, level = (part.strip() for part in word.partition("="))
        if not equals:
            raise ValueError(f"{word}: it must be AREA=LEVEL")
        found[area] = level
    LogLevels(DEFAULT_LEVEL, found)
    return found


class _Output:
    """Writes to the stream; lines that cannot be written are counted, and the broker continues."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.lost = 0

    def write(self, line: str) -> None:
        try:
            # In one call, so that lines of several processes do not mix.
            self._stream.write(line + "\n")
            self._stream.flush()
        except (OSError, ValueError):  # a closed pipe, a full disk, a closed file
            self.lost += 1

    debug = info = warning = error = critical = write


class _JsonLine:
    """Renders a line as JSON: time, level, area, event, then the values."""

    def __init__(self, clock_ms: Callable[[], int]) -> None:
        self._clock_ms = clock_ms

    def __call__(self, _logger: Any, _method: str, values: MutableMapping[str, Any]) -> str:
        told = {
            "time": _iso(self._clock_ms()),
            "level": values.pop("level"),
            "area": values.pop("area"),
            "event": values.pop("event"),
            **values,
        }
        return json.dumps(told, default=str, separators=(",", ":"))


class _HumanLine:
    """Renders a line as columns: time of day, level, area, event, then name=value."""

    def __init__(self, clock_ms: Callable[[], int], zone: tzinfo | None, *, colour: bool) -> None:
        self._clock_ms = clock_ms
        self._zone = zone
        self._colour = colour

    def __call__(self, _logger: Any, _method: str, values: MutableMapping[str, Any]) -> str:
        level = values.pop("level")
        area = values.pop("area")
        event = values.pop("event")
        traceback = values.pop("exception", None)
        from datetime import UTC, datetime

        time = datetime.fromtimestamp(self._clock_ms() / 1000, UTC).astimezone(self._zone)
        told = f"{time:%H:%M:%S}.{time.microsecond // 1000:03d}"
        named = "  ".join(f"{name}={_visible(value)}" for name, value in values.items())
        shown_level = f"{level:<{_LEVEL_WIDTH}}"
        if self._colour:
            told = f"{_DIM}{told}{_PLAIN}"
            named = named and f"{_DIM}{named}{_PLAIN}"
            if level in _COLOURS:
                shown_level = f"{_COLOURS[level]}{shown_level}{_PLAIN}"
        line = f"{told}  {shown_level}  {area:<{_AREA_WIDTH}}  {_printable(str(event))}"
        line = f"{line}  {named}" if named else line
        if traceback:
            line = "\n".join((line, *map(_printable, str(traceback).splitlines())))
        return line


def _iso(now_ms: int) -> str:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(now_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _printable(text: str) -> str:
    """Return the text without control characters, since clients choose part of it."""
    return text if text.isprintable() else repr(text)[1:-1]


def _visible(value: object) -> str:
    text = str(value)
    return text if text and text.isprintable() and " " not in text else repr(text)
