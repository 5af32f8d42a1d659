"""What every broker did in a row, and how its goals went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self, TypeAlias

from tests.bench.broker.measure import Spread, spread
from tests.bench.broker.peers import FENCEPOSTS
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
from tests.bench.judged import MET, MISSED, OPEN, Judged

BUSY: Final = 0.9
"""A client that is so busy has measured itself."""
LIMIT: Final = " *"
"""Marks what such a client has measured."""

Spreads: TypeAlias = dict[str, Spread]
"""By the metric."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """One call of the command: when, of what, where and how."""

    date: str
    commit: str
    machine: str
    conditions: str
    """Pinned or not, how many rounds."""
    versions: Mapping[str, str]
    """Of the brokers."""
    remarks: tuple[str, ...] = ()


@dataclass(slots=True)
class Result:
    """A row and what every broker did in it."""

    row: Row
    spreads: dict[str, Spreads] = field(default_factory=dict)
    """What the rounds gave, by the broker."""
    troubles: dict[str, str] = field(default_factory=dict)
    """Who took no part, or failed, and why."""
    failed: set[str] = field(default_factory=set)
    """Those of them who were tried, and failed."""
    stamp: Stamp | None = None

    @classmethod
    def of(cls, row: Row, samples: Mapping[str, Sequence[Sample]]) -> Self:
        """From what was measured round by round."""
        return cls(row, {peer: spreads_of(rounds) for peer, rounds in samples.items()})

    def median(self, peer: str, metric: str) -> float | None:
        """The middle of a broker's rounds."""
        found = self.spreads.get(peer, {}).get(metric)
        return found.median if found else None

    def best_peer(self, metric: str) -> tuple[float, str] | None:
        """The best of the others."""
        found = [
            (value, peer)
            for peer in self.spreads
            if peer not in FENCEPOSTS and (value := self.median(peer, metric)) is not None
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
                if peer in self.row.ours and (peer in self.spreads or peer in self.troubles):
                    yield self._judge(goal, peer)

    def _judge(self, goal: Goal, peer: str) -> Judged:
        unit = self.row.unit_of(goal.metric)
        ours = self.median(peer, goal.metric)
        match goal:
            case AtMost(bound=bound):
                text, times = f"≤ {number(bound)} {unit}", bound / ours if ours else None
            case AtLeast(bound=bound):
                text, times = f"≥ {number(bound)} {unit}", None if ours is None else ours / bound
            case BestPeer(times=wanted):
                return self._judge_by_peers(goal, peer, wanted)
        text = f"{peer}: {text}"
        if ours is None:
            return self._without_result(peer, text)
        met = times is None or times >= 1  # nothing is at most anything
        return self._verdict(text, f"{number(ours)} {unit}", times, met=met)

    def _judge_by_peers(self, goal: Goal, peer: str, times: float) -> Judged:
        text = f"{peer}: {times:g} × the best peer" if times != 1 else f"{peer}: above every peer"
        if peer not in self.spreads:
            return self._without_result(peer, text)
        metric, best, unit = goal.metric, self.best_peer(goal.metric), ""
        if best is not None and {peer, best[1]} <= set(self.busy_clients()):
            metric, best, unit = "cpu_us", self.best_peer("cpu_us"), f" in broker CPU{LIMIT}"
        ratio = self.ratio(peer, metric)
        if ratio is None or best is None:
            return Judged(self.row.name, text, "no peer took part", OPEN)
        met = ratio >= times if times != 1 else ratio > 1
        return self._verdict(text, f"{ratio:.2f} × {best[1]}{unit}", ratio / times, met=met)

    def _without_result(self, peer: str, text: str) -> Judged:
        reason = self.troubles.get(peer, "nothing was measured")
        return Judged(self.row.name, text, reason, MISSED if peer in self.failed else OPEN)

    def _verdict(self, text: str, result: str, times: float | None, *, met: bool) -> Judged:
        return Judged(self.row.name, text, result, MET if met else MISSED, times)

    def busy_clients(self) -> list[str]:
        """The brokers with which the client was at the end of its core."""
        shares = ((peer, self.median(peer, "client_share")) for peer in self.spreads)
        return [peer for peer, share in shares if share is not None and share >= BUSY]

    def cell(self, peer: str) -> str:
        """All that the table shows of a broker."""
        if peer not in self.spreads:
            return "fails" if peer in self.failed else ""
        values = (self.median(peer, metric) for metric in self.row.shown)
        text = " · ".join("" if value is None else number(value) for value in values)
        return f"{text}{LIMIT}" if peer in self.busy_clients() else text


def spreads_of(rounds: Sequence[Sample]) -> Spreads:
    """The spread of each metric that was measured."""
    measured = {
        metric: [sample[metric] for sample in rounds if metric in sample] for metric in UNITS
    }
    return {metric: spread(values) for metric, values in measured.items() if values}


def number(value: float) -> str:
    """Three digits that matter, whatever the size."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
