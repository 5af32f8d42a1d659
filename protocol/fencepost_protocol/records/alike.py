"""How a record is laid out, for walking those that are laid out alike in a tight loop.

Numbers of one or two bytes, no key or one of a size that does not change, no headers: nearly all
records of most producers. With the widths known, one ``unpack`` gets all numbers, and the
value's length says what the record's must be.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

ONE_BYTE: Final = 0xFF
"""A mask above it is one for two bytes."""
_CODES: Final = {1: "B", 2: "H"}
_MORE: Final = {1: (0x80, 0), 2: (0x8080, 0x80)}
"""By width: the bits that say whether a byte follows, and how they have to be."""
_MORE_AND_SIGN: Final = {1: (0x81, 0), 2: (0x8081, 0x80)}
"""Likewise, for a length, which is not negative."""
_NULL_SIZE: Final = 1
_NO_EXTENT: Final = (-1, -1)
_LAYOUTS_KEPT: Final = 32
"""Each may come to know 8,192 lengths."""


class Layout(NamedTuple):
    """What is the same in all records of a layout. Masks and patterns are of time and offset."""

    unpack: Callable[..., tuple[Any, ...]]
    """Gives size, time, offset, the key's length and the value's, as they are encoded."""
    known: Extents
    time_mask: int
    time_pattern: int
    offset_mask: int
    offset_pattern: int
    key: int
    """The key's length as it is encoded."""
    key_start: int
    key_size: int
    head: int
    """Where the value starts."""


class Extents(dict[int, tuple[int, int]]):
    """By the value's length as it is encoded: the record's length likewise, and all its bytes.

    Both are -1 for what is no length of a value here: nothing equals that. Sizes are looked up
    rather than decoded and compared, because producers have favourites.
    """

    def __init__(self, size_width: int, value_width: int, rest: int) -> None:
        self._size_width = size_width
        self._value_width = value_width
        self._rest = rest
        """What a record's length counts beside the value."""

    def __missing__(self, value: int) -> tuple[int, int]:
        found = self[value] = self._extent(value)
        return found

    def _extent(self, value: int) -> tuple[int, int]:
        mask, pattern = _MORE_AND_SIGN[self._value_width]
        if value & mask != pattern:
            return _NO_EXTENT
        size = ((value & 0x7F | value >> 1 & 0x3F80) >> 1) + self._rest
        encoded = size << 1
        if self._size_width == 1:
            return (encoded, size + 1) if encoded < 0x80 else _NO_EXTENT
        if encoded >= 0x4000:
            return _NO_EXTENT
        return encoded & 0x7F | 0x80 | encoded >> 7 << 8, size + 2


def layout_at(data: bytes, start: int) -> Layout | None:
    """The layout of the record at ``start``, if it is one that is known here.

    Whether the record has it to its end is not looked at. There must be 16 bytes of something
    after the last record.
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


@lru_cache(_LAYOUTS_KEPT)
def _layout(size: int, time: int, offset: int, key: int, value: int) -> Layout:
    key_size = 0 if key == _NULL_SIZE else key >> 1
    codes = f"<{_CODES[size]}x{_CODES[time]}{_CODES[offset]}B{key_size}x{_CODES[value]}"
    head = struct.calcsize(codes)
    return Layout(
        struct.Struct(codes).unpack_from,
        Extents(size, value, head - size + 1),
        *_MORE[time],
        *_MORE[offset],
        key,
        head - value - key_size,
        key_size,
        head,
    )
