"""How a record is laid out, for walking those that are laid out alike in a tight loop.

Numbers of one or two bytes, no key or one of a size that does not change, no headers: nearly all
records of most producers. With the widths known, one ``unpack`` gets all numbers, and one
comparison each says whether they have these widths.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Final, NamedTuple

ONE_BYTE: Final = 0xFF
"""A mask above it is one for two bytes."""
_CODES: Final = {1: "B", 2: "H"}
_MORE: Final = {1: (0x80, 0), 2: (0x8080, 0x80)}
"""By width: the bits that say whether a byte follows, and how they have to be."""
_MORE_AND_SIGN: Final = {1: (0x81, 0), 2: (0x8081, 0x80)}
"""Likewise, for a length, which is not negative."""
_NULL_SIZE: Final = 1
_LONGEST_KEY: Final = 63


class Layout(NamedTuple):
    """What is the same in all records of a layout. Masks are of size, time, offset and value."""

    unpack: Callable[..., tuple[Any, ...]]
    size_width: int
    mask: tuple[int, int, int, int]
    pattern: tuple[int, int, int, int]
    key: int
    """The key's length as it is encoded."""
    key_start: int
    key_size: int
    head: int
    """Where the value starts."""
    rest: int
    """Twice what the size counts beside the value."""


def layout_at(data: bytes, start: int) -> Layout | None:
    """The layout of the record at ``start``, if it is one that is known here.

    Whether the record has it to its end is not looked at. There must be 16 bytes of something
    behind the last record.
    """
    size_width = _width(data, start)
    pos = start + size_width + 1
    time_width = _width(data, pos)
    pos += time_width
    offset_width = _width(data, pos)
    pos += offset_width
    key = data[pos]
    if key >= 0x80 or (key & 1 and key != _NULL_SIZE):
        return None
    pos += 1 + (0 if key == _NULL_SIZE else key >> 1)
    value_width = _width(data, pos)
    if not size_width or not time_width or not offset_width or not value_width:
        return None
    return _layout(size_width, time_width, offset_width, key, value_width)


def _width(data: bytes, pos: int) -> int:
    """Of the number there: 1 or 2, or 0 if it is longer."""
    if data[pos] < 0x80:
        return 1
    return 2 if data[pos + 1] < 0x80 else 0


@cache
def _layout(size: int, time: int, offset: int, key: int, value: int) -> Layout:
    key_size = 0 if key == _NULL_SIZE else key >> 1
    codes = f"<{_CODES[size]}x{_CODES[time]}{_CODES[offset]}B{key_size}x{_CODES[value]}"
    head = struct.calcsize(codes)
    kinds = (_MORE_AND_SIGN[size], _MORE[time], _MORE[offset], _MORE_AND_SIGN[value])
    masks, patterns = zip(*kinds, strict=True)
    return Layout(
        struct.Struct(codes).unpack_from,
        size,
        masks,
        patterns,
        key,
        head - value - key_size,
        key_size,
        head,
        (head - size + 1) << 1,
    )
