"""``fencepost bench``: Kafka's performance tools, over the SDK."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_protocol.commands import Command, examples_of, help_as_written, number

from fencepost_client.commands.options import pair

DESCRIPTION: Final = """\
Measure a running cluster, Fencepost's or Apache Kafka's, with the options and the output of Kafka's
ProducerPerformance and ConsumerPerformance, and of KIP-609's EOSPerformance.
"""
EPILOG: Final = """\
examples:
  fencepost bench producer --topic t --num-records 100000 --record-size 100 --throughput -1
  fencepost bench producer --topic t --num-records 100000 --record-size 100 --throughput -1 \\
      --transaction-duration-ms 100 --preregister
  fencepost bench consumer --topic t --num-records 100000
  fencepost bench eos --input-topic t --output-topic u --num-records 100000 --throughput -1
exit code: 0 measured, 1 it cannot be, 2 the arguments make no sense, 130 interrupted
"""
_DAY_MS: Final = 86_400_000
_MANY: Final = (1 << 63) - 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of all of them."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.set_defaults(command_name="bench")
    commands = parser.add_subparsers(dest="subcommand", required=True)
    for word, help_, add in (
        ("producer", "send records (ProducerPerformance)", _add_producer),
        ("consumer", "read records (ConsumerPerformance)", _add_consumer),
        ("eos", "copy records exactly once (KIP-609's EOSPerformance)", _add_eos),
    ):
        each = commands.add_parser(
            word, help=help_, description=f"{help_[0].upper()}{help_[1:]}.",
            epilog=examples_of(EPILOG, f"fencepost bench {word}"),
            formatter_class=help_as_written,
        )  # fmt: skip
        add(each)
        each.add_argument(
            "-b", "--bootstrap-server", "--bootstrap", dest="bootstrap", metavar="HOST:PORT[,…]",
            help="one broker or several (bootstrap.servers, or 127.0.0.1:9092)",
        )  # fmt: skip
        each.add_argument(
            "--num-records", "--messages", type=number("a count", _MANY, 1), required=True,
            metavar="N",
        )  # fmt: skip
        each.add_argument(
            "--reporting-interval", type=number("a time", _DAY_MS, 1), default=5000, metavar="MS",
            help="print progress at this interval (5000)",
        )  # fmt: skip
        each.add_argument("--json", action="store_true", help="print JSON at the end")


def _add_settings(parser: argparse.ArgumentParser, kind: str, *words: str) -> None:
    """Settings by Kafka's names, from a file and from arguments, which override it."""
    config, props = f"--{kind}-config", f"--{kind}-props"
    parser.add_argument(
        config, f"--{kind}.config", *(["--command-config"] if words else []),
        dest=f"{kind}_config", metavar="FILE", help="settings from a properties file",
    )  # fmt: skip
    parser.add_argument(
        props, *words, dest=f"{kind}_props", type=pair, nargs="+", action="extend", default=[],
        metavar="NAME=VALUE", help=f"settings; they override {config}",
    )  # fmt: skip


def _add_transactions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--throughput",
        type=_rate,
        required=True,
        metavar="N",
        help="records per second; -1: no limit",
    )
    parser.add_argument("--transactional-id", metavar="ID")
    parser.add_argument(
        "--transaction-duration-ms", type=number("a time", _DAY_MS, 1), metavar="MS",
        help="commit at this interval (3000)",
    )  # fmt: skip
    parser.add_argument(
        "--preregister", action=argparse.BooleanOptionalAction, default=False,
        help="register all partitions at each begin (KIP-609; not in Apache Kafka)",
    )  # fmt: skip


def _add_producer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--topic", required=True)
    payload = parser.add_mutually_exclusive_group(required=True)
    payload.add_argument("--record-size", type=number("a size", 1 << 30, 1), metavar="BYTES")
    payload.add_argument(
        "--payload-file", metavar="FILE", help="values, which are chosen at random"
    )
    payload.add_argument("--payload-monotonic", action="store_true", help="values 0, 1, 2, …")
    parser.add_argument(
        "--payload-delimiter",
        default="\\n",
        metavar="TEXT",
        help="what separates the values of the file (\\n)",
    )
    _add_settings(parser, "producer", "--command-property")
    _add_transactions(parser)
    parser.add_argument(
        "--warmup-records", type=number("a count", _MANY), default=0, metavar="N",
        help="report the first N records separately",
    )  # fmt: skip
    parser.add_argument("--print-metrics", action="store_true", help="print requests by API")


def _add_consumer(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--topic")
    what.add_argument("--include", metavar="REGEX", help="topics whose whole name matches")
    _add_settings(parser, "consumer", "--command-property")
    parser.add_argument("--group", metavar="ID", help="the group (perf-consumer-NUMBER)")
    parser.add_argument("--fetch-size", metavar="BYTES", help="max.partition.fetch.bytes")
    parser.add_argument("--from-latest", action="store_true", help="begin at the end of the topic")
    parser.add_argument(
        "--timeout", type=number("a time", _DAY_MS, 1), default=10_000, metavar="MS",
        help="stop when no record comes for this time (10000)",
    )  # fmt: skip
    parser.add_argument(
        "--show-detailed-stats", action="store_true", help="print a line for each interval"
    )
    parser.add_argument("--hide-header", action="store_true")
    parser.add_argument(
        "--date-format",
        default="yyyy-MM-dd HH:mm:ss:SSS",
        help="the format of times, in Java's letters",
    )
    parser.add_argument("--print-metrics", action="store_true", help="print requests by API")


def _add_eos(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--input-topic", required=True, metavar="TOPIC")
    parser.add_argument("--output-topic", required=True, metavar="TOPIC")
    _add_settings(parser, "consumer")
    _add_settings(parser, "producer")
    parser.add_argument("--group-id", metavar="ID", help="the group (eos-perf-NUMBER)")
    parser.add_argument(
        "--poll-timeout", type=number("a time", _DAY_MS, 1), default=100, metavar="MS",
        help="the longest wait for records (100)",
    )  # fmt: skip
    _add_transactions(parser)


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = float("nan")
    if rate != rate or rate in {float("inf"), float("-inf")}:
        raise argparse.ArgumentTypeError(f"{text!r} is not a rate: use records per second, or -1")
    return rate


def run(options: argparse.Namespace) -> int:
    """Measure, and tell; gives the exit code."""
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.commands.bench.actions import measure

    return measure(options)


COMMAND: Final = Command(
    "bench", "measure a running cluster as Kafka's performance tools do", add_arguments, run
)
