"""The stop-watch: all contenders of one row, their rounds interleaved.

Machines that run other work change their speed from one second to the next. So the rounds of the
contenders alternate, what is counted is the CPU time of this process, and what is compared is each
one's best round. The garbage collector runs, as it does in a broker, but has nothing to find in
what was there before.
"""

from __future__ import annotations

import gc
import statistics
import time
import timeit
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tests.bench.protocol_contenders import Operation

SLOW_ROUNDS_MIN: Final = 3


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to measure."""

    round_seconds: float = 0.012
    rounds: int = 15
    contender_seconds: float = 4.0
    """Who has used so much of a row's time gets no further round, once there are a few."""

    @classmethod
    def quick(cls) -> Effort:
        """Enough to see that everything works."""
        return cls(round_seconds=0.0002, rounds=1)


@dataclass(slots=True)
class Timing:
    """Microseconds of one call, round by round."""

    rounds_us: list[float] = field(default_factory=list)

    @property
    def best_us(self) -> float:
        """The least disturbed round."""
        return min(self.rounds_us)

    @property
    def median_us(self) -> float:
        """The typical one."""
        return statistics.median(self.rounds_us)


class Lap:
    """One contender's loop."""

    def __init__(self, operation: Operation, effort: Effort) -> None:
        self._timer = timeit.Timer(
            operation.statement,
            setup="_collector.enable()",  # timeit has switched it off.
            timer=time.process_time,
            globals={**operation.names, "_collector": gc},
        )
        self._effort = effort
        self.timing = Timing()
        self.spent = 0.0
        once = self._timer.timeit(1)  # Also where caches fill and code is compiled.
        once = min(once, *(self._timer.timeit(1) for _ in range(2))) if once < 1.0 else once
        self._number = max(1, round(effort.round_seconds / max(once, 2e-7)))
        if once < effort.round_seconds:
            self._number = max(
                1, round(self._number * effort.round_seconds / max(self._run(), 1e-6))
            )

    def _run(self) -> float:
        return self._timer.timeit(self._number)

    def round(self) -> None:
        """One more round, unless this contender has had its share."""
        had_its_share = self.spent > self._effort.contender_seconds
        if had_its_share and len(self.timing.rounds_us) >= SLOW_ROUNDS_MIN:
            return
        seconds = self._run()
        self.spent += seconds
        self.timing.rounds_us.append(seconds / self._number * 1e6)


def measure(operations: Mapping[str, Operation], effort: Effort) -> dict[str, Timing]:
    """Time them all, by name."""
    gc.collect()
    gc.freeze()
    try:
        laps = {name: Lap(operation, effort) for name, operation in operations.items()}
        order = list(laps.values())
        for _ in range(effort.rounds):
            for lap in order:
                lap.round()
            order.append(order.pop(0))  # So that nobody always follows the same one.
    finally:
        gc.unfreeze()
    return {name: lap.timing for name, lap in laps.items()}
