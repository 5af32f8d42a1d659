"""What was measured, what it says about the goals, and how it is kept: docs/bench/client.json."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.bench.client.rows import MORE_IS_BETTER, Goal, Row
from tests.bench.judged import MET, MISSED, OPEN

FILE: Final = "client.json"


@dataclass
class Samples:
    """One row on one broker: what each round gave, by contender and metric."""

    rounds: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    troubles: dict[str, str] = field(default_factory=dict)
    """Who has failed, and how."""

    def add(self, contender: str, told: Mapping[str, float]) -> None:
        """One round of somebody."""
        held = self.rounds.setdefault(contender, {})
        for metric, value in told.items():
            held.setdefault(metric, []).append(float(f"{value:.5g}"))

    def median(self, contender: str, metric: str) -> float | None:
        """The middle of somebody's rounds."""
        values = self.rounds.get(contender, {}).get(metric)
        return statistics.median(values) if values else None

    def times(self, goal: Goal) -> float | None:
        """How many times as good: the middle of the rounds' ratios, since these come in pairs."""
        mine = self.rounds.get(goal.who.name, {}).get(goal.metric)
        theirs = self.rounds.get(goal.whom.name, {}).get(goal.metric)
        if not mine or not theirs:
            return None
        ratios = [
            one / other if goal.metric in MORE_IS_BETTER else other / one
            for one, other in zip(mine, theirs, strict=False)
        ]
        return statistics.median(ratios)

    def verdict(self, goal: Goal) -> str:
        """Whether it was reached."""
        times = self.times(goal)
        if times is None:
            return OPEN
        return MET if times >= goal.times else MISSED


@dataclass
class Stamp:
    """When, of what, where and how a row was measured."""

    date: str
    commit: str
    machine: str
    conditions: str
    versions: dict[str, str]


@dataclass
class Kept:
    """All that the page is made of."""

    rows: dict[str, dict[str, Samples]] = field(default_factory=dict)
    """By row and broker."""
    stamps: dict[str, dict[str, Stamp]] = field(default_factory=dict)
    eos: list[dict[str, Any]] = field(default_factory=list)
    """What `bench eos` has told, see `eos.py`."""
    eos_stamp: Stamp | None = None

    def put(self, row: Row, broker: str, samples: Samples, stamp: Stamp) -> None:
        """A row that was measured replaces what was there of it."""
        self.rows.setdefault(row.name, {})[broker] = samples
        self.stamps.setdefault(row.name, {})[broker] = stamp


def read(folder: Path) -> Kept:
    """What was kept before."""
    file = folder / FILE
    if not file.exists():
        return Kept()
    held = json.loads(file.read_text(encoding="utf-8"))
    kept = Kept(eos=held["eos"])
    if held["eos_stamp"]:
        kept.eos_stamp = Stamp(**held["eos_stamp"])
    for name, brokers in held["rows"].items():
        kept.rows[name] = {broker: Samples(**each) for broker, each in brokers.items()}
    for name, stamps in held["stamps"].items():
        kept.stamps[name] = {broker: Stamp(**each) for broker, each in stamps.items()}
    return kept


def write(kept: Kept, folder: Path) -> None:
    """Keep it; what is there is whole at every moment."""
    part = folder / f"{FILE}.part"
    text = json.dumps(asdict(kept), indent=1, ensure_ascii=False, sort_keys=True)
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(folder / FILE)
