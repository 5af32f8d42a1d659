"""What a run of the broker's benchmark says: goals, tables, a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from tests.bench.broker.peers import FENCEPOSTS, PEERS
from tests.bench.broker.plot import Bars, plot
from tests.bench.broker.results import BUSY, Result, Stamp, number
from tests.bench.broker.rows import PAGES
from tests.bench.judged import MET, MISSED, OPEN, Judged
from tests.bench.table import markdown_table, plain_table

COMMAND: Final = "make bench-broker"
PICTURE: Final = "broker.svg"


@dataclass(slots=True)
class Report:
    """Rows, of one run or of several."""

    results: list[Result] = field(default_factory=list)

    def stamps(self) -> list[Stamp]:
        """The runs that these rows are from, the oldest first."""
        found: list[Stamp] = []
        for result in self.results:
            if result.stamp and result.stamp not in found:
                found.append(result.stamp)
        return sorted(found, key=lambda stamp: stamp.date)

    def versions(self) -> dict[str, str]:
        """The brokers in the order of the columns."""
        found: dict[str, str] = {}
        for stamp in self.stamps():
            found.update(stamp.versions)
        order = list(PEERS)
        return dict(sorted(found.items(), key=lambda each: (*order, each[0]).index(each[0])))

    def on_page(self, page: str) -> Report:
        """Only the rows of one page."""
        return Report([result for result in self.results if result.row.page == page])

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
        told += dict.fromkeys(result.row.remark for result in self.results if result.row.remark)
        if any(result.busy_clients() for result in self.results):
            told.append(
                f"\\* the client used {BUSY:.0%} of its core or more: its limit was measured, not "
                "the broker's. If that was so with the best peer as well, the broker's CPU time "
                "is compared, and not the rate."
            )
        return told + list(dict.fromkeys(r for stamp in self.stamps() for r in stamp.remarks))

    # -- texts --------------------------------------------------------------------------------

    def text(self) -> str:
        """All of it for a terminal."""
        return "\n\n".join(self._parts(plain_table, "{}")) + "\n"

    def markdown(self, page: str) -> str:
        """One page's part of it."""
        report = self.on_page(page)
        parts = [report.about(), *report._parts(markdown_table, "### {}")]
        if page == PAGES[0]:
            parts.insert(1, f"![rates beside the peers']({PICTURE})")
        return "\n\n".join(parts) + "\n"

    def about(self) -> str:
        """When, where and how it was measured."""
        stamps = self.stamps()
        if not stamps:
            return f"Not measured yet: run `{COMMAND}`."
        said = []
        for stamp in stamps:
            names = [result.row.name for result in self.results if result.stamp == stamp]
            versions = ", ".join(f"{name} {version}" for name, version in stamp.versions.items())
            what = ", ".join(names) if len(stamps) > 1 else "Measured"
            said.append(
                f"{what}: {stamp.date}, commit {stamp.commit}, by `{COMMAND}` on "
                f"{stamp.machine}. {stamp.conditions} {versions}."
            )
        return "\n\n".join(said)

    def headlines(self, folder: str) -> str:
        """The few numbers that README shows."""
        told = [result for result in self.results if result.row.headline and result.spreads]
        if not told:
            return f"Not measured yet: run `{COMMAND}`.\n"
        peers = [peer for peer in self.versions() if any(peer in r.spreads for r in told)]
        body = []
        for result in told:
            metric = result.row.shown[0]
            medians = [result.median(peer, metric) for peer in peers]
            cells = ["" if value is None else number(value) for value in medians]
            body.append([result.row.headline, result.row.unit_of(metric), *cells])
        dates = sorted({result.stamp.date for result in told if result.stamp})
        pages = ", ".join(f"[{folder}/{page}.md]({folder}/{page}.md)" for page in PAGES)
        missed = sum(judged.verdict == MISSED for judged in self.judged())
        about = (
            f"Medians, by `{COMMAND}`, {' and '.join(dates)}. How it was measured, all rows and "
            f"the goals, {missed} of {len(self.judged())} missed: {pages}."
        )
        return f"{markdown_table(['', 'unit', *peers], body)}\n\n{about}\n"

    def _parts(
        self, table: Callable[[list[str], list[list[str]]], str], heading: str
    ) -> Iterator[str]:
        goals = [[g.row, g.text, g.result, g.verdict] for g in self.judged()]
        if goals:
            missed = sum(verdict == MISSED for *_, verdict in goals)
            yield heading.format(f"Goals: {missed} of {len(goals)} missed")
            yield table(["row", "goal", "result", "verdict"], goals)
        for section, results in self.sections().items():
            yield heading.format(section)
            growing = any(result.row.steps for result in results)
            yield table(*(growth_table(results) if growing else self.table(results)))
        notes = self.notes()
        if notes:
            yield heading.format("Notes")
            yield "\n".join(f"- {note}" for note in notes)

    def sections(self) -> dict[str, list[Result]]:
        """The rows by section."""
        found: dict[str, list[Result]] = {}
        for result in self.results:
            if result.spreads or any(result.troubles.values()):
                found.setdefault(result.row.section, []).append(result)
        return found

    def table(self, results: Iterable[Result]) -> tuple[list[str], list[list[str]]]:
        """The head and the rows of one section."""
        results = list(results)
        taking_part = {
            peer for result in results for peer in result.spreads | dict.fromkeys(result.failed)
        }
        peers = [peer for peer in self.versions() if peer in taking_part]
        body = []
        for result in results:
            row = result.row
            units = " · ".join(row.unit_of(metric) for metric in row.shown)
            ratio = next((r for p in FENCEPOSTS if (r := result.ratio(p, row.shown[0]))), None)
            cells = [result.cell(peer) for peer in peers]
            body.append([row.title, units, *cells, f"{ratio:.2f}" if ratio else ""])
        return ["", "unit", *peers, "× as good as the best peer"], body

    def picture(self) -> str:
        """Rates of the rows that are plotted, as SVG."""
        groups = []
        for result in self.results:
            if result.row.plotted and result.spreads:
                client = result.row.section.partition("Clients: ")[2]
                title = f"{client} {result.row.title}" if client else result.row.title
                rates = {peer: result.median(peer, "rate") or 0 for peer in result.spreads}
                groups.append(Bars(f"{title} ({result.row.unit})", rates))
        return plot(groups, list(self.versions()))


def growth_table(results: Iterable[Result]) -> tuple[list[str], list[list[str]]]:
    """What costs how much with how many of something: a column for each number of them."""
    body = []
    columns = 0
    for result in results:
        row = result.row
        columns = max(columns, len(row.steps))
        for peer in result.spreads:
            costs = [result.median(peer, f"step_{at}") for at in range(len(row.steps))]
            cells = [
                "" if cost is None else f"{number(cost)} at {step:,}"
                for cost, step in zip(costs, row.steps, strict=True)
            ]
            rest = [result.median(peer, metric) for metric in ("slope", "times", "bytes_each")]
            cells += ["" if value is None else number(value) for value in rest]
            body.append([row.title, row.unit_of("step_0"), *cells])
    steps = ["fewest", *[""] * (columns - 2), "most"]
    return ["", "unit", *steps, "slope", "most : fewest", "bytes each"], body
