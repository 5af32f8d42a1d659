"""How transactions end: late records, missing markers, markers of nothing, markers that disagree.

**Records after their marker.** Once a marker is written, the next record of that epoch there needs
a new transaction that the coordinator knows of. One that arrives without (a retry that overtook
its own abort) is in no transaction, and nobody will ever end it. Under transaction version 2, and
after a fence, the marker has the epoch above the writers': then a record of the epoch below is
too late, whatever the coordinator says. With equal epochs the coordinator's log decides. (A late
record that a new transaction of the same epoch takes along in its own piece cannot be told from
that transaction's.)

**Transactions without a marker.** A coordinator writes CompleteX when every partition has
acknowledged its marker. So there is one in every partition that PrepareX lists, unless retention
or compaction took it: where offsets are missing after PrepareX, that is not judged, nor is a
partition whose log is not here. And what is open in a partition must be open at its coordinator.

**Markers without a transaction.** Every marker was sent by a coordinator on behalf of a
transaction whose PrepareX lists the partition, whether anything was written there or not: an abort
marker in an empty partition is fine if PrepareX lists it. Markers older than what is left of the
coordinators' log are not judged.

**Atomicity.** All markers of a transaction say what PrepareX says, in all partitions, and so does
CompleteX.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from fencepost_pipeline.audit.checks.transaction_matching import Matched, Part
from fencepost_pipeline.audit.checks.transaction_pieces import NONE
from fencepost_pipeline.audit.coordinator_log import TOPIC, History, Transaction
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger
from fencepost_pipeline.audit.partition_scan import Scanned

WORD: Final = {0: "abort", 1: "commit"}


def check_ends(
    history: History | None, matched: Matched, partitions: list[Scanned], ledger: Ledger
) -> None:
    """All four, as far as there is a coordinator's log."""
    for scanned in partitions:
        if scanned.summary.topic != TOPIC:
            _check_pieces(history, matched, scanned, ledger)
    if history is not None:
        by_place = {(s.summary.topic, s.summary.partition): s for s in partitions}
        for part in matched.parts:
            _check_part(part, by_place, ledger)
        _check_completion(history.transactions, ledger)


def _check_pieces(
    history: History | None, matched: Matched, scanned: Scanned, ledger: Ledger
) -> None:
    """The partition's side."""
    pieces = scanned.pieces
    owner = matched.owner.get((scanned.summary.topic, scanned.summary.partition), {})
    with_data = pieces.producer_epoch != NONE
    ledger.checked(Invariant.LATE, with_data.sum())
    late = with_data & (pieces.producer_epoch < pieces.previous_marker_epoch)
    for row in np.flatnonzero(late).tolist():
        _found_late(scanned, row, ledger)
    if history is None:
        return
    unmarked = pieces.marker_offset == NONE
    ledger.checked(Invariant.ORPHANS, (~unmarked).sum())
    for row in np.flatnonzero(~late).tolist():
        if row in owner:
            continue
        if not unmarked[row]:
            _judge_orphan(history, scanned, row, ledger)
        elif pieces.previous_marker_offset[row] != NONE and (
            pieces.previous_marker_epoch[row] == pieces.producer_epoch[row]
        ):
            _found_late(scanned, row, ledger)
        else:
            text = "is open here, and no coordinator has it open"
            ledger.found(_finding(Invariant.UNMARKED, scanned, row, text))


def _found_late(scanned: Scanned, row: int, ledger: Ledger) -> None:
    marker = scanned.pieces.previous_marker_offset[row]
    text = f"was written behind the marker at offset {marker}, which ended its transaction"
    ledger.found(_finding(Invariant.LATE, scanned, row, text))


def _judge_orphan(history: History, scanned: Scanned, row: int, ledger: Ledger) -> None:
    pieces = scanned.pieces
    if pieces.marker_time[row] < history.known_from:
        ledger.excused(Invariant.ORPHANS, "older than what is left of the coordinators' log")
        return
    word = WORD[int(pieces.committed[row])]
    ledger.found(
        Finding(
            Invariant.ORPHANS,
            f"the {word} marker of producer {pieces.producer_id[row]} epoch "
            f"{pieces.marker_epoch[row]} belongs to no transaction of the coordinators' log",
            scanned.summary.topic,
            scanned.summary.partition,
            int(pieces.marker_offset[row]),
            producer_id=int(pieces.producer_id[row]),
            producer_epoch=int(pieces.marker_epoch[row]),
            segment=scanned.summary.segment_of(int(pieces.marker_offset[row])),
        )
    )


def _check_part(part: Part, by_place: dict[tuple[str, int], Scanned], ledger: Ledger) -> None:
    """The coordinator's side: there is a marker, and it says what was decided."""
    transaction = part.transaction
    scanned = by_place.get(part.where)
    if not transaction.is_decided:
        return
    if scanned is None:
        ledger.excused(Invariant.UNMARKED, "partition whose log is not here")
        return
    row = part.piece
    if row == NONE or scanned.pieces.marker_offset[row] == NONE:
        _judge_missing(part, scanned, ledger)
        return
    ledger.checked(Invariant.UNMARKED, 1)
    ledger.checked(Invariant.ATOMIC, 1)
    for each in (row, *part.again):
        if bool(scanned.pieces.committed[each]) != transaction.committed:
            _found_disagreement(transaction, scanned, each, ledger)


