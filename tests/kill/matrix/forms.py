"""The forms of the matrix, how large a run of one is, and what came out of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

BROKERS: Final = 3
CLIENT_ROUNDS: Final = 3
PROGRESS: Final = 0.2
"""Of what was left at its start, a copier copies this part before it is bounced again."""

Partitions = dict[int, list[int]]
"""What stands in each partition, in order."""


class Form(NamedTuple):
    """One cell."""

    is_hard: bool
    """kill -9, or an end in order."""
    target: str
    """``brokers`` or ``clients``."""
    checks_order: bool
    """One partition and one copier; otherwise two, and three partitions of output."""
    as_member: bool
    """Offsets go with the group's metadata: generation and member id; otherwise its name alone."""

    def __str__(self) -> str:
        words = [
            "hard" if self.is_hard else "clean",
            self.target,
            "order" if self.checks_order else "set",
            "member" if self.as_member else "name",
        ]
        return "-".join(words)

    @property
    def copiers(self) -> int:
        """Each has a partition of the input, and a transactional id."""
        return 1 if self.checks_order else 2

    @property
    def sinks(self) -> int:
        """Partitions of the output."""
        return 1 if self.checks_order else 3


FORMS: Final = [
    Form(is_hard, target, checks_order, as_member)
    for target in ("brokers", "clients")
    for is_hard in (True, False)
    for checks_order in (True, False)
    for as_member in (True, False)
]


@dataclass(frozen=True)
class Size:
    """How much, and how long things take."""

    messages: int = 100_000
    records: int = 750
    """In a transaction."""
    broker_session_ms: int = 9_000
    member_session_ms: int = 6_000
    transaction_timeout_ms: int = 40_000

    def source(self, form: Form) -> Partitions:
        """The input: numbers that rise in each partition."""
        return {
            number: list(range(number, self.messages, form.copiers))
            for number in range(form.copiers)
        }

    def pace_ms(self, form: Form) -> int:
        """How long a transaction stays open, so that the bounces come while there is work."""
        transactions = self.messages / form.copiers / self.records
        if form.target == "clients":
            seconds = 12.0
        else:
            seconds = BROKERS * ((1.2 * self.broker_session_ms / 1000 if form.is_hard else 0.0) + 3)
        return round(1000 * seconds / transactions)


class Verdict(NamedTuple):
    """What a reader of committed records found, held against the input."""

    lost: int
    duplicated: int
    out_of_order: int
    strange: int = 0
    """What nobody wrote."""


def judge(source: Mapping[int, Sequence[int]], found: Mapping[int, Sequence[int]]) -> Verdict:
    """Compare the whole of both; order is that within a partition, in every form."""
    wanted = {value for values in source.values() for value in values}
    counts = Counter(value for values in found.values() for value in values)
    backwards = sum(
        later < earlier for values in found.values() for earlier, later in pairwise(values)
    )
    return Verdict(
        lost=len(wanted - counts.keys()),
        duplicated=counts.total() - len(counts),
        out_of_order=backwards,
        strange=len(counts.keys() - wanted),
    )


@dataclass
class Result:
    """A run of one form."""

    form: Form
    client: str
    messages: int
    begun: int = 0
    committed: int = 0
    bounces: int = 0
    in_time: int = 0
    """Bounces that began while there was still something to copy."""
    seconds: float = 0.0
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """Of the reader that read meanwhile, and of one that came afterwards."""

    @property
    def aborted(self) -> int:
        """Begun and not told to be committed: those that died with their copier included."""
        return self.begun - self.committed

    def total(self, name: str) -> int:
        """Of all readers."""
        return sum(getattr(each, name) for each in self.verdicts.values())

    @property
    def is_exact(self) -> bool:
        """Nothing lost, nothing twice, nothing out of order."""
        return len(self.verdicts) > 1 and not any(map(any, self.verdicts.values()))

    def __str__(self) -> str:
        return (
            f"{self.form} {self.client}: {self.messages} messages, {self.committed} transactions,"
            f" {self.aborted} aborted, {self.bounces} bounces ({self.in_time} in time),"
            f" {self.verdicts}, {self.seconds:.1f} s"
        )


def table(results: Iterable[Result], names: Mapping[str, str]) -> str:
    """As the page shows it, with these names of clients."""
    lines = [
        "| bounce | of | order check | group metadata | client | messages | transactions | aborted"
        " | bounces | lost | duplicated | out of order | seconds |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for each in results:
        form = each.form
        cells = [
            "hard" if form.is_hard else "clean",
            form.target,
            "yes" if form.checks_order else "no",
            "yes" if form.as_member else "no",
            names[each.client],
            f"{each.messages:,}",
            f"{each.committed:,}",
            f"{each.aborted}",
            f"{each.bounces}" if each.in_time == each.bounces
            else f"{each.bounces} ({each.bounces - each.in_time} late)",
            *(f"{each.total(name)}" for name in ("lost", "duplicated", "out_of_order")),
            f"{each.seconds:.0f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
