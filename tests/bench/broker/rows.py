"""What a row of the benchmark is: something to measure, in what unit, and how good it must be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tests.bench.broker.peers import Peer
from tests.bench.broker.wire import Wire

Sample: TypeAlias = Mapping[str, float]
"""What one run measured, by the names in UNITS."""

UNITS: Final[Mapping[str, str]] = {
    "rate": "",  # each row has its own
    "cpu_us": "µs of broker CPU",
    "cpu_s_per_gb": "s of broker CPU a GB",
    "p50_us": "p50 µs",
    "p99_us": "p99 µs",
    "client_share": "client's core busy",
    "broker_share": "broker's core busy",
    "start_ms": "ms",
    "memory_mb": "MB",
    "connection_kb": "KB a connection",
    "growth": "times",
}


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
        return cls(scale=0.2, rounds=1)

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

    def topic(self, partitions: int = 1, **configs: str) -> str:
        """A new topic, gone after the run."""
        name = f"bench-{next(_TOPIC_NUMBERS)}"
        self.wire.create(name, partitions, **configs)
        self.topics.append(name)
        return name


_TOPIC_NUMBERS: Final = itertools.count()


@dataclass(frozen=True, slots=True)
class AtMost:
    """A goal: no more than this."""

    metric: str
    bound: float
    peer: str = "fencepost"


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A goal: no less than this."""

    metric: str
    bound: float
    peer: str = "fencepost"


@dataclass(frozen=True, slots=True)
class BestPeer:
    """A goal: so many times the best of the others."""

    metric: str
    times: float
    peer: str = "fencepost"


Goal: TypeAlias = AtMost | AtLeast | BestPeer


@dataclass(frozen=True, slots=True)
class Row:
    """One load."""

    name: str
    title: str
    unit: str
    """Of the rate."""
    measure: Callable[[Run], Sample]
    cpu_of: str = "request"
    """What cpu_us is the cost of."""
    goals: tuple[Goal, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)
    """Peers that do not take part, with the reason."""
