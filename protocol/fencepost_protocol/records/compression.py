"""The four codecs of record batches, with a bound on what a few bytes may grow into.

Everything that decompresses here promises the same three things:

- It gives back the whole data, or raises :class:`RemoteProtocolError` and nothing else, whatever
  the input. A stream that stops early and bytes after the end are errors too. (Kafka's own readers
  stop at the end of the first LZ4 frame and overlook what stands after a gzip trailer; no client
  is known to write such.)
- What would unpack to more than ``limit`` is refused before memory for more than that is taken,
  give or take a chunk of a megabyte and the spare room of a growing ``bytearray``.
- Time is linear in the size of input and output: thousands of empty frames cost no more than their
  bytes.

Each codec's library is imported when the codec is first used: a broker whose clients compress
nothing, or with one codec, starts without the others.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

from fencepost_protocol import limits
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.records.bounds import too_large

Buffer: TypeAlias = bytes | bytearray | memoryview


class Compression(IntEnum):
    """What bits 0 to 2 of a batch's attributes say."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: Compression, data: Buffer, level: int | None = None) -> bytes:
    """Compress in the framing that Kafka's own clients write and read.

    ``level`` means what the ``compression.<codec>.level`` settings mean (KIP-390); snappy has none.
    """
    if codec == Compression.NONE:
        return bytes(data)
    try:
        if codec == Compression.GZIP:
            from fencepost_protocol.records import gzip

            return gzip.compress(data, level)
        if codec == Compression.SNAPPY:
            from fencepost_protocol.records import snappy

            return snappy.compress(data)
        if codec == Compression.LZ4:
            from fencepost_protocol.records import lz4

            return lz4.compress(data, level)
        from fencepost_protocol.records import zstd

        return zstd.compress(data, level)
    except ValueError as error:
        raise LocalProtocolError(f"{codec.name} has no level {level}: {error}") from error


def decompress(
    codec: Compression, data: Buffer, limit: int = limits.MAX_DECOMPRESSED_BYTES
) -> bytes | bytearray:
    """Decompress all of ``data``; at most ``limit`` bytes may come out."""
    if codec == Compression.NONE:
        if len(data) > limit:
            raise too_large(limit)
        return bytes(data)
    if codec == Compression.GZIP:
        from fencepost_protocol.records import gzip

        return gzip.decompress(data, limit)
    if codec == Compression.SNAPPY:
        from fencepost_protocol.records import snappy

        return snappy.decompress(data, limit)
    if codec == Compression.LZ4:
        from fencepost_protocol.records import lz4

        return lz4.decompress(data, limit)
    from fencepost_protocol.records import zstd

    return zstd.decompress(data, limit)
