"""``fencepost cluster status``: the processes of a cluster on this machine, and what they lead."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_client.commands.options import seconds
from fencepost_protocol.commands import Command, help_as_written

_TIMEOUT_S: Final = 5.0

DESCRIPTION: Final = """\
Show a line for each process of a cluster on this machine: its state, how many partitions it leads,
and how many of its replicas are not in sync.
"""
EPILOG: Final = """\
examples:
  fencepost cluster status
  fencepost cluster status --json
exit code: 0 shown, 1 no cluster answers, 2 invalid arguments, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.set_defaults(command_name="cluster")
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    commands = parser.add_subparsers(dest="subcommand", required=True)
    status = commands.add_parser(
        "status", help="a line for each process", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=help_as_written,
    )  # fmt: skip
    status.add_argument("--run-dir", metavar="DIR", help="the cluster's --run-dir")
    status.add_argument(
        "--timeout", type=seconds, default=_TIMEOUT_S, metavar="SECONDS",
        help=f"how long to wait for answers ({_TIMEOUT_S:g})",
    )  # fmt: skip
    status.add_argument("--json", action="store_true", help="write JSON")


def run(options: argparse.Namespace) -> int:
    """Print the status and return the exit code."""
    from fencepost_broker.cli.cluster.status import show

    return show(options)


COMMAND: Final = Command(
    "cluster", "show the processes of a cluster on this machine", add_arguments, run
)
