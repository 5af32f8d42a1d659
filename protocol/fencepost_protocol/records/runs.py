"""Taking many records of one shape at once.

Records of one producer often have the same size: load generators write them so, and so do binary
formats with fixed fields. Then every field's bytes stand at equal distances, and a slice with a
stride collects one byte of all records in a single call. Whether a column of bytes is as it has to
be, and up to which record, ``lstrip`` tells, also in a single call. All that depends on the shape
alone is worked out once a shape, so that a run costs some ten calls however long it is.

A batch of a few large records is cheaper still: all that stands between the values is unpacked at
once, and compared with what has to stand there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Final, NamedTuple, TypeAlias

_LAST_BYTES: Final = bytes(range(0x80))
"""What a number's last byte may be."""
_OTHER_BYTES: Final = bytes(range(0x80, 0x100))
_NULL: Final = 1
_TOO_FEW: Final = 4
_SHAPES_KEPT: Final = 256
_CUT_AT_ONCE: Final = 16
_FEW: Final = 64
"""So many records can have offset deltas of one byte."""
_FRAMES_KEPT: Final = 256

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
    key_length: bytes
    value_length: bytes


class Run(NamedTuple):
    """So many records of a shape, one after the other."""

    start: int
    records: int
    shape: Shape
    counts_from_0: bool = False
    """Whether the offset deltas are known to be 0, 1, 2 and so on."""


_last_shapes: dict[tuple[int, int], Shape] = {}
"""By length and count of a batch's records: the shape that the last ones had, which the next ones
mostly have."""


def find_run(data: bytes, start: int, length: int, most: int) -> Run | None:
    """Find how many records from ``start`` on, ``most`` at most, have the shape of the first.

    Too few to be worth the effort are none. The records end at ``length``; after it the data must
    go on for as far as a small record's numbers reach.
    """
    if not start:
        shape = _last_shapes.get((length, most))
        if shape is not None and _is_as_expected(data, most, shape):
            return Run(0, most, shape, counts_from_0=True)
    shape = _shape_at(data, start)
    if shape is None:
        return None
    stride, size = shape.stride, shape.size
    taken = min(most, (length - start) // stride)
    if taken < _TOO_FEW or not data.startswith(size, start + stride):
        return None
    if not start and taken <= _FEW and _is_as_expected(data, taken, shape):
        if taken * stride == length:
            if len(_last_shapes) >= _SHAPES_KEPT:
                _last_shapes.clear()
            _last_shapes[length, taken] = shape
        return Run(0, taken, shape, counts_from_0=True)
    for place, allowed in shape.columns:
        wrong = data[start + place : start + taken * stride : stride].lstrip(allowed)
        if wrong:
            taken -= len(wrong)
            if taken < _TOO_FEW:
                return None
    return Run(start, taken, shape)


def _is_as_expected(data: bytes, count: int, shape: Shape) -> bool:
    """Whether so many records at the beginning have this shape, and offsets that count up."""
    if len(shape.offset) != 1:
        return False
    stride, size, _, time = shape[:4]
    cut, expected = _frame(stride, size, len(time), shape.key_length, shape.value_length, count)
    if cut(data, 0) != expected:
        return False
    stop = count * stride
    if len(time) > 1 and data[time[0] : stop : stride].lstrip(_OTHER_BYTES):
        return False
    return data[time[-1] : stop : stride].isascii()


@lru_cache(_FRAMES_KEPT)
def _frame(
    stride: int, size: bytes, time_width: int, key_length: bytes, value_length: bytes, count: int
) -> tuple[Callable[[bytes, int], tuple[bytes, ...]], tuple[bytes, ...]]:
    """What cuts out all that is neither attributes, a time, a key nor a value, and what it must be.

    Of a record these are the offset with the key's length, the value's length if there is a key
    between, and the count of headers with the next record's size.
    """
    key = 0 if key_length[0] == _NULL else key_length[0] >> 1
    lengths = (key_length, value_length) if key else (key_length + value_length,)
    head = len(size) + 1 + time_width
    value = stride - head - 2 - key - len(value_length) - 1
    gap = f"{1 + time_width}x"
    if key:
        fields = f"{gap}2s{key}x{len(value_length)}s{value}x"
    else:
        fields = f"{gap}{2 + len(value_length)}s{value}x"
    between = b"\0" + size
    expected = [size]
    for number in range(count):
        expected.append(bytes((number << 1,)) + lengths[0])
        expected += lengths[1:]
        expected.append(between)
    expected[-1] = b"\0"
    whole = f"{len(size)}s" + f"{fields}{len(between)}s" * (count - 1) + f"{fields}1s"
    return struct.Struct(whole).unpack_from, tuple(expected)


def numbers_of(data: bytes, run: Run, places: _Places) -> Sequence[int]:
    """Collect a number of one or two bytes out of all records, as it is encoded."""
    start, count, shape, _ = run
    stride = shape.stride
    stop = start + count * stride
    first = data[start + places[0] : stop : stride]
    if len(places) == 1:
        return first
    second = data[start + places[1] : stop : stride]
    return [low & 0x7F | high << 7 for low, high in zip(first, second, strict=True)]


def are_consecutive(data: bytes, runs: list[Run]) -> bool:
    """Whether the offset deltas of all records are 0, 1, 2 and so on, each as short as it can be.

    Their bytes are compared with those that it takes.
    """
    if len(runs) == 1 and runs[0].counts_from_0:
        return True
    number = 0
    for start, count, shape, _ in runs:
        behind = number + count
        stop = start + count * shape.stride
        is_short = len(shape.offset) == 1
        for place, expected in zip(shape.offset, _counting()[is_short], strict=True):
            if data[start + place : stop : shape.stride] != expected[number:behind]:
                return False
        number = behind
    return True


@cache
def _counting() -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """What the numbers 0, 1, 2 and so on are, a column for each byte: in two bytes, and in one."""
    numbers = range(0, 1 << 14, 2)
    low = bytes(number & 0x7F | 0x80 for number in numbers)
    high = bytes(number >> 7 for number in numbers)
    return (low, high), (bytes(range(0, 0x80, 2)),)


def cut_run(data: bytes, run: Run, piece: tuple[int, int] | None, out: list[bytes | None]) -> None:
    """Add copies of the keys, or the values, of a run."""
    start, count, shape, _ = run
    if piece is None:
        out += [None] * count
        return
    stride = shape.stride
    begin, size = start + piece[0], piece[1] - piece[0]
    few = count % _CUT_AT_ONCE
    stop = begin + (count - few) * stride
    if few != count:
        unpack = _cutter(size, stride - size, _CUT_AT_ONCE).unpack_from
        for at in range(begin, stop, _CUT_AT_ONCE * stride):
            out += unpack(data, at)
    if few:
        out += _cutter(size, stride - size, few).unpack_from(data, stop)


@lru_cache(_SHAPES_KEPT)
def _cutter(size: int, gap: int, count: int) -> struct.Struct:
    return struct.Struct(f"{gap}x".join([f"{size}s"] * count))


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
    behind = length_of(size)
    value_length = length_of(value)
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
        bytes((key,)),
        value,
    )


def length_of(encoded: bytes) -> int | None:
    """A length of one or two bytes, -1 for null; None if it is none."""
    if encoded[-1] >= 0x80:
        return None
    number = encoded[0] & 0x7F | (encoded[1] << 7 if len(encoded) > 1 else 0)
    if number & 1:
        return -1 if number == _NULL else None
    return number >> 1
