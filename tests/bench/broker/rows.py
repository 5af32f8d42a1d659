"""What a row of the benchmark is: something to measure, in what unit, and how good it must be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tests.bench.broker.peers import FENCEPOSTS, OURS, Peer
from tests.bench.broker.wire import Wire

Sample: TypeAlias = Mapping[str, float]
"""What one run measured, by the names in UNITS."""

UNITS: Final[Mapping[str, str]] = {
    "rate": "",  # each row has its own
    "cpu_us": "µs of broker CPU",
    "few_cpu_us": "µs with 10 partitions",
    "cpu_s_per_gb": "s of broker CPU a GB",
    "p50_us": "p50 µs",
    "p99_us": "p99 µs",
    "end_p50_us": "EndTxn p50 µs",
    "end_p99_us": "EndTxn p99 µs",
    "transactions": "transactions/s",
    "requests": "requests/s",
    "connections": "connections",
    "batch_kb": "KB a batch",
    "client_share": "client's cores busy",
    "broker_share": "broker's cores busy",
    "start_ms": "ms",
    "first_start_ms": "ms the first time",
    "memory_mib": "MiB",
    "own_growth_mib": "MiB of its own more",
    "file_growth_mib": "MiB of mapped files more",
    "connection_kib": "KiB a connection",
    "times": "times the cost",
    "slope": "slope",
    "bytes_each": "bytes each",
    **{f"step_{at}": "µs of broker CPU" for at in range(5)},
}
MORE_IS_BETTER: Final = {"rate", "transactions"}
PAGES: Final = ("broker", "transactions")
"""Where a row can be shown: docs/bench/broker.md and so on."""


class NotServedError(Exception):
    """The broker does not have what a row measures."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much of everything."""

    scale: float = 1.0
    rounds: int = 5

    @classmethod
    def quick(cls) -> Effort:
        """Enough to see that everything works, and just enough for the clock of CPU time."""
        return cls(scale=0.1, rounds=1)

    @classmethod
    def smoke(cls) -> Effort:
        """Enough for a test of the benchmark: its numbers mean nothing."""
        return cls(scale=0.002, rounds=1)


@dataclass(slots=True)
class Run:
    """One broker that is measured, for one row, once."""

    peer: Peer
    wire: Wire
    effort: Effort
    client_core: int | None = None
    topics: list[str] = field(default_factory=list)

    def count(self, full: int) -> int:
        """So many of what is done `full` times in a whole run."""
        return max(1, round(full * self.effort.scale))

    def milliseconds(self, full: int) -> int:
        """So long what takes `full` in a whole run."""
        return max(100, self.count(full))

    def topic(self, partitions: int = 1, **configs: str) -> str:
        """A new topic, gone after the run."""
        name = f"bench-{next(_TOPIC_NUMBERS)}"
        self.wire.create(name, partitions, **configs)
        self.topics.append(name)
        return name

    def at(self, peer: Peer, wire: Wire) -> Run:
        """The same with another broker."""
        return Run(peer, wire, self.effort, self.client_core)


_TOPIC_NUMBERS: Final = itertools.count()


@dataclass(frozen=True, slots=True)
class AtMost:
    """A goal: no more than this."""

    metric: str
    bound: float
    who: tuple[str, ...] = OURS


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A goal: no less than this."""

    metric: str
    bound: float
    who: tuple[str, ...] = OURS


@dataclass(frozen=True, slots=True)
class BestPeer:
    """A goal: so many times the best of the others."""

    metric: str
    times: float
    who: tuple[str, ...] = OURS


Goal: TypeAlias = AtMost | AtLeast | BestPeer


@dataclass(frozen=True, slots=True)
class Row:
    """One load."""

    name: str
    title: str
    section: str
    measure: Callable[[Run], Sample]
    unit: str = ""
    """Of the rate."""
    shown: tuple[str, ...] = ("rate", "cpu_us")
    """The metrics that the table shows; peers are compared by the first."""
    cpu_of: str = "request"
    """What cpu_us is the cost of."""
    goals: tuple[Goal, ...] = ()
    ours: tuple[str, ...] = OURS
    """Which of ours take part."""
    without: Mapping[str, str] = field(default_factory=dict)
    """Peers that do not take part, with the reason."""
    plotted: bool = False
    remark: str = ""
    """What a reader must know of the row's numbers."""
    page: str = PAGES[0]
    headline: str = ""
    """Its title in README, where the first of its metrics is shown; without one it is not."""
    rounds_max: int | None = None
    """Of what is not compared with a peer, or hardly differs, less is enough."""
    steps: tuple[int, ...] = ()
    """How many there are of what grows, in a row that shows what that costs (`step_0`, ...)."""

    def unit_of(self, metric: str) -> str:
        """A metric's unit in this row."""
        if metric == "rate":
            return self.unit
        if metric in {"cpu_us", "few_cpu_us"} or metric.startswith("step_"):
            return f"{UNITS[metric]} a {self.cpu_of}"
        return UNITS[metric]

    def refusal(self, peer: str) -> str | None:
        """Why a peer does not take part, if so; an empty reason for ours goes without saying."""
        if peer in FENCEPOSTS:
            return None if peer in self.ours else ""
        return self.without.get(peer)
