"""Detection of Produce requests with many batches.

Batches are independent and may be appended in parts, unless they are transactional: then the
coordinator is asked once for all of them.
"""

from __future__ import annotations

from typing import Final

from fencepost_protocol.varint import read_uvarint

from fencepost_broker.apis.request import Request

_FLEXIBLE_FROM: Final = 9
_BY_ID_FROM: Final = 13
_ID_BYTES: Final = 16
_ACKS_AND_TIMEOUT_BYTES: Final = 6
_INDEX_BYTES: Final = 4


def has_many_batches(request: Request, many: int) -> bool:
    """Whether a large frame has at least ``many`` batches.

    Most large frames have a few large batches and are carried out at once. The check reads only the
    lengths in a frame, and only as many as necessary. Errors in the frame are left to the decoder.
    """
    try:
        return _count_batches(request.frame, request.version, request.body, many) >= many
    except IndexError:
        return False


def _count_batches(frame: memoryview, version: int, pos: int, many: int) -> int:
    is_flexible = version >= _FLEXIBLE_FROM
    pos = _after_string(frame, pos, is_flexible=is_flexible) + _ACKS_AND_TIMEOUT_BYTES
    topics, pos = _length(frame, pos, is_flexible=is_flexible)
    found = 0
    while topics > 0 and found < many:
        topics -= 1
        if version >= _BY_ID_FROM:
            pos += _ID_BYTES
        else:
            pos = _after_string(frame, pos, is_flexible=is_flexible)
        batches, pos = _length(frame, pos, is_flexible=is_flexible)
        found += max(batches, 1)
        while batches > 0 and found < many:
            batches -= 1
            size, pos = _length(frame, pos + _INDEX_BYTES, is_flexible=is_flexible)
            pos = _after_tags(frame, pos + max(size, 0), is_flexible=is_flexible)
        pos = _after_tags(frame, pos, is_flexible=is_flexible)
    return found


def _length(frame: memoryview, pos: int, *, is_flexible: bool) -> tuple[int, int]:
    """Read the length of an array or of bytes, -1 for null; return it and the next position."""
    if is_flexible:
        size, pos = read_uvarint(frame, pos)
        return size - 1, pos
    return int.from_bytes(frame[pos : pos + 4], "big", signed=True), pos + 4


def _after_string(frame: memoryview, pos: int, *, is_flexible: bool) -> int:
    if is_flexible:
        size, pos = read_uvarint(frame, pos)
        return pos + max(size - 1, 0)
    return pos + 2 + max(int.from_bytes(frame[pos : pos + 2], "big", signed=True), 0)


def _after_tags(frame: memoryview, pos: int, *, is_flexible: bool) -> int:
    """Return the position after an empty list of tagged fields; others, which are rare, fail."""
    if not is_flexible:
        return pos
    if frame[pos]:
        raise IndexError
    return pos + 1
