"""What all seeds of a simulation have done together, and the report of it as one HTML file."""

from __future__ import annotations

import shlex
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from fencepost_client.report_page import Status, facts, figure, how, make_page, outcome, table
from fencepost_client.report_pictures import Bar, bars

from fencepost_broker.simulation.picture import timeline_of
from fencepost_broker.simulation.runs import Run


@dataclass
class Totals:
    """Sums over runs."""

    runs: int = 0
    simulated_s: float = 0.0
    cpu_s: float = 0.0
    events: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    steps: Counter[str] = field(default_factory=Counter)
    wrong: list[Run] = field(default_factory=list)

    def add(self, run: Run) -> None:
        """Count a run."""
        self.runs += 1
        self.simulated_s += run.simulated_s
        self.cpu_s += run.cpu_s
        self.events += run.events
        self.faults.update(run.faults)
        self.steps.update(run.steps)
        if not run.is_right:
            self.wrong.append(run)


def simulation_page(totals: Totals, shown: Sequence[Run], command: Sequence[str]) -> str:
    """The whole page as text; the runs that are shown have their timelines drawn."""
    wrong = len(totals.wrong)
    title = f"{totals.runs:,} of {totals.runs:,} seeds were right"
    if wrong:
        title = f"{wrong:,} of {totals.runs:,} seeds failed"
    return make_page(title, "\n".join(_body(totals, title, shown, command)))


def _body(
    totals: Totals, title: str, shown: Sequence[Run], command: Sequence[str]
) -> Iterator[str]:
    yield "<h1>A simulated cluster</h1>"
    yield outcome([Status(f"{title}.", "bad" if totals.wrong else "good")])
    for run in shown:
        yield from _run(run)
    for counts, heading, meaning in (
        (totals.faults, "Faults by kind", "How many faults of each kind there were."),
        (
            totals.steps, "Steps of transactions",
            "How often brokers have reached each step: before something is written, and after it.",
        ),
    ):  # fmt: skip
        if counts:
            ordered = [Bar(name, count, f"{count:,}") for name, count in sorted(counts.items())]
            yield f"<h2>{heading}</h2>"
            yield figure(meaning, bars(ordered, heading))
    yield "<h2>In numbers</h2>"
    yield facts(
        {
            "seeds": f"{totals.runs:,}",
            "wrong": f"{len(totals.wrong):,}",
            "virtual time": f"{totals.simulated_s / 3600:.2f} hours",
            "CPU time": f"{totals.cpu_s:.1f} s",
            "virtual time per CPU time": f"{totals.simulated_s / max(totals.cpu_s, 0.001):,.0f}",
            "events on connections": f"{totals.events:,}",
        }
    )
    if totals.wrong:
        yield "<h2>Seeds that failed</h2>"
        yield table(
            ("seed", "after", "what failed"),
            (
                (str(run.seed), f"{run.simulated_s:.3f} s", Status(run.verdict, "bad"))
                for run in totals.wrong
            ),
        )
    yield from how(
        [
            "Each seed is one run in virtual time with its own mix of faults. It is right if the "
            "program's checks hold, and the invariants of all logs whenever one of them changes.",
            "The CPU time is that of the processes that ran the seeds. Faults, steps, events are "
            "those of the first run of each seed; a timeline is that of the run with the fewest "
            "faults that fails in the same way.",
        ],
        shlex.join(command),
    )


def _run(run: Run) -> Iterator[str]:
    yield f"<h2>Seed {run.seed}: {escape(run.verdict)}</h2>"
    needed = f"{sum(run.faults.values())} of its {len(run.planned)} faults" if run.planned else ""
    yield figure(
        f"When each thing happened, in virtual seconds{', with ' + needed if needed else ''}.",
        timeline_of(run),
    )
    if run.error is not None:
        stack = "".join(traceback.format_exception(run.error))
        yield "<details><summary>The error and its stack</summary>"
        yield f'<pre tabindex="0">{escape(stack)}</pre></details>'
