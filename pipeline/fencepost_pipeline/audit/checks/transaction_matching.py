"""Which piece of a partition belongs to which transaction of a coordinator.

A marker carries the producer id and the epoch that PrepareX has. Under transaction version 2 that
pair is of one transaction only. Before, an epoch has many transactions, so those that list a
partition and the markers there are compared in their order: where they are equally many, the n-th
belongs to the n-th. Where they are not, something is missing (or was taken by retention), and the
clock decides: a marker is written after its PrepareX, and belongs to the last one before it.

A coordinator that restarts writes its markers again. The second marker of a transaction in a
partition is therefore no offence, as long as it says the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from fencepost_pipeline.audit.checks.transaction_pieces import NONE, Pieces
from fencepost_pipeline.audit.coordinator_log import History, Transaction
from fencepost_pipeline.audit.partition_scan import Scanned

Where: TypeAlias = tuple[str, int]


@dataclass(slots=True)
class Part:
    """What a transaction has in one partition."""

    transaction: Transaction
    where: Where
    piece: int = NONE
    """The row among the partition's pieces that ends with its marker, or holds its data."""
    again: list[int] = field(default_factory=list)
    """Rows of markers that were written again."""


@dataclass(slots=True)
class Matched:
    """The outcome, from both sides."""

    parts: list[Part] = field(default_factory=list)
    """One per transaction and partition, in the order of the coordinators' logs."""
    owner: dict[Where, dict[int, Part]] = field(default_factory=dict)
    """By partition and row, the part that a piece belongs to."""


def match(history: History, partitions: Iterable[Scanned]) -> Matched:
    """Find each other's counterparts."""
    result = Matched()
    by_marker: dict[tuple[Where, int, int], list[Part]] = defaultdict(list)
    by_writer: dict[tuple[Where, int, int], list[Part]] = defaultdict(list)
    for transaction in history.transactions:
        for where in sorted(transaction.partitions):
            part = Part(transaction, where)
            result.parts.append(part)
            producer_id = transaction.producer_id
            by_writer[where, producer_id, transaction.producer_epoch].append(part)
            if transaction.is_decided:
                by_marker[where, producer_id, transaction.marker_epoch].append(part)
    for scanned in partitions:
        where = scanned.summary.topic, scanned.summary.partition
        owner: dict[int, Part] = {}
        result.owner[where] = owner
        _match_markers(where, scanned.pieces, by_marker, owner)
        _match_unmarked(where, scanned.pieces, by_writer, owner)
    return result


def _match_markers(
    where: Where,
    pieces: Pieces,
    parts: dict[tuple[Where, int, int], list[Part]],
    owner: dict[int, Part],
) -> None:
    markers: dict[tuple[int, int], list[int]] = defaultdict(list)
    for row in np.flatnonzero(pieces.marker_offset != NONE).tolist():
        markers[int(pieces.producer_id[row]), int(pieces.marker_epoch[row])].append(row)
    for key, rows in markers.items():
        candidates = parts.get((where, *key))
        if not candidates:
            continue
        if len(candidates) == len(rows):
            pairs = list(zip(candidates, rows, strict=True))
        else:
            times = [part.transaction.prepare_time for part in candidates]
            at = [bisect_right(times, int(pieces.marker_time[row])) - 1 for row in rows]
            pairs = [(candidates[i], row) for i, row in zip(at, rows, strict=True) if i >= 0]
        for part, row in pairs:
            owner[row] = part
            if part.piece == NONE:
                part.piece = row
            else:
                part.again.append(row)


def _match_unmarked(
    where: Where,
    pieces: Pieces,
    parts: dict[tuple[Where, int, int], list[Part]],
    owner: dict[int, Part],
) -> None:
    """A piece without a marker belongs to the first transaction that still lacks one."""
    for row in np.flatnonzero(pieces.marker_offset == NONE).tolist():
        key = (where, int(pieces.producer_id[row]), int(pieces.producer_epoch[row]))
        for part in parts.get(key, ()):
            if part.piece == NONE and not _is_late(pieces, row):
                part.piece = row
                owner[row] = part
                break


def _is_late(pieces: Pieces, row: int) -> bool:
    return bool(pieces.previous_marker_epoch[row] > pieces.producer_epoch[row])
