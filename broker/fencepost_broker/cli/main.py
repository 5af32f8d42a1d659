"""The ``fencepost`` command: finds the commands of every installed part and runs one.

A part announces its commands as entry points of the group ``fencepost.commands``, so that this
module knows none of them and the broker never imports, say, the pipeline.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.commands import Command

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "fencepost.commands"
_OWN: Final = frozenset({"up", "broker", "cluster", "config", "transactions"})
"""Commands of the broker itself. They are found without looking through the metadata of all that
is installed, which takes 25 ms; the start of a broker must not wait for that."""

_INTERRUPTED: Final = 130


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is the command's."""
    given = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(
        prog="fencepost", description="A Kafka-wire-compatible broker emulator and its tools."
    )
    parser.add_argument("--version", action=_ShowVersion)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in _wanted(given):
        subparser = subparsers.add_parser(command.name, help=command.help, description=command.help)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    options = parser.parse_args(given)
    try:
        exit_code: int = options.run(options)
    except KeyboardInterrupt:
        return _INTERRUPTED
    return exit_code


def _wanted(given: list[str]) -> list[Command]:
    """The command that was asked for; all of them if it is none of them, for the help."""
    name = given[0] if given else ""
    if name in _OWN:
        own: Command = import_module(f"fencepost_broker.cli.commands.{name}").COMMAND
        return [own]
    from importlib.metadata import entry_points

    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    return [_load(found[each]) for each in ([name] if name in found else sorted(found))]


def _load(entry: EntryPoint) -> Command:
    command = entry.load()
    if not isinstance(command, Command):
        raise TypeError(f"the entry point {entry.name} of {GROUP} is not a Command")
    return command


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __init__(self, option_strings: list[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        parser.exit(message=f"fencepost {version('fencepost')}\n")
