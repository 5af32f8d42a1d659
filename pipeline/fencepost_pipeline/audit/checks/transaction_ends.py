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

from dataclasses import replace
from typing import Final

import numpy as np

from fencepost_pipeline.audit.batch_headers import NONE, Bools, Ints
from fencepost_pipeline.audit.checks.transaction_matching import Matched
from fencepost_pipeline.audit.coordinator_log import TOPIC, History
from fencepost_pipeline.audit.coordinator_steps import Where
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
    if history is None:
        return
    by_place = {(s.summary.topic, s.summary.partition): s for s in partitions}
    wrong: list[tuple[int, Where]] = []
    for place, parts in matched.of_place.items():
        decided = parts[history.transactions.committed[matched.transaction[parts]] != NONE]
        if place in by_place:
            bad = _check_parts(history, matched, decided, by_place[place], ledger)
            wrong += [(part, place) for part in bad.tolist()]
        else:
            ledger.excused(Invariant.UNMARKED, "partition whose log is not here", len(decided))
    for part, place in sorted(wrong):
        _tell_part(history, matched, part, by_place[place], ledger)
    _check_completion(history, ledger)


def _check_pieces(
    history: History | None, matched: Matched, scanned: Scanned, ledger: Ledger
) -> None:
    """The partition's side."""
    pieces = scanned.pieces
    with_data = pieces.producer_epoch != NONE
    ledger.checked(Invariant.LATE, with_data.sum())
    late = with_data & (pieces.producer_epoch < pieces.previous_marker_epoch)
    for row in np.flatnonzero(late).tolist():
        _found_late(scanned, row, ledger)
    if history is None:
        return
    unmarked = pieces.marker_offset == NONE
    ledger.checked(Invariant.ORPHANS, (~unmarked).sum())
    alone = ~late & (matched.owners_in(scanned) == NONE)
    old = alone & ~unmarked & (pieces.marker_time < history.known_from)
    ledger.excused(
        Invariant.ORPHANS, "older than what is left of the coordinators' log", int(old.sum())
    )
    for row in np.flatnonzero(alone & ~old).tolist():
        if not unmarked[row]:
            _found_orphan(scanned, row, ledger)
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


def _found_orphan(scanned: Scanned, row: int, ledger: Ledger) -> None:
    pieces = scanned.pieces
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


def _check_parts(
    history: History, matched: Matched, parts: Ints, scanned: Scanned, ledger: Ledger
) -> Ints:
    """The coordinator's side: there is a marker, and it says what was decided. Gives the others."""
    known, pieces = history.transactions, scanned.pieces
    row, of = matched.piece[parts], matched.transaction[parts]
    marked = row != NONE
    marked[marked] = pieces.marker_offset[row[marked]] != NONE
    ledger.checked(Invariant.UNMARKED, marked.sum())
    ledger.checked(Invariant.ATOMIC, marked.sum())
    differs = np.zeros(len(parts), np.bool_)
    differs[marked] = pieces.committed[row[marked]] != known.committed[of[marked]]
    # A marker that was written again may differ, too: those few are looked at one by one.
    differs |= np.isin(parts, list(matched.again))
    missing = ~marked & (known.complete_committed[of] != NONE)
    ledger.excused(
        Invariant.UNMARKED,
        "decided, with markers on their way where the log ends",
        int((~marked & ~missing).sum()),
    )
    ledger.checked(Invariant.UNMARKED, missing.sum())
    # Usually the topic was deleted and made anew: the transaction is of the one before.
    older = missing & (known.prepare_time[of] < _earliest(scanned))
    ledger.excused(
        Invariant.UNMARKED, "transaction older than its partition's log", int(older.sum())
    )
    gone = missing & ~older & _may_be_gone(scanned, known.prepare_time[of])
    ledger.excused(
        Invariant.UNMARKED, "marker missing where offsets are missing, too", int(gone.sum())
    )
    return np.asarray(parts[differs | (missing & ~older & ~gone)])


