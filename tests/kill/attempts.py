"""What a transformer has tried, what it was told of it, and what must be found of it.

An attempt is one transaction: input from one offset to another, and for each record of it one
record in each of some partitions of the output. Its values name it, so that everything that is
visible can be traced to the attempt that wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

Output = dict[int, list[bytes]]
"""Values by partition."""


class Outcome(Enum):
    """How far an attempt came, as its transformer knows it."""

    OPEN = "left open, or given up"
    ABORTED = "aborted"
    COMMIT_SENT = "to be committed; nobody was told that it is"
    COMMITTED = "committed, and that was told"


MAY_BE_SEEN: Final = (Outcome.COMMIT_SENT, Outcome.COMMITTED)


@dataclass
class Attempt:
    """One transaction."""

    number: int
    first: int
    """The first input offset."""
    next: int
    """What it commits as the group's offset."""
    output: Output
    outcome: Outcome = Outcome.OPEN


@dataclass
class Attempts:
    """All attempts of one transformer, whatever happened in between."""

    name: str
    all: dict[int, Attempt] = field(default_factory=dict)

    def begin(self, first: int, following: int, partitions: Sequence[int]) -> Attempt:
        """A new attempt, with the values that it is going to write."""
        number = len(self.all)
        output = {
            partition: [
                b"%s/%d/%d/%d" % (self.name.encode(), number, offset, partition)
                for offset in range(first, following)
            ]
            for partition in partitions
        }
        attempt = self.all[number] = Attempt(number, first, following, output)
        return attempt

    def verify(self, visible: Output, committed: int) -> None:
        """Whether what readers see is what was promised.

        ``visible`` are the committed values of this transformer, ``committed`` its group's offset.
        """
        found = self._traced(visible)
        for attempt in self.all.values():
            if attempt.number not in found:
                assert attempt.outcome is not Outcome.COMMITTED, f"{attempt} is lost"
        place = 0
        for attempt in sorted((self.all[number] for number in found), key=lambda one: one.first):
            assert attempt.first == place, (
                f"{self.name}: output for input {attempt.first} follows that for {place - 1}"
            )
            place = attempt.next
        assert place == committed, (
            f"{self.name}: there is output for the input up to {place}, the group's offset is "
            f"{committed}"
        )

    def _traced(self, visible: Mapping[int, Sequence[bytes]]) -> dict[int, Output]:
        """What is visible by attempt, each of which is whole and may be seen."""
        found: dict[int, Output] = {}
        for partition, values in visible.items():
            for value in values:
                number = int(value.split(b"/")[1])
                found.setdefault(number, {}).setdefault(partition, []).append(value)
        for number, output in found.items():
            attempt = self.all[number]
            assert attempt.outcome in MAY_BE_SEEN, f"{attempt} is visible"
            assert output == attempt.output, f"{attempt} is visible as {output}"
        return found

    def count(self, *outcomes: Outcome) -> int:
        """How many attempts ended so."""
        return sum(each.outcome in outcomes for each in self.all.values())
