"""The broker's benchmark judges its goals, hides nothing, and keeps what was written by hand."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from tests.bench.broker import kept, run
from tests.bench.broker.growth import slope
from tests.bench.broker.kept import BEGIN, END
from tests.bench.broker.measure import Spread, cpu_seconds, memory, spread
from tests.bench.broker.peers import (
    ON_DISK,
    PEERS,
    Peer,
    PeerFailedError,
    RunningPeer,
    as_a_user_has_it,
)
from tests.bench.broker.report import Report
from tests.bench.broker.results import Result, Stamp, spreads_of
from tests.bench.broker.rows import (
    AtLeast,
    AtMost,
    BestPeer,
    Effort,
    Goal,
    NotServedError,
    Row,
    Run,
    Sample,
)
from tests.bench.broker.wire import WrongAnswerError


def row(*goals: Goal, name: str = "a-row", **fields: object) -> Row:
    return Row(name, "a row", "Section", lambda _: {}, "MB/s", goals=goals, **fields)  # type: ignore[arg-type]


def result(*goals: Goal, **samples: list[Sample]) -> Result:
    return Result.of(row(*goals), {name.replace("_", "-"): held for name, held in samples.items()})


def stamp(commit: str = "c0ffee", **versions: str) -> Stamp:
    return Stamp("2026-01-02", commit, "a machine", "Some conditions.", versions)


def stamped(*results: Result, **versions: str) -> Report:
    for each in results:
        each.stamp = stamp(**(versions or {"fencepost": "1"}))
    return Report(list(results))


def verdicts(judged: Result) -> list[tuple[str, str, str]]:
    return [(each.text, each.result, each.verdict) for each in judged.judge()]


def test_a_spread_is_the_middle_and_the_ends() -> None:
    assert spread([3.0, 1.0, 9.0]) == Spread(3.0, 1.0, 9.0, 3)
    assert spread([1.0, 2.0]) == Spread(1.5, 1.0, 2.0, 2)


def test_bounds_are_kept_or_missed_by_the_median() -> None:
    rounds: list[Sample] = [{"cpu_us": value, "rate": 100 * value} for value in (9.0, 99.0, 10.0)]
    assert verdicts(result(AtMost("cpu_us", 10), fencepost=rounds)) == [
        ("fencepost: ≤ 10.0 µs of broker CPU a request", "10.0 µs of broker CPU a request", "met")
    ]
    assert verdicts(result(AtMost("cpu_us", 9.9), fencepost=rounds))[0][2] == "MISSED"
    assert verdicts(result(AtLeast("rate", 1000), fencepost=rounds)) == [
        ("fencepost: ≥ 1,000 MB/s", "1,000 MB/s", "met")
    ]
    assert verdicts(result(AtLeast("rate", 1001), fencepost=rounds))[0][2] == "MISSED"


def test_ours_are_compared_with_the_best_of_the_others_and_not_with_each_other() -> None:
    held = result(
        BestPeer("rate", 1.1),
        fencepost=[{"rate": 109.0}],
        fencepost_disk=[{"rate": 1000.0}],
        kafka=[{"rate": 20.0}],
        kfake=[{"rate": 100.0}],
    )
    assert verdicts(held) == [
        ("fencepost: 1.1 × the best peer", "1.09 × kfake", "MISSED"),
        ("fencepost-disk: 1.1 × the best peer", "10.00 × kfake", "met"),
    ]


def test_cpu_time_is_compared_where_the_client_is_at_its_limit_with_both() -> None:
    ours = {"rate": 100.0, "client_share": 0.99, "cpu_us": 0.5}
    kfake = {"rate": 120.0, "client_share": 0.95, "cpu_us": 0.6}
    both = result(BestPeer("rate", 1.1), fencepost=[ours], kfake=[kfake])
    text = "fencepost: 1.1 × the best peer"
    assert verdicts(both) == [(text, "1.20 × kfake in broker CPU *", "met")]
    slower = result(BestPeer("rate", 1.1), fencepost=[{**ours, "cpu_us": 0.6}], kfake=[kfake])
    assert verdicts(slower) == [(text, "1.00 × kfake in broker CPU *", "MISSED")]
    one = result(BestPeer("rate", 1.1), fencepost=[ours], kfake=[{**kfake, "client_share": 0.5}])
    assert verdicts(one) == [(text, "0.83 × kfake", "MISSED")]


def test_above_every_peer_is_more_than_the_same() -> None:
    same = result(BestPeer("rate", 1.0), fencepost=[{"rate": 5.0}], mock=[{"rate": 5.0}])
    assert verdicts(same) == [("fencepost: above every peer", "1.00 × mock", "MISSED")]
    alone = result(BestPeer("rate", 1.0), fencepost=[{"rate": 5.0}])
    assert verdicts(alone) == [("fencepost: above every peer", "no peer took part", "not measured")]


def test_less_is_better_where_it_is() -> None:
    held = result(fencepost=[{"start_ms": 200.0}], kafka=[{"start_ms": 4000.0}])
    assert held.best_peer("start_ms") == (4000.0, "kafka")
    assert held.ratio("fencepost", "start_ms") == 20.0


def test_who_fails_has_missed_and_who_does_not_serve_it_is_told() -> None:
    goals = (AtMost("cpu_us", 10), BestPeer("rate", 1.1))
    failed = Result(row(*goals), {}, {"fencepost": "fails: gone"}, {"fencepost"})
    assert [each.verdict for each in failed.judge()] == ["MISSED", "MISSED"]
    assert failed.cell("fencepost") == "fails"
    lacking = Result(row(*goals), {}, {"fencepost": "PRODUCE is not served"})
    assert [(each.result, each.verdict) for each in lacking.judge()] == [
        ("PRODUCE is not served", "not measured")
    ] * 2
    assert lacking.cell("fencepost") == ""


def test_goals_are_for_those_who_take_part() -> None:
    in_memory = row(AtMost("cpu_us", 1), ours=("fencepost",))
    held = Result(in_memory, {}, {ON_DISK: ""})
    assert not list(held.judge())
    only_disk = result(AtMost("cpu_us", 1, (ON_DISK,)), fencepost=[{"cpu_us": 2.0}])
    assert not list(only_disk.judge())


def test_a_busy_client_is_marked_and_explained() -> None:
    held = result(fencepost=[{"rate": 5.0, "cpu_us": 1.0, "client_share": 0.95}])
    report = stamped(held)
    assert held.cell("fencepost") == "5.00 · 1.00 *"
    assert "its limit was measured" in report.notes()[0]
    held.spreads["fencepost"] = spreads_of([{"rate": 5.0, "cpu_us": 1.0, "client_share": 0.5}])
    assert not report.notes()


def test_missed_goals_stand_first_and_are_counted() -> None:
    held = result(AtMost("cpu_us", 5), AtMost("rate", 1), fencepost=[{"cpu_us": 4.0, "rate": 2.0}])
    report = stamped(held)
    assert [judged.verdict for judged in report.judged()] == ["MISSED", "met"]
    assert "Goals: 1 of 2 missed" in report.text()


def test_the_page_keeps_what_was_written_by_hand(tmp_path: Path) -> None:
    page = tmp_path / "broker.md"
    page.write_text(f"By hand.\n\n{BEGIN}\nold\n{END}\n\nMore.\n", encoding="utf-8")
    held = result(AtMost("cpu_us", 5), fencepost=[{"rate": 2.0, "cpu_us": 4.0}])
    held.row = row(AtMost("cpu_us", 5), plotted=True)
    kept.write(stamped(held, fencepost="0.1"), tmp_path)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"By hand.\n\n{BEGIN}\n\nMeasured: 2026-01-02, commit c0ffee, ")
    assert text.endswith(f"{END}\n\nMore.\n")
    assert "old" not in text
    assert "| a row | MB/s · µs of broker CPU a request | 2.00 · 4.00 |  |" in text
    found = json.loads((tmp_path / "broker.json").read_text(encoding="utf-8"))
    assert found["rows"][0]["brokers"]["fencepost"]["cpu_us"] == {
        "median": 4.0,
        "low": 4.0,
        "high": 4.0,
        "rounds": 1,
    }
    assert found["goals"][0]["verdict"] == "met"
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(SystemExit, match="has lost its marks"):
        kept.write(Report(), tmp_path)


class TestKept:
    """broker.json, row by row."""

    rows = (row(name="a", headline="An a"), row(name="b"), row(name="other", page="transactions"))

    def measured(self, name: str, rate: float, commit: str = "c0ffee") -> Result:
        which = next(each for each in self.rows if each.name == name)
        held = Result.of(which, {"fencepost": [{"rate": rate, "client_share": 1.0}]})
        held.troubles, held.failed = {"kafka": "fails: gone", "mock": ""}, {"kafka"}
        held.stamp = stamp(commit, fencepost="1", kafka="4")
        return held

    def keep(self, folder: Path, *results: Result) -> Report:
        report = kept.read(folder, self.rows)
        for each in results:
            report = kept.merged(report, each, self.rows)
        kept.write(report, folder)
        return kept.read(folder, self.rows)

    def test_what_was_kept_is_read_again(self, tmp_path: Path) -> None:
        assert kept.read(tmp_path, self.rows) == Report()
        (read,) = self.keep(tmp_path, self.measured("b", 2.0)).results
        written = self.measured("b", 2.0)
        del written.troubles["mock"]  # nothing was to be said of it
        assert read == written

    def test_a_row_that_is_measured_again_replaces_only_itself(self, tmp_path: Path) -> None:
        self.keep(tmp_path, self.measured("b", 2.0), self.measured("a", 1.0))
        report = self.keep(tmp_path, self.measured("b", 3.0, "later"))
        found = [(each.row.name, each.median("fencepost", "rate")) for each in report.results]
        assert found == [("a", 1.0), ("b", 3.0)]
        assert [each.stamp and each.stamp.commit for each in report.results] == ["c0ffee", "later"]
        assert "a: 2026-01-02, commit c0ffee" in report.about()
        assert "b: 2026-01-02, commit later" in report.about()

    def test_a_row_that_is_no_more_goes(self, tmp_path: Path) -> None:
        self.keep(tmp_path, self.measured("b", 2.0), self.measured("a", 1.0))
        (left,) = kept.read(tmp_path, self.rows[:1]).results
        assert left.row.name == "a"

    def test_resumed_are_rows_that_this_code_has_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(kept, "is_current", lambda commit: commit == "c0ffee")
        report = Report([self.measured("a", 1.0, "old"), self.measured("b", 1.0)])
        (report.results[0].row, report.results[1].row) = run.ROWS[:2]
        options = run.parse(["--resume", "--out", str(tmp_path)])
        assert run.rows_of(options, report) == [
            each for each in run.ROWS if each is not run.ROWS[1]
        ]

    @pytest.mark.parametrize(
        "words", [["--quick"], ["--peers", "kafka"], ["--rounds", "4"], ["--at", "1"]]
    )
    def test_only_what_was_measured_in_full_is_kept(self, words: list[str]) -> None:
        for keep in ("--keep", "--resume"):
            with pytest.raises(SystemExit, match="kept"):
                run.main([*words, keep])

    def test_a_part_is_kept_when_it_is_said(self) -> None:
        def is_kept(*words: str) -> bool:
            return run.is_kept(run.parse(words), Effort())

        assert is_kept()
        assert is_kept("--only", "a", "--keep")
        assert not is_kept("--only", "a")
        assert not is_kept("--quick")


def test_a_slope_is_the_power_of_the_count() -> None:
    assert slope([10, 100, 1000], [7.0, 7.0, 7.0]) == 0
    assert slope([10, 100, 1000], [1.0, 10.0, 100.0]) == pytest.approx(1)
    assert slope([1, 2, 4], [1.0, 4.0, 16.0]) == pytest.approx(2)
    assert slope([1], [5.0]) == 0


def test_a_users_environment_has_nothing_of_ours() -> None:
    given = {"PATH": "p", "PYTHONDONTWRITEBYTECODE": "1", "FENCEPOST_NUM_PARTITIONS": "3"}
    assert as_a_user_has_it(given) == {"PATH": "p"}


def test_the_clocks_of_a_process_can_be_read() -> None:
    pid = os.getpid()
    before = cpu_seconds(pid)
    assert before > 0
    assert cpu_seconds(pid) >= before
    held = memory(pid)
    assert 0 < held.own <= held.resident


class TestRounds:
    """run_row, with brokers that are none."""

    def contenders(self, *names: str) -> run.Contenders:
        contenders = run.Contenders()
        for name in names:
            peer = PEERS[name](None)
            contenders.start(NoPeer(peer))
        return contenders

    def run_row(
        self,
        measure: Callable[[Run], Sample],
        monkeypatch: pytest.MonkeyPatch,
        without: Mapping[str, str] | None = None,
    ) -> tuple[Result, list[str]]:
        measured = []

        def run_once(row: Row, peer: Peer, effort: Effort, core: int | None) -> Sample:
            measured.append(peer.name)
            return measure(Run(peer, None, effort))  # type: ignore[arg-type]

        monkeypatch.setattr(run, "run_once", run_once)
        with self.contenders("fencepost", "kafka", "kfake") as contenders:
            tried = row(without=without or {})
            return run.run_row(tried, contenders, Effort(rounds=3), None, print), measured

    def test_brokers_take_turns(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found, measured = self.run_row(lambda _: {"rate": 1.0}, monkeypatch)
        assert measured == [
            *("fencepost", "kafka", "kfake"),
            *("kafka", "kfake", "fencepost"),
            *("kfake", "fencepost", "kafka"),
        ]
        assert [spreads["rate"].rounds for spreads in found.spreads.values()] == [3, 3, 3]

    def test_who_fails_is_replaced_and_not_tried_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def measure(tried: Run) -> Sample:
            if tried.peer.name == "kfake":
                raise WrongAnswerError("lost a record")
            if tried.peer.name == "kafka":
                raise NotServedError("PRODUCE is not served")
            return {"rate": 1.0}

        found, measured = self.run_row(measure, monkeypatch)
        assert measured.count("kfake") == measured.count("kafka") == 1
        assert found.troubles == {
            "kfake": "fails: lost a record",
            "kafka": "PRODUCE is not served",
        }
        assert found.failed == {"kfake"}
        assert NoPeer.started[-1] == "kfake"

    def test_who_takes_no_part_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found, measured = self.run_row(lambda _: {}, monkeypatch, {"kafka": "cannot"})
        assert "kafka" not in measured
        assert found.troubles == {"kafka": "cannot"}
        notes = Report([found]).notes()
        assert notes == ["kafka is not in a-row: cannot"]


class NoPeer(RunningPeer):
    """Has a name and does nothing."""

    started: ClassVar[list[str]] = []

    def __init__(self, like: Peer) -> None:
        super().__init__(0, 0)
        self.name = like.name
        self.started.append(self.name)

    def fresh(self) -> Peer:
        return NoPeer(self)


def test_wrong_options_are_told() -> None:
    with pytest.raises(SystemExit, match="no row has 'nothing' in its name; there are produce-1-"):
        run.main(["--only", "nothing"])
    with pytest.raises(SystemExit, match="no peer 'redpanda': there are fencepost, "):
        run.main(["--peers", "redpanda"])


def test_every_row_has_a_name_of_its_own() -> None:
    names = [each.name for each in run.ROWS]
    assert len(names) == len(set(names))
    peers = set(PEERS)
    for each in run.ROWS:
        assert set(each.without) <= peers
        assert each.shown


def test_a_broker_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = PEERS["fencepost"]
    monkeypatch.setattr(kind, "command", lambda _: ["false"])
    with pytest.raises(PeerFailedError, match="fencepost ended with 1 before"), kind(None):
        pass
