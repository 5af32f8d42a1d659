"""Options of commands that open a control port."""

from __future__ import annotations

import argparse

from fencepost_broker.config.values.endpoints import check_control_address


def add_control_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--control", type=_control_address, metavar="[HOST:]PORT",
        help="open the control port there: HTTP and JSON (at 127.0.0.1; 0: a free port)",
    )  # fmt: skip
    parser.add_argument(
        "--control-token-file", metavar="FILE",
        help="requests to the control port must have the token in FILE; any address but loopback"
        " needs one",
    )  # fmt: skip


def _control_address(text: str) -> str:
    if wrong := check_control_address(text):
        raise argparse.ArgumentTypeError(wrong)
    return text
