"""What commands share that ask the control port.

def run(options: argparse.Namespace) -> int:
    return run_at_control_port(options, lambda port: show(port.ask("GET", "/v1/clock")))
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from fencepost_client.commands.output import discard_output
from fencepost_client.commands.text import printable
from fencepost_protocol.commands import help_as_written

from fencepost_broker.config.values.endpoints import parse_control_address
from fencepost_broker.server.control.client import ControlClient, ControlError

EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_CODES: Final = (
    "exit code: 0 done, 1 the control port cannot be reached or refused it, 2 invalid arguments,\n"
    "130 interrupted\n"
)
"""The end of the help of a command that uses this client."""


def add_control_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the control port is."""
    parser.add_argument(
        "--control", required=True, type=_address, metavar="HOST:PORT",
        help="the broker's control port: see `fencepost up --control`",
    )  # fmt: skip
    parser.add_argument(
        "--control-token-file", metavar="FILE", help="a file with the control port's token"
    )


def add_example(parser: argparse.ArgumentParser, command: str = "") -> None:
    """Show a subcommand with all that it requires, once its arguments were added."""
    words = [command or parser.prog]
    for each in parser._actions:
        if each.required:
            value = str(each.metavar or next(iter(each.choices or ()), "..."))
            words += [*each.option_strings[:1], value]
    parser.epilog = f"examples:\n  {' '.join(words)}\n{EXIT_CODES}"
    parser.formatter_class = help_as_written


def run_at_control_port(
    options: argparse.Namespace, action: Callable[[ControlClient], None]
) -> int:
    """Carry out a command with a client for its options; returns the exit code."""
    try:
        token = None
        if options.control_token_file is not None:
            token = Path(options.control_token_file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        return _fail(
            options, f"--control-token-file {options.control_token_file}: {reason}", EXIT_USAGE
        )
    try:
        host, port = options.control
        action(ControlClient(host, port, token))
    except ControlError as error:
        return _fail(options, str(error), EXIT_FAILED)
    except BrokenPipeError:
        discard_output()
    return 0


def _address(text: str) -> tuple[str, int]:
    try:
        return parse_control_address(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _fail(options: argparse.Namespace, reason: str, code: int) -> int:
    sys.stderr.write(f"fencepost {options.command}: {printable(reason)}\n")
    return code
