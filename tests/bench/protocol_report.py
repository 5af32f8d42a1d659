"""What a run of the protocol benchmark says: goals, tables, a page and a JSON file."""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.bench.protocol_batches import BatchRow
from tests.bench.protocol_measure import Timing
from tests.bench.table import markdown_table, microseconds, plain_table

OURS: Final = "fencepost"
PIECES: Final = "fencepost, in pieces"
KIO: Final = "kio"
SLOWER_PEERS: Final = ("kafka-python", "aiokafka", "construct")
"""Those that we have to beat everywhere."""

PRODUCE_DECODE_US: Final = 2.5
KIO_FACTOR: Final = 2.5
KIO_ROWS: Final = (("ProduceRequest", 9), ("MetadataRequest", 8), ("FindCoordinatorRequest", 2))

COMMAND: Final = "make bench-protocol"
BEGIN: Final = "<!-- measured: written by make bench-protocol -->"
END: Final = "<!-- end of what was measured -->"


@dataclass(slots=True)
class Row:
    """One message, one version, one direction."""

    label: str
    name: str
    version: int
    kind: str
    size: int
    timings: dict[str, Timing]
    notes: dict[str, str]

    @property
    def title(self) -> str:
        """The row in words."""
        return f"{self.label} v{self.version} {self.kind}"

    def us(self, contender: str) -> float | None:
        """A contender's best, if it took part."""
        timing = self.timings.get(contender)
        return timing.best_us if timing else None

    def ratio(self, contender: str) -> float | None:
        """How many times our own time a contender takes."""
        theirs, ours = self.us(contender), self.us(OURS)
        return theirs / ours if theirs and ours else None


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal and how it went."""

    text: str
    result: str
    met: bool


@dataclass(slots=True)
class Report:
    """A whole run."""

    contenders: dict[str, str]
    """Names and versions."""
    rows: list[Row] = field(default_factory=list)
    batches: list[BatchRow] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def goals(self) -> list[Goal]:
        """All goals whose rows were measured, judged."""
        judged = [self._produce_goal(), *(self._peer_goal(peer) for peer in SLOWER_PEERS)]
        judged += [self._kio_goal(name, version) for name, version in KIO_ROWS]
        peers = dict.fromkeys(row["peer_name"] for row in self.batches if row["peer_name"])
        judged += [self._batch_goal(peer) for peer in peers]
        return [goal for goal in judged if goal is not None]

    def _produce_goal(self) -> Goal | None:
        rows = self._some(lambda r: r.name == "ProduceRequest" and r.version >= 9, "decode")
        if not rows:
            return None
        said = ", ".join(f"v{row.version} {microseconds(row.us(OURS) or 0)} µs" for row in rows)
        met = all((row.us(OURS) or 0) <= PRODUCE_DECODE_US for row in rows)
        return Goal(f"Produce v9 and newer is decoded in {PRODUCE_DECODE_US} µs", said, met)

    def _peer_goal(self, peer: str) -> Goal | None:
        ratios = [(row.ratio(peer), row.title) for row in self.rows]
        known = sorted((ratio, title) for ratio, title in ratios if ratio is not None)
        if not known:
            return None
        least, title = known[0]
        result = _at_least(least, title, sum(ratio <= 1 for ratio, _ in known))
        return Goal(f"faster than {peer} in each of {len(known)} rows", result, least > 1)

    def _kio_goal(self, name: str, version: int) -> Goal | None:
        rows = self._some(lambda r: (r.name, r.version) == (name, version), "decode")
        ratio = rows[0].ratio(KIO) if rows else None
        if ratio is None:
            return None
        text = f"{rows[0].title} within {KIO_FACTOR} times kio's native reader"
        return Goal(text, f"{1 / ratio:.2f} times", 1 / ratio <= KIO_FACTOR)

    def _batch_goal(self, peer: str) -> Goal:
        rows = [row for row in self.batches if row["peer_name"] == peer]
        least = min(rows, key=lambda row: float(row["ratio"]))
        result = _at_least(least["ratio"], least["name"], sum(row["ratio"] <= 1 for row in rows))
        text = f"record batches faster than {peer} in each of {len(rows)} rows"
        return Goal(text, result, least["ratio"] > 1)

    def _some(self, wanted: Callable[[Row], bool], kind: str) -> list[Row]:
        return [row for row in self.rows if row.kind == kind and wanted(row)]

    def measured(self) -> list[str]:
        """The contenders that have a column."""
        columns = [name for name in self.contenders if name not in {OURS, PIECES}]
        return [name for name in columns if any(name in row.timings for row in self.rows)]

    # -- texts --------------------------------------------------------------------------------

    def table(self, kind: str) -> tuple[list[str], list[list[str]]]:
        """The head and the rows of one direction."""
        columns = self.measured()
        head = ["message", "bytes", "ours µs", *columns]
        if KIO in columns:
            head.append("ours ÷ kio")
        body = []
        for row in self.rows:
            if row.kind != kind:
                continue
            cells = [f"{row.label} v{row.version}", f"{row.size:,}"]
            cells.append(microseconds(row.us(OURS) or 0))
            cells += [self._cell(row, peer) for peer in columns]
            if KIO in columns:
                ratio = row.ratio(KIO)
                cells.append(f"{1 / ratio:.2f}" if ratio else "")
            body.append(cells)
        return head, body

    @staticmethod
    def _cell(row: Row, peer: str) -> str:
        us, ratio = row.us(peer), row.ratio(peer)
        if us is None or ratio is None:
            return ""
        mark = " *" if peer in row.notes else ""
        return f"{microseconds(us)} ({ratio:.1f}×){mark}"

    def pieces(self) -> tuple[list[str], list[list[str]]]:
        """What it saves not to copy the records."""
        head = ["message", "copied µs", "in pieces µs"]
        body = [
            [
                f"{row.label} v{row.version}",
                microseconds(row.us(OURS) or 0),
                microseconds(row.us(PIECES) or 0),
            ]
            for row in self.rows
            if row.kind == "encode" and PIECES in row.timings
        ]
        return head, body

    def batch_table(self) -> tuple[list[str], list[list[str]]]:
        """Record batches; the peers' numbers in the unit of the row."""
        peers = list(dict.fromkeys(row["peer_name"] for row in self.batches if row["peer_name"]))
        cells: dict[tuple[str, str], dict[str, str]] = {}
        for row in self.batches:
            held = cells.setdefault((row["name"], row["unit"]), {"ours": f"{row['ours']:.2f}"})
            if row["peer_name"]:
                held[row["peer_name"]] = f"{row['peer']:.2f} ({row['ratio']:.1f}×)"
        body = [
            [name, unit, *(held.get(column, "") for column in ("ours", *peers))]
            for (name, unit), held in cells.items()
        ]
        return ["record batches", "unit", "ours", *peers], body

    def notes(self) -> list[str]:
        """Who read or wrote something else."""
        found = [
            f"{row.title}: {who} {what}" for row in self.rows for who, what in row.notes.items()
        ]
        return found + self.remarks

    def text(self) -> str:
        """All of it for a terminal."""
        return "\n\n".join(self._parts(plain_table, "{}")) + "\n"

    def markdown(self) -> str:
        """All of it for a page."""
        about = [
            f"Measured {today()} by `{COMMAND}` on {machine()}, "
            f"with {', '.join(f'{name} {version}' for name, version in self._versions())}.",
        ]
        return "\n\n".join([*about, *self._parts(markdown_table, "### {}")]) + "\n"

    def _versions(self) -> Iterator[tuple[str, str]]:
        for name, version in self.contenders.items():
            if name != PIECES:
                yield name, version

    def _parts(
        self, table: Callable[[list[str], list[list[str]]], str], heading: str
    ) -> Iterator[str]:
        goals = [[g.text, g.result, "met" if g.met else "MISSED"] for g in self.goals()]
        if goals:
            yield heading.format("Goals")
            yield table(["goal", "result", "verdict"], goals)
        for kind in ("decode", "encode"):
            yield heading.format(f"{kind.capitalize()}: µs of CPU per message, and × ours")
            yield table(*self.table(kind))
        head, body = self.pieces()
        if body:
            yield heading.format("Encode without copying the records")
            yield table(head, body)
        if self.batches:
            yield heading.format("Record batches, and × how much better ours is")
            yield table(*self.batch_table())
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
            "versions": dict(self._versions()),
            "goals": [{"goal": g.text, "result": g.result, "met": g.met} for g in self.goals()],
            "rows": [self._json_row(row) for row in self.rows],
            "record_batches": self.batches,
            "notes": self.notes(),
        }

    @staticmethod
    def _json_row(row: Row) -> dict[str, Any]:
        timings = {
            name: {
                "best_us": round(timing.best_us, 4),
                "median_us": round(timing.median_us, 4),
                "rounds": len(timing.rounds_us),
                "times_ours": round(row.ratio(name) or 0, 3),
            }
            for name, timing in row.timings.items()
        }
        return {
            "label": row.label,
            "message": row.name,
            "version": row.version,
            "operation": row.kind,
            "bytes": row.size,
            "contenders": timings,
        }


def _at_least(ratio: float, row: str, slower: int) -> str:
    """The least ratio to a peer, and in how many rows it is the faster one."""
    told = f"at least {ratio:.1f}× ({row})"
    return f"slower in {slower}; {told}" if slower else told


def today() -> str:
    """The date of the run."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def machine() -> str:
    """The processor, the system and the Python."""
    try:
        lines: Iterable[str] = Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines()
    except OSError:
        lines = ()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(models, "") or platform.processor() or platform.machine()
    return (
        f"{processor}, {platform.system()} {platform.machine()}, "
        f"{platform.python_implementation()} {platform.python_version()}"
    )


def write(report: Report, folder: Path) -> None:
    """Put the run into ``protocol.json`` and, between its marks, into ``protocol.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "protocol.md"
    old = page.read_text(encoding="utf-8") if page.exists() else f"{BEGIN}\n{END}\n"
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has lost its marks {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{report.markdown()}\n{END}{after}", encoding="utf-8")
    text = json.dumps(report.as_json(), indent=1, ensure_ascii=False)
    (folder / "protocol.json").write_text(text + "\n", encoding="utf-8")
