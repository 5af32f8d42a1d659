"""What clients were told, against the log: nothing acknowledged is lost.

A line of the trace for a record says that a client was told its offset. The offset must be in the
log, in a batch of data and, where the line says more (producer id, epoch, sequence number), of
that producer: after an unclean election another record may stand at the same offset. Offsets that
retention or compaction took are not judged. A record that was told to be committed must stand in
front of a commit marker.

A line for a transaction says that a client was told its commit or abort; the coordinators' log
must have decided so.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fencepost_pipeline.audit.batch_headers import NONE, Ints, Rows
from fencepost_pipeline.audit.coordinator_log import History
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger
from fencepost_pipeline.audit.partition_scan import Scanned


class ToldRecord(NamedTuple):
    """A record that a client was told to be written."""

    line: int
    offset: int
    producer_id: int = -1
    producer_epoch: int = -1
    sequence: int = -1
    committed: bool = False


class ToldTransaction(NamedTuple):
    """A transaction whose outcome a client was told."""

    line: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    committed: bool


@dataclass(slots=True)
class Trace:
    """What clients were told, by partition."""

    records: dict[tuple[str, int], list[ToldRecord]] = field(default_factory=dict)
    transactions: list[ToldTransaction] = field(default_factory=list)


def watch_offsets(
    told: list[ToldRecord], topic: str, partition: int, chunks: Iterable[Rows], ledger: Ledger
) -> Iterator[Rows]:
    """Hand a partition's rows on, and look for what was told on the way."""
    told = sorted(told, key=lambda record: record.offset)
    offsets = np.array([record.offset for record in told], np.int64)
    ledger.checked(Invariant.ACKNOWLEDGED, len(told))
    done, end, start = 0, -1, None
    for rows in chunks:
        start = int(rows.base_offset[0]) if start is None else start
        upto = int(np.searchsorted(offsets, rows.last_offset[-1], "right"))
        if upto > done:
            _compare(told[done:upto], offsets[done:upto], topic, partition, rows, ledger)
        done, end = max(done, upto), int(rows.last_offset[-1])
        yield rows
    for record in told[done:]:
        text = f"the log ends with offset {end}" if start is not None else "the log is empty"
        ledger.found(_lost(record, topic, partition, text))


def _compare(
    told: list[ToldRecord], offsets: Ints, topic: str, partition: int, rows: Rows, ledger: Ledger
) -> None:
    """All these offsets are up to the last one of the chunk."""
    at = np.searchsorted(rows.base_offset, offsets, "right") - 1
    covered = (at >= 0) & (rows.last_offset[np.maximum(at, 0)] >= offsets)
    gone = int((~covered).sum())
    ledger.excused(Invariant.ACKNOWLEDGED, "record whose offset retention or compaction took", gone)
    for number in np.flatnonzero(covered).tolist():
        record, i = told[number], int(at[number])
        text = ""
        sequence = rows.base_sequence[i] + record.offset - rows.base_offset[i]
        if not rows.data[i]:
            text = "a control batch is there"
        elif record.producer_id >= 0 and record.producer_id != rows.producer_id[i]:
            text = f"a record of producer {rows.producer_id[i]} is there"
        elif record.producer_epoch >= 0 and record.producer_epoch != rows.producer_epoch[i]:
            text = f"a record of epoch {rows.producer_epoch[i]} is there"
        elif record.sequence >= 0 and record.sequence != sequence % (1 << 31):
            text = f"the record with sequence number {sequence % (1 << 31)} is there"
        if text:
            ledger.found(_lost(record, topic, partition, text))


def check_told(
    trace: Trace, history: History | None, scanned: list[Scanned], ledger: Ledger
) -> None:
    """What needs all of the log: outcomes."""
    here = {(s.summary.topic, s.summary.partition): s for s in scanned}
    for (topic, partition), told in trace.records.items():
        found = here.get((topic, partition))
        if found is None:
            ledger.checked(Invariant.ACKNOWLEDGED, len(told))
            for record in told:
                ledger.found(_lost(record, topic, partition, "the partition's log is not here"))
            continue
        _check_committed(found, [record for record in told if record.committed], ledger)
    if history is None:
        ledger.excused(
            Invariant.ACKNOWLEDGED,
            "transaction without a coordinators' log to compare with",
            len(trace.transactions),
        )
        return
    known = history.transactions
    columns = (
        known.name,
        known.producer_id,
        known.producer_epoch,
        known.marker_epoch,
        known.committed,
    )
    decided = {
        (history.names[name], producer_id, epoch, bool(committed))
        for name, producer_id, *epochs, committed in zip(
            *(column.tolist() for column in columns), strict=True
        )
        if committed != NONE
        for epoch in epochs
    }
    for told_end in trace.transactions:
        _check_outcome(told_end, decided, history, ledger)


def _check_outcome(
    told: ToldTransaction,
    decided: set[tuple[str, int, int, bool]],
    history: History,
    ledger: Ledger,
) -> None:
    if history.known_from >= 0:
        ledger.excused(Invariant.ACKNOWLEDGED, "transaction in front of a compacted log")
        return
    ledger.checked(Invariant.ACKNOWLEDGED, 1)
    key = told.transactional_id, told.producer_id, told.producer_epoch, told.committed
    if key not in decided:
        word = "committed" if told.committed else "aborted"
        ledger.found(
            Finding(
                Invariant.ACKNOWLEDGED,
                f"line {told.line} of the trace: told to be {word}, and no coordinator decided so",
                producer_id=told.producer_id,
                producer_epoch=told.producer_epoch,
                transactional_id=told.transactional_id,
            )
        )


def _check_committed(scanned: Scanned, told: list[ToldRecord], ledger: Ledger) -> None:
    """Told to be committed: no piece that was aborted, or is open, may hold the offset."""
    pieces = scanned.pieces
    bad = np.flatnonzero((pieces.first_offset != NONE) & (pieces.committed != 1))
    if not len(bad) or not told:
        return
    told = sorted(told, key=lambda record: record.offset)
    offsets = [record.offset for record in told]
    for row in bad.tolist():
        from_, upto = int(pieces.first_offset[row]), int(pieces.last_offset[row])
        for record in told[bisect_left(offsets, from_) : bisect_right(offsets, upto)]:
            if record.producer_id not in {-1, int(pieces.producer_id[row])}:
                continue
            if record.producer_id < 0 and _shared(scanned, row, record.offset):
                ledger.excused(Invariant.ACKNOWLEDGED, "committed record without its producer id")
                continue
            what = "aborted" if pieces.committed[row] == 0 else "still open"
            text = f"told to be committed, and its transaction is {what}"
            ledger.found(_lost(record, scanned.summary.topic, scanned.summary.partition, text))


def _shared(scanned: Scanned, row: int, offset: int) -> bool:
    """Whether several transactions have the offset between their first and last one."""
    pieces = scanned.pieces
    inside = (pieces.first_offset <= offset) & (offset <= pieces.last_offset)
    inside[row] = False
    return bool(inside.any()) or int(pieces.records[row]) <= int(
        pieces.last_offset[row] - pieces.first_offset[row]
    )


def _lost(record: ToldRecord, topic: str, partition: int, text: str) -> Finding:
    return Finding(
        Invariant.ACKNOWLEDGED,
        f"line {record.line} of the trace: {text}",
        topic,
        partition,
        record.offset,
        producer_id=record.producer_id,
        producer_epoch=record.producer_epoch,
    )
