"""The table of records."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from fencepost_protocol import limits
from fencepost_protocol.records.batch import CONTROL_FLAG, InvalidBatchError

from fencepost_pipeline.columns import RECORD_SCHEMA, iter_decode
from fencepost_pipeline.segments.block_reader import Block, read_blocks
from fencepost_pipeline.segments.files import Slice
from fencepost_pipeline.segments.problems import OnProblem, ignore_problem

RECORD_TABLE_SCHEMA: Final = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        *RECORD_SCHEMA,
    ]
)
"""One row per record: what ``fencepost_pipeline.columns.RECORD_SCHEMA`` says, and where from."""


def read_records(
    part: Slice,
    *,
    control: bool = False,
    check_crcs: bool = True,
    columns: Container[str] | None = None,
    limit: int = limits.MAX_DECOMPRESSED_BYTES,
    on_problem: OnProblem = ignore_problem,
) -> Iterator[pa.RecordBatch]:
    """Read all records of a slice, some thousand at a time, in bounded memory.

    The table has all records of the file, committed or not; with ``control`` also markers. A batch
    that cannot be read is reported to ``on_problem`` and skipped. ``columns`` selects columns;
    ``None`` means all. ``limit`` is the largest size of an uncompressed batch.
    """
    for block in read_blocks(part, on_problem):
        yield from _read_block(block, control, check_crcs, columns, limit, on_problem)


def _read_block(
    block: Block,
    control: bool,
    check_crcs: bool,
    columns: Container[str] | None,
    limit: int,
    on_problem: OnProblem,
) -> Iterator[pa.RecordBatch]:
    wanted = np.ones(len(block.starts), np.bool_)
    if check_crcs:
        wanted = block.check_crcs()
        for place in np.flatnonzero(~wanted).tolist():
            on_problem(block.problem(place, "the batch's CRC is not that of its bytes"))
    if not control:
        wanted &= block.headers["attributes"] & CONTROL_FLAG == 0
    places = np.flatnonzero(wanted).tolist()
    views = block.views()

    def tell(number: int, error: InvalidBatchError) -> None:
        on_problem(block.problem(places[number], str(error)))

    segment = block.part.segment
    for rows in iter_decode(
        (views[place] for place in places),
        control=control,
        limit=limit,
        columns=columns,
        on_error=tell,
    ):
        where = {
            "topic": pa.repeat(pa.scalar(segment.topic), rows.num_rows),
            "partition": pa.repeat(pa.scalar(segment.partition, pa.int32()), rows.num_rows),
        }
        schema = [f for f in RECORD_TABLE_SCHEMA if columns is None or f.name in columns]
        yield pa.RecordBatch.from_arrays(
            [where[f.name] if f.name in where else rows.column(f.name) for f in schema],
            schema=pa.schema(schema),
        )
