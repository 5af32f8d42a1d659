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

import zlib
from enum import IntEnum
from typing import Final, TypeAlias

from fencepost_protocol import limits
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.records.bounds import corrupt, too_large

Buffer: TypeAlias = bytes | bytearray | memoryview

_GZIP_FORMAT: Final = 16 + zlib.MAX_WBITS
_OUTPUT_CHUNK: Final = 1 << 20
_FIRST_INPUT_CHUNK: Final = 256
_INPUT_CHUNK_MAX: Final = 1 << 16


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
            return zlib.compress(data, -1 if level is None else level, _GZIP_FORMAT)
        if codec == Compression.SNAPPY:
            from fencepost_protocol.records import snappy

            return snappy.compress(data)
        if codec == Compression.LZ4:
            from fencepost_protocol.records import lz4

            return lz4.compress(data, level)
        from fencepost_protocol.records import zstd

        return zstd.compress(data, level)
    except (ValueError, zlib.error) as error:
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
        return _decompress_gzip(data, limit)
    if codec == Compression.SNAPPY:
        from fencepost_protocol.records import snappy

        return snappy.decompress(data, limit)
    if codec == Compression.LZ4:
        from fencepost_protocol.records import lz4

        return lz4.decompress(data, limit)
    from fencepost_protocol.records import zstd

    return zstd.decompress(data, limit)


def _decompress_gzip(data: Buffer, limit: int) -> bytes | bytearray:
    """Decompress one gzip member or several; the usual small one in a single call."""
    if not data:
        raise corrupt("gzip", "no stream", 0)
    try:
        first = zlib.decompressobj(_GZIP_FORMAT)
        whole = first.decompress(data, min(_OUTPUT_CHUNK, limit + 1))
        if len(whole) > limit:
            raise too_large(limit)
        if first.eof and not first.unused_data:
            return whole
        del first, whole
        out = bytearray()
        view = memoryview(data)
        pos = 0
        while pos < len(view):
            pos = _decompress_gzip_member(view, pos, out, limit)
    except zlib.error as error:
        raise corrupt("gzip", str(error)) from error
    return out


def _decompress_gzip_member(view: memoryview, pos: int, out: bytearray, limit: int) -> int:
    """Append what the member at ``pos`` holds to ``out``; give the position after it.

    zlib copies the input that it did not use, at every call. So input goes in by pieces that grow
    with the member, or a megabyte of 20-byte members would be copied 50,000 times.
    """
    member = zlib.decompressobj(_GZIP_FORMAT)
    step = _FIRST_INPUT_CHUNK
    while not member.eof:
        piece: Buffer = view[pos : pos + step]
        if not piece:
            raise corrupt("gzip", "the stream ends too early", pos)
        pos += len(piece)
        step = min(step * 2, _INPUT_CHUNK_MAX)
        while piece:
            produced = member.decompress(piece, _OUTPUT_CHUNK)
            if len(out) + len(produced) > limit:
                raise too_large(limit)
            out += produced
            piece = member.unconsumed_tail
    return pos - len(member.unused_data)
