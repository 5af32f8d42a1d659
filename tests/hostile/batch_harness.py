"""Batches with a body of one's own."""

from __future__ import annotations

import struct

from fencepost_protocol.records.batch import (
    ATTRIBUTES_OFFSET,
    HEADER_SIZE,
    renew_crc,
)
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.writer import build_batch

SMALLEST = b"\x0c\x00\x00\x00\x01\x01\x00"
"""A record of neither key nor value: seven bytes."""


def with_body(body: bytes, codec: Compression, count: int = 1, attributes: int = 0) -> bytes:
    """A batch of these compressed bytes that says it has so many records."""
    batch = build_batch(None, [b""], 1_000)[:HEADER_SIZE] + body
    struct.pack_into(">i", batch, 8, len(batch) - 12)
    struct.pack_into(">h", batch, ATTRIBUTES_OFFSET, codec | attributes)
    struct.pack_into(">i", batch, 23, count - 1)
    struct.pack_into(">i", batch, 57, count)
    renew_crc(batch)
    return bytes(batch)
