"""Runs the built-in programs of the simulator with many seeds: ``make simulate``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path

from fencepost_broker.simulation.programs import PROGRAMS
from fencepost_broker.simulation.report import Totals, simulation_page
from fencepost_broker.simulation.runs import Run, run_seed
from fencepost_client.progress import Progress

SHOWN = 5
"""So many wrong seeds have their timelines in the report."""
TEXT = """\
# Simulated clusters

`make simulate` ({jobs}) runs the built-in programs of
[the simulator](../how-to/simulate-a-cluster.md) with three brokers and a controller:
{programs}, which take turns. Each run has its own mix of faults. It is right if the
program's checks hold, and the invariants at each step.

Last run: {date}, seeds {first} to {last}. `SEEDS=` sets how many; by default, there are 10,000.

| | |
|---|---|
| seeds | {seeds} |
| of them wrong | {wrong} |
| simulated hours | {hours:.2f} |
| CPU time | {cpu_s:.0f} s, {per_seed:.2f} s a seed |
| simulated time per CPU time | {speed:.0f} |
| events on connections | {events:,} |

## Faults by kind

{faults}

## Steps of the protocol that were reached

Before a record of `__transaction_state` or `__consumer_offsets`, or a marker, is written, and after
it.

{steps}

## Wrong seeds

{failures}
"""


def program_of(seed: int) -> str:
    """Return the name of the program that a seed runs: they take turns."""
    return list(PROGRAMS)[seed % len(PROGRAMS)]


def run_one(seed: int) -> Run:
    """Run a seed with the program that it stands for."""
    return run_seed(PROGRAMS[program_of(seed)], seed).without_error()


def run_all(seeds: Iterable[int], jobs: int) -> Iterator[Run]:
    """Run seeds in this process, or in several."""
    if jobs == 1:
        yield from map(run_one, seeds)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(run_one, seeds)


def table(heading: str, counts: Counter[str]) -> str:
    """Return counts as a table."""
    rows = [f"| {name} | {count:,} |" for name, count in sorted(counts.items())]
    return "\n".join([f"| {heading} | times |", "|---|---|", *rows])


def page(totals: Totals, first: int, jobs: int) -> str:
    """Return the page of what was run."""
    failures = [
        f"- `fencepost simulate --program {program_of(run.seed)} --seed {run.seed}`: {run.verdict}"
        for run in totals.wrong
    ]
    return TEXT.format(
        jobs="one job" if jobs == 1 else f"{jobs} jobs",
        programs=", ".join(f"`{each}`" for each in PROGRAMS),
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        first=first,
        last=first + totals.runs - 1,
        seeds=f"{totals.runs:,}",
        wrong=len(totals.wrong),
        hours=totals.simulated_s / 3600,
        cpu_s=totals.cpu_s,
        per_seed=totals.cpu_s / totals.runs,
        speed=totals.simulated_s / totals.cpu_s,
        events=totals.events,
        faults=table("fault", totals.faults),
        steps=table("step", totals.steps),
        failures="\n".join(failures) or "None.",
    )


def main() -> int:
    """Run the seeds, and write the page; the exit code is 1 if one was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="begin no seed after so many minutes")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--report", type=Path, help="all of it as one HTML file, too")
    options = parser.parse_args()
    begun_s = time.monotonic()
    totals = Totals()
    with Progress(options.seeds, "seeds", sys.stderr) as progress:
        for run in run_all(range(options.first, options.first + options.seeds), options.jobs):
            totals.add(run)
            if not run.is_right:
                progress.clear()
                sys.stdout.write(f"seed {run.seed}: {run.verdict}\n")
            progress.advance()
            if options.out is not None:
                options.out.write_text(page(totals, options.first, options.jobs))
            if options.minutes and time.monotonic() - begun_s > options.minutes * 60:
                break
    if options.report is not None:
        command = f"make simulate SEEDS={options.seeds} JOBS={options.jobs}".split()
        options.report.write_text(simulation_page(totals, totals.wrong[:SHOWN], command))
    sys.stdout.write(f"{totals.runs} seeds in {time.monotonic() - begun_s:.0f} s\n")
    return int(bool(totals.wrong))


if __name__ == "__main__":
    sys.exit(main())
