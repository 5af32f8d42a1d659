"""The scan of one partition, from its first batch to its last, by all checks that need only it.

A Spark job runs it for each partition, too. Its result is small and can be pickled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from fencepost_pipeline.audit.batch_headers import Rows, rows_of
from fencepost_pipeline.audit.checks.offset_holes import Holes, check_crc
from fencepost_pipeline.audit.checks.sequences import EXPIRY_MS, Sequences
from fencepost_pipeline.audit.checks.transaction_pieces import Cutter, Pieces, join
from fencepost_pipeline.audit.checks.zombie_epochs import Zombies
from fencepost_pipeline.audit.findings import Ledger
from fencepost_pipeline.audit.segment_seams import Seams

SLOT_MS: Final = 1000
"""Throughput is counted per second of log time, and drawn coarser."""
MAX_SLOTS: Final = 100_000
"""A producer may give its records any time at all; so many different seconds are kept."""
GAPS_DRAWN: Final = 400


@dataclass(slots=True)
class Summary:
    """What a partition's log is, apart from what is wrong with it."""

    topic: str
    partition: int
    start_offset: int = -1
    end_offset: int = 0
    batches: int = 0
    records: int = 0
    bytes: int = 0
    missing: int = 0
    """Offsets that are not there, before the first batch and between batches."""
    certain_from: int = -1
    """Nothing is missing after this offset."""
    first_time: int = -1
    last_time: int = -1
    marker_time: int = -1
    """The last one that a broker's clock gave."""
    holes: list[tuple[int, int]] = field(default_factory=list)
    """The first of them, for the report's map: from, and up to but not including."""
    segments: list[tuple[str, int]] = field(default_factory=list)
    seams: Seams = field(default_factory=Seams)
    slots: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By second: records and bytes of data."""
    producer_ids: dict[int, int] = field(default_factory=dict)
    """Each producer id with the offset of its first batch."""

    def segment_of(self, offset: int) -> str:
        """The file that an offset is in."""
        at = ""
        for name, first in self.segments:
            if first > offset:
                break
            at = name
        return at


@dataclass(slots=True)
class Scanned:
    """The result of the scan of a partition."""

    summary: Summary
    pieces: Pieces
    """Those that ended and, after them, those that are open."""
    ledger: Ledger


def scan_partition(
    topic: str, partition: int, chunks: Iterable[Rows], *, expiry_ms: int = EXPIRY_MS
) -> Scanned:
    """Look at all batches of a partition, which come in the order of offsets.

    Example::

        scanned = scan_partition("orders", 0, chunks(batches))
    """
    summary = Summary(topic, partition)
    ledger = Ledger()
    holes = Holes(topic, partition)
    zombies = Zombies(topic, partition)
    sequences = Sequences(topic, partition, expiry_ms)
    cutter = Cutter()
    pieces = []
    for rows in chunks:
        good = check_crc(topic, partition, rows, ledger)
        if not good.all():
            rows = _chosen(rows, good)
        if not len(rows):
            continue
        _describe(summary, rows, holes.next_offset)
        summary.seams.feed(rows)
        missing = holes.feed(rows, ledger)
        late = zombies.feed(rows, ledger)
        sequences.feed(rows, missing, late, ledger)
        pieces.append(cutter.feed(rows, late))
    summary.missing, summary.certain_from = holes.missing, holes.last_hole_behind
    pieces.append(cutter.finish())
    _name_segments(summary, ledger)
    return Scanned(summary, join(pieces), ledger)


def _chosen(rows: Rows, good: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Rows:
    columns = {name: getattr(rows, name)[good] for name in Rows.__slots__ if name != "segment"}
    return Rows(segment=rows.segment, **columns)


def _describe(summary: Summary, rows: Rows, next_offset: int) -> None:
    """Add a chunk to the summary."""
    if summary.start_offset < 0:
        summary.start_offset = int(rows.base_offset[0])
        next_offset = summary.start_offset
    known = {name for name, _ in summary.segments[-1:]}
    summary.segments += [(name, first) for name, first in rows.segment if name not in known]
    summary.end_offset = max(summary.end_offset, int(rows.last_offset.max()) + 1)
    summary.batches += len(rows)
    summary.bytes += int(rows.size.sum())
    before = np.concatenate(([next_offset], rows.last_offset[:-1] + 1))
    for i in np.flatnonzero(rows.base_offset > before)[: GAPS_DRAWN - len(summary.holes)]:
        summary.holes.append((int(before[i]), int(rows.base_offset[i])))
    if rows.marker.any():
        summary.marker_time = max(summary.marker_time, int(rows.max_timestamp[rows.marker].max()))
    ids, first = np.unique(rows.producer_id, return_index=True)
    for producer_id, i in zip(ids.tolist(), first.tolist(), strict=True):
        if producer_id >= 0:
            summary.producer_ids.setdefault(producer_id, int(rows.base_offset[i]))
    if not rows.data.any():
        return
    time, count = rows.max_timestamp[rows.data], rows.record_count[rows.data]
    summary.records += int(count.sum())
    _count_slots(summary, time, count, rows.size[rows.data])


def _count_slots(
    summary: Summary,
    time: np.ndarray[tuple[int], np.dtype[np.int64]],
    count: np.ndarray[tuple[int], np.dtype[np.int64]],
    size: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> None:
    stamped = time >= 0
    if not stamped.any():
        return
    time = time[stamped]
    first = int(time.min())
    summary.first_time = first if summary.first_time < 0 else min(summary.first_time, first)
    summary.last_time = max(summary.last_time, int(time.max()))
    slots, which = np.unique(time // SLOT_MS, return_inverse=True)
    records = np.bincount(which, count[stamped]).astype(np.int64)
    sizes = np.bincount(which, size[stamped]).astype(np.int64)
    for slot, n, b in zip(slots.tolist(), records.tolist(), sizes.tolist(), strict=True):
        if slot in summary.slots or len(summary.slots) < MAX_SLOTS:
            have = summary.slots.get(slot, (0, 0))
            summary.slots[slot] = (have[0] + n, have[1] + b)


def _name_segments(summary: Summary, ledger: Ledger) -> None:
    for tally in ledger.tallies.values():
        tally.findings = [
            replace(finding, segment=summary.segment_of(finding.offset))
            for finding in tally.findings
        ]


__all__ = ["Scanned", "Summary", "rows_of", "scan_partition"]
