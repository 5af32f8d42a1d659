"""Large reads of files go into memory that is used again, and their views keep their bytes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.disk.read_memory import (
    BLOCK_BYTES,
    BLOCKS_MAX,
    CAN_REUSE,
    LARGE_READ,
)


@pytest.mark.skipif(not CAN_REUSE, reason="only Linux resizes maps")
def test_memory_of_a_large_read_is_used_again_when_its_views_are_gone(tmp_path: Path) -> None:
    file = FileDisk(tmp_path).open("a")
    block = BLOCK_BYTES
    file.pwrite(0, b"".join(bytes([number]) * block for number in range(BLOCKS_MAX + 4)))

    first = file.views(0, block)
    memory = first[0].obj
    assert file.views(block, block)[0].obj is not memory, "the first view is still there"
    assert bytes(first[0]) == bytes(block)
    del first
    again = file.views(2 * block, block)
    assert again[0].obj is memory
    assert bytes(again[0][:1]) == b"\x02"
    del again
    held = [file.views(number * block, block) for number in range(BLOCKS_MAX + 4)]
    assert [bytes(view) for (view,) in held] == [
        bytes([number]) * block for number in range(BLOCKS_MAX + 4)
    ], "more views than blocks"


def test_a_large_read_ends_with_the_file(tmp_path: Path) -> None:
    file = FileDisk(tmp_path).open("a")
    written = random.Random(1).randbytes(2 * BLOCK_BYTES + 1000)
    file.pwrite(0, written)
    assert b"".join(file.views(10, len(written))) == written[10:]
    assert b"".join(file.views(len(written) - LARGE_READ, 2 * LARGE_READ)) == written[-LARGE_READ:]
    assert b"".join(file.views(len(written), LARGE_READ)) == b""
