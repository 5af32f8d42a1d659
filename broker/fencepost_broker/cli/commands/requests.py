"""``fencepost requests``: the requests that clients sent to a running broker, and their errors."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Final

from fencepost_client.commands.output import write, write_json
from fencepost_client.commands.text import moment
from fencepost_protocol.commands import Command, help_as_written, number

from fencepost_broker.cli.control_client import (
    EXIT_CODES,
    add_control_arguments,
    run_at_control_port,
)
from fencepost_broker.server.control.client import ControlClient

_LAST_MAX: Final = 1000
EPILOG: Final = f"""\
examples:
  fencepost requests --control 127.0.0.1:9093              the last ones
  fencepost requests --control 127.0.0.1:9093 --follow     each one as it is answered
  fencepost requests --control 9093 --last 20 --json
The broker keeps requests from the first time that they are asked for. `fencepost tap` also shows
their content.
{EXIT_CODES}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    add_control_arguments(parser)
    parser.add_argument(
        "--last", type=number("a number of requests", _LAST_MAX), default=100, metavar="N",
        help="how many of the last requests to print (100)",
    )  # fmt: skip
    parser.add_argument(
        "--follow", action="store_true", help="print requests as they are answered, until Ctrl-C"
    )
    parser.add_argument(
        "--json", action="store_true",
        help="print a JSON array; with --follow, a JSON object on each line",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Print requests, and return the exit code."""
    action = _follow if options.follow else _list
    return run_at_control_port(options, lambda port: action(port, options))


def _list(port: ControlClient, options: argparse.Namespace) -> None:
    told = port.ask("GET", "/v1/requests", last=options.last)
    if options.json:
        write_json(told["requests"])
        return
    for request in told["requests"]:
        write(line_of(request))
    if not told["seen"]:
        sys.stderr.write("no requests: the broker keeps them from now on\n")


def _follow(port: ControlClient, options: argparse.Namespace) -> None:
    for event in port.events("request"):
        if options.json:
            write(json.dumps(event))
        elif event["type"] == "lost":
            write(f"... {event['lost']} requests are missing here")
        else:
            write(line_of(event))
        sys.stdout.flush()


def line_of(request: dict[str, Any]) -> str:
    """Return a request on one line: time, client, API, errors, duration."""
    who = f"{request['address']} {request['client_id'] or '-'}"
    what = f"{request['api']} v{request['version']}"
    return f"{moment(request['at_ms'])}  {who}  {what}  {_end(request)}"


def _end(request: dict[str, Any]) -> str:
    if request["dropped"]:
        return f"CONNECTION CLOSED: {request['dropped']}"
    if request["took_us"] is None:
        return "waits" if request["has_waited"] else "is not answered"
    errors = request["errors"] or {}
    told = [name if count == 1 else f"{name} ({count})" for name, count in errors.items()]
    return " ".join([*told, f"{request['took_us'] / 1000:.2f} ms"])


COMMAND: Final = Command(
    "requests", "show the requests of clients of a running broker", add_arguments, run
)
