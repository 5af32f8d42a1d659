"""What a request costs as there is more and more of something around it.

Frames of our own: a client would be the bottleneck. On disk, so that what the process holds is the
coordinators' state and not the logs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from fencepost_protocol.errors import ErrorCode

from tests.bench.broker.loader import Load
from tests.bench.broker.measure import memory
from tests.bench.broker.peers import FencepostOnDisk
from tests.bench.broker.rows import Run, Sample
from tests.bench.broker.rows_raw import CONNECTIONS, replay_to
from tests.bench.broker.wire import Asked, Wire, WrongAnswerError

LONG_MS: Final = 900_000
"""No transaction and no session ends by itself."""
SAMPLE: Final = 500
"""Of many ids, groups or members so many are asked for, evenly spread."""
REQUESTS: Final = 5_000
CLOCK_US: Final = 0.1
"""Nothing costs less; a smoke run is too short for the clock."""


@contextmanager
def patient(run: Run) -> Iterator[Run]:
    """A broker on disk that has done nothing yet, where consumers need not hurry.

    Nor do they wait for others: whoever joins or leaves has partitions spread anew at once.
    """
    peer = FencepostOnDisk(run.peer.core)
    peer.settings = (
        f"group.consumer.max.session.timeout.ms={LONG_MS}",
        f"group.consumer.session.timeout.ms={LONG_MS}",
        "group.consumer.assignment.interval.ms=0",
    )
    with peer, Wire(peer.port) as wire:
        yield run.at(peer, wire)


class Crowd(ABC):
    """Something of which there are more and more."""

    is_held: ClassVar[bool] = True
    """Whether they stay, so that each takes some memory."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.wire = run.wire
        self.count = 0
        self.held = 0
        """How many have come in all."""

    @abstractmethod
    def grow(self, count: int) -> None:
        """From self.count to so many."""

    @abstractmethod
    def cost(self) -> float:
        """Microseconds of broker CPU, now that there are self.count."""

    def cpu_us(self, asked: Sequence[Asked], connections: int = CONNECTIONS) -> float:
        """Of one of these requests, asked for over and over."""
        load = Load(max(20, self.run.count(REQUESTS)), connections)
        return replay_to(self.run, asked, load).cpu_us


def growth(kind: Callable[[Run], Crowd], steps: Sequence[int]) -> Callable[[Run], Sample]:
    """The cost at each step; as a slope: the power of the count that it grows with."""

    def measure(run: Run) -> Sample:
        with patient(run) as other:
            crowd = kind(other)
            counts, costs, held = [], [], []
            for step in steps:
                count = max(1, other.count(step))
                crowd.grow(count)
                crowd.count = count
                counts.append(count)
                costs.append(max(crowd.cost(), CLOCK_US))
                held.append((crowd.held or count, memory(other.peer.pid).own))
        sample = {f"step_{at}": cost for at, cost in enumerate(costs)}
        sample |= {"slope": slope(counts, costs), "times": costs[-1] / costs[0]}
        (few, before), (many, after) = held[0], held[-1]
        if crowd.is_held and many > few:
            sample["bytes_each"] = max(0, after - before) / (many - few)
        return sample

    return measure


def slope(counts: Sequence[int], costs: Sequence[float]) -> float:
    """Of the line through the logarithms: 0 is flat, 1 as many times the cost as there are more."""
    x, y = [math.log(count) for count in counts], [math.log(cost) for cost in costs]
    middle_x, middle_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    spread = math.fsum((each - middle_x) ** 2 for each in x)
    both = math.fsum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return both / spread if spread else 0.0


def spread_out(things: Sequence[Any]) -> Sequence[Any]:
    """Some of them, evenly."""
    return things[:: max(1, len(things) // SAMPLE)][:SAMPLE]


def refuse_error(code: int, what: str) -> None:
    """An answer without which there is nothing to measure."""
    if code:
        raise WrongAnswerError(f"{what}: {ErrorCode(code).name}")
