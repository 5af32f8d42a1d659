"""``fencepost check``: judges what clients did by what they wrote down."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fencepost_client.commands.output import write, write_json
from fencepost_protocol.commands import Command, help_as_written

if TYPE_CHECKING:
    from fencepost_client.histories import Kind, Transform

DESCRIPTION: Final = """\
Judge a history of clients, which any language may write as JSON lines: lost and doubled records,
aborted and torn transactions, cycles, zombies. Findings that the clients' settings explain are
expected, and no failure.
"""
EPILOG: Final = """\
examples:
  fencepost check history.jsonl
  fencepost check history.jsonl --out report.html --allow duplicate --allow skipped-poll
  fencepost check w1.jsonl w2.jsonl --source orders --target invoices --names 'invoice-(.*)'
exit code: 0 no findings that are not expected, 1 some, 2 the history cannot be read
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = DESCRIPTION
    parser.epilog = EPILOG
    parser.formatter_class = help_as_written
    parser.add_argument(
        "paths", nargs="+", metavar="HISTORY", type=Path,
        help="a history; several are merged by their times",
    )  # fmt: skip
    parser.add_argument(
        "--allow", action="append", default=[], metavar="KIND",
        help="findings of this kind are no failure; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--strict", action="store_true",
        help="findings that settings of the clients explain are failures, too",
    )  # fmt: skip
    parser.add_argument("--source", metavar="TOPIC", help="what a program reads")
    parser.add_argument("--target", metavar="TOPIC", help="what it writes, exactly once")
    parser.add_argument(
        "--names", metavar="REGEX",
        help="a target value's source value: the first group of this expression ((.*))",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="FILE", help="write a report as HTML")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Judge the history, and return the exit code."""
    from fencepost_client.histories import HistoryError, check, read_files
    from fencepost_client.histories.page import history_page

    try:
        report = check(
            read_files(options.paths),
            transform=_transform(options),
            allow=_allowed(options),
            strict=options.strict,
        )
        if options.out is not None:
            page = history_page(report, [str(path) for path in options.paths])
            options.out.write_text(page, encoding="utf-8")
    except (HistoryError, ValueError, OSError) as error:
        sys.stderr.write(f"fencepost check: {error}\n")
        return 2
    if options.json:
        write_json(report.to_json())
    else:
        for line in report.lines():
            write(line)
    return 0 if report.holds else 1


def _allowed(options: argparse.Namespace) -> list[Kind]:
    from fencepost_client.histories import Kind

    unknown = set(options.allow) - set(Kind)
    if unknown:
        raise ValueError(f"--allow {min(unknown)}: the kinds are {', '.join(Kind)}")
    return [Kind(each) for each in options.allow]


def _transform(options: argparse.Namespace) -> Transform | None:
    from fencepost_client.histories import Transform
    from fencepost_client.histories.exactly_once import ANY

    if not options.source and not options.target and options.names is None:
        return None
    if not options.source or not options.target:
        raise ValueError("--source and --target go together, and --names needs them")
    return Transform(options.source, options.target, options.names or ANY)


COMMAND: Final = Command(
    "check", "judge what clients did by the histories that they wrote", add_arguments, run
)