def _tell_part(
    history: History, matched: Matched, part: int, scanned: Scanned, ledger: Ledger
) -> None:
    """Tell what is wrong with a part."""
    number, row = int(matched.transaction[part]), int(matched.piece[part])
    if row == NONE or scanned.pieces.marker_offset[row] == NONE:
        _found_missing(history, number, row, scanned, ledger)
        return
    for each in (row, *matched.again.get(part, ())):
        if scanned.pieces.committed[each] != history.transactions.committed[number]:
            _found_disagreement(history, number, scanned, each, ledger)


def _found_missing(
    history: History, number: int, row: int, scanned: Scanned, ledger: Ledger
) -> None:
    known, pieces = history.transactions, scanned.pieces
    producer_id, epoch = int(known.producer_id[number]), int(known.producer_epoch[number])
    text = (
        f"has no {WORD[int(known.committed[number])]} marker here, though its coordinator wrote it "
        f"off as complete ({_prepared_at(history, number)})"
    )
    if row == NONE:
        of_writer = (pieces.producer_id == producer_id) & (pieces.producer_epoch == epoch)
        row = int(np.flatnonzero(of_writer)[-1]) if of_writer.any() else NONE
    if row != NONE:
        finding = _finding(Invariant.UNMARKED, scanned, row, text)
    else:
        finding = Finding(
            Invariant.UNMARKED,
            f"the transaction of producer {producer_id} {text}",
            scanned.summary.topic,
            scanned.summary.partition,
            producer_id=producer_id,
            producer_epoch=epoch,
        )
    ledger.found(replace(finding, transactional_id=history.name_of(number)))


def _prepared_at(history: History, number: int) -> str:
    known = history.transactions
    return f"{TOPIC}-{known.log_partition[number]} offset {known.prepare_offset[number]}"


def _earliest(scanned: Scanned) -> int:
    """The earliest time in a partition's log; without any, nothing is older."""
    times = [scanned.pieces.first_time, scanned.pieces.marker_time]
    known = [int(column[column >= 0].min()) for column in times if (column >= 0).any()]
    if scanned.summary.first_time >= 0:
        known.append(scanned.summary.first_time)
    return min(known, default=-1)


def _may_be_gone(scanned: Scanned, prepare_time: Ints) -> Bools:
    """Whether offsets are missing after these PrepareX, as far as times can tell."""
    summary, pieces = scanned.summary, scanned.pieces
    if summary.start_offset >= 0 and not summary.missing:
        return np.zeros(len(prepare_time), np.bool_)
    behind = pieces.marker_offset >= summary.certain_from
    if summary.start_offset < 0 or not behind.any():
        return np.ones(len(prepare_time), np.bool_)  # all was deleted, or all that tells
    return np.asarray(pieces.marker_time[behind].min() >= prepare_time)


def _found_disagreement(
    history: History, number: int, scanned: Scanned, row: int, ledger: Ledger
) -> None:
    known, pieces = history.transactions, scanned.pieces
    said, decided = WORD[int(pieces.committed[row])], WORD[int(known.committed[number])]
    offset = int(pieces.marker_offset[row])
    ledger.found(
        Finding(
            Invariant.ATOMIC,
            f"the marker says {said}, the coordinator decided {decided} "
            f"({_prepared_at(history, number)})",
            scanned.summary.topic,
            scanned.summary.partition,
            offset,
            producer_id=int(known.producer_id[number]),
            producer_epoch=int(pieces.marker_epoch[row]),
            segment=scanned.summary.segment_of(offset),
            transactional_id=history.name_of(number),
        )
    )


def _check_completion(history: History, ledger: Ledger) -> None:
    known = history.transactions
    complete = known.complete_committed != NONE
    for number in np.flatnonzero(complete & (known.complete_committed != known.committed)).tolist():
        decided = WORD[max(int(known.committed[number]), 0)]
        ledger.found(
            Finding(
                Invariant.ATOMIC,
                f"was prepared to {decided} and completed otherwise",
                TOPIC,
                int(known.log_partition[number]),
                int(known.prepare_offset[number]),
                producer_id=int(known.producer_id[number]),
                producer_epoch=int(known.producer_epoch[number]),
                transactional_id=history.name_of(number),
            )
        )


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
