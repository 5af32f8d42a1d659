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
from fencepost_broker.simulation.runs import Run, run_seed

BROKERS = 3
TEXT = """\
# Simulated clusters

`make simulate` ({jobs}) runs the built-in programs of
[the simulator](../how-to/simulate-a-cluster.md) with {brokers} brokers and a controller:
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
    return run_seed(PROGRAMS[program_of(seed)](BROKERS), seed).without_error()


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


def page(runs: list[Run], jobs: int) -> str:
    """Return the page of what was run."""
    faults: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    for run in runs:
        faults.update(run.faults)
        steps.update(run.steps)
    simulated_s, cpu_s = sum(run.simulated_s for run in runs), sum(run.cpu_s for run in runs)
    wrong = [run for run in runs if run.verdict != "ok"]
    failures = [
        f"- `fencepost simulate --program {program_of(run.seed)} --seed {run.seed}`: {run.verdict}"
        for run in wrong
    ]
    return TEXT.format(
        jobs="one job" if jobs == 1 else f"{jobs} jobs",
        programs=", ".join(f"`{each}`" for each in PROGRAMS),
        brokers=BROKERS,
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        first=runs[0].seed,
        last=runs[-1].seed,
        seeds=f"{len(runs):,}",
        wrong=len(wrong),
        hours=simulated_s / 3600,
        cpu_s=cpu_s,
        per_seed=cpu_s / len(runs),
        speed=simulated_s / cpu_s,
        events=sum(run.events for run in runs),
        faults=table("fault", faults),
        steps=table("step", steps),
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
    options = parser.parse_args()
    begun_s = time.monotonic()
    runs: list[Run] = []
    for run in run_all(range(options.first, options.first + options.seeds), options.jobs):
        runs.append(run)
        if run.verdict != "ok":
            sys.stdout.write(f"seed {run.seed}: {run.verdict}\n")
        if options.out is not None:
            options.out.write_text(page(runs, options.jobs))
        if options.minutes and time.monotonic() - begun_s > options.minutes * 60:
            break
    sys.stdout.write(f"{len(runs)} seeds in {time.monotonic() - begun_s:.0f} s\n")
    return int(any(run.verdict != "ok" for run in runs))


if __name__ == "__main__":
    sys.exit(main())
