"""What was measured and is kept (docs/bench/cluster.json), and docs/bench/cluster.md from it."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.bench.broker.kept import put_between_marks
from tests.bench.client.results import Samples
from tests.bench.cluster.clusters import CLUSTERS, KAFKA, OURS
from tests.bench.cluster.rows import (
    ACKS_1,
    ACKS_ALL,
    MORE_IS_BETTER,
    RATE,
    ROWS,
    TRANSACTIONS,
    AtMost,
    Row,
    TimesKafka,
)
from tests.bench.judged import MET, MISSED, OPEN, Judged
from tests.bench.table import markdown_table

FILE: Final = "cluster.json"
PAGE: Final = "cluster.md"
BEGIN: Final = "<!-- measured: written by make bench-cluster -->"
ROUNDS_TO_ESTABLISH: Final = 4
"""With fewer rounds, in both orders, nothing is said of a difference."""
OF_THE_SLIDE: Final = ((ACKS_ALL, "3 %"), (ACKS_1, "20 %"))


@dataclass
class Kept:
    """By row."""

    rows: dict[str, Samples] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)


def read(folder: Path) -> Kept:
    """What was kept before."""
    file = folder / FILE
    if not file.exists():
        return Kept()
    held = json.loads(file.read_text(encoding="utf-8"))
    return Kept({name: Samples(**each) for name, each in held["rows"].items()}, held["stamps"])


def write(kept: Kept, folder: Path) -> None:
    """Keep it, and make the page."""
    text = json.dumps(asdict(kept), indent=1, ensure_ascii=False, sort_keys=True)
    (folder / FILE).write_text(text + "\n", encoding="utf-8")
    put_between_marks(folder / PAGE, "\n".join(parts(kept)), BEGIN)


# -- goals -----------------------------------------------------------------------------------------


def judged(row: Row, samples: Samples) -> Iterator[Judged]:
    """A row's goals: what was to be reached, what was, and whether."""
    for goal in row.goals:
        unit = row.units[goal.metric]
        if isinstance(goal, AtMost):
            found = samples.median(OURS, goal.metric)
            verdict = OPEN if found is None else MET if found <= goal.value else MISSED
            text = f"{unit}: at most {goal.value:,.0f}"
            times = goal.value / found if found else None
            yield Judged(row.title, text, number(found), verdict, times)
            continue
        times = times_kafka(samples, goal)
        verdict = OPEN if times is None else MET if times >= goal.times else MISSED
        found_text = "" if times is None else f"{times:.2f} times"
        text = f"{unit}: {goal.times:g} times as good as {KAFKA}"
        share = None if times is None else times / goal.times
        yield Judged(row.title, text, found_text, verdict, share)


def all_judged(kept: Kept) -> list[Judged]:
    """All goals, in the order of the rows."""
    rows = [row for row in ROWS if row.name in kept.rows]
    return [each for row in rows for each in judged(row, kept.rows[row.name])]


def times_kafka(samples: Samples, goal: TimesKafka) -> float | None:
    """The middle of the rounds' ratios."""
    mine = samples.rounds.get(OURS, {}).get(goal.metric, [])
    theirs = samples.rounds.get(KAFKA, {}).get(goal.metric, [])
    pairs = list(zip(mine, theirs, strict=False))
    if not pairs:
        return None
    more = goal.metric in MORE_IS_BETTER
    return statistics.median(one / other if more else other / one for one, other in pairs)


def number(value: float | None) -> str:
    """Three digits that matter."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def slowed_by(samples: Samples, cluster: str, than: str) -> list[float]:
    """How much less transactions give than another way, round by round, in percent."""

    def rates(way: str) -> list[float]:
        return samples.rounds.get(f"{cluster}, {way}", {}).get(RATE, [])

    pairs = zip(rates(TRANSACTIONS), rates(than), strict=False)
    return [100 * (1 - slow / fast) for slow, fast in pairs]


def established(found: list[float]) -> bool:
    """Whether all of enough rounds say that there is a difference, and which."""
    same_sign = all(each > 0 for each in found) or all(each < 0 for each in found)
    return len(found) >= ROUNDS_TO_ESTABLISH and same_sign


# -- the page --------------------------------------------------------------------------------------


def parts(kept: Kept) -> Iterator[str]:
    """What stands between the marks."""
    found = all_judged(kept)
    lines = [[each.row, each.text, each.result, each.verdict] for each in found]
    missed = sum(each.verdict == MISSED for each in found)
    yield f"### Goals: {missed} of {len(lines)} missed\n"
    yield markdown_table(["row", "goal", "median", "verdict"], lines) + "\n"
    for row in ROWS:
        if row.name in kept.rows:
            yield from _row(row, kept.rows[row.name])
            yield f"{kept.stamps[row.name]}\n"


def _row(row: Row, samples: Samples) -> Iterator[str]:
    yield f"### {row.title}\n"
    body = []
    for contender, metrics in samples.rounds.items():
        body.append([contender, *(_spread(metrics.get(metric, [])) for metric in row.units)])
    yield markdown_table(["", *row.units.values()], body) + "\n"
    if row.name == "slide":
        yield from _slide(samples)
    if row.remark:
        yield row.remark + "\n"
    for who, why in samples.troubles.items():
        yield f"- {who}: {why}\n"


def _spread(values: list[float]) -> str:
    if not values:
        return ""
    middle = number(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({number(min(values))} to {number(max(values))})"


def _slide(samples: Samples) -> Iterator[str]:
    body: list[list[Any]] = []
    for cluster in CLUSTERS:
        for way, told in OF_THE_SLIDE:
            found = slowed_by(samples, cluster, way)
            if not found:
                continue
            spread = f"{statistics.median(found):.0f} % ({min(found):.0f} to {max(found):.0f} %)"
            verdict = spread if established(found) else f"not established: {spread}"
            body.append([cluster, way, told, verdict])
    yield markdown_table(["transactions are slower", "than", "in the slide", "here"], body) + "\n"
