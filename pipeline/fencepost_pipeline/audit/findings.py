"""Findings, one for each violation, and verdicts, one for each invariant."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

FINDINGS_KEPT: Final = 1000
"""Per invariant. All are counted; a log that is wrong throughout must not fill the memory."""


class Invariant(StrEnum):
    """The invariants, by the names in verdicts and tables."""

    READABLE = "readable"
    OFFSETS = "offset-order"
    LOST = "lost-segments"
    GAPS = "sequence-gaps"
    DUPLICATES = "sequence-duplicates"
    ZOMBIES = "zombie-epochs"
    LATE = "records-after-marker"
    UNMARKED = "transactions-without-marker"
    ORPHANS = "markers-without-transaction"
    ATOMIC = "atomicity"
    HANGING = "hanging-transactions"
    STABLE = "stable-offsets"
    BLOCKS = "producer-id-blocks"
    OUTPUTS = "consumed-without-output"
    CONSUMED = "output-without-offsets"
    ACKNOWLEDGED = "acknowledged"


MEANING: Final = {
    Invariant.READABLE: "every batch can be read, and its checksum is right",
    Invariant.OFFSETS: "offsets only grow",
    Invariant.LOST: "nothing is missing between two segment files, but what compaction took",
    Invariant.GAPS: "no sequence number of a producer is missing",
    Invariant.DUPLICATES: "no sequence number of a producer was written twice",
    Invariant.ZOMBIES: "nothing was written by an epoch that a newer one had replaced",
    Invariant.LATE: "nothing joined a transaction behind the marker that ended it",
    Invariant.UNMARKED: "every transaction that has ended has its marker wherever it wrote",
    Invariant.ORPHANS: "every marker belongs to a transaction of its coordinator",
    Invariant.ATOMIC: "the markers of a transaction all say what its coordinator decided",
    Invariant.HANGING: "no transaction is open longer than its timeout",
    Invariant.STABLE: "the index of aborted transactions hides what was aborted, and nothing else",
    Invariant.BLOCKS: "producer ids come from blocks that do not overlap, and have one owner",
    Invariant.OUTPUTS: "whatever a group has committed as consumed has its output, once",
    Invariant.CONSUMED: "every output's input is committed as consumed",
    Invariant.ACKNOWLEDGED: "all that clients were told is in the log",
}


QUESTIONS: Final = {
    "inside the broker": tuple(
        each
        for each in Invariant
        if each not in {Invariant.OUTPUTS, Invariant.CONSUMED, Invariant.ACKNOWLEDGED}
    ),
    "input to output": (Invariant.OUTPUTS, Invariant.CONSUMED),
    "what clients were told": (Invariant.ACKNOWLEDGED,),
}
"""The questions of an audit, and the invariants that answer them."""


class Status(StrEnum):
    """The verdict on an invariant."""

    HOLDS = "holds"
    FAILS = "FAILS"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation, and its place in the logs."""

    invariant: Invariant
    text: str
    topic: str = ""
    partition: int = -1
    offset: int = -1
    last_offset: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    segment: str = ""
    position: int = -1
    transactional_id: str = ""

    @property
    def place(self) -> str:
        """Topic, partition and offset, as far as there are any."""
        if not self.topic:
            return self.transactional_id
        where = f"{self.topic}-{self.partition}"
        if self.offset >= 0:
            where += f" offset {self.offset}"
            if self.last_offset > self.offset:
                where += f" to {self.last_offset}"
        return where


@dataclass(slots=True)
class Verdict:
    """The result for an invariant."""

    invariant: Invariant
    status: Status
    checked: int
    """The number of checked items."""
    count: int
    """How many offences there are, of which the first ones are ``findings``."""
    findings: list[Finding]
    notes: list[str]

    @property
    def meaning(self) -> str:
        """What the invariant says."""
        return MEANING[self.invariant]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one of ``QUESTIONS``: it says no more than what was judged."""

    question: str
    status: Status
    text: str

    def __str__(self) -> str:
        return f"{self.question}: {self.text}"


def answers(verdicts: list[Verdict]) -> list[Answer]:
    """Answer each question by the verdicts on its invariants."""
    return [
        _answer(question, [v for v in verdicts if v.invariant in invariants])
        for question, invariants in QUESTIONS.items()
    ]


def _answer(question: str, verdicts: list[Verdict]) -> Answer:
    failed = sum(1 for verdict in verdicts if verdict.status is Status.FAILS)
    open_ones = [verdict for verdict in verdicts if verdict.status is Status.NOT_JUDGED]
    if failed:
        word = "fails" if failed == 1 else "fail"
        text = f"no, {failed} of {len(verdicts)} invariants {word}"
        return Answer(question, Status.FAILS, text)
    if len(open_ones) == len(verdicts):
        return Answer(question, Status.NOT_JUDGED, f"not checked, because {open_ones[0].notes[0]}")
    if open_ones:
        names = ", ".join(verdict.invariant for verdict in open_ones)
        reasons = "; ".join(dict.fromkeys(verdict.notes[0] for verdict in open_ones))
        return Answer(question, Status.HOLDS, f"yes, but for {names}, not judged because {reasons}")
    return Answer(question, Status.HOLDS, "yes")


@dataclass(slots=True)
class Tally:
    """Findings of one invariant as they come in, and what was looked at for them."""

    checked: int = 0
    count: int = 0
    findings: list[Finding] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    """Why something was not judged, and how many there were of it."""


class Ledger:
    """Collects the findings of all checks. It can be pickled, and two can be merged."""

    def __init__(self) -> None:
        self.tallies: dict[Invariant, Tally] = {}

    def of(self, invariant: Invariant) -> Tally:
        """The tally of an invariant; from now on it counts as judged."""
        return self.tallies.setdefault(invariant, Tally())

    def checked(self, invariant: Invariant, count: int) -> None:
        """So many things were looked at."""
        self.of(invariant).checked += int(count)

    def found(self, finding: Finding) -> None:
        """Add a violation."""
        tally = self.of(finding.invariant)
        tally.count += 1
        if len(tally.findings) < FINDINGS_KEPT:
            tally.findings.append(finding)

    def excused(self, invariant: Invariant, why: str, count: int = 1) -> None:
        """Something that would be an offence if more were known."""
        if count:
            notes = self.of(invariant).notes
            notes[why] = notes.get(why, 0) + int(count)

    def take(self, other: Ledger) -> None:
        """Add what another one collected."""
        for invariant, tally in other.tallies.items():
            mine = self.of(invariant)
            mine.checked += tally.checked
            mine.count += tally.count
            mine.findings += tally.findings[: FINDINGS_KEPT - len(mine.findings)]
            for why, count in tally.notes.items():
                mine.notes[why] = mine.notes.get(why, 0) + count

    def verdicts(self, not_judged: dict[Invariant, str]) -> list[Verdict]:
        """One verdict per invariant, in their order; ``not_judged`` says why one has none."""
        result = []
        for invariant in Invariant:
            tally = self.tallies.get(invariant, Tally())
            notes = [f"{count} x {why}" for why, count in sorted(tally.notes.items())]
            if invariant in not_judged:
                notes.insert(0, not_judged[invariant])
            if tally.count:
                status = Status.FAILS
            elif invariant in not_judged:
                status = Status.NOT_JUDGED
            else:
                status = Status.HOLDS
            result.append(
                Verdict(invariant, status, tally.checked, tally.count, tally.findings, notes)
            )
        return result
