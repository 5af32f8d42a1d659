"""What a run of the broker's benchmark says: goals, tables, a page and a JSON file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.bench.broker.measure import Spread, spread
from tests.bench.broker.peers import OURS
from tests.bench.broker.plot import Bars, plot
from tests.bench.broker.rows import (
    MORE_IS_BETTER,
    UNITS,
    AtLeast,
    AtMost,
    BestPeer,
    Goal,
    Row,
    Sample,
)
from tests.bench.protocol_report import machine, today
from tests.bench.table import markdown_table, plain_table

COMMAND: Final = "make bench-broker"
BEGIN: Final = "<!-- measured: written by make bench-broker -->"
END: Final = "<!-- end of what was measured -->"
BUSY: Final = 0.9
"""A client that is so busy has measured itself."""
MET: Final = "met"
MISSED: Final = "MISSED"
OPEN: Final = "not measured"


@dataclass(frozen=True, slots=True)
class Judged:
    """A goal and how it went."""

    row: str
    text: str
    result: str
    verdict: str


@dataclass(slots=True)
class Result:
    """A row and what every broker did in it."""

    row: Row
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)
    """Who took no part, or failed, and why."""
    failed: set[str] = field(default_factory=set)
    """Those of them who were tried, and failed."""

    def spread(self, peer: str, metric: str) -> Spread | None:
        """What a broker's rounds gave."""
        values = [sample[metric] for sample in self.samples.get(peer, ()) if metric in sample]
        return spread(values) if values else None

    def median(self, peer: str, metric: str) -> float | None:
        """The middle of them."""
        found = self.spread(peer, metric)
        return found.median if found else None

    def best_peer(self, metric: str) -> tuple[float, str] | None:
        """The best of the others."""
        found = [
            (value, peer)
            for peer in self.samples
            if peer not in OURS and (value := self.median(peer, metric)) is not None
        ]
        if not found:
            return None
        return max(found) if metric in MORE_IS_BETTER else min(found)

    def ratio(self, peer: str, metric: str) -> float | None:
        """How many times as good as the best of the others one of ours is."""
        ours, best = self.median(peer, metric), self.best_peer(metric)
        if not ours or best is None or not best[0]:
            return None
        return ours / best[0] if metric in MORE_IS_BETTER else best[0] / ours

    def judge(self) -> Iterator[Judged]:
        """Each goal for each of ours that it is for."""
        for goal in self.row.goals:
            for peer in goal.who:
                if peer in self.row.ours and (peer in self.samples or peer in self.troubles):
                    yield self._judge(goal, peer)

    def _judge(self, goal: Goal, peer: str) -> Judged:
        unit = self.row.unit_of(goal.metric)
        ours = self.median(peer, goal.metric)
        match goal:
            case AtMost(bound=bound):
                text, met = f"≤ {number(bound)} {unit}", ours is not None and ours <= bound
            case AtLeast(bound=bound):
                text, met = f"≥ {number(bound)} {unit}", ours is not None and ours >= bound
            case BestPeer(times=times):
                return self._judge_by_peers(goal, peer, times)
        text = f"{peer}: {text}"
        if ours is None:
            return self._without_result(peer, text)
        return self._verdict(text, f"{number(ours)} {unit}", met=met)

    def _judge_by_peers(self, goal: Goal, peer: str, times: float) -> Judged:
        text = f"{peer}: {times:g} × the best peer" if times != 1 else f"{peer}: above every peer"
        ratio, best = self.ratio(peer, goal.metric), self.best_peer(goal.metric)
        if peer not in self.samples:
            return self._without_result(peer, text)
        if ratio is None or best is None:
            return Judged(self.row.name, text, "no peer took part", OPEN)
        met = ratio >= times if times != 1 else ratio > 1
        return self._verdict(text, f"{ratio:.2f} × {best[1]}", met=met)

    def _without_result(self, peer: str, text: str) -> Judged:
        reason = self.troubles.get(peer, "nothing was measured")
        return Judged(self.row.name, text, reason, MISSED if peer in self.failed else OPEN)

    def _verdict(self, text: str, result: str, *, met: bool) -> Judged:
        return Judged(self.row.name, text, result, MET if met else MISSED)

    def busy_clients(self) -> list[str]:
        """The brokers with which the client was at the end of its core."""
        shares = ((peer, self.median(peer, "client_share")) for peer in self.samples)
        return [peer for peer, share in shares if share is not None and share >= BUSY]

    def cell(self, peer: str) -> str:
        """All that the table shows of a broker."""
        if peer not in self.samples:
            return "fails" if peer in self.failed else ""
        values = (self.median(peer, metric) for metric in self.row.shown)
        text = " · ".join("" if value is None else number(value) for value in values)
        return f"{text} *" if peer in self.busy_clients() else text


