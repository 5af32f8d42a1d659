"""The benchmarks' report: all goals that were judged, each with its number and its verdict."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from tests.bench.broker.kept import FOLDER
from tests.bench.judged import MET, MISSED, OPEN, Judged
from tests.bench.report import Benchmark, bench_page, benchmarks

HOSTILE = "<script>alert(1)</script>"


class Cells(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.statuses: list[str] = []
        self._is_status = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._is_status = tag == "td" and "status" in (dict(attrs).get("class") or "")

    def handle_data(self, data: str) -> None:
        if self._is_status:
            self.statuses.append(data)
            self._is_status = False


def test_what_is_kept_is_told_whole() -> None:
    found = {each.title: each for each in benchmarks(FOLDER)}
    assert list(found) == ["Broker", "Client", "Cluster", "Protocol"]
    for name in ("Broker", "Protocol"):
        held = json.loads((FOLDER / f"{name.lower()}.json").read_text(encoding="utf-8"))
        kept = [each.get("verdict", MET if each.get("met") else MISSED) for each in held["goals"]]
        assert sorted(each.verdict for each in found[name].judged) == sorted(kept)
    verdicts = [each.verdict for every in found.values() for each in every.judged]
    page = bench_page(list(found.values()))
    assert Cells(page).statuses == verdicts
    assert f"{verdicts.count(MISSED)} of {len(verdicts)} goals are missed." in page
    for each in found.values():
        assert f"<code>{each.command}</code>" in page


def test_a_goal_is_met_where_its_number_reaches_it() -> None:
    for each in (each for every in benchmarks(FOLDER) for each in every.judged):
        if each.times is not None:
            assert (each.times >= 1) is (each.verdict == MET), each


def test_a_goal_is_drawn_at_its_number_and_its_row_is_text(tmp_path: Path) -> None:
    judged = [
        Judged(HOSTILE, "a", "2", MET, 2.0),
        Judged(HOSTILE, "b", "1", MISSED, 0.5),
        Judged("other", "c", "", OPEN),
    ]
    page = bench_page([Benchmark("T", "make t", judged, [HOSTILE])])
    assert HOSTILE not in page
    drawing = page[page.index("<svg") : page.index("</svg>") + len("</svg>")]
    root = ElementTree.fromstring(drawing)
    circles = [(each.get("class"), float(each.get("cx", ""))) for each in root.iter("circle")]
    assert [kind for kind, _ in circles] == ["good", "bad"]
    assert circles[0][1] > circles[1][1]
    assert [each.get("class") for each in root.iter("rect")] == ["none"]
    assert benchmarks(tmp_path) == []
    assert "Nothing is measured yet." in bench_page([])
