"""Findings by kind, and the report on a history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

KEPT: Final = 100
"""Findings of one kind that are kept whole; all are counted."""


class Kind(StrEnum):
    """What can be wrong with a history; ``KINDS`` explains each."""

    LOST_WRITE = "lost-write"
    UNSEEN_WRITE = "unseen-write"
    DUPLICATE = "duplicate"
    INCONSISTENT_OFFSET = "inconsistent-offset"
    NONMONOTONIC_SEND = "nonmonotonic-send"
    SKIPPED_SEND = "skipped-send"
    NONMONOTONIC_POLL = "nonmonotonic-poll"
    SKIPPED_POLL = "skipped-poll"
    G0 = "G0"
    G1A = "G1a"
    G1B = "G1b"
    G1C = "G1c"
    PRECOMMITTED_READ = "precommitted-read"
    FENCED_WRITE = "fenced-write"
    OFFSETS_WITHOUT_OUTPUT = "offsets-without-output"
    OUTPUT_WITHOUT_OFFSETS = "output-without-offsets"
    DOUBLE_OUTPUT = "double-output"
    OUTPUT_WITHOUT_SOURCE = "output-without-source"
    WATERMARK = "watermark"


class Explained(NamedTuple):
    """The meaning of a kind, and the setting that is to blame, or the place to look at."""

    meaning: str
    blame: str


KINDS: Final = {
    Kind.LOST_WRITE: Explained(
        "A record was acknowledged, and readers passed its offset without it.",
        "`acks=1` or `acks=0`, `unclean.leader.election.enable`; retention or compaction; else "
        "the broker",
    ),
    Kind.UNSEEN_WRITE: Explained(
        "A record was acknowledged, and no reader came as far as its offset.",
        "nothing, if the readers stopped early; it is always expected, unless `--strict` is given",
    ),
    Kind.DUPLICATE: Explained(
        "A value that was sent once is in the log twice.",
        "`enable.idempotence=false`; with it, the broker",
    ),
    Kind.INCONSISTENT_OFFSET: Explained(
        "Two values were seen at one offset of a partition.",
        "`unclean.leader.election.enable`; `acks=1`",
    ),
    Kind.NONMONOTONIC_SEND: Explained(
        "A producer's later send got a lower offset than its earlier one.",
        "`enable.idempotence=false` with `max.in.flight.requests.per.connection` above 1",
    ),
    Kind.SKIPPED_SEND: Explained(
        "A record of somebody else stands between the records of one send.",
        "nothing, if a send has more than one batch; it is always expected, unless `--strict` "
        "is given",
    ),
    Kind.NONMONOTONIC_POLL: Explained(
        "A consumer was given an offset again, or a lower one, without a seek or a new assignment.",
        "the consumer; `auto.offset.reset` after a truncation",
    ),
    Kind.SKIPPED_POLL: Explained(
        "A consumer passed over a record that another one was given.",
        "the consumer; `auto.offset.reset=latest`",
    ),
    Kind.G0: Explained(
        "Transactions wrote to the same partitions in orders that contradict each other.",
        "nothing: Kafka does not isolate writers; it is always expected, unless `--strict` is "
        "given",
    ),
    Kind.G1A: Explained(
        "A reader was given a record of a transaction that was aborted or never committed, or of "
        "a send that failed.",
        "`isolation.level=read_uncommitted`; with read_committed, the broker",
    ),
    Kind.G1B: Explained(
        "A reader was given a part of a committed transaction, and passed over the rest.",
        "`isolation.level=read_uncommitted` does not explain it; the broker",
    ),
    Kind.G1C: Explained(
        "Committed transactions read from each other in a circle.",
        "`isolation.level=read_uncommitted`; with read_committed, the broker. A circle in which "
        "the order of writes takes part, too, is expected",
    ),
    Kind.PRECOMMITTED_READ: Explained(
        "A read-committed reader was given a record before its writer asked for the commit.",
        "the broker: its last stable offset was too high",
    ),
    Kind.FENCED_WRITE: Explained(
        "A writer began a write after another one had taken its transactional id, and it "
        "succeeded.",
        "the broker; a `transactional.id` that only looks the same",
    ),
    Kind.OFFSETS_WITHOUT_OUTPUT: Explained(
        "A group has committed an offset after a source record, and the record has no output.",
        "offsets that are committed outside of the transaction or before it (at most once)",
    ),
    Kind.OUTPUT_WITHOUT_OFFSETS: Explained(
        "A source record has its output, and the group has not committed its offset: it would be "
        "processed again.",
        "offsets that are committed after the transaction (at least once)",
    ),
    Kind.DOUBLE_OUTPUT: Explained(
        "A source record has two outputs.",
        "offsets that are committed after the output; no transactions; two groups",
    ),
    Kind.OUTPUT_WITHOUT_SOURCE: Explained(
        "An output names a source record that nobody has sent or read.",
        "the program, or the expression that finds the name of the source record",
    ),
    Kind.WATERMARK: Explained(
        "A high watermark or last stable offset went back, or they contradict each other or a "
        "record that was read.",
        "the broker; after a change of leaders a high watermark may go back for a moment",
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    kind: Kind
    text: str
    steps: tuple[str, ...] = ()
    """The few operations that make it; those of a cycle lead back to the first."""
    edges: tuple[str, ...] = ()
    """For a cycle: why each step is before the next one."""
    expected: str = ""
    """Why the settings of these clients allow it; empty if they do not."""


@dataclass(slots=True)
class Tally:
    """The findings of one kind."""

    unexpected: int = 0
    expected: int = 0
    findings: list[Finding] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """The verdict on a history."""

    operations: int = 0
    transactions: int = 0
    unprocessed: int = 0
    """Source records without an output, after the offsets that groups have committed."""
    tallies: dict[Kind, Tally] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    """What could not be judged, and why."""
    allowed: frozenset[Kind] = frozenset()
    strict: bool = False

    def add(self, finding: Finding) -> None:
        """Count a finding, and keep it if there are few of its kind."""
        tally = self.tallies.setdefault(finding.kind, Tally())
        if finding.expected:
            tally.expected += 1
        else:
            tally.unexpected += 1
        # An expected finding must not take the place of one that is not.
        if len(tally.findings) < KEPT:
            tally.findings.append(finding)
        elif not finding.expected:
            for place, kept in enumerate(tally.findings):
                if kept.expected:
                    tally.findings[place] = finding
                    break

    def failures(self, kind: Kind) -> int:
        """The number of findings of this kind that make the history wrong."""
        tally = self.tallies.get(kind)
        if tally is None or kind in self.allowed:
            return 0
        return tally.unexpected + (tally.expected if self.strict else 0)

    @property
    def holds(self) -> bool:
        """Whether nothing was found that is not expected or allowed."""
        return not any(self.failures(kind) for kind in self.tallies)

    @property
    def failed(self) -> list[Kind]:
        """The kinds with findings that are neither expected nor allowed."""
        return [kind for kind in Kind if self.failures(kind)]

    def findings(self, *kinds: Kind) -> list[Finding]:
        """The findings that were kept, in the order of kinds; those of some kinds, if given."""
        return [
            finding
            for kind in kinds or Kind
            if kind in self.tallies
            for finding in self.tallies[kind].findings
        ]

    def lines(self, shown: int = 3) -> Iterable[str]:
        """The report as text: the verdict, and for each kind what it means and some findings."""
        yield f"{self.operations:,} operations, {self.transactions:,} transactions: " + (
            "no findings that are not expected"
            if self.holds
            else "WRONG: " + ", ".join(self.failed)
        )
        for kind in sorted(self.tallies, key=lambda kind: (not self.failures(kind), kind)):
            tally, wrong = self.tallies[kind], self.failures(kind)
            rest = tally.unexpected + tally.expected - wrong
            counts = [f"{wrong:,} wrong"] * bool(wrong) + [f"{rest:,} expected"] * bool(rest)
            yield f"{kind}: {', '.join(counts)}. {KINDS[kind].meaning}"
            for finding in sorted(tally.findings, key=lambda each: each.expected != "")[:shown]:
                why = f" (expected: {finding.expected})" if finding.expected else ""
                yield f"    {finding.text}{why}"
            if tally.unexpected + tally.expected > shown:
                yield f"    and {tally.unexpected + tally.expected - shown:,} more"
            if wrong:
                yield f"    to blame: {KINDS[kind].blame}"
        for note in self.notes:
            yield f"({note})"

    def to_json(self) -> dict[str, Any]:
        """The report for programs."""
        return {
            "holds": self.holds,
            "operations": self.operations,
            "transactions": self.transactions,
            "failed": [str(kind) for kind in self.failed],
            "kinds": {
                str(kind): {
                    "wrong": self.failures(kind),
                    "expected": tally.unexpected + tally.expected - self.failures(kind),
                    "findings": [
                        {**asdict(finding), "kind": str(kind)} for finding in tally.findings
                    ],
                }
                for kind, tally in self.tallies.items()
            },
            "notes": self.notes,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())