@dataclass(slots=True)
class Report:
    """A whole run."""

    versions: dict[str, str]
    """Of the brokers."""
    conditions: str
    """Pinned or not, how many rounds."""
    results: list[Result] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def judged(self) -> list[Judged]:
        """All goals, those that were missed first."""
        order = (MISSED, OPEN, MET)
        found = [judged for result in self.results for judged in result.judge()]
        return sorted(found, key=lambda judged: order.index(judged.verdict))

    def notes(self) -> list[str]:
        """Who took no part, whom the client could not keep busy, and what else is to be said."""
        reasons: dict[tuple[str, str], list[str]] = {}
        for result in self.results:
            for peer, reason in result.troubles.items():
                if reason:
                    reasons.setdefault((peer, reason), []).append(result.row.name)
        told = [
            f"{peer} is not in {', '.join(rows)}: {reason}"
            for (peer, reason), rows in reasons.items()
        ]
        remarks = dict.fromkeys(result.row.remark for result in self.results if result.row.remark)
        told += remarks
        if any(result.busy_clients() for result in self.results):
            told.append(
                f"\\* the client used {BUSY:.0%} of its core or more: this is the client's limit, "
                "and the broker's CPU time is what compares."
            )
        return told + self.remarks

    # -- texts --------------------------------------------------------------------------------

    def sections(self) -> dict[str, list[Result]]:
        """The rows by section."""
        found: dict[str, list[Result]] = {}
        for result in self.results:
            if result.samples or any(result.troubles.values()):
                found.setdefault(result.row.section, []).append(result)
        return found

    def table(self, results: Iterable[Result]) -> tuple[list[str], list[list[str]]]:
        """The head and the rows of one section."""
        results = list(results)
        taking_part = {peer for result in results for peer in (*result.samples, *result.troubles)}
        peers = [peer for peer in self.versions if peer in taking_part]
        body = []
        for result in results:
            row = result.row
            units = " · ".join(row.unit_of(metric) for metric in row.shown)
            ratio = next((r for p in OURS if (r := result.ratio(p, row.shown[0]))), None)
            cells = [result.cell(peer) for peer in peers]
            body.append([row.title, units, *cells, f"{ratio:.2f}" if ratio else ""])
        return ["", "unit", *peers, "× as good as the best peer"], body

    def text(self) -> str:
        """All of it for a terminal."""
        return "\n\n".join(self._parts(plain_table, "{}")) + "\n"

    def markdown(self) -> str:
        """All of it for a page."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        about = f"Measured {today()} by `{COMMAND}` on {machine()}. {self.conditions} {versions}."
        picture = "![rates beside the peers'](broker.svg)"
        return "\n\n".join([about, picture, *self._parts(markdown_table, "### {}")]) + "\n"

    def _parts(
        self, table: Callable[[list[str], list[list[str]]], str], heading: str
    ) -> Iterator[str]:
        goals = [[g.row, g.text, g.result, g.verdict] for g in self.judged()]
        if goals:
            missed = sum(goal[-1] == MISSED for goal in goals)
            yield heading.format(f"Goals: {missed} of {len(goals)} missed")
            yield table(["row", "goal", "result", "verdict"], goals)
        for section, results in self.sections().items():
            yield heading.format(section)
            yield table(*self.table(results))
        notes = self.notes()
        if notes:
            yield heading.format("Notes")
            yield "\n".join(f"- {note}" for note in notes)

    def as_json(self) -> dict[str, Any]:
        """All of it for a program."""
        return {
            "date": today(),
            "command": COMMAND,
            "machine": machine(),
            "conditions": self.conditions,
            "versions": self.versions,
            "goals": [
                {"row": g.row, "goal": g.text, "result": g.result, "verdict": g.verdict}
                for g in self.judged()
            ],
            "rows": [row_as_json(result) for result in self.results],
            "notes": self.notes(),
        }

    def picture(self) -> str:
        """Rates of the rows that are plotted, as SVG."""
        groups = []
        for result in self.results:
            if result.row.plotted and result.samples:
                client = result.row.section.partition("Clients: ")[2]
                title = f"{client} {result.row.title}" if client else result.row.title
                rates = {peer: result.median(peer, "rate") or 0 for peer in result.samples}
                groups.append(Bars(f"{title} ({result.row.unit})", rates))
        return plot(groups, list(self.versions))


def row_as_json(result: Result) -> dict[str, Any]:
    """One row with all that was measured."""
    row = result.row
    peers: dict[str, Any] = {}
    for peer in result.samples:
        spreads = ((metric, result.spread(peer, metric)) for metric in UNITS)
        peers[peer] = {
            metric: {"median": rounded(s.median), "low": rounded(s.low), "high": rounded(s.high)}
            for metric, s in spreads
            if s is not None
        }
        peers[peer]["rounds"] = len(result.samples[peer])
    ratios = {
        f"{peer}_to_best_peer": rounded(ratio)
        for peer in OURS
        if (ratio := result.ratio(peer, row.shown[0])) is not None
    }
    units = {metric: row.unit_of(metric) for metric in row.shown}
    troubles: Mapping[str, str] = {peer: why for peer, why in result.troubles.items() if why}
    return {
        "name": row.name,
        "title": row.title,
        "section": row.section,
        "units": units,
        "brokers": peers,
        **ratios,
        "without": troubles,
    }


def number(value: float) -> str:
    """Three digits that matter, whatever the size."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def rounded(value: float) -> float:
    """Five digits that matter."""
    return float(f"{value:.5g}")


def write(report: Report, folder: Path) -> None:
    """Put the run into broker.json, broker.svg and, between its marks, into broker.md."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "broker.md"
    old = page.read_text(encoding="utf-8") if page.exists() else f"{BEGIN}\n{END}\n"
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has lost its marks {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{report.markdown()}\n{END}{after}", encoding="utf-8")
    text = json.dumps(report.as_json(), indent=1, ensure_ascii=False)
    (folder / "broker.json").write_text(text + "\n", encoding="utf-8")
    (folder / "broker.svg").write_text(report.picture(), encoding="utf-8")
