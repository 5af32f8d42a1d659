"""Options for a control port and for metrics."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_broker.config.values.endpoints import check_control_address, check_http_url

CONSOLE_PORT: Final = "9080"


def add_control_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--control", type=_control_address, metavar="[HOST:]PORT",
        help="open the control port there: HTTP and JSON (at 127.0.0.1; 0: a free port)",
    )  # fmt: skip
    where.add_argument(
        "--console", dest="control", nargs="?", const=CONSOLE_PORT, type=_control_address,
        metavar="[HOST:]PORT",
        help="the same, to look at: its page in a browser shows transactions, requests, records,"
        f" groups (at 127.0.0.1:{CONSOLE_PORT})",
    )  # fmt: skip
    parser.add_argument(
        "--control-token-file", metavar="FILE",
        help="requests to the control port must have the token in FILE; any address but loopback"
        " needs one",
    )  # fmt: skip


def check_token_file(options: argparse.Namespace) -> None:
    """Raise ValueError for a token of a control port that is not opened."""
    if options.control is None and options.control_token_file is not None:
        raise ValueError(
            f"--control-token-file {options.control_token_file} needs --control [HOST:]PORT:"
            " without it, no control port is opened"
        )


def add_sending_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that send metrics."""
    parser.add_argument(
        "--statsd", type=_control_address, metavar="[HOST:]PORT",
        help="send metrics to StatsD there by UDP, every ten seconds",
    )  # fmt: skip
    parser.add_argument(
        "--otlp", type=_http_url, metavar="URL",
        help="send metrics there by OTLP, OpenTelemetry's protocol, every ten seconds: the base of"
        " the receiver's addresses, such as http://127.0.0.1:4318",
    )  # fmt: skip
    parser.add_argument(
        "--otlp-traces", action="store_true",
        help="with --otlp: send spans of requests and transactions, too",
    )  # fmt: skip


def _control_address(text: str) -> str:
    if wrong := check_control_address(text):
        raise argparse.ArgumentTypeError(wrong)
    return text


def _http_url(text: str) -> str:
    if wrong := check_http_url(text):
        raise argparse.ArgumentTypeError(wrong)
    return text
