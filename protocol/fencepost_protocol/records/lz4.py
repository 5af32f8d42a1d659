"""LZ4 in its frame format, in the variant that Kafka's Java classes can read.

Those read one frame of *independent* blocks; with dependent ones, which most LZ4 libraries make
unless told otherwise, they fail. We refuse such frames too: a client that sends them would pass
here and fail against Apache Kafka.

What is written is what the Java classes write: blocks of at most 64 KiB of data, no checksums, no
content size, so the same seven bytes begin every frame (the last is a hash of the two before it).
"""

from __future__ import annotations

import struct
from typing import Final, TypeAlias

import cramjam

from fencepost_protocol.records.bounds import corrupt, too_large

Buffer: TypeAlias = bytes | bytearray | memoryview

_MAGIC: Final = b"\x04\x22\x4d\x18"
_FRAME_START: Final = _MAGIC + b"\x60\x40\x82"
_BLOCK: Final = 64 * 1024
_U32: Final = struct.Struct("<I")
_U64: Final = struct.Struct("<Q")
_STORED_FLAG: Final = 0x8000_0000
_END_MARK: Final = bytes(4)

_VERSION_MASK: Final = 0xC0
_VERSION_1: Final = 0x40
_INDEPENDENT_FLAG: Final = 0x20
_BLOCK_CHECKSUM_FLAG: Final = 0x10
_CONTENT_SIZE_FLAG: Final = 0x08
_CONTENT_CHECKSUM_FLAG: Final = 0x04
_RESERVED_MASK: Final = 0x03
_BLOCK_SIZES: Final = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}

_MAX_RATIO: Final = 255
_RATIO_SLACK: Final = 64

_JAVA_DEFAULT_LEVEL: Final = 9


def compress(data: Buffer, level: int | None = None) -> bytes:
    """Write one frame.

    As in Kafka, level 9, its default, means the fast compressor, and any other number the strong
    one at that level. The library's strong frames carry block checksums, which Java checks.
    """
    if level is not None and level != _JAVA_DEFAULT_LEVEL:
        if not 1 <= level <= 17:
            raise ValueError("LZ4 levels go from 1 to 17")
        compressor = cramjam.lz4.Compressor(
            level=min(level, 12), content_checksum=False, block_linked=False
        )
        compressor.compress(data)
        return bytes(compressor.finish())
    view = memoryview(data)
    parts = [_FRAME_START]
    for start in range(0, len(view), _BLOCK):
        piece = view[start : start + _BLOCK]
        block = bytes(cramjam.lz4.compress_block(piece, store_size=False))
        if len(block) < len(piece):
            parts += (_U32.pack(len(block)), block)
        else:
            parts += (_U32.pack(len(piece) | _STORED_FLAG), bytes(piece))
    parts.append(_END_MARK)
    return b"".join(parts)


def decompress(data: Buffer, limit: int) -> bytearray:
    """Read one frame, checksums and all.

    The library writes into a buffer of ours and stops at its end, so all that is needed is a bound:
    the frame's structure gives one, without looking at what the blocks hold.
    """
    view = memoryview(data)
    bound = _frame_bound(view, limit)
    out = bytearray(min(bound, limit))
    try:
        size = cramjam.lz4.decompress_into(view, out)
    except cramjam.DecompressionError as error:
        if bound > limit:
            raise too_large(limit, "bad LZ4 data, or ") from error
        raise corrupt("LZ4", str(error)) from error
    del out[size:]
    return out


def _frame_bound(view: memoryview, limit: int) -> int:
    """Check that ``view`` is exactly one frame; give the most that it can hold."""
    if len(view) < len(_FRAME_START) or bytes(view[:4]) != _MAGIC:
        raise corrupt("LZ4", "not the start of a frame", 0)
    flags = view[4]
    if flags & _VERSION_MASK != _VERSION_1 or flags & _RESERVED_MASK:
        raise corrupt("LZ4", f"frame flags {flags:#04x}", 4)
    if not flags & _INDEPENDENT_FLAG:
        raise corrupt("LZ4", "dependent blocks, which Kafka does not read", 4)
    block_size = _BLOCK_SIZES.get(view[5] >> 4)
    if block_size is None or view[5] & 0x0F:
        raise corrupt("LZ4", f"block size code {view[5]:#04x}", 5)
    pos = len(_FRAME_START)
    if flags & _CONTENT_SIZE_FLAG:
        if len(view) < pos + _U64.size:
            raise corrupt("LZ4", "the frame ends within its header", pos)
        if _U64.unpack_from(view, pos - 1)[0] > limit:
            raise too_large(limit)
        pos += _U64.size
    bound, pos = _blocks_bound(view, pos, block_size, flags)
    if flags & _CONTENT_CHECKSUM_FLAG:
        pos += _U32.size
    if pos != len(view):
        where = min(pos, len(view))
        raise corrupt("LZ4", f"the frame should end at {pos}, the data end at {len(view)}", where)
    return bound


def _blocks_bound(view: memoryview, pos: int, block_size: int, flags: int) -> tuple[int, int]:
    """Walk the blocks; give the most that they can hold, and the position after the end mark."""
    checksum = _U32.size if flags & _BLOCK_CHECKSUM_FLAG else 0
    bound = 0
    while True:
        if len(view) - pos < _U32.size:
            raise corrupt("LZ4", "the frame has no end mark", pos)
        word = _U32.unpack_from(view, pos)[0]
        pos += _U32.size
        if word == 0:
            return bound, pos
        length = word & ~_STORED_FLAG
        if length > block_size or length > len(view) - pos - checksum:
            raise corrupt(
                "LZ4", f"a block of {length} bytes, {len(view) - pos} are left", pos - _U32.size
            )
        if word & _STORED_FLAG:
            bound += length
        else:
            bound += min(block_size, length * _MAX_RATIO + _RATIO_SLACK)
        pos += length + checksum
