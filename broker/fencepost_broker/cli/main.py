"""The ``fencepost`` command: finds the commands of all installed parts, and runs one.

Parts announce their commands as entry points of the group ``fencepost.commands``, so that the
broker does not import, for example, the pipeline.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.commands import Command, Parser, help_as_written

from fencepost_broker.cli.standard_output import OutputError, ReaderGoneError, errors_of_output

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP: Final = "fencepost.commands"
_OWN: Final = frozenset(
    {
        "up", "broker", "clock", "cluster", "config", "console", "doctor", "fault", "operation",
        "requests", "scenario", "snapshot", "telemetry", "topics", "transactions",
    }
)  # fmt: skip
"""The broker's own commands, found without reading the metadata of all installed packages (25 ms).
"""

_OPTIONS: Final = frozenset({"-h", "--help", "--version"})
"""Options of ``fencepost`` itself."""
_MORE_OBJECTS_THAN_A_START_MAKES: Final = 60_000
_FAILED: Final = 1
_USAGE: Final = 2
_FAULT: Final = 70
_NO_MEMORY: Final = 71
_INTERRUPTED: Final = 130
_READER_GONE: Final = 141
"""What a shell says of a program that SIGPIPE has ended: its verdict is not known."""

EPILOG: Final = """\
examples:
  fencepost up --topic orders:3
  fencepost tap --topic orders
  fencepost COMMAND --help
exit codes of all commands: 0 done, 1 the output cannot be written, 2 invalid arguments, 70 a bug in
Fencepost, 71 out of memory, 130 interrupted, 141 (some commands: 0) ended because the reader of the
output has ended; each command's help lists its others
"""


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    # What is imported stays. Python would search it for garbage after each 700 objects.
    gc.set_threshold(_MORE_OBJECTS_THAN_A_START_MAKES)
    exit_code = _READER_GONE
    try:
        with errors_of_output():
            exit_code = _run(given)
    except OutputError as error:
        name = " ".join(["fencepost", *given[:1]])
        sys.stderr.write(f"{name}: cannot write to standard output: {error}\n")
        return _FAILED
    except ReaderGoneError:  # maybe only after the end, when the buffer was flushed
        return exit_code
    return exit_code


def _run(given: list[str]) -> int:
    parser = make_parser(_wanted(given))
    if not given:
        parser.print_help(sys.stderr)
        return _USAGE
    if given[0].startswith("-") and given[0] not in _OPTIONS:
        parser.error(f"the command comes first: fencepost COMMAND {given[0]}")
    options = parser.parse_args(given)
    try:
        exit_code: int = options.run(options)
    except (OutputError, ReaderGoneError):
        raise
    except KeyboardInterrupt:
        return _INTERRUPTED
    except MemoryError:
        sys.stderr.write(
            f"fencepost {options.command}: out of memory: raise the limit of this process (ulimit"
            " -v, or its container's), or reduce the data that it holds\n"
        )
        return _NO_MEMORY
    except Exception:  # noqa: BLE001 (an unexpected error is a bug, not a result)
        import traceback

        traceback.print_exc()
        sys.stderr.write(f"fencepost {options.command}: this is a bug: please report it\n")
        return _FAULT
    return exit_code


def make_parser(commands: Iterable[Command]) -> Parser:
    """Return the parser of the command line with these commands."""
    parser = Parser(
        prog="fencepost",
        description="A Kafka-wire-compatible broker emulator and its tools.",
        epilog=EPILOG,
        formatter_class=help_as_written,
    )
    parser.add_argument("--version", action=_ShowVersion)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in commands:
        subparser = subparsers.add_parser(command.name, help=command.help, description=command.help)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def _wanted(given: list[str]) -> list[Command]:
    """Return the command with the given name, or all commands (for the help)."""
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
    """Reads the version only when it is asked for."""

    def __init__(self, option_strings: list[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        from fencepost_broker.cli.machine import build_name

        parser.exit(message=f"fencepost {version('fencepost')} ({build_name()})\n")
