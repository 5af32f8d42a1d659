"""``fencepost consume``: records of topics as lines, from our broker or Apache Kafka's."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_protocol.commands import Command, number

from fencepost_client.commands.options import add_client, beginning, escaped

DESCRIPTION: Final = """\
Print records of a running cluster's topics, Fencepost's or Apache Kafka's.
"""
EPILOG: Final = """\
examples:
  fencepost consume -t orders -e
  fencepost consume -t orders -p 0 -o -10 -f '%o %k: %s\\n'
  fencepost consume -t orders -o s@1767225600000 -c 5 --json
  fencepost consume -g billing -t orders -t payments
placeholders of -f: %t topic, %p partition, %o offset, %k key, %s value, %h headers, %T time in ms,
%K and %S lengths of key and value (-1 for a null), %%. A group's offsets are committed for what was
printed; -X enable.auto.commit=false commits nothing.
exit code: 0 told, 1 it cannot be, 2 the arguments make no sense, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    add_client(parser, "consume", DESCRIPTION, EPILOG)
    add = parser.add_argument
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "-t", "--topic", action="append", default=[], help="a topic to read; repeat it for several"
    )
    what.add_argument("--regex", help="all topics whose whole name matches")
    add("-g", "--group", help="as a member of this group")
    add(
        "-p", "--partition", type=number("a partition"), action="append", default=[],
        metavar="N", help="only this one; repeat it for several",
    )  # fmt: skip
    add(
        "-o", "--offset", type=beginning, metavar="WHERE",
        help="beginning (or earliest; the default), end (or latest), OFFSET, -N (so many before the"
        " end), s@TIME (in ms); with a group, beginning or end, where no offset is committed",
    )  # fmt: skip
    add(
        "-c",
        "--count",
        type=number("a count", 1 << 62, 1),
        metavar="N",
        help="end after this number of records",
    )
    add("-e", "--exit", action="store_true", help="end at the current ends of the partitions")
    add("-f", "--format", metavar="FORMAT", help="the format of a record (%%s\\n)")
    add("--json", action="store_true", help="print a JSON object per line")
    add(
        "-K",
        "--key-separator",
        type=escaped,
        metavar="TEXT",
        help="print keys, and TEXT between key and value",
    )
    add("-D", "--delimiter", type=escaped, default=b"\n", help="what ends a record (\\n)")
    add("--null-value", default="", metavar="TEXT", help="the text for nulls (empty)")
    add("-Z", dest="null_value", action="store_const", const="NULL", help="print nulls as NULL")
    add(
        "--isolation",
        choices=("read_uncommitted", "read_committed"),
        help="read_uncommitted also prints records of open and aborted transactions",
    )


def run(options: argparse.Namespace) -> int:
    """Print; gives the exit code."""
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.commands.consume_action import consume
    from fencepost_client.commands.runner import run_to_exit_code

    return run_to_exit_code(options, lambda: consume(options))


COMMAND: Final = Command(
    "consume", "print records of a running cluster's topics", add_arguments, run
)
