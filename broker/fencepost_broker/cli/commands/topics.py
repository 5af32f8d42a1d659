"""``fencepost topics``: the SDK's subcommands, and ``make-awkward``."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_client.commands import topics
from fencepost_protocol.commands import Command, number

DEFAULT_SEED: Final = 1
DEFAULT_PREFIX: Final = "awkward-"
DEFAULT_EXPECTED: Final = "awkward-topics.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of all subcommands."""
    add = topics.add_arguments(parser)
    making = add(
        "make-awkward", "make topics with what consumers get wrong, and say what they must read"
    )
    making.add_argument(
        "--data-dir", metavar="DIR",
        help="make them in a new data directory, with gaps that only compaction leaves",
    )  # fmt: skip
    making.add_argument(
        "--expected", default=DEFAULT_EXPECTED, metavar="FILE",
        help=f"JSON file for what a correct consumer reads ({DEFAULT_EXPECTED})",
    )  # fmt: skip
    making.add_argument(
        "--prefix", default=DEFAULT_PREFIX, metavar="TEXT",
        help=f"what names of topics and transactional ids begin with ({DEFAULT_PREFIX})",
    )  # fmt: skip
    making.add_argument(
        "--seed", type=number("a seed"), default=DEFAULT_SEED, metavar="N",
        help=f"the same seed makes the same records ({DEFAULT_SEED})",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Run the subcommand and return its exit code."""
    if options.subcommand != "make-awkward":
        return topics.run(options)
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.commands.runner import run_to_exit_code

    from fencepost_broker.cli.awkward.making import make_awkward

    return run_to_exit_code(options, lambda: make_awkward(options))


COMMAND: Final = Command(
    "topics", "list, describe, create and delete topics of a running cluster", add_arguments, run
)
