"""The size of Arrow batches for the JVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

PIECE_BYTES: Final = (2 << 20) - (64 << 10)
"""With what is around it, a power of two: the JVM's Arrow takes no less for it, and keeps buffers
of this size for the next ones. Larger ones it gets of the system each time, page by page: where
records are large, batches of 16 MB take a third more CPU time of the whole query. Smaller ones cost
by their number."""


def in_pieces(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows, none of them copied, in pieces of about the same number of rows."""
    count = rows.num_rows
    step = max(1, count * PIECE_BYTES // max(rows.nbytes, PIECE_BYTES))
    for first in range(0, count, step):
        yield rows.slice(first, step)
