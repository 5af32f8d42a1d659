"""``fencepost transactions``: the SDK's subcommands, and ``explain``.

They work with any Kafka; only a Fencepost broker tells ``explain`` what a transaction waits for.
"""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_client.commands import transactions
from fencepost_protocol.commands import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of all subcommands."""
    add = transactions.add_arguments(parser)
    explaining = add("explain", "show what a transaction waits for, and which one blocks readers")
    explaining.add_argument("id", nargs="?", metavar="ID", help="a transactional id")
    explaining.add_argument(
        "--partition",
        dest="place",
        metavar="TOPIC:N",
        help="show which transaction holds this partition's last stable offset",
    )


def run(options: argparse.Namespace) -> int:
    """Run the subcommand and return its exit code."""
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.commands.runner import run_subcommand
    from fencepost_client.commands.transaction_actions import ACTIONS

    from fencepost_broker.cli.explain.command import explain

    return run_subcommand({**ACTIONS, "explain": explain}, options)


COMMAND: Final = Command(
    "transactions", "list, explain and end transactions of a running cluster", add_arguments, run
)
