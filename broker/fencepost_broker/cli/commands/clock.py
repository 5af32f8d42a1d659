"""``fencepost clock``: show or move the state time of a running broker."""

from __future__ import annotations

import argparse
import sys
from typing import Final

from fencepost_client.commands.output import write, write_json
from fencepost_client.commands.text import moment
from fencepost_protocol.commands import Command

from fencepost_broker.cli.control_client import (
    EXIT_CODES,
    ControlClient,
    add_control_arguments,
    run_at_control_port,
)
from fencepost_broker.config.values.units import read_duration

EPILOG: Final = f"""\
examples:
  fencepost clock --control 127.0.0.1:9093                 what the broker believes the time is
  fencepost clock advance 8d --control 127.0.0.1:9093      what is due by then is done now
  fencepost clock advance 1h30m --control 9093 --json
{EXIT_CODES}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "action", nargs="?", choices=("show", "advance"), default="show",
        help="show the time (the default), or advance it",
    )  # fmt: skip
    parser.add_argument(
        "by", nargs="?", type=_duration, metavar="DURATION",
        help="how far to advance: 8d, 1h30m, 90s, 250ms",
    )  # fmt: skip
    add_control_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def _duration(text: str) -> int:
    try:
        return read_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(options: argparse.Namespace) -> int:
    """Show or move the clock, and return the exit code."""
    is_moved = options.action == "advance"
    if is_moved == (options.by is None):
        wrong = "say how far: fencepost clock advance 8d" if is_moved else "show takes no DURATION"
        sys.stderr.write(f"fencepost clock: {wrong}\n")
        return 2
    return run_at_control_port(options, lambda port: _show(port, options))


def _show(port: ControlClient, options: argparse.Namespace) -> None:
    if options.by is None:
        clock = port.ask("GET", "/v1/clock")
    else:
        clock = port.ask("POST", "/v1/clock/advance", {"ms": options.by})
    if options.json:
        write_json(clock)
        return
    state = "stands still" if clock["manual"] else "runs"
    write(f"{moment(clock['now_ms'])} UTC, and it {state}")


COMMAND: Final = Command(
    "clock", "show or move the state time of a running broker", add_arguments, run
)