def _judge_missing(part: Part, scanned: Scanned, ledger: Ledger) -> None:
    transaction, pieces = part.transaction, scanned.pieces
    if not transaction.is_complete:
        ledger.excused(Invariant.UNMARKED, "decided, with markers on their way where the log ends")
        return
    ledger.checked(Invariant.UNMARKED, 1)
    if transaction.prepare_time < _earliest(scanned):
        # Usually the topic was deleted and made anew: the transaction is of the one before.
        ledger.excused(Invariant.UNMARKED, "transaction older than its partition's log")
        return
    if _may_be_gone(scanned, transaction):
        ledger.excused(Invariant.UNMARKED, "marker missing where offsets are missing, too")
        return
    decision = WORD[int(bool(transaction.committed))]
    text = (
        f"has no {decision} marker here, though its coordinator wrote it off as complete "
        f"({TOPIC}-{transaction.log_partition} offset {transaction.prepare_offset})"
    )
    if part.piece != NONE:
        finding = _finding(Invariant.UNMARKED, scanned, part.piece, text)
    else:
        of_writer = (pieces.producer_id == transaction.producer_id) & (
            pieces.producer_epoch == transaction.producer_epoch
        )
        rows = np.flatnonzero(of_writer)
        if len(rows):
            finding = _finding(Invariant.UNMARKED, scanned, int(rows[-1]), text)
        else:
            finding = Finding(
                Invariant.UNMARKED,
                f"the transaction of producer {transaction.producer_id} {text}",
                *part.where,
                producer_id=transaction.producer_id,
                producer_epoch=transaction.producer_epoch,
            )
    ledger.found(_named(finding, transaction))


def _earliest(scanned: Scanned) -> int:
    """The earliest time in a partition's log; without any, nothing is older."""
    times = [scanned.pieces.first_time, scanned.pieces.marker_time]
    known = [int(column[column >= 0].min()) for column in times if (column >= 0).any()]
    if scanned.summary.first_time >= 0:
        known.append(scanned.summary.first_time)
    return min(known, default=-1)


def _may_be_gone(scanned: Scanned, transaction: Transaction) -> bool:
    """Whether offsets are missing after the time of PrepareX, as far as times can tell."""
    summary, pieces = scanned.summary, scanned.pieces
    if summary.start_offset < 0:
        return True  # an empty log: all was deleted
    if not summary.missing:
        return False
    behind = pieces.marker_offset >= summary.certain_from
    if not behind.any():
        return True
    return bool(pieces.marker_time[behind].min() >= transaction.prepare_time)


def _found_disagreement(
    transaction: Transaction, scanned: Scanned, row: int, ledger: Ledger
) -> None:
    pieces = scanned.pieces
    said, decided = WORD[int(pieces.committed[row])], WORD[int(bool(transaction.committed))]
    offset = int(pieces.marker_offset[row])
    finding = Finding(
        Invariant.ATOMIC,
        f"the marker says {said}, the coordinator decided {decided} "
        f"({TOPIC}-{transaction.log_partition} offset {transaction.prepare_offset})",
        scanned.summary.topic,
        scanned.summary.partition,
        offset,
        producer_id=transaction.producer_id,
        producer_epoch=int(pieces.marker_epoch[row]),
        segment=scanned.summary.segment_of(offset),
    )
    ledger.found(_named(finding, transaction))


def _check_completion(transactions: Iterable[Transaction], ledger: Ledger) -> None:
    for transaction in transactions:
        if transaction.is_complete and transaction.complete_committed != transaction.committed:
            decided = WORD[int(bool(transaction.committed))]
            ledger.found(
                Finding(
                    Invariant.ATOMIC,
                    f"was prepared to {decided} and completed otherwise",
                    TOPIC,
                    transaction.log_partition,
                    transaction.prepare_offset,
                    producer_id=transaction.producer_id,
                    producer_epoch=transaction.producer_epoch,
                    transactional_id=transaction.transactional_id,
                )
            )


def _named(finding: Finding, transaction: Transaction) -> Finding:
    from dataclasses import replace

    return replace(finding, transactional_id=transaction.transactional_id)


def _finding(kind: Invariant, scanned: Scanned, row: int, text: str) -> Finding:
    pieces, summary = scanned.pieces, scanned.summary
    offset = int(pieces.first_offset[row])
    return Finding(
        kind,
        f"what producer {pieces.producer_id[row]} epoch {pieces.producer_epoch[row]} wrote {text}",
        summary.topic,
        summary.partition,
        offset,
        int(pieces.last_offset[row]),
        int(pieces.producer_id[row]),
        int(pieces.producer_epoch[row]),
        summary.segment_of(offset),
    )
