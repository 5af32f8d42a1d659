"""The audit: every partition is scanned by itself, then the partitions are compared.

What comes between, the ``Scanned`` of every partition, is all that has to be in one place. The
scans are independent of each other: :mod:`.spark_job` lets a cluster do them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
from fencepost_client.progress import Progress

from fencepost_pipeline.audit.batch_headers import Rows, chunks
from fencepost_pipeline.audit.checks.acknowledged_records import Trace, check_told, watch_offsets
from fencepost_pipeline.audit.checks.consume_transform_produce import (
    OFFSETS_TOPIC,
    Commits,
    Transform,
    check_transform,
    committed_offsets,
    consumed_by,
    place_of,
    visible,
)
from fencepost_pipeline.audit.checks.hanging_transactions import check_hanging
from fencepost_pipeline.audit.checks.last_stable_offset import AbortedEntry, check_stable
from fencepost_pipeline.audit.checks.lost_segments import Policies, check_lost
from fencepost_pipeline.audit.checks.producer_id_blocks import TOPIC as METADATA_TOPIC
from fencepost_pipeline.audit.checks.producer_id_blocks import BlockNote, check_blocks
from fencepost_pipeline.audit.checks.sequences import EXPIRY_MS
from fencepost_pipeline.audit.checks.transaction_ends import check_ends
from fencepost_pipeline.audit.checks.transaction_matching import Matched, match
from fencepost_pipeline.audit.coordinator_log import TOPIC as STATE_TOPIC
from fencepost_pipeline.audit.coordinator_log import History, join, read_history
from fencepost_pipeline.audit.coordinator_steps import UnreadableStep
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger, Verdict
from fencepost_pipeline.audit.partition_scan import Scanned, scan_partition
from fencepost_pipeline.audit.phases import transactions_table


class Logs(Protocol):
    """Where the logs are read from; partitions are named by topic and number."""

    def partitions(self) -> list[tuple[str, int]]:
        """All that are there, internal ones too."""

    def batches(self, topic: str, partition: int) -> Iterable[pa.RecordBatch]:
        """Rows of the table ``batches`` in the order of offsets."""

    def records(self, topic: str, partition: int) -> Iterable[pa.RecordBatch]:
        """Rows of the table ``records`` in the order of offsets."""

    def aborted(self, topic: str, partition: int) -> list[AbortedEntry]:
        """What the segments' indexes of aborted transactions say."""

    def block_notes(self) -> list[BlockNote] | None:
        """The metadata log's notes of producer-id blocks; None where there is no such log."""

    def policies(self) -> Policies | None:
        """The metadata log's ``cleanup.policy`` of topics; None where there is no such log."""

    def problems(self) -> list[Finding]:
        """What could not be read so far."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What to look at, beside what is always looked at."""

    expiry_ms: int = EXPIRY_MS
    now_ms: int | None = None
    trace: Trace | None = None
    transform: Transform | None = None


@dataclass(slots=True)
class Audit:
    """All that an audit found."""

    verdicts: list[Verdict]
    partitions: list[Scanned]
    history: History | None
    matched: Matched
    transactions: pa.Table
    ledger: Ledger = field(repr=False)

    @property
    def holds(self) -> bool:
        """Whether no invariant fails."""
        return not any(verdict.count for verdict in self.verdicts)


def audit(logs: Logs, wishes: Wishes | None = None, progress: Progress | None = None) -> Audit:
    """Look at all logs.

    Example::

        found = audit(DataDirectory(["/var/lib/kafka"]))
        for verdict in found.verdicts:
            print(verdict.invariant, verdict.status)
    """
    wishes = wishes or Wishes()
    progress = progress or Progress(0, "bytes", None)
    ledger = Ledger()
    scanned = []
    for topic, partition in logs.partitions():
        progress.begin(f"reading {topic}-{partition}")
        rows: Iterator[Rows] = chunks(_told(logs.batches(topic, partition), progress))
        told = wishes.trace.records.get((topic, partition)) if wishes.trace else None
        if told:
            rows = watch_offsets(told, topic, partition, rows, ledger)
        scanned.append(scan_partition(topic, partition, rows, expiry_ms=wishes.expiry_ms))
    return compare(logs, scanned, wishes, ledger, progress)


def _told(batches: Iterable[pa.RecordBatch], progress: Progress) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch
        progress.advance(pc.sum(batch.column("size")).as_py() or 0)


