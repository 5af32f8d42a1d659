"""``fencepost transactions``: what is open in a running cluster, why, and ending what hangs."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from typing import TYPE_CHECKING, Final

from fencepost_protocol.commands import Command

from fencepost_broker.admin.bootstrap import DEFAULT_BOOTSTRAP, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_TIMEOUT_S: Final = 30.0
MAX_TIMEOUT_MINUTES: Final = 15.0
"""Apache Kafka's default of transaction.max.timeout.ms."""
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_INTERRUPTED: Final = 130
_INT32_MAX: Final = (1 << 31) - 1
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
exit code: 0 told or done, 1 it cannot be (no broker, no such id, refused), 2 the arguments make no
sense, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of all of them."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    _add_common(parser, with_defaults=True)
    commands = parser.add_subparsers(dest="subcommand", metavar="WHAT", required=True)

    def add(name: str, help_: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = commands.add_parser(
            name, help=help_, description=f"{help_[0].upper()}{help_[1:]}."
        )
        _add_common(made, with_defaults=False)
        return made

    listing = add("list", "list transactional ids, all or those that pass each filter")
    listing.add_argument(
        "--state", action="append", default=[], metavar="NAME",
        help="Ongoing, PrepareCommit and so on; several times for several states",
    )  # fmt: skip
    listing.add_argument(
        "--producer-id", action="append", default=[], type=_number("a producer id", _INT64_MAX),
        metavar="ID", help="of this producer id; several times for several",
    )  # fmt: skip
    listing.add_argument(
        "--longer-than", "--duration-filter", dest="longer_than", metavar="MS",
        type=_number("milliseconds", _INT64_MAX), help="begun more than so many milliseconds ago",
    )  # fmt: skip
    listing.add_argument(
        "--pattern", "--transactional-id-pattern", dest="pattern", metavar="RE2",
        help="ids that match this regular expression as a whole",
    )  # fmt: skip

    describing = add("describe", "describe transactional ids")
    describing.add_argument("ids", nargs="*", metavar="ID", help="a transactional id")
    describing.add_argument(
        "--transactional-id", action="append", default=[], metavar="ID", help="the same as ID"
    )

    producers = add("describe-producers", "show what a partition knows of producers")
    _add_partition(producers, required=True)
    producers.add_argument(
        "--broker-id", type=_number("a broker id", _INT32_MAX), metavar="N",
        help="ask this replica (the leader)",
    )  # fmt: skip

    explaining = add("explain", "say what a transaction waits for, and who holds readers up")
    explaining.add_argument("id", nargs="?", metavar="ID", help="a transactional id")
    explaining.add_argument(
        "--partition",
        dest="place",
        metavar="TOPIC:N",
        help="the other way round: who holds this partition's last stable offset",
    )
    _add_hanging(add)


def _add_hanging(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    hanging = add("find-hanging", "find open transactions that no coordinator will end")
    hanging.add_argument(
        "--broker-id", type=_number("a broker id", _INT32_MAX), metavar="N",
        help="in partitions that this broker has",
    )  # fmt: skip
    _add_partition(hanging, required=False)
    hanging.add_argument(
        "--max-transaction-timeout",
        type=_minutes,
        default=MAX_TIMEOUT_MINUTES,
        metavar="MINUTES",
        help="younger ones are none of them: the cluster's transaction.max.timeout.ms (15 minutes)",
    )

    aborting = add("abort", "end a transaction that hangs in a partition, by an abort marker")
    _add_partition(aborting, required=True)
    aborting.add_argument(
        "--start-offset", type=_number("an offset", _INT64_MAX), metavar="OFFSET",
        help="where it begins there; the rest is looked up",
    )  # fmt: skip
    aborting.add_argument(
        "--producer-id", type=_number("a producer id", _INT64_MAX), metavar="ID",
        help="or whose it is, with both epochs",
    )  # fmt: skip
    aborting.add_argument("--producer-epoch", type=_number("an epoch", _EPOCH_MAX), metavar="N")
    aborting.add_argument("--coordinator-epoch", type=_number("an epoch", _INT32_MAX), metavar="N")
    aborting.add_argument(
        "--force", action="store_true", help="even if its coordinator is going to end it"
    )


def _add_common(parser: argparse.ArgumentParser, *, with_defaults: bool) -> None:
    """Options that may stand before or behind the subcommand."""

    def default(value: object) -> object:
        return value if with_defaults else argparse.SUPPRESS

    parser.add_argument(
        "--bootstrap", "--bootstrap-server", dest="bootstrap", metavar="HOST:PORT[,…]",
        default=default(DEFAULT_BOOTSTRAP), help=f"a broker, or several ({DEFAULT_BOOTSTRAP})",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", default=default(False), help="write JSON")
    parser.add_argument(
        "--timeout", type=_seconds, default=default(DEFAULT_TIMEOUT_S), metavar="SECONDS",
        help=f"wait for an answer so long ({DEFAULT_TIMEOUT_S:g})",
    )  # fmt: skip


def _add_partition(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument("--topic", required=required, metavar="NAME")
    parser.add_argument(
        "--partition", required=required, type=_number("a partition", _INT32_MAX), metavar="N"
    )


def _number(what: str, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > most:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}: 0 to {most}")
        return int(text)

    return read


def _seconds(text: str) -> float:
    return _positive(text, "seconds", 1e6)


def _minutes(text: str) -> float:
    return _positive(text, "minutes", 1e9)


def _positive(text: str, unit: str, most: float) -> float:
    if not re.fullmatch(r"[0-9]{1,10}(\.[0-9]{1,6})?", text) or not 0 < float(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r}: a number of {unit} above 0 is wanted")
    return float(text)


def run(options: argparse.Namespace) -> int:
    """Ask, and tell; gives the exit code."""
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.errors import KafkaError

    from fencepost_broker.adapters.peer import PeerError
    from fencepost_broker.admin.screen import perform

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # tests put others in its place
            stream.reconfigure(errors="backslashreplace")  # names may not fit the terminal's set
    try:
        perform(options)
        sys.stdout.flush()
    except UsageError as error:
        return _fail(options, str(error), EXIT_USAGE)
    except (PeerError, KafkaError) as error:
        return _fail(options, str(error), EXIT_FAILED)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever was reading has seen enough; Python's last flush must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _fail(options: argparse.Namespace, reason: str, code: int) -> int:
    from fencepost_client.commands.text import printable

    sys.stderr.write(f"fencepost transactions {options.subcommand}: {printable(reason)}\n")
    return code


COMMAND: Final = Command(
    "transactions", "list, explain and end transactions of a running cluster", add_arguments, run
)
