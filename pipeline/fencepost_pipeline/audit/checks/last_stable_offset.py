"""The last stable offset against open transactions: what read-committed consumers are shown.

A read-committed consumer reads up to the last stable offset (LSO), the first offset of the oldest
transaction that is open, and skips what was aborted. What it skips stands in each segment's
``.txnindex``: producer id, first offset, the marker's offset, and the LSO once that marker was
there. So for every aborted piece with data there is an entry with the same offsets (without it the
aborted records are shown), an entry for nothing else (or committed records are hidden), and its LSO
is the first offset of the oldest transaction that was still open then, or the offset after the
marker.

In front of the last place where offsets are missing, entries may be, too: not judged. What the log
says about its LSO now (the oldest piece without a marker) is in the table ``partitions``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np

from fencepost_pipeline.audit.batch_headers import NONE
from fencepost_pipeline.audit.checks.transaction_pieces import Pieces
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger
from fencepost_pipeline.audit.partition_scan import Scanned


class AbortedEntry(NamedTuple):
    """One line of a segment's index of aborted transactions."""

    segment: str
    producer_id: int
    first_offset: int
    last_offset: int
    stable_offset: int


_WRONG_BOUNDS: Final = "has other bounds in the index of aborted transactions: {} to {}"


def check_stable(scanned: Scanned, entries: Iterable[AbortedEntry], ledger: Ledger) -> None:
    """Compare a partition's indexes with its pieces."""
    pieces, summary = as_brokers_see(scanned.pieces), scanned.summary
    scanned = replace(scanned, pieces=pieces)
    aborted = (pieces.committed == 0) & (pieces.first_offset != NONE)
    by_marker = {int(pieces.marker_offset[i]): int(i) for i in np.flatnonzero(aborted)}
    stable = stable_offsets(pieces, set(by_marker))
    ledger.checked(Invariant.STABLE, len(by_marker))
    listed = set()
    for entry in entries:
        row = by_marker.get(entry.last_offset)
        listed.add(entry.last_offset)
        if row is None:
            _judge_unknown(scanned, entry, ledger)
        elif int(pieces.producer_id[row]) != entry.producer_id:
            text = f"is of producer {entry.producer_id} in the index of aborted transactions"
            _found(scanned, row, text, entry.segment, ledger)
        elif _differs(scanned, row, entry):
            text = _WRONG_BOUNDS.format(entry.first_offset, entry.last_offset)
            _found(scanned, row, text, entry.segment, ledger)
        elif (
            stable[entry.last_offset] != entry.stable_offset
            and stable[entry.last_offset] >= summary.certain_from
        ):
            text = (
                f"was aborted when the last stable offset became {stable[entry.last_offset]}; "
                f"the index of aborted transactions says {entry.stable_offset}"
            )
            _found(scanned, row, text, entry.segment, ledger)
    for offset, row in by_marker.items():
        if offset in listed:
            continue
        if pieces.first_offset[row] < summary.certain_from:
            ledger.excused(Invariant.STABLE, "aborted, not indexed, where offsets are missing")
        else:
            text = "was aborted, and the index of aborted transactions does not hide it"
            _found(scanned, row, text, summary.segment_of(offset), ledger)


def as_brokers_see(pieces: Pieces) -> Pieces:
    """The same, where a piece without a marker ends with the producer id's next one.

    A partition knows one open transaction per producer id, whatever epochs wrote into it.
    """
    first, marker = pieces.first_offset.copy(), pieces.marker_offset.copy()
    end = np.maximum(pieces.last_offset, pieces.marker_offset)
    order = np.lexsort((end, pieces.producer_id))
    unmarked = np.flatnonzero(marker[order] == NONE)
    followed = unmarked[unmarked + 1 < len(order)]
    same = pieces.producer_id[order[followed]] == pieces.producer_id[order[followed + 1]]
    followed = followed[same]
    for k in followed.tolist():
        this, behind = order[k], order[k + 1]
        first[behind] = first[this] if first[behind] == NONE else min(first[this], first[behind])
    for k in followed[::-1].tolist():
        marker[order[k]] = marker[order[k + 1]]
    return pieces._replace(first_offset=first, marker_offset=marker)


def stable_offsets(pieces: Pieces, wanted: set[int]) -> dict[int, int]:
    """The LSO right after each of the wanted markers, by the marker's offset."""
    with_data = np.flatnonzero(pieces.first_offset != NONE)
    order = with_data[np.argsort(pieces.first_offset[with_data], kind="stable")]
    firsts = pieces.first_offset[order].tolist()
    ends = pieces.marker_offset[order].tolist()
    result = {}
    is_open: list[tuple[int, int]] = []  # first offset, marker's offset; the oldest on top
    begun = 0
    for marker in sorted(wanted):
        while begun < len(firsts) and firsts[begun] < marker:
            heappush(is_open, (firsts[begun], ends[begun]))
            begun += 1
        while is_open and is_open[0][1] != NONE and is_open[0][1] <= marker:
            heappop(is_open)
        result[marker] = is_open[0][0] if is_open else marker + 1
    return result


def stable_offset_now(scanned: Scanned) -> int:
    """The LSO at the end of the log, by the log alone."""
    pieces = as_brokers_see(scanned.pieces)
    held = pieces.first_offset[(pieces.marker_offset == NONE) & (pieces.first_offset != NONE)]
    return int(held.min()) if len(held) else scanned.summary.end_offset


def _differs(scanned: Scanned, row: int, entry: AbortedEntry) -> bool:
    """Where offsets are missing, a transaction's first records or the marker before may be gone."""
    first = int(scanned.pieces.first_offset[row])
    return entry.first_offset != first and first >= scanned.summary.certain_from


def _judge_unknown(scanned: Scanned, entry: AbortedEntry, ledger: Ledger) -> None:
    summary = scanned.summary
    if entry.first_offset < summary.certain_from or entry.last_offset >= summary.end_offset:
        ledger.excused(Invariant.STABLE, "index entry of a transaction that is not in the log")
        return
    ledger.found(
        Finding(
            Invariant.STABLE,
            f"the index of aborted transactions hides what producer {entry.producer_id} wrote "
            "there, and no transaction was aborted like that",
            summary.topic,
            summary.partition,
            entry.first_offset,
            entry.last_offset,
            entry.producer_id,
            segment=entry.segment,
        )
    )


def _found(scanned: Scanned, row: int, text: str, segment: str, ledger: Ledger) -> None:
    pieces, summary = scanned.pieces, scanned.summary
    ledger.found(
        Finding(
            Invariant.STABLE,
            f"what producer {pieces.producer_id[row]} epoch {pieces.producer_epoch[row]} wrote "
            + text,
            summary.topic,
            summary.partition,
            int(pieces.first_offset[row]),
            int(pieces.marker_offset[row]),
            int(pieces.producer_id[row]),
            int(pieces.producer_epoch[row]),
            segment,
        )
    )
