"""The memory that large reads go into.

New memory costs a page fault for each 4 KB of it, which is more than the read itself costs. So some
blocks are kept, and a block is used again when there are no views of it left.
"""

from __future__ import annotations

import mmap
import os
import sys
from typing import Final

CAN_REUSE: Final = sys.platform.startswith("linux") and hasattr(os, "preadv")
"""Whether a map can be resized, which shows that there are no views of it."""
LARGE_READ: Final = 64 * 1024
"""Less comes from the heap, which has it at hand."""
BLOCK_BYTES: Final = 1 << 20
"""What a client asks for of a partition, by default."""
BLOCKS_MAX: Final = 16


def has_views(memory: mmap.mmap) -> bool:
    """Return whether there are views of a map; if so, Python refuses to resize it."""
    try:
        memory.resize(len(memory))  # changes nothing
    except BufferError:
        return True
    return False


class ReadMemory:
    """Blocks of memory for the reads of one disk, on one thread."""

    __slots__ = ("_blocks",)

    def __init__(self) -> None:
        self._blocks: list[mmap.mmap] = []

    def read(self, descriptor: int, position: int, length: int) -> list[memoryview]:
        """Read a range of a file, or what there is of it, in pieces of a block at most."""
        pieces = []
        while length:
            wanted = min(length, BLOCK_BYTES)
            block = self._unused()
            if block is None:
                piece = memoryview(os.pread(descriptor, wanted, position))
            else:
                view = memoryview(block)[:wanted]
                piece = view[: os.preadv(descriptor, [view], position)].toreadonly()
            pieces.append(piece)
            if len(piece) < wanted:
                break
            position += wanted
            length -= wanted
        return pieces

    def _unused(self) -> mmap.mmap | None:
        """Return a block without views, a new one if need be; None if there are enough."""
        for block in self._blocks:
            if not has_views(block):
                return block
        if len(self._blocks) == BLOCKS_MAX:
            return None
        block = mmap.mmap(-1, BLOCK_BYTES)
        self._blocks.append(block)
        return block
