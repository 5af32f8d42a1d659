"""Rounds in which contenders take turns, bounded in time, and told about while they run."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

T = TypeVar("T")
_MINUTE: Final = 60.0


def say(text: str) -> None:
    """Progress, for whoever waits."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


class Budget:
    """How long a benchmark may take; rounds that have begun are ended."""

    def __init__(
        self, minutes: float, clock: Callable[[], float] = time.monotonic,
        tell: Callable[[str], None] = say,
    ) -> None:  # fmt: skip
        self._tell = tell
        self._clock = clock
        self._end = clock() + minutes * _MINUTE

    def rounds(self, wanted: int, parts_left: int, name: str) -> Iterator[int]:
        """Numbers of rounds: as many as are wanted, fewer when this part's share is over.

        The time that is left is shared by the parts that are left. One round there is always.
        """
        begin = self._clock()
        share_end = begin + max(self._end - begin, 0.0) / parts_left
        for number in range(wanted):
            if number and self._clock() >= share_end:
                self._tell(f"{name}: no time for more than {number} of {wanted} rounds")
                return
            self._tell(f"{name}: round {number + 1} of {wanted}")
            yield number


@dataclass(slots=True)
class Taken:
    """What the rounds of one contender took, in seconds."""

    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    python_cpu: list[float] = field(default_factory=list)

    def row(self, name: str, size: int, rows: int) -> list[str]:
        """A line of the table."""
        seconds = statistics.median(self.seconds)
        return [
            name,
            f"{size} B",
            f"{rows:,}",
            f"{rows / seconds:,.0f}",
            f"{rows * size / seconds / 1e6:,.0f}",
            f"{statistics.median(self.cpu) / rows * 1e6:.2f}",
            f"{statistics.median(self.python_cpu) / rows * 1e6:.2f}",
        ]


HEAD: Final = ["", "value", "rows", "rows/s", "MB/s", "CPU us/row", "of it Python"]


def ratios(what: str, measured: Mapping[str, Taken], of: str, *to: str) -> list[str]:
    """How many times others' CPU time and seconds one contender takes, round by round."""
    told = []
    mine = measured[of]
    for other in to:
        if other in measured:
            theirs = measured[other]
            cpu = statistics.median(a / b for a, b in zip(mine.cpu, theirs.cpu, strict=True))
            wall = statistics.median(
                a / b for a, b in zip(mine.seconds, theirs.seconds, strict=True)
            )
            told.append(f"- {what}, {of} to {other}: CPU {cpu:.2f} times, seconds {wall:.2f} times")
    return told
