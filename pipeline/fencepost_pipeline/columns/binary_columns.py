"""Binary columns from parts of a buffer, without an object for each part."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from fencepost_pipeline.columns.tables import Flags, Numbers


def take_pairs(
    source: pa.Buffer, bounds: Numbers, no_first: Flags | None, no_second: Flags
) -> tuple[pa.Array, pa.Array]:
    """Copy two pieces per row out of ``source``: columns of keys and of values.

    A row of ``bounds`` is (start and end of the first, start and end of the second), and no number
    is smaller than the one before it. So the pieces and what is between them are the elements of
    one Arrow array over the whole buffer, of which every fourth is taken.
    """
    count = len(bounds)
    offsets = bounds.astype(np.int32).reshape(-1)
    if not count:
        empty = pa.array([], pa.binary())
        return empty, empty
    everything = pa.Array.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), source]
    )
    return (
        everything.take(_indices(0, count, no_first)),
        everything.take(_indices(2, count, no_second)),
    )


def _indices(first: int, count: int, nulls: Flags | None) -> pa.Array:
    numbers = np.arange(first, 4 * count, 4, dtype=np.int32)
    return pa.array(numbers, mask=nulls if nulls is not None and nulls.any() else None)
