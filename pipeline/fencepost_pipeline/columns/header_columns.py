"""The headers of many records at once: from their bytes to a list column.

The n-th headers of all records are found side by side, for n from 1 to what the record with the
most headers has. Records with very many are walked one by one instead: they are rare, and nobody
shall buy a hundred thousand numpy calls with one of them.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
from fencepost_protocol import limits
from fencepost_protocol.varint import read_varint

from fencepost_pipeline.columns.binary_columns import take_pairs
from fencepost_pipeline.columns.tables import HEADERS_TYPE, Bytes, Flags, Numbers
from fencepost_pipeline.columns.varints import read_varints

_MANY: Final = 64
_MIN_HEADER_SIZE: Final = 2


class HeaderSpans(NamedTuple):
    """Where the headers of some records are."""

    counts: Numbers
    """Per record; 0 for most."""
    bounds: Numbers
    """Per header: start and end of its key, start and end of its value."""
    null_values: Flags
    """Per header."""


def find_headers(data: Bytes, at: Numbers, behind: Numbers, wrong: Flags) -> HeaderSpans:
    """Find all headers of records whose header counts are at ``at`` and which end at ``behind``.

    Where they are not right, or do not end where the record does, ``wrong`` is set.
    """
    first = data[at]
    wrong |= (first == 0) & (at + 1 != behind)
    counts = np.zeros(len(at), np.int64)
    rows = np.flatnonzero((first != 0) & ~wrong)
    if not rows.size:
        return HeaderSpans(counts, np.zeros((0, 4), np.int64), np.zeros(0, np.bool_))
    ends = behind[rows]
    bad = np.zeros(rows.size, np.bool_)
    some, pos = read_varints(data, at[rows], bad)
    bad |= (some < 0) | (some > (ends - pos) // _MIN_HEADER_SIZE)
    bad |= some > limits.MAX_RECORD_HEADERS
    some[bad] = 0
    bounds = np.zeros((int(some.sum()), 4), np.int64)
    null_values = np.zeros(len(bounds), np.bool_)
    firsts = np.cumsum(some) - some
    _find_side_by_side(data, pos, ends, some, firsts, bounds, null_values, bad)
    for row in np.flatnonzero(some > _MANY).tolist():
        span = slice(int(firsts[row]), int(firsts[row] + some[row]))
        pos[row] = _find_of_one(
            data.data, int(pos[row]), int(ends[row]), bounds[span], null_values[span]
        )
    bad |= pos != ends
    wrong[rows[bad]] = True
    counts[rows] = some
    return HeaderSpans(counts, bounds, null_values)


def _find_side_by_side(
    data: Bytes,
    pos: Numbers,
    ends: Numbers,
    counts: Numbers,
    firsts: Numbers,
    bounds: Numbers,
    null_values: Flags,
    bad: Flags,
) -> None:
    """Find the headers of all records that have few; ``pos`` moves past the last ones."""
    rows = np.flatnonzero((counts > 0) & (counts <= _MANY))
    step = 0
    while rows.size:
        end = ends[rows]
        wrong = np.zeros(rows.size, np.bool_)
        size, key_start = read_varints(data, pos[rows], wrong)
        key_end = key_start + size
        wrong |= (size < 0) | (key_end >= end)
        key_end = np.where(wrong, key_start, key_end)
        size, value_start = read_varints(data, key_end, wrong)
        value_end = value_start + np.maximum(size, 0)
        wrong |= value_end > end
        places = firsts[rows] + step
        bounds[places] = np.stack((key_start, key_end, value_start, value_end), axis=1)
        null_values[places] = size < 0
        pos[rows] = value_end
        bad[rows[wrong]] = True
        step += 1
        rows = rows[~wrong & (counts[rows] > step)]


def _find_of_one(raw: memoryview, pos: int, end: int, bounds: Numbers, null_values: Flags) -> int:
    """Find the headers of one record; the position after them, or -1 if they are not right."""
    found: list[tuple[int, int, int, int]] = []
    nulls: list[bool] = []
    try:
        for _ in range(len(bounds)):
            size, key_start = read_varint(raw, pos)
            key_end = key_start + size
            if size < 0 or key_end >= end:
                return -1
            size, value_start = read_varint(raw, key_end)
            pos = value_start + max(size, 0)
            if pos > end:
                return -1
            found.append((key_start, key_end, value_start, pos))
            nulls.append(size < 0)
    except (IndexError, ValueError):
        return -1
    bounds[:] = found
    null_values[:] = nulls
    return pos


def headers_column(source: pa.Buffer, spans: HeaderSpans) -> pa.Array:
    """Make a list column of them, null where a record has none."""
    counts = spans.counts
    if not len(spans.bounds):
        return pa.nulls(len(counts), HEADERS_TYPE)
    keys, values = take_pairs(source, spans.bounds, None, spans.null_values)
    pairs = pa.StructArray.from_arrays([_text(keys), values], fields=list(HEADERS_TYPE.value_type))
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return pa.ListArray.from_arrays(
        pa.array(offsets), pairs, type=HEADERS_TYPE, mask=pa.array(counts == 0)
    )


def _text(keys: pa.Array) -> Any:
    """Make text of header keys; what is no UTF-8 comes with replacement characters."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([str(key, "utf-8", "replace") for key in keys.to_pylist()], pa.string())
