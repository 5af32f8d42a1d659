"""Batch headers of one partition as numpy columns, chunk by chunk in the order of offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
NONE: Final = -1
"""In columns of the audit: no such thing, or not known."""

COLUMNS: Final = (
    "segment",
    "position",
    "size",
    "base_offset",
    "last_offset",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "last_sequence",
    "record_count",
    "transactional",
    "control",
    "control_type",
    "coordinator_epoch",
    "crc_ok",
)
"""What the audit reads of the table ``batches``."""
CHUNK_ROWS: Final = 1 << 18
"""So many headers are looked at together: some 40 MB of columns, whatever a partition holds."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A chunk of a partition's batches; all columns have the same length."""

    segment: list[tuple[str, int]]
    """Each segment that begins in this chunk, with the offset of its first batch here."""
    position: Ints
    size: Ints
    base_offset: Ints
    last_offset: Ints
    base_timestamp: Ints
    max_timestamp: Ints
    producer_id: Ints
    producer_epoch: Ints
    base_sequence: Ints
    last_sequence: Ints
    record_count: Ints
    coordinator_epoch: Ints
    transactional: Bools
    marker: Bools
    """A commit or abort marker; other control batches are a quorum's own affair."""
    commit: Bools
    data: Bools
    crc_ok: Bools

    def __len__(self) -> int:
        return len(self.base_offset)


def rows_of(batch: pa.RecordBatch | pa.Table) -> Rows:
    """The columns of a piece of the table ``batches``."""
    table = pa.table(batch) if isinstance(batch, pa.RecordBatch) else batch

    def ints(name: str) -> Ints:
        column = table.column(name)
        filled = column.fill_null(-1) if column.null_count else column
        return np.asarray(filled.to_numpy(), np.int64)

    def bools(name: str, otherwise: bool = False) -> Bools:
        return np.asarray(table.column(name).fill_null(otherwise).to_numpy(), np.bool_)

    control = bools("control")
    kinds = table.column("control_type").cast(pa.string())
    commit = _equal(kinds, "commit")
    marker = control & (commit | _equal(kinds, "abort"))
    base_offset = ints("base_offset")
    return Rows(
        segment=_segments(table.column("segment"), base_offset),
        base_offset=base_offset,
        transactional=bools("transactional"),
        marker=marker,
        commit=commit & marker,
        data=~control,
        crc_ok=bools("crc_ok", otherwise=True),
        **{name: ints(name) for name in _INTS},
    )


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[Rows]:
    """The same batches in chunks of about :data:`CHUNK_ROWS`."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= CHUNK_ROWS:
            yield rows_of(pa.Table.from_batches(held))
            held, count = [], 0
    if count:
        yield rows_of(pa.Table.from_batches(held))


_INTS: Final = (
    "position",
    "size",
    "last_offset",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "last_sequence",
    "record_count",
    "coordinator_epoch",
)


def _equal(column: Any, word: str) -> Bools:
    import pyarrow.compute as pc

    return np.asarray(pc.fill_null(pc.equal(column, word), False).to_numpy(), np.bool_)


def _segments(column: Any, base_offset: Ints) -> list[tuple[str, int]]:
    """Where each segment begins: names repeat for thousands of rows, so only changes are read."""
    if not len(base_offset):
        return []
    codes = column.cast(pa.string()).combine_chunks().dictionary_encode()
    if isinstance(codes, pa.ChunkedArray):
        codes = codes.chunk(0)
    numbers = codes.indices.to_numpy()
    names = codes.dictionary.to_pylist()
    at = np.flatnonzero(np.diff(numbers, prepend=-1))
    return [(names[numbers[i]], int(base_offset[i])) for i in at]
