"""``fencepost snapshot``: go back to an earlier state of a running broker in memory."""

from __future__ import annotations

import argparse
from typing import Any, Final

from fencepost_client.commands.output import write, write_json
from fencepost_client.commands.text import moment
from fencepost_protocol.commands import Command, help_as_written

from fencepost_broker.cli.control_client import (
    EXIT_CODES,
    add_control_arguments,
    add_example,
    run_at_control_port,
)
from fencepost_broker.server.control.client import ControlClient, path_of

EPILOG: Final = f"""\
examples:
  fencepost snapshot take empty --control 127.0.0.1:9093
  fencepost snapshot restore empty --control 9093          connections are closed
  fencepost snapshot reset --control 9093                  the state right after the start
{EXIT_CODES}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, told in (
        ("take", "keep the state as it is now; an older snapshot of this name is replaced"),
        ("restore", "go back to a snapshot; the addresses stay"),
        ("remove", "forget a snapshot"),
        ("list", "list the snapshots"),
        ("reset", "go back to the state right after the start, and remove all faults"),
    ):
        action = actions.add_parser(name, help=told, description=told)
        if name in ("take", "restore", "remove"):
            action.add_argument("name", metavar="NAME", help="the snapshot")
        if name == "restore":
            action.add_argument(
                "--connections", choices=("close", "keep"), default="close",
                help="keep: close only connections that have a request under way (close)",
            )  # fmt: skip
        add_control_arguments(action)
        action.add_argument("--json", action="store_true", help="print JSON")
        add_example(action)


def run(options: argparse.Namespace) -> int:
    """Carry out one action, and return the exit code."""
    return run_at_control_port(options, lambda port: _act(port, options))


def _act(port: ControlClient, options: argparse.Namespace) -> None:
    action = options.action
    if action == "take":
        told = port.ask("POST", "/v1/snapshots", {"name": options.name})
        write_json(told) if options.json else _tell(told)
    elif action == "list":
        told = port.ask("GET", "/v1/snapshots")["snapshots"]
        if options.json:
            write_json(told)
            return
        for each in told:
            _tell(each)
    elif action == "restore":
        path = path_of("snapshots", options.name, "restore")
        port.ask("POST", path, {"connections": options.connections})
    elif action == "remove":
        port.ask("DELETE", path_of("snapshots", options.name))
    else:
        port.ask("POST", "/v1/reset")


def _tell(snapshot: dict[str, Any]) -> None:
    write(f"{snapshot['name']}: {moment(snapshot['at_ms'])} UTC, {snapshot['size_bytes']} bytes")


COMMAND: Final = Command(
    "snapshot", "go back to an earlier state of a running broker in memory", add_arguments, run
)
