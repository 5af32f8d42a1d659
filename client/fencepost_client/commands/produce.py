"""``fencepost produce``: lines into records of a topic, ours or Apache Kafka's."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_protocol.commands import Command, number

from fencepost_client.commands.options import add_client, escaped, header

DESCRIPTION: Final = """\
Write records to a topic of a running cluster, Fencepost's or Apache Kafka's: a line is a record.
"""
EPILOG: Final = """\
examples:
  fencepost produce -t orders < orders.txt
  fencepost produce -t orders -K : -H source=shell --file orders.txt
  fencepost consume -t orders -e --json | fencepost produce -t copy --json
  fencepost produce -t orders --transactional-id loader --commit-every 1000 --file orders.txt
A JSON line has key, value, headers, partition and timestamp; bytes that are no text are
{"base64": "..."}. The first broken line ends it; what was taken before it is written, except in a
transaction, which is aborted by a broken line and by Ctrl-C.
exit code: 0 all is written, 1 not all, 2 the arguments make no sense, 130 interrupted
"""
PATIENCE: Final = (
    "how long to wait for a broker that does not answer or refuses a record for now; "
    "without it records are tried for delivery.timeout.ms, 120 s"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options."""
    add_client(parser, "produce", DESCRIPTION, EPILOG, PATIENCE)
    add = parser.add_argument
    add("-t", "--topic", required=True, help="where to write")
    add(
        "-p",
        "--partition",
        type=number("a partition"),
        metavar="N",
        help="the partition of all records",
    )
    add("--file", metavar="FILE", help="read a file instead of standard input")
    add("--json", action="store_true", help="a line is a JSON object")
    add("-D", "--delimiter", type=escaped, default=b"\n", help="what ends a record (\\n)")
    add("-K", "--key-separator", type=escaped, metavar="TEXT", help="lines have a key, then TEXT")
    add(
        "--header-separator", type=escaped, metavar="TEXT",
        help="lines have headers (name:value,name:value), then TEXT",
    )  # fmt: skip
    add(
        "-H", "--header", type=header, action="append", default=[], metavar="NAME=VALUE",
        help="a header for each record; NAME alone is a null",
    )  # fmt: skip
    add("--null-value", metavar="TEXT", help="keys and values equal to TEXT are nulls")
    add(
        "-Z",
        dest="null_value",
        action="store_const",
        const="",
        help="empty keys and values are nulls",
    )
    add("-z", "--compression", choices=("none", "gzip", "snappy", "lz4", "zstd"), help="(none)")
    add("--acks", choices=("all", "-1", "1", "0"), help="which replicas must have a record (all)")
    add("--transactional-id", metavar="ID", help="write in a transaction")
    add(
        "--commit-every", type=number("a count", least=1), metavar="N",
        help="commit after each N records, instead of at the end",
    )  # fmt: skip
    add("--ignore-errors", action="store_true", help="skip invalid lines")
    add("-q", "--quiet", action="store_true", help="print no summary")


def run(options: argparse.Namespace) -> int:
    """Write; gives the exit code."""
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.commands.produce_action import produce
    from fencepost_client.commands.runner import run_to_exit_code

    return run_to_exit_code(options, lambda: produce(options))


COMMAND: Final = Command(
    "produce", "write lines to a topic of a running cluster", add_arguments, run
)
