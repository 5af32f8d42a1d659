"""What is particular about a Produce of many thousand batches.

Its batches have nothing to do with each other and may be appended in parts, but where there is a
transaction: then the coordinator is asked once, for all of them.
"""

from __future__ import annotations

from typing import Final

from fencepost_protocol.records.batch import (
    ATTRIBUTES_OFFSET,
)
from fencepost_protocol.varint import read_uvarint

from fencepost_broker.apis.request import Request

_FLEXIBLE_FROM: Final = 9
_BY_ID_FROM: Final = 13
_ID_BYTES: Final = 16
_ACKS_AND_TIMEOUT_BYTES: Final = 6
_INDEX_BYTES: Final = 4
_MAGIC_AT: Final = 16
_ATTRIBUTES: Final = ATTRIBUTES_OFFSET + 1


def has_many_batches(request: Request, many: int) -> bool:
    """Whether a frame, as large as it may be, is large by its many batches.

    Most are large by what is in a few, and those are carried out at once. This looks at lengths
    only, and no further than it must; what is wrong with a frame is for the decoder to tell.
    """
    try:
        return _count_batches(request.frame, request.version, request.body, many) >= many
    except IndexError:
        return False


def _count_batches(frame: memoryview, version: int, pos: int, many: int) -> int:
    is_flexible = version >= _FLEXIBLE_FROM
    pos = _behind_string(frame, pos, is_flexible=is_flexible) + _ACKS_AND_TIMEOUT_BYTES
    topics, pos = _length(frame, pos, is_flexible=is_flexible)
    found = 0
    while topics > 0 and found < many:
        topics -= 1
        if version >= _BY_ID_FROM:
            pos += _ID_BYTES
        else:
            pos = _behind_string(frame, pos, is_flexible=is_flexible)
        batches, pos = _length(frame, pos, is_flexible=is_flexible)
        found += max(batches, 1)
        while batches > 0 and found < many:
            batches -= 1
            size, pos = _length(frame, pos + _INDEX_BYTES, is_flexible=is_flexible)
            pos = _behind_tags(frame, pos + max(size, 0), is_flexible=is_flexible)
        pos = _behind_tags(frame, pos, is_flexible=is_flexible)
    return found


def _length(frame: memoryview, pos: int, *, is_flexible: bool) -> tuple[int, int]:
    """Of an array, or of bytes; -1 for none."""
    if is_flexible:
        size, pos = read_uvarint(frame, pos)
        return size - 1, pos
    return int.from_bytes(frame[pos : pos + 4], "big", signed=True), pos + 4


def _behind_string(frame: memoryview, pos: int, *, is_flexible: bool) -> int:
    if is_flexible:
        size, pos = read_uvarint(frame, pos)
        return pos + max(size - 1, 0)
    return pos + 2 + max(int.from_bytes(frame[pos : pos + 2], "big", signed=True), 0)


def _behind_tags(frame: memoryview, pos: int, *, is_flexible: bool) -> int:
    """Hardly anybody has any; whoever has is not looked at further."""
    if not is_flexible:
        return pos
    if frame[pos]:
        raise IndexError
    return pos + 1
