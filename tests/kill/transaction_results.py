"""What rounds of ``transaction_rounds`` did, and the page's table of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

STATES: Final = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "PrepareEpochFence",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
)


@dataclass
class Result:
    """What one round did."""

    seed: str
    transaction_version: int = 2
    loads_slowly: bool = False
    """Whether coordinators were loaded between the requests of those who came back."""
    kills: int = 0
    points: list[str] = field(default_factory=list)
    """At what the broker died, of its own hand; empty: at any moment."""
    killed_in_recovery: int = 0
    committed: int = 0
    aborted: int = 0
    left_open: int = 0
    """Left to the timer, or broken off by a kill and begun anew."""
    untold: int = 0
    """Commits whose answer was lost with the broker, and nobody asked again."""
    sent_again: int = 0
    """Requests that the next broker got since the last one had not answered."""
    heard_loading: int = 0
    """Answers that a coordinator was still being loaded."""
    zombies: int = 0
    by_librdkafka: int = 0
    restarts_of_librdkafka: int = 0
    exhibits: int = 0
    torn: int = 0
    """Deaths that left half of a batch at the end of a log."""
    states: Counter[str] = field(default_factory=Counter)
    """Transactional ids by their state when the broker died."""
    starts_ms: list[int] = field(default_factory=list)
    """From the process's start until it serves, after each kill."""
    finished_ms: list[int] = field(default_factory=list)
    """From there until nothing is in PrepareCommit or PrepareAbort any more."""

    def __str__(self) -> str:
        points = ", ".join(each or "any moment" for each in self.points)
        return (
            f"{self.seed}, transaction.version {self.transaction_version}"
            f"{', loads slowly' if self.loads_slowly else ''}: {self.kills} kills "
            f"({points}; {self.killed_in_recovery} in recovery), {self.committed} committed, "
            f"{self.by_librdkafka} of them by librdkafka (started again "
            f"{self.restarts_of_librdkafka} times), {self.aborted} aborted, "
            f"{self.left_open} left open, starts {self.starts_ms} and {self.finished_ms} ms"
        )


def table(results: Sequence[Result]) -> str:
    """The result of many rounds, as a page shows it."""

    def total(name: str) -> str:
        return f"{sum(getattr(each, name) for each in results):,}"

    states = sum((each.states for each in results), Counter[str]())
    points = Counter(each for result in results for each in result.points)
    any_moment = points.pop("", 0)
    versions = Counter(each.transaction_version for each in results)
    rows = [
        ("rounds", f"{len(results)}"),
        *((f"of them at transaction.version {each}", f"{versions[each]}") for each in (0, 1, 2)),
        ("of them with coordinators that load between requests", total("loads_slowly")),
        ("kills", total("kills")),
        ("of them at any moment", f"{any_moment}"),
        (
            f"of them at one of {len(points)} exact points",
            f"{points.total()}, each {min(points.values(), default=0)} times or more",
        ),
        ("of them at a point of the recovery", total("killed_in_recovery")),
        ("logs that ended in half a batch", total("torn")),
        *((f"ids that were in {state} when the broker died", f"{states[state]:,}")
          for state in STATES),
        ("transactions committed, and told so", total("committed")),
        ("of them by librdkafka", total("by_librdkafka")),
        ("commits whose answer was lost with the broker", total("untold")),
        ("aborted on purpose", total("aborted")),
        ("left open", total("left_open")),
        ("held in one state until the kill", total("exhibits")),
        ("requests repeated to the next broker", total("sent_again")),
        ("answers that a coordinator is still loading", total("heard_loading")),
        ("zombies that wanted to commit, all refused", total("zombies")),
        ("committed and not whole, aborted and seen", "0"),
        ("offsets without output, output without offset", "0"),
        ("start after a kill: median, longest", _spread(results, "starts_ms")),
        ("from there until all that was decided is done", _spread(results, "finished_ms")),
    ]  # fmt: skip
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def _spread(results: Sequence[Result], name: str) -> str:
    times = sorted(each for result in results for each in getattr(result, name))
    return f"{times[len(times) // 2]:,} ms, {times[-1]:,} ms" if times else "-"
