"""Finding the start of each record, the only step that cannot be vectorised.

A record's length says where the next one is. Records of one size stand at equal distances, though:
in a long batch a look at all places where a length must be tells how many of them there are. Then
all batches are walked side by side: a step finds the next record of each, with a few numpy calls.
When few batches are left that have more records, the rest of each is walked by itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from fencepost_protocol.records.reader import MIN_RECORD_SIZE
from fencepost_protocol.varint import read_varint

from fencepost_pipeline.columns.tables import Bytes, Flags, Numbers
from fencepost_pipeline.columns.varints import read_varints

_FEW: Final = 160
"""So many batches side by side cost a step as much as walking each of them one record further."""
_LONG: Final = 250
"""So many records of a batch are worth a look whether they have one size."""
_LONG_OF_FEW: Final = 60
"""Likewise, where batches are too few to be walked side by side."""
_SHORT: Final = 32
"""Fewer of one size, and the look costs more than it saves: the next ones have others."""


def walk(
    data: Bytes, raw: bytes | memoryview, starts: Numbers, ends: Numbers, counts: Numbers
) -> tuple[Numbers, Flags, Numbers]:
    """Walk batches whose records fill ``starts`` to ``ends``: where each record begins.

    The records of one batch stand after those of the batch before. The flags tell which batches do
    not come out even; of these the last numbers say how many records were walked before, and the
    positions of the others mean nothing.
    """
    positions = np.zeros(int(counts.sum()), np.int64)
    failed = np.zeros(len(counts), np.bool_)
    walked = counts.copy()
    first_rows = np.cumsum(counts) - counts
    taken, starts = _take_runs(data, raw, starts, ends, counts, positions, first_rows)
    order = np.argsort(taken - counts, kind="stable")
    descending = (taken - counts)[order]
    at = starts[order]
    stops = ends[order]
    rows = (first_rows + taken)[order]
    step = 0
    while True:
        width = int(np.searchsorted(descending, -step, side="left"))
        if width < _FEW:
            break
        here = at[:width]
        positions[rows[:width] + step] = here
        wrong = np.zeros(width, np.bool_)
        sizes, behind = read_varints(data, here, wrong)
        wrong |= sizes < MIN_RECORD_SIZE - 1
        behind += sizes
        wrong |= behind > stops[:width]
        if wrong.any():
            batches = order[:width][wrong]
            fresh = batches[~failed[batches]]
            failed[fresh] = True
            walked[fresh] = taken[fresh] + step
            behind = np.where(wrong, here, behind)
        at[:width] = behind
        step += 1
    for place in range(width):
        batch = int(order[place])
        if failed[batch]:
            continue
        left = int(counts[batch] - taken[batch]) - step
        found, at[place], failed[batch] = _walk_one(raw, int(at[place]), int(stops[place]), left)
        first = int(rows[place]) + step
        positions[first : first + len(found)] = found
        walked[batch] = int(taken[batch]) + step + len(found)
    uneven = np.zeros(len(counts), np.bool_)
    uneven[order] = at != stops
    return positions, failed | uneven, walked


def _take_runs(
    data: Bytes,
    raw: bytes | memoryview,
    starts: Numbers,
    ends: Numbers,
    counts: Numbers,
    positions: Numbers,
    first_rows: Numbers,
) -> tuple[Numbers, Numbers]:
    """Find the records of long batches up to where sizes begin to vary.

    How many were found of each batch, and where the next one is.
    """
    taken = np.zeros(len(counts), np.int64)
    starts = starts.copy()
    worth = _LONG if len(counts) >= _FEW else _LONG_OF_FEW
    for batch in np.flatnonzero(counts >= worth).tolist():
        at, end, count = int(starts[batch]), int(ends[batch]), int(counts[batch])
        row, last = int(first_rows[batch]), int(first_rows[batch]) + count
        while row < last:
            _, behind, failed = _walk_one(raw, at, end, 1)
            stride = behind - at
            if failed or at + _SHORT * stride > end or raw[behind] != raw[at]:
                break
            run = _run_length(data, at, stride, min(last - row, (end - at) // stride))
            if run < _SHORT:
                break
            positions[row : row + run] = np.arange(at, at + run * stride, stride)
            row += run
            at += run * stride
        taken[batch] = row - int(first_rows[batch])
        starts[batch] = at
    return taken, starts


def _run_length(data: Bytes, at: int, stride: int, most: int) -> int:
    """How many records from ``at`` on have the length of the first, which is right."""
    stop = at + (most - 1) * stride + 1
    place = at
    while True:
        same = data[place : stop + place - at : stride] == data[place]
        if not same.all():
            most = int(same.argmin())
            stop = at + (most - 1) * stride + 1
        if data[place] <= 0x7F:
            return most
        place += 1


def _walk_one(
    raw: bytes | memoryview, pos: int, end: int, count: int
) -> tuple[list[int], int, bool]:
    """Walk up to ``count`` records: where each begins, where they end, and whether one is wrong.

    The wrong one is not among those that were walked, it begins where they end.
    """
    found: list[int] = []
    smallest = MIN_RECORD_SIZE - 1
    for _ in range(count):
        size = raw[pos]
        if size < 0x80:
            behind = pos + 1 + (size >> 1)
            usual = not size & 1 and size >> 1 >= smallest
        else:
            more = raw[pos + 1]
            behind = pos + 2 + ((size & 0x7F | more << 7) >> 1)
            usual = more < 0x80 and not size & 1 and behind - pos > smallest + 1
        if not usual:
            try:
                size, behind = read_varint(raw, pos)
            except ValueError:
                return found, pos, True
            if size < smallest:
                return found, pos, True
            behind += size
        if behind > end:
            return found, pos, True
        found.append(pos)
        pos = behind
    return found, pos, False
