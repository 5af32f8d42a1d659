"""``fencepost transactions``: what is open in a running cluster, and ending what hangs.

What only a Fencepost can say of it (``explain``) is added by the broker's part of the command.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Final

from fencepost_protocol.commands import number

from fencepost_client.commands.options import subcommands

MAX_TIMEOUT_MINUTES: Final = 15.0
"""Apache Kafka's default of transaction.max.timeout.ms."""
_INT64_MAX: Final = (1 << 63) - 1
_EPOCH_MAX: Final = (1 << 15) - 1

DESCRIPTION: Final = """\
Ask a running broker about transactions: Fencepost's own or Apache Kafka's, or a cluster of them.
"""
EPILOG: Final = """\
examples:
  fencepost transactions list --state Ongoing --longer-than 60000
  fencepost transactions describe payments-1 payments-2
  fencepost transactions describe-producers --topic orders --partition 0
  fencepost transactions explain payments-1           what it waits for, whom it holds up
  fencepost transactions explain --partition orders:0 who holds readers of committed records up
  fencepost transactions find-hanging
  fencepost transactions abort --topic orders --partition 0 --start-offset 42
  fencepost transactions force-terminate --transactional-id payments-1
exit code: 0 told or done, 1 it cannot be (no broker, no such id, refused), 2 the arguments make no
sense, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> Callable[[str, str], argparse.ArgumentParser]:
    """The options of all of them; gives what adds another subcommand."""
    add = subcommands(parser, "transactions", DESCRIPTION, EPILOG)
    listing = add("list", "list transactional ids, all or those that match each filter")
    listing.add_argument(
        "--state", action="append", default=[], metavar="NAME",
        help="Ongoing, PrepareCommit and so on; repeat it for several",
    )  # fmt: skip
    listing.add_argument(
        "--producer-id", action="append", default=[], type=number("a producer id", _INT64_MAX),
        metavar="ID", help="of this producer id; repeat it for several",
    )  # fmt: skip
    listing.add_argument(
        "--longer-than", "--duration-filter", dest="longer_than", metavar="MS",
        type=number("milliseconds", _INT64_MAX), help="begun more than this many ms ago",
    )  # fmt: skip
    listing.add_argument(
        "--pattern", "--transactional-id-pattern", dest="pattern", metavar="RE2",
        help="ids that a regular expression matches as a whole",
    )  # fmt: skip

    describing = add("describe", "describe transactional ids")
    describing.add_argument("ids", nargs="*", metavar="ID", help="a transactional id")
    describing.add_argument(
        "--transactional-id", action="append", default=[], metavar="ID", help="the same as ID"
    )

    producers = add("describe-producers", "show the active producers of a partition")
    _add_partition(producers, required=True)
    producers.add_argument(
        "--broker-id", type=number("a broker id"), metavar="N", help="ask this replica (the leader)"
    )
    terminating = add(
        "force-terminate", "abort the open transaction of an id, also if it is prepared"
    )
    terminating.add_argument(
        "--transactional-id", required=True, metavar="ID", help="its producer is fenced"
    )
    _add_hanging(add)
    return add


def _add_hanging(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    hanging = add("find-hanging", "find open transactions that no coordinator will end")
    hanging.add_argument(
        "--broker-id", type=number("a broker id"), metavar="N",
        help="in partitions of this broker",
    )  # fmt: skip
    _add_partition(hanging, required=False)
    hanging.add_argument(
        "--max-transaction-timeout",
        type=_minutes,
        default=MAX_TIMEOUT_MINUTES,
        metavar="MINUTES",
        help="the least age: the cluster's transaction.max.timeout.ms (15 minutes)",
    )

    aborting = add("abort", "end a hanging transaction in a partition, with an abort marker")
    _add_partition(aborting, required=True)
    aborting.add_argument(
        "--start-offset", type=number("an offset", _INT64_MAX), metavar="OFFSET",
        help="the first offset of the transaction",
    )  # fmt: skip
    aborting.add_argument(
        "--producer-id", type=number("a producer id", _INT64_MAX), metavar="ID",
        help="or its producer, with both epochs",
    )  # fmt: skip
    aborting.add_argument("--producer-epoch", type=number("an epoch", _EPOCH_MAX), metavar="N")
    aborting.add_argument("--coordinator-epoch", type=number("an epoch"), metavar="N")
    aborting.add_argument(
        "--force", action="store_true", help="also if its coordinator will end it"
    )


def _add_partition(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument("--topic", required=required, metavar="NAME")
    parser.add_argument("--partition", required=required, type=number("a partition"), metavar="N")


def _minutes(text: str) -> float:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text) or not float(text):
        raise argparse.ArgumentTypeError(f"{text!r}: use a number of minutes above 0")
    return float(text)
