"""The table of problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from fencepost_pipeline.segments.files import Slice
from fencepost_pipeline.segments.problems import Problem
from fencepost_pipeline.segments.records import read_records

PROBLEM_SCHEMA: Final = pa.schema(
    [
        ("kind", pa.string()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("segment", pa.string()),
        ("position", pa.int64()),
        ("size", pa.int64()),
        ("offset", pa.int64()),
        ("reason", pa.string()),
    ]
)
"""One row per :class:`fencepost_pipeline.segments.Problem`."""


def read_problems(part: Slice) -> Iterator[pa.RecordBatch]:
    """Read a slice, and return only the problems of its batches and records."""
    problems: list[Problem] = []
    for _ in read_records(part, control=True, columns=("offset",), on_problem=problems.append):
        if problems:
            yield problem_rows(problems)
            problems.clear()
    if problems:
        yield problem_rows(problems)


def problem_rows(problems: Sequence[Problem]) -> pa.RecordBatch:
    """Make rows of problems."""
    return pa.RecordBatch.from_pylist(
        [
            {
                "kind": str(each.kind),
                "topic": each.topic,
                "partition": each.partition,
                "segment": each.path,
                "position": each.position,
                "size": each.size,
                "offset": each.offset,
                "reason": each.reason,
            }
            for each in problems
        ],
        schema=PROBLEM_SCHEMA,
    )
