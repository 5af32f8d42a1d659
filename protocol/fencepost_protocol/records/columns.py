"""Reading all records of a batch at once, a list per field: the consumer's way.

A list per field costs less than an object per record, and is what a consumer that hands out
batches, a data frame or an audit wants anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost_protocol import limits
from fencepost_protocol.records.batch import Buffer, RawHeader
from fencepost_protocol.records.reader import Headers
from fencepost_protocol.records.spans import read_spans


@dataclass(slots=True)
class RecordColumns:
    """All records of a batch, a list per field; keys and values are copies."""

    offsets: list[int]
    timestamps: list[int]
    keys: list[bytes | None]
    values: list[bytes | None]
    headers: dict[int, Headers]
    """By position in the lists; records without headers, most of them, are left out."""

    def __len__(self) -> int:
        return len(self.offsets)


def read_columns(
    batch: Buffer,
    limit: int = limits.MAX_DECOMPRESSED_BYTES,
    header: RawHeader | None = None,
) -> RecordColumns:
    """Read all records of one batch.

    The CRC is the caller's to check. A compressed batch is decompressed whole, up to ``limit``.
    Who has unpacked the header already gives it.
    """
    spans = read_spans(batch, limit, header)
    headers: dict[int, Headers] = {}
    for index in spans.headers:
        found = spans.read_headers(index)
        if found:
            headers[index] = found
    return RecordColumns(
        list(spans.offsets),
        spans.timestamps(),
        spans.keys(),
        spans.values(),
        headers,
    )
