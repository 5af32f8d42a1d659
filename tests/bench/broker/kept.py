"""What is kept of the runs: broker.json, row by row, and the pages that are made from it.

A row that is measured again replaces what was there of it, with when, where and of which commit it
was measured; all others stay. Pages, picture and README are made from the file alone.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.bench.broker.measure import Spread
from tests.bench.broker.peers import REPOSITORY_DIR
from tests.bench.broker.report import COMMAND, PICTURE, Report
from tests.bench.broker.results import Result, Stamp
from tests.bench.broker.rows import PAGES, Row

FOLDER: Final = REPOSITORY_DIR / "docs" / "bench"
README: Final = REPOSITORY_DIR / "README.md"
FILE: Final = "broker.json"
BEGIN: Final = "<!-- measured: written by make bench-broker -->"
END: Final = "<!-- end of what was measured -->"


MEASURED: Final = ("broker", "protocol", "schemas", "tests/bench/broker")
"""What decides on the numbers."""


def git(*words: str) -> str | None:
    """What it says; None when it fails."""
    command = ["git", "-C", str(REPOSITORY_DIR), *words]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None


def is_current(measured: str) -> bool:
    """Whether what was measured then is what stands here now, pages and the like aside."""
    return git("diff", "--quiet", measured, "--", *MEASURED) is not None


def commit() -> str:
    """What is checked out here, and whether that is all."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", *MEASURED)
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + " and changes" * bool(changed)


def read(folder: Path, rows: Sequence[Row]) -> Report:
    """What was kept before of these rows, in their order."""
    file = folder / FILE
    if not file.exists():
        return Report()
    kept = json.loads(file.read_text(encoding="utf-8"))
    stamps = [
        Stamp(**{**run, "remarks": tuple(run.get("remarks", ()))}) for run in kept.get("runs", ())
    ]
    by_name = {row.name: row for row in rows}
    results = {
        held["name"]: result_of(by_name[held["name"]], held, stamps)
        for held in kept["rows"]
        if held["name"] in by_name
    }
    return Report([results[row.name] for row in rows if row.name in results])


def result_of(row: Row, held: Mapping[str, Any], stamps: Sequence[Stamp]) -> Result:
    """A row as it was kept."""
    spreads = {
        peer: {
            metric: Spread(each["median"], each["low"], each["high"], each["rounds"])
            for metric, each in measured.items()
        }
        for peer, measured in held["brokers"].items()
    }
    stamp = stamps[held["run"]] if "run" in held else None
    return Result(row, spreads, dict(held["without"]), set(held["failed"]), stamp)


def merged(report: Report, result: Result, rows: Sequence[Row]) -> Report:
    """A report in which one row is new."""
    by_name = {each.row.name: each for each in (*report.results, result)}
    return Report([by_name[row.name] for row in rows if row.name in by_name])


def write(report: Report, folder: Path, readme: Path | None = None) -> None:
    """Writes all that is made from these rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        put_between_marks(folder / f"{page}.md", report.markdown(page))
    if readme is not None:
        where = folder.relative_to(readme.parent).as_posix()
        put_between_marks(readme, report.headlines(where))
    (folder / PICTURE).write_text(report.picture(), encoding="utf-8")
    text = json.dumps(as_json(report), indent=1, ensure_ascii=False)
    part = folder / f"{FILE}.part"
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(folder / FILE)


def put_between_marks(page: Path, text: str, mark: str = BEGIN) -> None:
    """What was written by hand around the marks stays."""
    old = page.read_text(encoding="utf-8") if page.exists() else f"{mark}\n{END}\n"
    before, begin, rest = old.partition(mark)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page} has lost its marks {mark} and {END}")
    page.write_text(f"{before}{mark}\n\n{text}\n{END}{after}", encoding="utf-8")


# -- JSON ----------------------------------------------------------------------------------------


def as_json(report: Report) -> dict[str, Any]:
    """All of it for a program."""
    stamps = report.stamps()
    return {
        "command": COMMAND,
        "runs": [
            {
                "date": stamp.date,
                "commit": stamp.commit,
                "machine": stamp.machine,
                "conditions": stamp.conditions,
                "versions": dict(stamp.versions),
                "remarks": list(stamp.remarks),
            }
            for stamp in stamps
        ],
        "goals": [
            {"row": g.row, "goal": g.text, "result": g.result, "verdict": g.verdict}
            for g in report.judged()
        ],
        "rows": [row_as_json(result, stamps) for result in report.results],
        "notes": report.notes(),
    }


def row_as_json(result: Result, stamps: Sequence[Stamp]) -> dict[str, Any]:
    """One row with all that was measured."""
    row = result.row
    ratios = {
        peer: rounded(ratio)
        for peer in row.ours
        if (ratio := result.ratio(peer, row.shown[0])) is not None
    }
    return {
        "name": row.name,
        "title": row.title,
        "section": row.section,
        **({"run": stamps.index(result.stamp)} if result.stamp else {}),
        "units": {metric: row.unit_of(metric) for metric in row.shown},
        "brokers": {
            peer: {metric: spread_as_json(each) for metric, each in spreads.items()}
            for peer, spreads in result.spreads.items()
        },
        "times_as_good_as_the_best_peer": ratios,
        "without": {peer: why for peer, why in result.troubles.items() if why},
        "failed": sorted(result.failed),
    }


def spread_as_json(each: Spread) -> dict[str, float]:
    """The middle and the ends."""
    return {
        "median": rounded(each.median),
        "low": rounded(each.low),
        "high": rounded(each.high),
        "rounds": each.rounds,
    }


def rounded(value: float) -> float:
    """Five digits that matter."""
    return float(f"{value:.5g}")
