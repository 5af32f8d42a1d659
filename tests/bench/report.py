"""The benchmarks that are kept in docs/bench as one HTML file: ``make bench-report``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

from fencepost_client.report_page import Status, facts, figure, how, make_page, outcome, table
from fencepost_client.report_pictures import Mark, goals

from tests.bench.broker import kept as of_broker
from tests.bench.broker.report import COMMAND as BROKER_COMMAND
from tests.bench.broker.run import ROWS as BROKER_ROWS
from tests.bench.client import report as client_report
from tests.bench.client import results as of_client
from tests.bench.cluster import results as of_cluster
from tests.bench.judged import MET, MISSED, OPEN, Judged

_KINDS: Final = {MET: "good", MISSED: "bad", OPEN: "none"}
_FOLDER: Final = of_broker.FOLDER
_OUT: Final = Path("build") / "bench.html"


class Benchmark(NamedTuple):
    """What a benchmark has measured."""

    title: str
    command: str
    judged: list[Judged]
    about: list[str]
    """When, where, of what, and how it was measured."""


def benchmarks(folder: Path) -> list[Benchmark]:
    """Those that have been measured."""
    read: dict[str, Callable[[Path], Benchmark]] = {
        of_broker.FILE: _broker, of_client.FILE: _client, of_cluster.FILE: _cluster,
        "protocol.json": _protocol,
    }  # fmt: skip
    return [make(folder) for file, make in read.items() if (folder / file).exists()]


def _broker(folder: Path) -> Benchmark:
    report = of_broker.read(folder, BROKER_ROWS)
    titles = {each.row.name: f"{each.row.section}: {each.row.title}" for each in report.results}
    judged = [
        each._replace(row=titles[each.row]) for result in report.results for each in result.judge()
    ]
    return Benchmark("Broker", BROKER_COMMAND, judged, [report.about(), *report.notes()])


def _client(folder: Path) -> Benchmark:
    kept = of_client.read(folder)
    judged = [each._replace(row=f"{each.row}, on {each.on}") for each in client_report.judged(kept)]
    return Benchmark("Client", client_report.COMMAND, judged, client_report.when(kept))


def _cluster(folder: Path) -> Benchmark:
    kept = of_cluster.read(folder)
    about = [f"{name}: {stamp}" for name, stamp in kept.stamps.items()]
    return Benchmark("Cluster", "make bench-cluster", of_cluster.all_judged(kept), about)


def _protocol(folder: Path) -> Benchmark:
    held = json.loads((folder / "protocol.json").read_text(encoding="utf-8"))
    judged = [
        Judged(each["goal"], each["goal"], each["result"], MET if each["met"] else MISSED)
        for each in held["goals"]
    ]
    versions = ", ".join(f"{name} {version}" for name, version in held["versions"].items())
    about = [f"{held['date']}, {held['machine']}; {versions}", *held["notes"]]
    return Benchmark("Protocol", held["command"], judged, about)


def bench_page(found: Sequence[Benchmark]) -> str:
    """The whole page as text."""
    return make_page("Benchmarks", "\n".join(_body(found)))


def _body(found: Sequence[Benchmark]) -> Iterator[str]:
    judged = [each for benchmark in found for each in benchmark.judged]
    missed = sum(each.verdict == MISSED for each in judged)
    yield "<h1>How fast is Fencepost?</h1>"
    said = f"{missed} of {len(judged)} goals are missed." if judged else "Nothing is measured yet."
    yield outcome([Status(said, "bad" if missed else "good" if judged else "none")])
    for benchmark in found:
        yield from _benchmark(benchmark)


def _benchmark(benchmark: Benchmark) -> Iterator[str]:
    rows: dict[str, list[Judged]] = {}
    for each in benchmark.judged:
        rows.setdefault(each.row, []).append(each)
    marks = [(row, [_mark(each) for each in judged]) for row, judged in rows.items()]
    yield f"<h2>{escape(benchmark.title)}</h2>"
    yield figure(
        "How many times as good as the goal: a circle for each goal of a row, met at the right of "
        "the line, missed at the left. A square on the line is a goal over several rows, without "
        "one number.",
        goals(marks, f"Goals of the benchmark: {benchmark.title}"),
    )
    verdicts = [each.verdict for each in benchmark.judged]
    yield facts({verdict: verdicts.count(verdict) for verdict in _KINDS})
    yield table(
        ("row", "goal", "result", "times the goal", "verdict"),
        (
            (
                "" if each.row == each.text else each.row,
                each.text,
                each.result,
                "" if each.times is None else f"{each.times:.2f}",
                Status(each.verdict, _KINDS[each.verdict]),
            )
            for each in benchmark.judged
        ),
    )
    yield from how(benchmark.about, benchmark.command)


def _mark(each: Judged) -> Mark:
    return Mark(each.times, f"{each.text}: {each.result} ({each.verdict})", _KINDS[each.verdict])


def main() -> int:
    """Write it."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.report")
    parser.add_argument("--folder", type=Path, default=_FOLDER, help="where the numbers are kept")
    parser.add_argument("--out", type=Path, default=_OUT, help="the HTML file")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(bench_page(benchmarks(options.folder)), encoding="utf-8")
    print(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
