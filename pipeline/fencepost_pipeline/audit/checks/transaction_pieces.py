"""What one transaction did in one partition: its *piece*.

A transaction is an epoch's run of transactional batches of one producer id, up to the marker. A
marker alone is a piece, too: a coordinator writes one to every partition that was added to the
transaction, whether anything was written there or not. A run ends without a marker where the
producer's epoch changes, or at the end of the log.

A piece is what the other checks compare with the coordinator's log. There is one row per
transaction and partition, so what they work with is smaller than the log by the size of the
transactions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from fencepost_pipeline.audit.batch_headers import NONE, Bools, Ints, Rows

PIECES: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int64()),
        ("first_offset", pa.int64()),
        ("last_offset", pa.int64()),
        ("first_time", pa.int64()),
        ("last_time", pa.int64()),
        ("batches", pa.int64()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
        ("marker_offset", pa.int64()),
        ("marker_epoch", pa.int64()),
        ("marker_time", pa.int64()),
        ("coordinator_epoch", pa.int64()),
        ("committed", pa.int64()),
        ("previous_marker_offset", pa.int64()),
        ("previous_marker_epoch", pa.int64()),
    ]
)
"""One row per piece. ``first_offset`` and all about data is -1 (counts: 0) for a marker
alone, ``marker_offset`` and all about it -1 for a piece without one; ``committed`` is 1 or 0."""

FIELDS: Final = tuple(name for name in PIECES.names if name not in {"topic", "partition"})


class Pieces(NamedTuple):
    """The columns of the table, those of one partition or of many."""

    producer_id: Ints
    producer_epoch: Ints
    first_offset: Ints
    last_offset: Ints
    first_time: Ints
    last_time: Ints
    batches: Ints
    records: Ints
    bytes: Ints
    marker_offset: Ints
    marker_epoch: Ints
    marker_time: Ints
    coordinator_epoch: Ints
    committed: Ints
    previous_marker_offset: Ints
    previous_marker_epoch: Ints

    def where(self, chosen: Ints | Bools) -> Pieces:
        """Some of the rows."""
        return Pieces(*(column[chosen] for column in self))


def no_pieces() -> Pieces:
    """None yet."""
    return Pieces(*[np.empty(0, np.int64)] * len(FIELDS))


def join(parts: list[Pieces]) -> Pieces:
    """The rows of all, in their order."""
    return Pieces(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


@dataclass(slots=True)
class Cutter:
    """Cuts a partition's batches into pieces, chunk by chunk."""

    _open: Pieces = field(default_factory=no_pieces)
    """Pieces whose end has not been seen, and the last marker of every producer id."""

    def feed(self, rows: Rows, zombies: Bools) -> Pieces:
        """The pieces that end in this chunk."""
        use = ((rows.data & rows.transactional) | rows.marker) & (rows.producer_id >= 0) & ~zombies
        new = np.flatnonzero(use)
        if not len(new):
            return no_pieces()
        whole = join([self._open, _single(rows, new)])
        order = np.argsort(whole.producer_id, kind="stable")
        pieces = _merged(whole.where(order))
        last = np.diff(pieces.producer_id, append=-1) != 0
        is_open = last & (pieces.marker_offset == NONE)
        told = pieces.batches == _TOLD
        closed = pieces.where(~is_open & ~told)
        # Of an ended piece its marker alone is kept, as one that has been told already.
        remembered = pieces.where(last & ~is_open)
        remembered = remembered._replace(batches=np.full_like(remembered.batches, _TOLD))
        self._open = join([remembered, pieces.where(is_open)])
        return closed

    def finish(self) -> Pieces:
        """The pieces that are open where the log ends."""
        return self._open.where(self._open.batches != _TOLD)


_TOLD: Final = -2
"""In ``batches``: a marker that earlier chunks have given out with its piece."""


def _single(rows: Rows, new: Ints) -> Pieces:
    """Each batch as a piece of its own."""
    marker = rows.marker[new]

    def of_data(column: Ints, otherwise: int = NONE) -> Ints:
        return np.where(marker, otherwise, column[new])

    def of_marker(column: Ints) -> Ints:
        return np.where(marker, column[new], NONE)

    none = np.full(len(new), NONE)
    return Pieces(
        rows.producer_id[new],
        of_data(rows.producer_epoch),
        of_data(rows.base_offset),
        of_data(rows.last_offset),
        of_data(rows.max_timestamp),
        of_data(rows.max_timestamp),
        (~marker).astype(np.int64),
        of_data(rows.record_count, 0),
        of_data(rows.size, 0),
        of_marker(rows.base_offset),
        of_marker(rows.producer_epoch),
        of_marker(rows.max_timestamp),
        of_marker(rows.coordinator_epoch),
        of_marker(rows.commit.astype(np.int64)),
        none,
        none,
    )


def _merged(single: Pieces) -> Pieces:
    """Join neighbours that belong to one transaction; they stand in order of producer id."""
    count = len(single.producer_id)
    other_id = np.diff(single.producer_id, prepend=-1) != 0
    after_marker = np.concatenate(([True], single.marker_offset[:-1] != NONE))
    is_data = single.producer_epoch != NONE
    other_epoch = is_data & (np.diff(single.producer_epoch, prepend=NONE) != 0)
    start = np.flatnonzero(other_id | after_marker | other_epoch)
    end = np.concatenate((start[1:], [count])) - 1
    first = single.where(start)
    last = single.where(end)
    # A piece's marker is its last row; what is said of data stands in the row in front of it.
    has_marker = last.marker_offset != NONE
    with_data = np.where(has_marker & (end > start), end - 1, end)

    def total(column: Ints) -> Ints:
        return np.asarray(np.add.reduceat(column, start))

    previous = np.maximum(start - 1, 0)
    known = (start > 0) & ~other_id[start] & (single.marker_offset[previous] != NONE)
    # A piece carried over from an earlier chunk brings its previous marker along.
    brought = first.previous_marker_offset
    return Pieces(
        first.producer_id,
        first.producer_epoch,
        first.first_offset,
        single.last_offset[with_data],
        np.where(
            first.producer_epoch == NONE,
            NONE,
            np.minimum.reduceat(np.where(is_data, single.first_time, _FAR), start),
        ),
        np.maximum.reduceat(single.last_time, start),
        np.where(first.batches == _TOLD, _TOLD, total(single.batches)),
        total(single.records),
        total(single.bytes),
        last.marker_offset,
        last.marker_epoch,
        last.marker_time,
        last.coordinator_epoch,
        last.committed,
        np.where(known, single.marker_offset[previous], brought),
        np.where(known, single.marker_epoch[previous], first.previous_marker_epoch),
    )


_FAR: Final = np.iinfo(np.int64).max
