"""``fencepost broker``: kill, stop, start, pause, resume brokers of a cluster on this machine."""

from __future__ import annotations

import argparse
from typing import Final

from fencepost_protocol.commands import Command, examples_of, help_as_written, number

_WORDS: Final = {
    "kill": "kill a broker at once, like a crash (SIGKILL)",
    "stop": "shut a broker down: it hands over its leaderships first",
    "start": "start a killed or stopped broker, at its old port",
    "pause": "suspend a broker; it is fenced when its session times out (SIGSTOP)",
    "resume": "resume a suspended broker (SIGCONT)",
}
EPILOG: Final = """\
examples:
  fencepost broker kill 2
  fencepost broker start 2
  fencepost broker stop 3
  fencepost broker pause 1000                the controller
  fencepost broker resume 1000
The cluster is one of `fencepost up --brokers N`; 1000 is its controller.
exit code: 0 done, 1 failed, 2 invalid arguments, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.set_defaults(command_name="broker")
    commands = parser.add_subparsers(dest="subcommand", required=True)
    for word, text in _WORDS.items():
        command = commands.add_parser(
            word, help=text, description=f"{text[0].upper()}{text[1:]}.",
            epilog=examples_of(EPILOG, f"fencepost broker {word}"),
            formatter_class=help_as_written,
        )  # fmt: skip
        command.add_argument(
            "id", type=number("a broker's number"), metavar="ID", help="the broker's number"
        )
        command.add_argument("--run-dir", metavar="DIR", help="the cluster's --run-dir")


def run(options: argparse.Namespace) -> int:
    """Run the subcommand and return its exit code."""
    from fencepost_broker.cli.cluster.status import act

    return act(options)


COMMAND: Final = Command(
    "broker", "kill, stop, start, pause and resume brokers of a cluster", add_arguments, run
)
