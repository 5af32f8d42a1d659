"""``fencepost tap``: live requests and responses of a running broker, decoded."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Final

from fencepost_protocol.commands import Command, help_as_written, number
from fencepost_protocol.dissect.filters import add_filters, api_key

DEFAULT_BOOTSTRAP: Final = "127.0.0.1:9092"
DEFAULT_PORT: Final = 9092
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2

DESCRIPTION: Final = """\
Show the traffic between a running broker and its clients: requests, responses, waits, connections.
The broker sends copies over UDP and never waits for a watcher; lost events are counted.
"""
EPILOG: Final = """\
examples:
  fencepost tap                                     all traffic of the broker at 127.0.0.1:9092
  fencepost tap --api Produce --api EndTxn -v       two APIs, every byte by name
  fencepost tap --client 'shop*' --topic orders     what clients called shop… do with one topic
  fencepost tap localhost:9093 --json --count 100   a hundred events for a program
  fencepost tap --stats                             the broker's counters, once
BOOTSTRAP is the broker's first listener: the tap has the same port number, in UDP (or tap.port).
exit code: 0 done, 1 the broker cannot be watched, 2 invalid arguments
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "bootstrap", nargs="?", default=DEFAULT_BOOTSTRAP, metavar="BOOTSTRAP",
        help=f"HOST[:PORT] of the broker ({DEFAULT_BOOTSTRAP})",
    )  # fmt: skip
    add_filters(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="show every byte by name")
    parser.add_argument("--hex", action="store_true", help="show the bytes of each frame")
    parser.add_argument("--json", action="store_true", help="print a JSON object on each line")
    parser.add_argument(
        "--snap", type=number("a size"), default=0, metavar="BYTES",
        help="show at most N bytes of each frame, so that fewer events of a busy broker are lost",
    )  # fmt: skip
    parser.add_argument(
        "--count", type=number("a count", least=1), default=0, metavar="N",
        help="stop after N events",
    )  # fmt: skip
    parser.add_argument("--stats", action="store_true", help="print the broker's counters and exit")


def run(options: argparse.Namespace) -> int:
    """Watch until interrupted, and return the exit code."""
    from fencepost_broker.observability.tap.client import TapError
    from fencepost_broker.observability.tap.screen import print_stats, watch

    try:
        host, port = _address(options.bootstrap)
        api_keys = [api_key(text) for text in options.api]
    except ValueError as error:
        return _fail(str(error), EXIT_USAGE)
    try:
        if options.stats:
            return print_stats(host, port, as_json=options.json)
        return watch(host, port, api_keys, options)
    except TapError as error:
        return _fail(str(error), EXIT_FAILED)
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        # The reader has closed the pipe; Python's last flush must not fail, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(DEFAULT_PORT)
    if not port.isdigit() or not 0 < int(port) < 65_536:
        raise ValueError(f"{text}: it must be HOST or HOST:PORT, with a port of 1 to 65535")
    return host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port)


def _fail(reason: str, code: int) -> int:
    sys.stderr.write(f"fencepost tap: {reason}\n")
    return code


COMMAND: Final = Command(
    "tap", "watch the requests and responses of a running broker", add_arguments, run
)