def compare(
    logs: Logs,
    scanned: list[Scanned],
    wishes: Wishes,
    ledger: Ledger,
    progress: Progress | None = None,
    histories: dict[int, History] | None = None,
) -> Audit:
    """All that needs more than one partition, and the verdicts.

    ``histories`` are those of the coordinators' log by partition, if they have been read already.
    """
    progress = progress or Progress(0, "bytes", None)
    progress.begin("comparing transactions")
    not_judged = {}
    for each in scanned:
        ledger.take(each.ledger)
        topic, partition = each.summary.topic, each.summary.partition
        check_stable(each, logs.aborted(topic, partition), ledger)
    if histories is None:
        histories = {
            partition: read_coordinator(logs, partition, ledger)
            for topic, partition in logs.partitions()
            if topic == STATE_TOPIC
        }
    history = read_coordinators(logs, scanned, histories)
    matched = match(history or History(), scanned)
    check_ends(history, matched, scanned, ledger)
    if history is None:
        why = f"there is no log of {STATE_TOPIC} here to compare with"
        for invariant in _BY_COORDINATOR:
            not_judged[invariant] = why
    else:
        check_hanging(history, wishes.now_ms, ledger)
    notes = logs.block_notes()
    if notes:
        check_blocks(notes, history, scanned, ledger)
    elif history is not None and history.owners:
        not_judged[Invariant.BLOCKS] = f"there are no notes of blocks of {METADATA_TOPIC} here"
    else:
        not_judged[Invariant.BLOCKS] = f"there is no log of {METADATA_TOPIC} here"
    if wishes.trace is None:
        not_judged[Invariant.ACKNOWLEDGED] = "--trace is not given"
    else:
        check_told(wishes.trace, history, scanned, ledger)
    if wishes.transform is None:
        for invariant in (Invariant.OUTPUTS, Invariant.CONSUMED):
            not_judged[invariant] = "--group, --input and --output are not given"
    else:
        not_judged |= _transformed(logs, wishes.transform, scanned, ledger, progress)
    _tell_problems(logs, ledger)
    unread = {found.segment for found in ledger.of(Invariant.READABLE).findings}
    check_lost(scanned, logs.policies(), unread, ledger)
    table = transactions_table(history or History(), matched, scanned)
    return Audit(ledger.verdicts(not_judged), scanned, history, matched, table, ledger)


def _tell_problems(logs: Logs, ledger: Ledger) -> None:
    """Report what the reader could not read, unless a check has reported it."""
    told = {
        (found.topic, found.partition, found.position)
        for found in ledger.of(Invariant.READABLE).findings
    }
    for problem in logs.problems():
        if (problem.topic, problem.partition, problem.position) not in told:
            ledger.found(problem)


_BY_COORDINATOR = (
    Invariant.UNMARKED,
    Invariant.ORPHANS,
    Invariant.ATOMIC,
    Invariant.HANGING,
)


def read_coordinators(
    logs: Logs, scanned: list[Scanned], histories: dict[int, History]
) -> History | None:
    """The history of all partitions of the coordinators' log; None if none is here."""
    own = [each for each in scanned if each.summary.topic == STATE_TOPIC]
    if not own:
        return None
    history = join(histories[each.summary.partition] for each in own)
    for each in own:
        if each.summary.missing:
            first = _first_time_behind(logs, each)
            history.known_from = max(history.known_from, first)
    return history


def read_coordinator(logs: Logs, partition: int, ledger: Ledger) -> History:
    """One partition of the coordinators' log."""
    unreadable: list[UnreadableStep] = []
    history = read_history(partition, logs.records(STATE_TOPIC, partition), unreadable)
    for offset, why in unreadable:
        text = f"this is no state of a transaction: {why}"
        ledger.found(Finding(Invariant.READABLE, text, STATE_TOPIC, partition, offset))
    return history


def _first_time_behind(logs: Logs, scanned: Scanned) -> int:
    """When the part of a coordinators' log began of which nothing is missing."""
    for rows in chunks(logs.batches(scanned.summary.topic, scanned.summary.partition)):
        behind = rows.base_offset >= scanned.summary.certain_from
        if behind.any():
            return int(rows.max_timestamp[behind][0])
    return scanned.summary.last_time


def _transformed(
    logs: Logs,
    transform: Transform,
    scanned: list[Scanned],
    ledger: Ledger,
    progress: Progress,
) -> dict[Invariant, str]:
    """Look at one program; gives what cannot be judged of it, and why."""
    there = {each.summary.topic for each in scanned}
    for topic in (transform.input, transform.output, OFFSETS_TOPIC):
        if topic not in there:
            why = f"there is no log of {topic} here to compare with"
            return dict.fromkeys((Invariant.OUTPUTS, Invariant.CONSUMED), why)
    commits: Commits = {}
    given, made = [], []
    missing = False
    for each in scanned:
        topic, partition = each.summary.topic, each.summary.partition
        if topic in (transform.input, transform.output, OFFSETS_TOPIC):
            progress.begin(f"comparing input and output: {topic}-{partition}")
            progress.advance(each.summary.bytes)
        if topic == OFFSETS_TOPIC:
            batches = logs.records(topic, partition)
            commits.update(committed_offsets(transform.group, each, batches))
        if topic not in {transform.input, transform.output}:
            continue
        for batch in logs.records(topic, partition):
            seen = batch.filter(pa.array(visible(each, batch)))
            if topic == transform.input:
                given.append((partition, seen))
            else:
                made.append((partition, seen))
        missing |= topic == transform.input and each.summary.missing > 0
    consumed = consumed_by(transform, commits)
    if consumed.upto is None and Invariant.OUTPUTS in consumed.not_judged:
        return consumed.not_judged
    check_transform(
        transform,
        consumed.upto,
        place_of(given, transform.input_id),
        place_of(made, transform.output_id),
        missing,
        ledger,
    )
    return consumed.not_judged
