"""Gzip, of which Kafka's clients write one member and read several."""

from __future__ import annotations

import zlib
from typing import Final, TypeAlias

from fencepost_protocol.records.bounds import corrupt, too_large

Buffer: TypeAlias = bytes | bytearray | memoryview

_FORMAT: Final = 16 + zlib.MAX_WBITS
_OUTPUT_CHUNK: Final = 1 << 20
_FIRST_INPUT_CHUNK: Final = 256
_INPUT_CHUNK_MAX: Final = 1 << 16


def compress(data: Buffer, level: int | None = None) -> bytes:
    """Write one member."""
    try:
        return zlib.compress(data, -1 if level is None else level, _FORMAT)
    except zlib.error as error:
        raise ValueError(str(error)) from error


def decompress(data: Buffer, limit: int) -> bytes | bytearray:
    """Decompress one member or several; the usual small one in a single call."""
    if not data:
        raise corrupt("gzip", "no stream", 0)
    try:
        first = zlib.decompressobj(_FORMAT)
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
            pos = _decompress_member(view, pos, out, limit)
    except zlib.error as error:
        raise corrupt("gzip", str(error)) from error
    return out


def _decompress_member(view: memoryview, pos: int, out: bytearray, limit: int) -> int:
    """Append what the member at ``pos`` holds to ``out``; give the position after it.

    zlib copies the input that it did not use, at every call. So input goes in by pieces that grow
    with the member, or a megabyte of 20-byte members would be copied 50,000 times.
    """
    member = zlib.decompressobj(_FORMAT)
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
