"""``fencepost clock``: show or move the state time of a running broker."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Final

from fencepost_client.commands.output import write, write_json
from fencepost_client.commands.text import moment
from fencepost_protocol.commands import Command, help_as_written

from fencepost_broker.cli.control_client import (
    EXIT_CODES,
    add_control_arguments,
    run_at_control_port,
)
from fencepost_broker.config.values.units import read_duration
from fencepost_broker.server.control.client import ControlClient, path_of

EPILOG: Final = f"""\
examples:
  fencepost clock --control 127.0.0.1:9093                 what the broker believes the time is
  fencepost clock advance 8d --control 127.0.0.1:9093      what is due by then is done now
  fencepost clock advance 1h30m --control 9093 --json
  fencepost clock jump -5s --control 9093                  the clock is set back; no time passes
  fencepost clock pause --control 9093                     until `fencepost clock resume`
{EXIT_CODES}"""

_MOVES: Final = ("advance", "jump")
_NEGATIVE: Final = re.compile(r"-[0-9.]")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "action", nargs="?", choices=("show", *_MOVES, "pause", "resume"), default="show",
        help="show the time (the default), let it advance, set the clock by a jump, let it stand"
        " still or run",
    )  # fmt: skip
    parser.add_argument(
        "by", nargs="?", type=_duration, metavar="DURATION",
        help="how far to advance or to jump: 8d, 1h30m, 90s, 250ms; -5s jumps back",
    )  # fmt: skip
    parser._negative_number_matcher = _NEGATIVE  # else -5s would have to be an option
    add_control_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _duration(text: str) -> int:
    try:
        return -read_duration(text[1:]) if text.startswith("-") else read_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(options: argparse.Namespace) -> int:
    """Show or move the clock, and return the exit code."""
    action = options.action
    is_moved = action in _MOVES
    if is_moved == (options.by is None):
        wrong = f"{action} takes no DURATION"
        if is_moved:
            wrong = f"say how far: fencepost clock {action} 8d"
        sys.stderr.write(f"fencepost clock: {wrong}\n")
        return 2
    return run_at_control_port(options, lambda port: _show(port, options))


def _show(port: ControlClient, options: argparse.Namespace) -> None:
    if options.action == "show":
        clock = port.ask("GET", "/v1/clock")
    else:
        body = None if options.by is None else {"ms": options.by}
        clock = port.ask("POST", path_of("clock", options.action), body)
    if options.json:
        write_json(clock)
        return
    state = "stands still" if clock["manual"] else "runs"
    write(f"{moment(clock['now_ms'])} UTC, and it {state}")


COMMAND: Final = Command(
    "clock", "show or move the state time of a running broker", add_arguments, run
)
