"""The ``fencepost`` command: finds the commands of every installed part and runs one.

A part announces its commands as entry points of the group ``fencepost.commands``, so that this
module knows none of them and the broker never imports, say, the pipeline.
"""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import EntryPoint, entry_points, version

from fencepost_protocol.commands import Command

GROUP = "fencepost.commands"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is the command's."""
    given = sys.argv[1:] if arguments is None else arguments
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    # Only the command that was asked for is imported; `fencepost --help` imports all of them.
    wanted = given[0] if given and given[0] in found else None
    parser = argparse.ArgumentParser(
        prog="fencepost", description="A Kafka-wire-compatible broker emulator and its tools."
    )
    parser.add_argument("--version", action="version", version=f"fencepost {version('fencepost')}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in [wanted] if wanted else sorted(found):
        command = _load(found[name])
        subparser = subparsers.add_parser(name, help=command.help, description=command.help)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    options = parser.parse_args(given)
    exit_code: int = options.run(options)
    return exit_code


def _load(entry: EntryPoint) -> Command:
    command = entry.load()
    if not isinstance(command, Command):
        raise TypeError(f"the entry point {entry.name} of {GROUP} is not a Command")
    return command
