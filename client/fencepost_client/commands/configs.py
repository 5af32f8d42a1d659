"""``fencepost configs``: settings of a running cluster, ours or Apache Kafka's."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_protocol.commands import Command

from fencepost_client.commands.options import pair, subcommands

DESCRIPTION: Final = """\
Show and change settings of topics, brokers, loggers and groups of a running cluster.
"""
EPILOG: Final = """\
examples:
  fencepost configs describe topic orders
  fencepost configs describe broker 1 --all
  fencepost configs alter topic orders --set retention.ms=60000 --append cleanup.policy=compact
  fencepost configs alter broker all --default log.cleaner.threads
  fencepost configs alter logger 1 --set root=DEBUG
  fencepost configs list group
exit code: 0 told or done, 1 it cannot be, 2 the arguments make no sense, 130 interrupted
"""
KINDS: Final = ("topic", "broker", "logger", "group", "client-metrics")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of all of them."""
    add = subcommands(parser, "configs", DESCRIPTION, EPILOG)
    listing = add("list", "list resources that have settings, or can have them")
    listing.add_argument(
        "kind",
        nargs="?",
        metavar="KIND",
        choices=KINDS,
        help=f"of this kind: {', '.join(KINDS)} (all)",
    )
    describing = add("describe", "show settings that differ from the defaults")
    _add_resource(describing)
    describing.add_argument("--all", action="store_true", help="also defaults")
    altering = add("alter", "change settings, and keep all others")
    _add_resource(altering)
    altering.add_argument(
        "--set", type=pair, action="append", default=[], metavar="NAME=VALUE",
        help="a new value; repeat it for several",
    )  # fmt: skip
    altering.add_argument(
        "--default", action="append", default=[], metavar="NAME", help="restore the default"
    )
    altering.add_argument(
        "--append", type=pair, action="append", default=[], metavar="NAME=VALUE",
        help="add to a list",
    )  # fmt: skip
    altering.add_argument(
        "--subtract", type=pair, action="append", default=[], metavar="NAME=VALUE",
        help="remove from a list",
    )  # fmt: skip
    altering.add_argument(
        "--dry-run", action="store_true", help="only check whether it is possible"
    )


def _add_resource(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", choices=KINDS, help=", ".join(KINDS))
    parser.add_argument("name", metavar="NAME", help="the name; for a broker its id, or 'all'")


def run(options: argparse.Namespace) -> int:
    """Ask, and tell; gives the exit code."""
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.commands.config_actions import ACTIONS
    from fencepost_client.commands.runner import run_subcommand

    return run_subcommand(ACTIONS, options)


COMMAND: Final = Command(
    "configs", "describe and alter settings of a running cluster", add_arguments, run
)
