"""docs/bench/client.md, made from what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.broker.kept import put_between_marks
from tests.bench.client.eos import PARTITIONS, THROUGHPUT, TRANSACTION_MS, Case, order
from tests.bench.client.results import Kept, Samples, Stamp
from tests.bench.client.rows import CONFLUENT, MORE_IS_BETTER, ROWS, Goal, Row
from tests.bench.judged import MISSED, Judged
from tests.bench.table import markdown_table

COMMAND: Final = "make bench-client"
PAGE: Final = "client.md"
TITLES: Final = {"fencepost": "our broker", "kafka": "Apache Kafka"}
_PHASES: Final = ("poll", "add partitions", "produce", "offsets", "end")


def write(kept: Kept, folder: Path) -> None:
    """Put it between the page's marks; what was written by hand stays."""
    page = folder / PAGE
    begin = f"<!-- measured: written by {COMMAND} -->"
    put_between_marks(page, "\n".join(_parts(kept)), begin)


def _parts(kept: Kept) -> Iterator[str]:
    found = list(judged(kept))
    missed = sum(each.verdict == MISSED for each in found)
    lines = [[each.row, each.on, each.text, each.result, each.verdict] for each in found]
    yield f"### Goals: {missed} of {len(found)} missed\n"
    yield markdown_table(["row", "on", "goal", "measured", "verdict"], lines) + "\n"
    for row in ROWS:
        if row.name in kept.rows:
            yield from _row(row, kept.rows[row.name])
    yield from _eos(kept)
    yield "### When and where\n"
    yield from (f"- {each}" for each in when(kept))
    yield ""


def judged(kept: Kept) -> Iterator[Judged]:
    """All goals, in the order of the rows."""
    for row in ROWS:
        for broker, samples in kept.rows.get(row.name, {}).items():
            for goal in row.goals:
                times = samples.times(goal)
                measured = "" if times is None else f"{times:.2f} ×"
                yield Judged(
                    row.title, _text(row, goal), measured, samples.verdict(goal),
                    None if times is None else times / goal.times, TITLES[broker],
                )  # fmt: skip


def _text(row: Row, goal: Goal) -> str:
    unit = row.units[goal.metric]
    if goal.times == 1:
        return f"{unit}: better than {goal.whom.name}"
    if goal.whom.library == CONFLUENT:
        return f"{goal.who.name}: {unit} within {1 / goal.times:g} times {goal.whom.name}'s"
    return f"{goal.who.name}: {unit}, {goal.times:g} times as good as {goal.whom.name}"


def _row(row: Row, brokers: dict[str, Samples]) -> Iterator[str]:
    yield f"### {row.title}\n"
    head = ["", *(f"{unit}, {TITLES[at]}" for at in brokers for unit in row.units.values())]
    body = []
    for contender in row.contenders:
        cells = [contender.name]
        for samples in brokers.values():
            for metric in row.units:
                value = samples.median(contender.name, metric)
                cells.append("" if value is None else number(value, metric))
        body.append(cells)
    yield markdown_table(head, body) + "\n"
    for at, samples in brokers.items():
        for who, why in samples.troubles.items():
            yield f"- {who} on {TITLES[at]}: {why}\n"


def number(value: float, metric: str) -> str:
    """Three digits that matter."""
    if metric in MORE_IS_BETTER and value >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


# -- KIP-609 ---------------------------------------------------------------------------------------


def _eos(kept: Kept) -> Iterator[str]:
    if not kept.eos:
        return
    yield "### What pre-registration saves (KIP-609)\n"
    yield (
        f"`fencepost bench eos` copies a topic to one of {PARTITIONS} partitions, "
        f"{THROUGHPUT:,} records/s, in transactions of {TRANSACTION_MS} ms: requests a "
        "transaction, and milliseconds a phase as the application waits for it (poll, and each "
        "request to add partitions: each time).\n"
    )
    apis = list(kept.eos[0]["requests"])
    body = []
    for held in sorted(kept.eos, key=order):
        case = Case(held["broker"], held["version"], held["preregister"])
        requests = [held["requests"][api] for api in apis]
        body.append(
            [
                case.name,
                *(f"{count:.2f}" for count in requests),
                f"{sum(requests) - held['requests']['Produce']:.2f}",
                *(f"{held['phases'][phase]['avg_ms']:.2f}" for phase in _PHASES),
            ]
        )
    head = ["", *apis, "all but Produce", *(f"{phase} ms" for phase in _PHASES)]
    yield markdown_table(head, body) + "\n"


# -- when and where --------------------------------------------------------------------------------


def when(kept: Kept) -> list[str]:
    """When, of what and where each row was measured."""
    stamps: dict[str, list[str]] = {}
    for row in ROWS:
        for broker, stamp in kept.stamps.get(row.name, {}).items():
            stamps.setdefault(_stamp(stamp), []).append(f"{row.name} on {TITLES[broker]}")
    if kept.eos_stamp:
        stamps.setdefault(_stamp(kept.eos_stamp), []).append("pre-registration")
    return [f"{text}: {', '.join(rows)}." for text, rows in stamps.items()]


def _stamp(stamp: Stamp) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in stamp.versions.items())
    return f"{stamp.date}, commit {stamp.commit}, {stamp.machine}, {stamp.conditions}; {versions}"
