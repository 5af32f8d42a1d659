"""Zstandard: one frame or several, with or without their content size.

Streaming writers (Java's, librdkafka's) do not know the content size when they write the frame's
header; others write it. Blocks hold at most 128 KiB each, so walking over their three-byte headers
gives a bound on what a frame can unpack to, and at the same time shows where it ends.

For a frame without content size libzstd keeps a window of its own, at most as much again as the
frame unpacks to. It is given back with the frame's decompressor.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Final, TypeAlias

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

from fencepost_protocol.records.bounds import corrupt, too_large

Buffer: TypeAlias = bytes | bytearray | memoryview

_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_SKIPPABLE_MAGIC_END: Final = b"\x2a\x4d\x18"
_SKIPPABLE_MAGIC_FIRST: Final = range(0x50, 0x60)
_SKIPPABLE_HEADER: Final = 8

_RESERVED_FLAG: Final = 0x08
_SINGLE_SEGMENT_FLAG: Final = 0x20
_CHECKSUM_FLAG: Final = 0x04
_DICTIONARY_ID_SIZES: Final = (0, 1, 2, 4)
_CONTENT_SIZE_SIZES: Final = (0, 2, 4, 8)

_MAX_BLOCK: Final = 128 * 1024
_RAW, _RLE, _COMPRESSED = range(3)

_DEFAULT_LEVEL: Final = 3

_contexts = threading.local()
"""A compressor costs more to make than a small batch to compress, and is not for two threads."""


def compress(data: Buffer, level: int | None = None) -> bytes:
    """Compress into one frame with its content size."""
    if level is None:
        level = _DEFAULT_LEVEL
    if not -131_072 <= level <= 22:
        raise ValueError("zstd levels go from -131072 to 22")
    by_level: dict[int, zstd.ZstdCompressor] = _contexts.__dict__.setdefault("compressors", {})
    compressor = by_level.get(level)
    if compressor is None:
        by_level.clear()  # contexts of high levels are large; programs use one level
        compressor = by_level[level] = zstd.ZstdCompressor(level=level)
    compressor.set_pledged_input_size(len(data))
    return compressor.compress(data, zstd.ZstdCompressor.FLUSH_FRAME)


def decompress(data: Buffer, limit: int) -> bytes | bytearray:
    """Decompress all frames of ``data``."""
    view = memoryview(data)
    out: bytes | bytearray = b""
    for start, end, bound in _frames(view):
        content = _decompress_frame(view[start:end], start, bound, limit - len(out), limit)
        if not out:
            out = content
        else:
            out = out if isinstance(out, bytearray) else bytearray(out)
            out += content
    return out


def _decompress_frame(
    frame: memoryview, start: int, bound: int, left: int, limit: int
) -> bytes | bytearray:
    """Read one frame that holds at most ``bound`` bytes into the ``left`` ones of ``limit``."""
    content_size = _content_size(frame)
    if content_size is not None:
        if content_size > bound:
            raise corrupt("zstd", f"a frame for {bound} bytes says it has {content_size}", start)
        if content_size > left:
            raise too_large(limit)
    decompressor = zstd.ZstdDecompressor()
    content: bytes | bytearray
    try:
        if content_size is None:
            content = _in_pieces(decompressor, frame, left, limit)
        else:
            content = decompressor.decompress(frame, content_size + 1)
    except zstd.ZstdError as error:
        raise corrupt("zstd", str(error), start) from error
    if not decompressor.eof:
        raise corrupt("zstd", "the data ends within a frame", start)
    return content


def _in_pieces(
    decompressor: zstd.ZstdDecompressor, frame: memoryview, left: int, limit: int
) -> bytearray:
    """Read a frame of unknown size; the library itself would need its content's size twice."""
    out = bytearray()
    for start in range(0, len(frame), _MAX_BLOCK):
        data: Buffer = frame[start : start + _MAX_BLOCK]
        while True:
            out += decompressor.decompress(data, _MAX_BLOCK)
            if len(out) > left:
                raise too_large(limit)
            if decompressor.eof or decompressor.needs_input:
                break
            data = b""
    return out


def _content_size(frame: memoryview) -> int | None:
    """The content size in the header of a frame that was walked before."""
    flags = frame[4]
    single = flags & _SINGLE_SEGMENT_FLAG
    pos = 5 + (not single) + _DICTIONARY_ID_SIZES[flags & 3]
    size = _CONTENT_SIZE_SIZES[flags >> 6]
    if size == 2:
        return 256 + int.from_bytes(frame[pos : pos + 2], "little")
    if size == 0:
        return frame[pos] if single else None
    return int.from_bytes(frame[pos : pos + size], "little")


def _frames(view: memoryview) -> Iterator[tuple[int, int, int]]:
    """Give each data frame's start, end and the most that it can hold; skippable ones are skipped.

    All of ``view`` must be frames, and there must be one.
    """
    pos = 0
    if not view:
        raise corrupt("zstd", "no frame", 0)
    while pos < len(view):
        if bytes(view[pos : pos + 4]) == _MAGIC:
            end, bound = _walk_frame(view, pos)
            yield pos, end, bound
        elif bytes(view[pos + 1 : pos + 4]) == _SKIPPABLE_MAGIC_END and (
            view[pos] in _SKIPPABLE_MAGIC_FIRST
        ):
            end = pos + _SKIPPABLE_HEADER + int.from_bytes(view[pos + 4 : pos + 8], "little")
            if end > len(view):
                raise corrupt("zstd", "the data ends within a skippable frame", pos)
        else:
            raise corrupt("zstd", "not the start of a frame", pos)
        pos = end


def _walk_frame(view: memoryview, start: int) -> tuple[int, int]:
    """Find the end of the frame at ``start``, and the most that its blocks can hold."""
    try:
        flags = view[start + 4]
        if flags & _RESERVED_FLAG:
            raise corrupt("zstd", f"frame flags {flags:#04x}", start + 4)
        single = flags & _SINGLE_SEGMENT_FLAG
        pos = start + 5 + (not single)
        block_size = _MAX_BLOCK if single else min(_MAX_BLOCK, _window_size(view[start + 5]))
        pos += _DICTIONARY_ID_SIZES[flags & 3]
        pos += _CONTENT_SIZE_SIZES[flags >> 6] or (1 if single else 0)
        bound = 0
        last = 0
        while not last:
            header = view[pos] | view[pos + 1] << 8 | view[pos + 2] << 16
            pos += 3
            last, kind, size = header & 1, header >> 1 & 3, header >> 3
            if kind > _COMPRESSED or size > block_size:
                raise corrupt("zstd", f"a block of type {kind} and {size} bytes", pos - 3)
            bound += block_size if kind == _COMPRESSED else size
            pos += 1 if kind == _RLE else size
    except IndexError:
        raise corrupt("zstd", "the data ends within a frame", len(view)) from None
    if flags & _CHECKSUM_FLAG:
        pos += 4
    if pos > len(view):
        raise corrupt("zstd", "the data ends within a frame", len(view))
    return pos, bound


def _window_size(descriptor: int) -> int:
    """What the window descriptor's five bits of exponent and three of mantissa mean."""
    base = 1 << (10 + (descriptor >> 3))
    return base + (base >> 3) * (descriptor & 7)
