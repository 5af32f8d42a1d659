"""The protocol benchmark runs, checks its contenders, and judges its goals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import protocol
from tests.bench.protocol_batches import batch_rows
from tests.bench.protocol_cases import Case, all_cases, values
from tests.bench.protocol_contenders import Contender, Fencepost, Operation, contenders
from tests.bench.protocol_measure import Effort, Timing
from tests.bench.protocol_report import BEGIN, END, KIO, OURS, Report, Row

# kafka-python's, on Python 3.11 and 3.12.
pytestmark = pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")


def row(name: str, version: int, kind: str = "decode", **us: float) -> Row:
    timings = {who.replace("_", "-"): Timing([best, best * 2]) for who, best in us.items()}
    return Row(name, name, version, kind, 10, timings, {})


def verdicts(*rows: Row) -> dict[str, bool]:
    names = {name: "1" for each in rows for name in each.timings}
    return {goal.text: goal.met for goal in Report(names, list(rows)).goals()}


def test_every_peer_is_there_and_reads_and_writes_what_we_do() -> None:
    peers, missing = contenders()
    if missing:
        pytest.skip("; ".join(missing))
    for case in all_cases():
        if not case.brief:
            continue
        for kind in ("decode", "encode"):
            operations, notes = protocol.checked(case, peers, kind)
            assert not notes, case
            assert {OURS, "kafka-python", "construct", KIO} <= operations.keys()


def test_each_case_keeps_its_values() -> None:
    for case in all_cases():
        again, end = case.message.decode(memoryview(case.wire()), case.version)
        assert end == len(case.wire())
        assert values(again, case.name, case.version) == values(
            case.message, case.name, case.version
        )


def test_a_contender_that_does_something_else_is_named() -> None:
    class Wrong(Fencepost):
        name = "wrong"

        def decode(self, case: Case, wire: bytes) -> Operation:
            return Operation("out = 0", {}, lambda _: ["other"])

        def encode(self, case: Case, wire: bytes) -> Operation:
            return Operation("out = b'other'", {}, bytes)

    case = next(case for case in all_cases() if case.name == "FindCoordinatorRequest")
    peers: list[Contender] = [Fencepost(), Wrong()]
    operations, notes = protocol.checked(case, peers, "decode")
    assert (list(operations), notes) == ([OURS], {"wrong": "reads other values; not timed"})
    operations, notes = protocol.checked(case, peers, "encode")
    assert list(operations) == [OURS, "wrong"]
    assert notes == {"wrong": f"writes other bytes (5 instead of {len(case.wire())})"}


def test_our_own_mistakes_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fencepost, "decode", lambda *_: Operation("out = 0", {}, lambda _: []))
    with pytest.raises(SystemExit, match="our own decode of ProduceRequest v8 is wrong"):
        protocol.checked(all_cases()[0], [Fencepost()], "decode")


def test_goals_are_met_and_missed() -> None:
    produce = "Produce v9 and newer is decoded in 2.5 µs"
    assert verdicts(
        row("ProduceRequest", 8, fencepost=9), row("ProduceRequest", 9, fencepost=2)
    ) == {produce: True}
    assert verdicts(row("ProduceRequest", 13, fencepost=3))[produce] is False
    assert verdicts(row("A", 1, fencepost=1, aiokafka=2), row("B", 1, fencepost=1)) == {
        "faster than aiokafka in each of 1 rows": True
    }
    assert verdicts(row("A", 1, fencepost=2, kafka_python=1)) == {
        "faster than kafka-python in each of 1 rows": False
    }
    assert verdicts(row("MetadataRequest", 8, fencepost=5, kio=2)) == {
        "MetadataRequest v8 decode within 2.5 times kio's native reader": True
    }
    assert verdicts(row("FindCoordinatorRequest", 2, fencepost=6, kio=2)) == {
        "FindCoordinatorRequest v2 decode within 2.5 times kio's native reader": False
    }
    assert verdicts(row("FindCoordinatorRequest", 2, "encode", fencepost=6, kio=2)) == {}


def test_the_page_keeps_what_was_written_by_hand(tmp_path: Path) -> None:
    page = tmp_path / "protocol.md"
    page.write_text(f"# By hand\n\n{BEGIN}\nold\n{END}\n\nMore by hand.\n", encoding="utf-8")
    arguments = ["--quick", "--only", "FindCoordinator request", "--out", str(tmp_path)]
    assert protocol.main(arguments) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# By hand\n\n{BEGIN}\n\nMeasured ")
    assert text.endswith(f"\n{END}\n\nMore by hand.\n")
    assert "old" not in text
    assert "| FindCoordinator request v6 |" in text
    rows = json.loads((tmp_path / "protocol.json").read_text(encoding="utf-8"))["rows"]
    assert [(each["version"], each["operation"]) for each in rows] == [
        (version, kind) for version in (1, 2, 6) for kind in ("decode", "encode")
    ]
    assert rows[0]["contenders"][OURS]["times_ours"] == 1


def test_a_page_without_its_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "protocol.md"
    page.write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit, match="has lost its marks"):
        protocol.main(["--quick", "--only", "Metadata request v8", "--out", str(tmp_path)])
    assert page.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [page]


def test_batches_are_measured() -> None:
    names = [row["name"] for row in batch_rows(Effort.quick(), brief=True)]
    assert "read columns, 100 B" in names
