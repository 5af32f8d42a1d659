"""Snappy: raw blocks, bare or in the stream format of the snappy-java library.

Kafka's Java clients and its broker write snappy-java's stream: a header of 16 bytes, then chunks,
each an i32 length and one raw block of at most 32 KiB of data::

    82 53 4e 41 50 50 59 00   magic
    00 00 00 01               version
    00 00 00 01               lowest version that can read it
    00 00 00 0a  ..           chunk
    ...

librdkafka, franz-go and what is built on them send one raw block with nothing around it.
snappy-java's reader falls back to that when the magic is missing, so a Kafka broker takes both and
so do we. Two more things that a Kafka broker was seen to take: a header in place of a chunk
(streams written one after the other), and any version (some write it with the wrong end first).
"""

from __future__ import annotations

import struct
from typing import Final, TypeAlias

import cramjam

from fencepost_protocol.records.bounds import corrupt, too_large

Buffer: TypeAlias = bytes | bytearray | memoryview

_MAGIC: Final = b"\x82SNAPPY\x00"
_HEADER: Final = _MAGIC + struct.pack(">ii", 1, 1)
_CHUNK: Final = 32 * 1024
_LENGTH: Final = struct.Struct(">i")

_MAX_RATIO: Final = 22
"""One copy element makes 64 bytes of 3: a block that claims a larger ratio is not one."""
_RATIO_SLACK: Final = 64


def compress(data: Buffer) -> bytes:
    """Write the stream format, which every client reads."""
    view = memoryview(data)
    parts = [_HEADER]
    for start in range(0, len(view), _CHUNK):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _CHUNK]))
        parts += (_LENGTH.pack(len(block)), block)
    return b"".join(parts)


def decompress(data: Buffer, limit: int) -> bytearray:
    """Read the stream format or one raw block."""
    view = memoryview(data)
    blocks = _chunks(view) if bytes(view[: len(_MAGIC)]) == _MAGIC else [(0, len(view))]
    sizes = [_claimed_size(view, start, end) for start, end in blocks]
    total = sum(sizes)
    if total > limit:
        raise too_large(limit)
    out = bytearray(total)
    with memoryview(out) as target:
        pos = 0
        for (start, end), size in zip(blocks, sizes, strict=True):
            try:
                cramjam.snappy.decompress_raw_into(view[start:end], target[pos : pos + size])
            except cramjam.DecompressionError as error:
                raise corrupt("snappy", str(error), start) from error
            pos += size
    return out


def _chunks(view: memoryview) -> list[tuple[int, int]]:
    """Where the raw blocks of a stream begin and end."""
    blocks = []
    pos = 0
    while pos < len(view):
        if bytes(view[pos : pos + len(_MAGIC)]) == _MAGIC:
            pos += len(_HEADER)
            if pos > len(view):
                raise corrupt("snappy", "the stream ends within its header", len(view))
            continue
        start = pos + _LENGTH.size
        if start > len(view):
            raise corrupt("snappy", "the stream ends within a chunk's length", pos)
        (length,) = _LENGTH.unpack_from(view, pos)
        if not 0 <= length <= len(view) - start:
            raise corrupt("snappy", f"a chunk of {length} bytes, {len(view) - start} are left", pos)
        pos = start + length
        blocks.append((start, pos))
    return blocks


def _claimed_size(view: memoryview, start: int, end: int) -> int:
    """How much a raw block says it holds, if a block of its length can hold that much."""
    try:
        size = cramjam.snappy.decompress_raw_len(view[start:end])
    except cramjam.DecompressionError as error:
        raise corrupt("snappy", str(error), start) from error
    if end == start or size > (end - start) * _MAX_RATIO + _RATIO_SLACK:
        raise corrupt("snappy", f"a block of {end - start} bytes cannot hold {size}", start)
    return size
