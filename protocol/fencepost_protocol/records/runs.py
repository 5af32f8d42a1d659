"""Taking many records of one shape at once.

Records of one producer often have the same size: load generators write them so, and so do binary
formats with fixed fields. Then every field's bytes stand at equal distances, and a slice with a
stride collects one byte of all records in a single call. Whether a column of bytes is as it has to
be, and up to which record, ``lstrip`` tells, also in a single call.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Final, TypeAlias

from fencepost_protocol.records.reader import Headers

Walked: TypeAlias = tuple[
    list[int], list[int], list[bytes | None], list[bytes | None], dict[int, Headers]
]
"""Timestamp deltas and offset deltas as they are encoded, keys, values, and headers by index."""

_LAST_BYTES: Final = bytes(range(0x80))
"""What a number's last byte may be."""
_OTHER_BYTES: Final = bytes(range(0x80, 0x100))
_NULL: Final = 1
_TOO_FEW: Final = 8

_Places: TypeAlias = tuple[int, ...]


@dataclass(slots=True)
class Shape:
    """Where the parts of a record are, counted from its start."""

    fixed: list[int]
    """The bytes that are the same in all records of the shape: lengths and header count."""
    time: _Places
    offset: _Places
    key: slice | None
    value: slice | None


def take_run(data: bytes, start: int, stride: int, most: int, walked: Walked) -> int:
    """Take up to ``most`` records of ``stride`` bytes that are shaped like the one at ``start``.

    How many were taken is given back, 0 if it is not worth the effort or the shape is not one that
    is known here. The data must hold ``most`` records of that size.
    """
    shape, taken = find_run(data, start, stride, most)
    if shape is None:
        return 0
    stop = start + taken * stride
    times, offsets, keys, values, _ = walked
    times += numbers_of(data, start, stop, stride, shape.time)
    offsets += numbers_of(data, start, stop, stride, shape.offset)
    keys += _pieces(data, start, stop, stride, shape.key)
    values += _pieces(data, start, stop, stride, shape.value)
    return taken


def find_run(data: bytes, start: int, stride: int, most: int) -> tuple[Shape | None, int]:
    """Find how many records from ``start`` on, ``most`` at most, have the shape of the first.

    Too few to be worth the effort are none.
    """
    shape = _shape_of(data, start, stride)
    if shape is None:
        return None, 0
    wanted = [(place, data[start + place : start + place + 1]) for place in shape.fixed]
    for places in (shape.time, shape.offset):
        wanted += [(place, _OTHER_BYTES) for place in places[:-1]]
        wanted.append((places[-1], _LAST_BYTES))
    taken = most
    for place, allowed in wanted:
        column = data[start + place : start + taken * stride : stride]
        taken -= len(column.lstrip(allowed))
        if taken < _TOO_FEW:
            return None, 0
    return shape, taken


def _shape_of(data: bytes, start: int, stride: int) -> Shape | None:
    """Find the shape of the record at ``start``, if it has one of the usual ones without headers.

    That is: all numbers of one or two bytes.
    """
    end = start + stride - 1
    fixed: list[int] = []
    numbers: list[_Places] = []
    pieces: list[slice | None] = []
    pos = start
    for part in ("size", "time", "offset", "key", "value"):
        width = 1 if data[pos] < 0x80 else 2
        behind = pos + width
        if behind > end or data[behind - 1] >= 0x80:
            return None
        places = tuple(range(pos - start, behind - start))
        encoded = data[pos] if width == 1 else data[pos] & 0x7F | data[pos + 1] << 7
        pos = behind
        if part in ("time", "offset"):
            numbers.append(places)
            continue
        fixed += places
        if part == "size":
            if encoded != (end + 1 - pos) << 1:
                return None
            pos += 1  # the attributes, which may be anything
        elif encoded == _NULL:
            pieces.append(None)
        else:
            pieces.append(slice(pos - start, pos - start + (encoded >> 1)))
            pos += encoded >> 1
            if encoded & 1 or pos > end:
                return None
    if pos != end or data[end]:
        return None
    time, offset = numbers
    key, value = pieces
    return Shape([*fixed, stride - 1], time, offset, key, value)


def numbers_of(data: bytes, start: int, stop: int, stride: int, places: _Places) -> Iterable[int]:
    """Collect a number of one or two bytes out of all records, as it is encoded."""
    first = data[start + places[0] : stop : stride]
    if len(places) == 1:
        return first
    second = data[start + places[1] : stop : stride]
    return [low & 0x7F | high << 7 for low, high in zip(first, second, strict=True)]


def _pieces(
    data: bytes, start: int, stop: int, stride: int, piece: slice | None
) -> Iterable[bytes | None]:
    """Collect the keys or the values of all records."""
    if piece is None:
        return repeat(None, (stop - start) // stride)
    size = piece.stop - piece.start
    return [data[at : at + size] for at in range(start + piece.start, stop, stride)]
