"""Taking many records of one shape at once.

Records of one producer often have the same size: load generators write them so, and so do binary
formats with fixed fields. Then every field's bytes stand at equal distances, and a slice with a
stride collects one byte of all records in a single call. Whether a column of bytes is as it has to
be, and up to which record, ``lstrip`` tells, also in a single call. All that depends on the shape
alone is worked out once a shape, so that a run costs some ten calls however long it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

_LAST_BYTES: Final = bytes(range(0x80))
"""What a number's last byte may be."""
_OTHER_BYTES: Final = bytes(range(0x80, 0x100))
_NULL: Final = 1
_TOO_FEW: Final = 4
_SHAPES_KEPT: Final = 256

_Places: TypeAlias = tuple[int, ...]


class Shape(NamedTuple):
    """Where the parts of a record are, counted from its start, and what they must be."""

    stride: int
    size: bytes
    """The record's length as it is encoded."""
    columns: tuple[tuple[int, bytes], ...]
    """Places, and which bytes may stand there in any record."""
    time: _Places
    offset: _Places
    key: tuple[int, int] | None
    value: tuple[int, int] | None


def find_run(data: bytes, start: int, length: int, most: int) -> tuple[Shape | None, int]:
    """Find how many records from ``start`` on, ``most`` at most, have the shape of the first.

    Too few to be worth the effort are none. The records end at ``length``; behind it the data must
    go on for as far as a small record's numbers reach.
    """
    shape = _shape_at(data, start)
    if shape is None:
        return None, 0
    stride, size = shape.stride, shape.size
    taken = min(most, (length - start) // stride)
    if taken < _TOO_FEW or not data.startswith(size, start + stride):
        return None, 0
    for place, allowed in shape.columns:
        wrong = data[start + place : start + taken * stride : stride].lstrip(allowed)
        if wrong:
            taken -= len(wrong)
            if taken < _TOO_FEW:
                return None, 0
    return shape, taken


def numbers_of(data: bytes, start: int, stop: int, stride: int, places: _Places) -> Iterable[int]:
    """Collect a number of one or two bytes out of all records, as it is encoded."""
    first = data[start + places[0] : stop : stride]
    if len(places) == 1:
        return first
    second = data[start + places[1] : stop : stride]
    return [low & 0x7F | high << 7 for low, high in zip(first, second, strict=True)]


def _shape_at(data: bytes, start: int) -> Shape | None:
    """The shape of the record at ``start``: numbers of one or two bytes, a key of one, no headers.

    Only what makes the shape is looked at.
    """
    size_width = 1 if data[start] < 0x80 else 2
    pos = start + size_width + 1
    time_width = 1 if data[pos] < 0x80 else 2
    pos += time_width
    offset_width = 1 if data[pos] < 0x80 else 2
    pos += offset_width
    key = data[pos]
    if key >= 0x80:
        return None
    pos += 1 if key == _NULL else 1 + (key >> 1)
    value_width = 1 if data[pos] < 0x80 else 2
    size, value = data[start : start + size_width], data[pos : pos + value_width]
    return _shape(size, time_width, offset_width, key, value)


@lru_cache(_SHAPES_KEPT)
def _shape(size: bytes, time_width: int, offset_width: int, key: int, value: bytes) -> Shape | None:
    """What follows from lengths as they are encoded; None if they do not fit together."""
    behind = _length(size)
    value_length = _length(value)
    if behind is None or value_length is None or (key & 1 and key != _NULL):
        return None
    stride = len(size) + behind
    time_start = len(size) + 1
    offset_start = time_start + time_width
    key_place = offset_start + offset_width
    key_end = key_place + 1 + (0 if key == _NULL else key >> 1)
    value_start = key_end + len(value)
    value_end = value_start + max(0, value_length)
    if value_end + 1 != stride:
        return None
    columns = [(at, size[at : at + 1]) for at in range(len(size))]
    columns.append((key_place, bytes((key,))))
    columns += [(key_end + at, value[at : at + 1]) for at in range(len(value))]
    columns.append((value_end, b"\0"))  # no headers
    time = tuple(range(time_start, offset_start))
    offset = tuple(range(offset_start, key_place))
    for places in (time, offset):
        columns += [(place, _OTHER_BYTES) for place in places[:-1]]
        columns.append((places[-1], _LAST_BYTES))
    return Shape(
        stride,
        size,
        tuple(columns),
        time,
        offset,
        None if key == _NULL else (key_place + 1, key_end),
        None if value_length < 0 else (value_start, value_end),
    )


def _length(encoded: bytes) -> int | None:
    """A length of one or two bytes, -1 for null; None if it is none."""
    if encoded[-1] >= 0x80:
        return None
    number = encoded[0] & 0x7F | (encoded[1] << 7 if len(encoded) > 1 else 0)
    if number & 1:
        return -1 if number == _NULL else None
    return number >> 1
