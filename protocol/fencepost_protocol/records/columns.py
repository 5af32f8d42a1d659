"""Reading all records of a batch at once, a list per field: the consumer's way.

A list per field costs less than an object per record, and is what a consumer that hands out
batches, a data frame or an audit wants anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost_protocol import limits
from fencepost_protocol.records.batch import (
    CODEC_MASK,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD,
    Buffer,
    RawHeader,
    unpack_header,
)
from fencepost_protocol.records.reader import Headers
from fencepost_protocol.records.regular import read_regular
from fencepost_protocol.records.spans import FAR, add_base, read_spans


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
    if header is None:
        header = unpack_header(batch)
    columns = _read_regular(batch, header)
    if columns is not None:
        return columns
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


def _read_regular(batch: Buffer, header: RawHeader) -> RecordColumns | None:
    """Read a batch as :mod:`fencepost_protocol.records.regular` does, if it can be read so."""
    base_offset, attributes, base, count = header[0], header[5], header[7], header[12]
    if (
        attributes & (CODEC_MASK | LOG_APPEND_TIME_FLAG)
        or header[6] != count - 1
        or header[1] != len(batch) - LOG_OVERHEAD
        or base_offset >= FAR
        or not -FAR < base < FAR
    ):
        return None
    regular = read_regular(batch, count)
    if regular is None:
        return None
    times, keys, values = regular
    offsets = list(range(base_offset, base_offset + count))
    return RecordColumns(offsets, add_base(times, base), keys, values, {})
