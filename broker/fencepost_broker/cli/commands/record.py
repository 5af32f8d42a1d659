"""``fencepost record``: run a proxy in front of a cluster that records what passes."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_protocol.commands import Command

from fencepost_broker.cli.commands import proxy

DESCRIPTION: Final = """\
Run a proxy in front of a Kafka cluster, and record what its clients send and are answered. The
recording can be sent again by `fencepost replay`.
"""
EPILOG: Final = """\
examples:
  fencepost record bug.fprec --upstream localhost:9092 --port 19092
  fencepost record bug.fprec --upstream kafka.example:9093 --upstream-tls
The recording holds keys and values of records. Passwords of logins and of settings are hidden.
`fencepost up --record FILE` records a broker of Fencepost without a proxy.
exit code: 0 stopped cleanly, 1 failed or FILE exists, 2 invalid options or rules, 3 cannot listen
on an address
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a proxy, and the file."""
    proxy.add_arguments(parser)
    parser.description, parser.epilog = DESCRIPTION, EPILOG
    parser.add_argument("recording", metavar="FILE", help="the new file of the recording")


COMMAND: Final = Command(
    "record", "record what clients send and are answered", add_arguments, proxy.run
)
