"""The pipelines' benchmarks: what bounds them, and each in a form that takes a moment."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bench.pipeline import audit, log_files
from tests.bench.pipeline.rounds import Budget, Taken, ratios


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_rounds_end_with_their_share_of_the_time() -> None:
    clock = Clock()
    budget = Budget(10, clock)

    def taken(wanted: int, parts_left: int, minutes: float) -> int:
        count = 0
        for _ in budget.rounds(wanted, parts_left, "x"):
            clock.now += minutes * 60
            count += 1
        return count

    assert taken(5, 2, 0.1) == 5
    assert taken(100, 2, 1) == 5, "half of what is left"
    assert taken(100, 1, 1) == 5
    assert taken(100, 1, 1) == 1, "the time is over; there is one round of everything"


def test_ratios_are_of_rounds() -> None:
    ours, theirs = Taken([2, 9, 1], [1, 9, 3]), Taken([1, 3, 2], [1, 3, 1])
    (told,) = ratios("100 B", {"a": ours, "b": theirs}, "a", "b", "who-was-left-out")
    assert told == "- 100 B, a to b: CPU 3.00 times, seconds 2.00 times"


def test_the_audits_benchmark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{audit.BEGIN}\nold\n{audit.END}\nbehind\n")
    arguments = ["audit", "0.002", "--rounds", "1", "--out", str(page)]
    monkeypatch.setattr(sys, "argv", arguments)
    audit.main()
    text = page.read_text()
    assert text.startswith(f"before\n{audit.BEGIN}\n")
    assert text.endswith(f"{audit.END}\nbehind\n")
    assert "| 0.002 GB of 1000 B |" in text
    assert "| 0.002 GB of 100 B |" in text
    assert "old" not in text


def test_the_log_files_benchmark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    arguments = ["log_files", "--megabytes", "1", "--rounds", "1", "--out", str(page)]
    monkeypatch.setattr(sys, "argv", arguments)
    log_files.main()
    lines = page.read_text().splitlines()
    assert sum(line.startswith("| `columns.decode` |") for line in lines) == 4
