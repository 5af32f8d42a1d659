"""Variable-length integers of many records at once; see :mod:`fencepost_protocol.varint`."""

from __future__ import annotations

from typing import Final

import numpy as np

from fencepost_pipeline.columns.tables import Bytes, Flags, Numbers

PADDING: Final = 16
"""How many bytes past the last record may be read before it is noticed."""

_VARINT_BYTES: Final = 5
_VARLONG_BYTES: Final = 10


def read_varints(data: Bytes, at: Numbers, wrong: Flags) -> tuple[Numbers, Numbers]:
    """Read a signed 32-bit number at each position: the numbers, and the positions after them.

    ``data`` must go on for ``PADDING`` bytes after the last position. Where there is no such
    number, ``wrong`` is set and the number means nothing.
    """
    values, behind = _read(data, at, wrong, _VARINT_BYTES, 0x0F)
    return (values >> 1) ^ -(values & 1), behind


def read_varlongs(data: Bytes, at: Numbers, wrong: Flags) -> tuple[Numbers, Numbers]:
    """Read a signed 64-bit number at each position, as :func:`read_varints` does."""
    values, behind = _read(data, at, wrong, _VARLONG_BYTES, 0x01)
    halves = (values.view(np.uint64) >> np.uint64(1)).view(np.int64)
    return halves ^ -(values & 1), behind


def _read(
    data: Bytes, at: Numbers, wrong: Flags, most_bytes: int, last_max: int
) -> tuple[Numbers, Numbers]:
    """Collect groups of seven bits. The first two bytes are read for all, later ones where needed.

    ``last_max`` is the largest last byte of a number that takes all the bytes it may.
    """
    values = data[at].astype(np.int64)
    longer = values > 0x7F
    behind = at + 1
    if not longer.any():
        return values, behind
    second = data[behind].astype(np.int64)
    values = np.where(longer, values & 0x7F | (second & 0x7F) << 7, values)
    behind += longer
    rows = np.flatnonzero(longer & (second > 0x7F))
    for index in range(2, most_bytes):
        if not rows.size:
            break
        byte = data[behind[rows]].astype(np.int64)
        values[rows] |= (byte & 0x7F) << (7 * index)
        behind[rows] += 1
        if index == most_bytes - 1:
            wrong[rows[byte > last_max]] = True
        rows = rows[byte > 0x7F]
    return values, behind


def zigzag(numbers: Numbers) -> Numbers:
    """Map numbers so that small negative ones stay short; the result is to be seen as unsigned."""
    return (numbers << 1) ^ (numbers >> 63)


def varint_sizes(encoded: Numbers) -> Numbers:
    """How many bytes each of these takes, which :func:`zigzag` made."""
    rest = encoded.view(np.uint64) >> np.uint64(7)
    sizes = np.ones(len(encoded), np.int64)
    while True:
        more = rest != 0
        if not more.any():
            return sizes
        sizes += more
        rest = rest >> np.uint64(7)


def write_varints(out: Bytes, at: Numbers, encoded: Numbers) -> Numbers:
    """Write what :func:`zigzag` made at each position; the positions after them are returned."""
    rest = encoded.view(np.uint64)
    low = (rest & np.uint64(0x7F)).astype(np.uint8)
    rest = rest >> np.uint64(7)
    more = rest != 0
    out[at] = low | (more.astype(np.uint8) << 7)
    behind = at + 1
    rows = np.flatnonzero(more)
    rest = rest[rows]
    while rows.size:
        low = (rest & np.uint64(0x7F)).astype(np.uint8)
        rest = rest >> np.uint64(7)
        more = rest != 0
        out[behind[rows]] = low | (more.astype(np.uint8) << 7)
        behind[rows] += 1
        rows, rest = rows[more], rest[more]
    return behind
