"""``fencepost doctor``: what this machine has of what Fencepost needs, and what to do."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from itertools import groupby
from typing import Final

from fencepost_client.commands.output import write, write_json
from fencepost_protocol.commands import Command, help_as_written, number

from fencepost_broker.cli.machine import PARTS, Finding, Wanted, findings
from fencepost_broker.config.values.endpoints import PORT_MAX

EXIT_PROBLEM: Final = 1

EPILOG: Final = """\
examples:
  fencepost doctor
  fencepost doctor --port 9092 --data-dir /var/lib/fencepost
  fencepost doctor --part spark --json
exit code: 0 a broker can run (or all of the parts named by --part), 1 something is missing,
2 invalid arguments, 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "--port", type=number("a port", PORT_MAX), default=9092, metavar="N",
        help="a port that a broker would listen on (9092)",
    )  # fmt: skip
    parser.add_argument(
        "--data-dir", default=".", metavar="DIR", help="where a broker would keep topics (.)"
    )
    parser.add_argument(
        "--part", action="append", choices=PARTS, help="check this part only, and need it whole"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Print what was found; returns the exit code."""
    found = findings(Wanted(options.port, options.data_dir), options.part or PARTS)
    if options.json:
        write_json([asdict(each) for each in found])
    else:
        for line in _lines(found):
            write(line)
    needed = options.part or ("broker",)
    is_missing = any(each.to_do and each.part in needed for each in found)
    return EXIT_PROBLEM if is_missing else 0


def _lines(found: list[Finding]) -> list[str]:
    lines = []
    for part, group in groupby(found, key=lambda each: each.part):
        lines.append(f"{part}:")
        for each in group:
            state = f"to do: {each.to_do}" if each.to_do else "ok"
            lines.append(f"  {each.name:<12} {each.what}: {state}")
    return lines


COMMAND: Final = Command(
    "doctor", "check whether this machine has what Fencepost needs", add_arguments, run
)
