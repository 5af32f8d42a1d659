"""``fencepost replay``: send a recording again, and compare the answers."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_protocol.commands import Command

from fencepost_client.commands.options import add_client

DESCRIPTION: Final = """\
Send the requests of a recording again, to Fencepost or to Apache Kafka, in the same order, and
compare the answers field by field. Ids, epochs, times and offsets may differ.
"""
EPILOG: Final = """\
examples:
  fencepost replay bug.fprec --bootstrap localhost:9092
  fencepost replay bug.fprec --bootstrap localhost:9092 --json
`fencepost up --record FILE` and `fencepost record FILE --upstream HOST:PORT` make recordings. The
target should have the topics that existed when the recording began, without records.
exit code: 0 no difference, 1 differences or no target, 2 invalid arguments or no recording, 130
interrupted
"""
PATIENCE: Final = "how long to wait for an answer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_client(parser, "replay", DESCRIPTION, EPILOG, PATIENCE)
    parser.add_argument("file", metavar="FILE", help="the recording")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Replay, and return the exit code."""
    # Imported here: the help needs neither sockets nor messages.
    from fencepost_client.commands.replay_action import replay
    from fencepost_client.commands.runner import run_to_exit_code

    return run_to_exit_code(options, lambda: replay(options))


COMMAND: Final = Command("replay", "send a recording again and compare", add_arguments, run)
