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

import numpy as np

from fencepost_pipeline.audit.batch_headers import NONE, Bools, Ints
from fencepost_pipeline.audit.checks.transaction_pieces import Pieces
from fencepost_pipeline.audit.coordinator_log import History
from fencepost_pipeline.audit.coordinator_steps import Where
from fencepost_pipeline.audit.partition_scan import Scanned


@dataclass(slots=True)
class Matched:
    """The outcome, from both sides. A *part* is what a transaction has in one partition."""

    transaction: Ints
    """By part, the number of its transaction, in the order of the coordinators' logs."""
    piece: Ints
    """By part, the row among the partition's pieces that ends with its marker, or has its data."""
    of_place: dict[Where, Ints]
    """By partition, its parts."""
    owner: dict[Where, Ints] = field(default_factory=dict)
    """By partition, the part that each of its pieces belongs to."""
    again: dict[int, list[int]] = field(default_factory=dict)
    """By part, rows of markers that were written again."""

    def parts_of(self, scanned: Scanned) -> Ints:
        """The parts in a partition."""
        place = scanned.summary.topic, scanned.summary.partition
        return self.of_place.get(place, np.empty(0, np.int64))

    def owners_in(self, scanned: Scanned) -> Ints:
        """The owners of a partition's pieces."""
        return self.owner[scanned.summary.topic, scanned.summary.partition]


def match(history: History, partitions: Iterable[Scanned]) -> Matched:
    """Find each other's counterparts."""
    result = _parts(history)
    for scanned in partitions:
        pieces, parts = scanned.pieces, result.parts_of(scanned)
        owner = np.full(len(pieces.producer_id), NONE, np.int64)
        result.owner[scanned.summary.topic, scanned.summary.partition] = owner
        _match_markers(history, pieces, parts, owner, result)
        _match_unmarked(history, pieces, parts, owner, result)
    return result


def _parts(history: History) -> Matched:
    """Each transaction with each of its partitions."""
    places = sorted(set().union(*history.places))
    number = {place: i for i, place in enumerate(places)}
    sizes = np.array([len(each) for each in history.places], np.int64)
    ordered = [number[place] for each in history.places for place in sorted(each)]
    first = np.cumsum(sizes) - sizes
    chosen = history.transactions.places
    count = sizes[chosen] if len(sizes) else chosen
    transaction = np.repeat(np.arange(len(history)), count)
    within = np.arange(len(transaction)) - np.repeat(np.cumsum(count) - count, count)
    place = np.array(ordered, np.int64)[first[chosen[transaction]] + within]
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(len(places)), side="right")
    of_place = dict(zip(places, np.split(order, ends[:-1]), strict=True)) if places else {}
    return Matched(transaction, np.full(len(transaction), NONE, np.int64), of_place)


def _match_markers(
    history: History, pieces: Pieces, parts: Ints, owner: Ints, result: Matched
) -> None:
    known = history.transactions
    rows = np.flatnonzero(pieces.marker_offset != NONE)
    parts = parts[known.committed[result.transaction[parts]] != NONE]
    of = result.transaction[parts]
    in_log, here = _grouped(
        (known.producer_id[of], known.marker_epoch[of]),
        (pieces.producer_id[rows], pieces.marker_epoch[rows]),
    )
    count = max(in_log.max(initial=NONE), here.max(initial=NONE)) + 1
    told, seen = np.bincount(in_log, minlength=count), np.bincount(here, minlength=count)
    equal = told == seen
    pairs = _in_groups(parts, in_log, equal), _in_groups(rows, here, equal)
    owner[pairs[1]], result.piece[pairs[0]] = pairs
    for group in np.flatnonzero(~equal & (told > 0) & (seen > 0)).tolist():
        candidates = parts[in_log == group]
        times = known.prepare_time[result.transaction[candidates]].tolist()
        for row in rows[here == group].tolist():
            i = bisect_right(times, int(pieces.marker_time[row])) - 1
            if i < 0:
                continue
            owner[row] = part = int(candidates[i])
            if result.piece[part] == NONE:
                result.piece[part] = row
            else:
                result.again.setdefault(part, []).append(row)


def _grouped(*keys: tuple[Ints, Ints]) -> list[Ints]:
    """Numbers for pairs of a producer id and an epoch, equal ones for equal pairs."""
    _, ids = np.unique(np.concatenate([each for each, _ in keys]), return_inverse=True)
    epochs = np.concatenate([each for _, each in keys])
    _, group = np.unique(ids * (1 << 17) + epochs, return_inverse=True)
    return np.split(group, np.cumsum([len(each) for each, _ in keys])[:-1])


def _in_groups(rows: Ints, groups: Ints, chosen: Bools) -> Ints:
    """The rows of these groups, in the order of groups and then in their own."""
    use = chosen[groups]
    return np.asarray(rows[use][np.argsort(groups[use], kind="stable")])


def _match_unmarked(
    history: History, pieces: Pieces, parts: Ints, owner: Ints, result: Matched
) -> None:
    """A piece without a marker belongs to the first transaction that still lacks one."""
    known = history.transactions
    late = pieces.previous_marker_epoch > pieces.producer_epoch
    rows = np.flatnonzero((pieces.marker_offset == NONE) & ~late)
    parts = parts[result.piece[parts] == NONE]
    of = result.transaction[parts]
    of_writers = np.isin(known.producer_id[of], pieces.producer_id[rows])
    parts, of = parts[of_writers], of[of_writers]
    lacking: dict[tuple[int, int], list[int]] = defaultdict(list)
    writers = zip(known.producer_id[of].tolist(), known.producer_epoch[of].tolist(), strict=True)
    for key, part in zip(writers, parts.tolist(), strict=True):
        lacking[key].append(part)
    for candidates in lacking.values():
        candidates.reverse()
    for row in rows.tolist():
        waiting = lacking.get((int(pieces.producer_id[row]), int(pieces.producer_epoch[row])))
        if waiting:
            owner[row] = part = waiting.pop()
            result.piece[part] = row
