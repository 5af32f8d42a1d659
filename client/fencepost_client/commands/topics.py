"""``fencepost topics``: topics of a running cluster, ours or Apache Kafka's."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final

from fencepost_protocol.commands import number

from fencepost_client.commands.options import pair, subcommands

DESCRIPTION: Final = """\
Show, create and delete topics of a running cluster, Fencepost's or Apache Kafka's.
"""
EPILOG: Final = """\
examples:
  fencepost topics list -b localhost:9093
  fencepost topics create orders --partitions 3 --config retention.ms=60000
  fencepost topics describe orders
  fencepost topics offsets orders
  fencepost topics grow orders --partitions 6
  fencepost topics delete orders
  fencepost topics make-awkward --data-dir ./data
exit code: 0 told or done, 1 it cannot be, 2 the arguments make no sense, 130 interrupted
"""


def add_arguments(
    parser: argparse.ArgumentParser,
) -> Callable[[str, str], argparse.ArgumentParser]:
    """Add the options of all subcommands; returns what adds another one."""
    add = subcommands(parser, "topics", DESCRIPTION, EPILOG)
    listing = add("list", "list topics by name")
    listing.add_argument("--internal", action="store_true", help="include internal topics")
    describing = add("describe", "show partitions with their leaders and replicas")
    describing.add_argument("names", nargs="*", metavar="TOPIC", help="a topic (all)")
    creating = add("create", "create topics")
    creating.add_argument("names", nargs="+", metavar="TOPIC")
    creating.add_argument("--partitions", type=number("a count", least=1), default=-1, metavar="N")
    creating.add_argument(
        "--replication-factor", type=number("a count", 1 << 15, 1), default=-1, metavar="N"
    )
    creating.add_argument(
        "--config", type=pair, action="append", default=[], metavar="NAME=VALUE",
        help="a setting; repeat it for several",
    )  # fmt: skip
    creating.add_argument("--if-not-exists", action="store_true", help="ignore topics that exist")
    creating.add_argument(
        "--dry-run", action="store_true", help="only check whether it is possible"
    )
    growing = add("grow", "increase the number of partitions")
    growing.add_argument("name", metavar="TOPIC")
    growing.add_argument(
        "--partitions", type=number("a count", least=1), required=True, metavar="N"
    )
    deleting = add("delete", "delete topics and their records")
    deleting.add_argument("names", nargs="+", metavar="TOPIC")
    deleting.add_argument(
        "--if-exists", action="store_true", help="ignore topics that do not exist"
    )
    offsets = add("offsets", "show the first and last offsets of partitions")
    offsets.add_argument("names", nargs="+", metavar="TOPIC")
    return add


def run(options: argparse.Namespace) -> int:
    """Ask, and tell; gives the exit code."""
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.commands.runner import run_subcommand
    from fencepost_client.commands.topic_actions import ACTIONS

    return run_subcommand(ACTIONS, options)
