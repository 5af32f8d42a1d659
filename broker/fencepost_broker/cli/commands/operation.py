"""``fencepost operation``: do something to a running broker at once."""

from __future__ import annotations

import argparse
from typing import Any, Final

from fencepost_client.commands.output import write, write_json
from fencepost_protocol.commands import Command, help_as_written

from fencepost_broker.cli.control_client import (
    EXIT_CODES,
    add_control_arguments,
    add_example,
    run_at_control_port,
)
from fencepost_broker.cli.struct_options import add_option, given
from fencepost_broker.server.control.client import ControlClient

EPILOG: Final = f"""\
examples:
  fencepost operation time-out-transaction --control 9093 --transactional-id payments
  fencepost operation remove-member --control 9093 --group app --member app-1 --json
  fencepost operation move-leader --control 9093 --topic orders --partition 0 --broker 2
{EXIT_CODES}"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a subcommand for each operation."""
    from msgspec.structs import fields

    from fencepost_broker.operations import OPERATIONS

    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    operations = parser.add_subparsers(dest="operation", metavar="OPERATION", required=True)
    for name, operation in OPERATIONS.items():
        told = (operation.__doc__ or "").strip().split("\n")[0].replace("%", "%%")
        one = operations.add_parser(name, help=told, description=told, allow_abbrev=False)
        for field in fields(operation):
            add_option(one, field, "operation", required=field.required)
        add_control_arguments(one)
        one.add_argument("--json", action="store_true", help="print JSON")
        add_example(one)


def run(options: argparse.Namespace) -> int:
    """Perform the operation, and return the exit code."""
    return run_at_control_port(options, lambda port: _perform(port, options))


def _perform(port: ControlClient, options: argparse.Namespace) -> None:
    asked = {"type": options.operation, **given(options, "operation")}
    told: dict[str, Any] = port.ask("POST", "/v1/operations", asked)
    if options.json:
        write_json(told)
        return
    kind = told.pop("type")
    write(f"{kind}: {', '.join(f'{name}={value}' for name, value in told.items())}")


COMMAND: Final = Command(
    "operation", "do something to a running broker at once: time out a transaction, move a leader",
    add_arguments, run,
)  # fmt: skip
