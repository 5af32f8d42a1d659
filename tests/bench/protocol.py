"""``make bench-protocol``: what encoding and decoding costs, beside other codecs in the same run.

python -m tests.bench.protocol            the whole run, written to docs/bench
python -m tests.bench.protocol --quick    a smoke run, shown and not kept
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from fencepost_client.progress import Progress

from tests.bench.protocol_batches import batch_rows
from tests.bench.protocol_cases import Case, all_cases, values
from tests.bench.protocol_contenders import Contender, Operation, contenders
from tests.bench.protocol_measure import Effort, measure
from tests.bench.protocol_report import OURS, PIECES, Report, Row, write

OUT: Final = Path(__file__).resolve().parents[2] / "docs" / "bench"


def leaves(held: Any) -> Iterable[Any]:
    """The values alone: a struct of one field is a mere value to some."""
    if isinstance(held, list):
        for element in held:
            yield from leaves(element)
    else:
        yield held


def checked(
    case: Case, peers: list[Contender], kind: str
) -> tuple[dict[str, Operation], dict[str, str]]:
    """What each contender has to do, and what is wrong with what it did.

    Nobody is timed who does not do the job; one that writes other bytes is, with a note.
    """
    wire = case.wire()
    expected = list(leaves(values(case.message, case.name, case.version)))
    operations: dict[str, Operation] = {}
    notes: dict[str, str] = {}
    for peer in peers:
        if not peer.speaks(case):
            continue
        make: Callable[[Case, bytes], Operation] = getattr(peer, kind)
        operation = make(case, wire)
        result = operation.run()
        as_it_should = list(leaves(result)) == expected if kind == "decode" else result == wire
        if peer.name == OURS and not as_it_should:
            raise SystemExit(f"our own {kind} of {case.name} v{case.version} is wrong")
        if kind == "decode" and not as_it_should:
            notes[peer.name] = "reads other values; not timed"
            continue
        if not as_it_should:
            notes[peer.name] = f"writes other bytes ({len(result)} instead of {len(wire)})"
        operations[peer.name] = operation
    return operations, notes


def run(effort: Effort, *, brief: bool, only: str = "") -> Report:
    """Measure every case in both directions."""
    peers, missing = contenders()
    report = Report({peer.name: peer.version for peer in peers}, remarks=missing)
    cases = [
        case
        for case in all_cases()
        if (case.brief or not brief) and only.lower() in f"{case.label} v{case.version}".lower()
    ]
    kinds = ("decode", "encode")
    with Progress(len(cases) * len(kinds), "rows", sys.stderr) as progress:
        for case, kind in product(cases, kinds):
            operations, notes = checked(case, peers, kind)
            if kind == "decode":
                operations.pop(PIECES, None)
            timings = measure(operations, effort)
            size = len(case.wire())
            row = Row(case.label, case.name, case.version, kind, size, timings, notes)
            report.rows.append(row)
            progress.say(f"{row.title}: {row.us(OURS):.2f} µs")
            progress.advance()
    if not only:
        report.batches = batch_rows(effort, brief=brief)
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. A missed goal is shown, but fails nothing: machines differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.protocol")
    parser.add_argument("--quick", action="store_true", help="a smoke run of a few seconds")
    parser.add_argument("--only", default="", help="only rows whose name has this in it")
    parser.add_argument("--out", type=Path, help="where to write protocol.md and protocol.json")
    options = parser.parse_args(arguments)
    report = run(
        Effort.quick() if options.quick else Effort(), brief=options.quick, only=options.only
    )
    if options.out or not (options.quick or options.only):
        write(report, options.out or OUT)
    print(report.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
