"""Rows into a record batch that a partition takes."""

from __future__ import annotations

import pyarrow as pa
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.writer import build_batch


def encode(
    rows: pa.RecordBatch, now_ms: int, codec: Compression, *, transactional: bool
) -> bytearray:
    """One batch of all rows, without numbers: these it gets when it leaves."""
    keys = rows.column("key")
    headers = {}
    if "headers" in rows.schema.names:
        headers = {
            index: [(each["key"], each["value"]) for each in given]
            for index, given in enumerate(rows.column("headers").to_pylist())
            if given
        }
    return build_batch(
        None if keys.null_count == len(keys) else keys.to_pylist(),
        rows.column("value").to_pylist(),
        now_ms,
        headers,
        codec=codec,
        transactional=transactional,
    )
