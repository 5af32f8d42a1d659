"""Looking whether the records of a batch are what its header says, without reading them.

This is for a broker, which stores records as they came and has no use for any of them. Of each
record the lengths are followed to the next one, at half a microsecond a record. What is not of the
usual shape (a length of three bytes, a key of more than 63, headers) is found by the reader, which
takes longer and knows all shapes.
"""

from __future__ import annotations

import struct
from typing import Final

from fencepost_protocol.records.batch import Buffer
from fencepost_protocol.records.reader import (
    MIN_RECORD_SIZE,
    invalid,
    left_behind,
    read_fields,
    read_headers,
)

_unpack = struct.Struct("8B").unpack_from
_NULL: Final = 1
"""The length -1, as it is encoded."""
_KEY_SIZES: Final = frozenset({_NULL, *range(0, 0x80, 2)})
"""The lengths of keys that take one byte, as they are encoded."""
_NOTHING: Final = -1 << 63
_SMALLEST: Final = (MIN_RECORD_SIZE - 1) << 1
"""The smallest length that a record has, as it is encoded."""


def largest_timestamp_delta(view: Buffer, start: int, count: int, shift: int = 0) -> int:
    """Follow ``count`` records that are to fill ``view`` from ``start`` on, numbered from 0.

    The largest difference to the base timestamp is given. An ``InvalidBatchError`` says what is
    wrong; ``shift`` is added to positions in it.
    """
    largest = _NOTHING
    pos = start
    for index in range(count):
        begin = pos
        try:
            size, more, attributes, time, offset, key_size, a, b = _unpack(view, pos)
            if size < 0x80:
                # A length of one byte: everything after it is one place earlier than named above.
                time, offset, key_size, a, b = attributes, time, offset, key_size, a
            else:
                size = size & 0x7F | more << 7
                pos += 1
            last = pos + (size >> 1)
            if time >= 0x80:
                time = time & 0x7F | offset << 7
                offset, key_size, a = key_size, a, b
                pos += 1
            if offset >= 0x80:
                offset = offset & 0x7F | key_size << 7
                key_size = a
                pos += 1
            pos += 5 + (key_size >> 1)  # which is nothing for a null
            value_size = view[pos]
            if value_size >= 0x80:
                pos += 1
                value_size = value_size & 0x7F | view[pos] << 7
            pos += 1 + (value_size >> 1)
            # ``last`` is the record's last byte, the header count where there are no headers. A
            # number that takes three bytes has become one of more than 14 bits.
            is_plain = (
                pos == last
                and not view[pos]
                and offset == index << 1
                and size | time < 0x4000
                and not size & 1
                and key_size in _KEY_SIZES
                and (not value_size & 1 or value_size == _NULL)
            )
        except (IndexError, struct.error):  # a record of seven bytes at the end, or a wrong one
            is_plain = False
        if is_plain:
            pos += 1
            if time:
                time = time >> 1 ^ -(time & 1)
        else:
            pos, time = _follow_unusual(view, begin, index, shift)
        if time > largest:
            largest = time
    if pos != len(view):
        raise left_behind(len(view) - pos, pos + shift)
    return largest


def check_count(view: Buffer, count: int, shift: int = 0) -> None:
    """Raise an ``InvalidBatchError`` unless ``view`` holds ``count`` records, by their lengths.

    It costs a fifth of following them; what is in a record is not looked at.
    """
    length = len(view)
    pos = 0
    for index in range(count):
        begin = pos
        if pos >= length:
            raise invalid(f"{index} records where there should be {count}", pos + shift)
        size = view[pos]
        pos += 1
        if size >= 0x80 and pos < length:
            size = size & 0x7F | view[pos] << 7
            pos += 1
        if _SMALLEST <= size < 0x4000 and not size & 1:
            pos += size >> 1
        else:
            pos = read_fields(view, begin, shift)[0]
    if pos > length:
        raise invalid("the records end within one", length + shift)
    if pos != length:
        raise left_behind(length - pos, pos + shift)


def _follow_unusual(view: Buffer, start: int, index: int, shift: int) -> tuple[int, int]:
    """Follow a record of any shape: the position after it, and its timestamp delta."""
    fields = read_fields(view, start, shift)
    behind, time, offset, at = fields[0], fields[1], fields[2], fields[7]
    if offset != index:
        raise invalid(f"record {index} has the offset delta {offset}", start + shift)
    if view[at]:
        read_headers(view, at, behind, shift)
    return behind, time
