"""Finding the fields of all records of a batch.

Runs of records of one size (:mod:`fencepost_protocol.records.runs`) are kept as runs. In a batch
that is one run, the positions of fields are computed on first use. The fields of other records are
put into lists, in a tight loop for records with the same layout.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple, TypeAlias

from fencepost_protocol.records.alike import ONE_BYTE, Layout, layout_at
from fencepost_protocol.records.reader import left_behind, read_fields
from fencepost_protocol.records.runs import Run, find_run, numbers_of

NULL: Final = -1
"""The start of a key or a value that is null."""
_EIGHT: Final = struct.Struct("8B")
_LONGEST_SHORT_KEY: Final = 63
PADDING: Final = bytes(_EIGHT.size + _LONGEST_SHORT_KEY + 2)
"""How far the fast path may read past the last record before it notices."""
_SOME: Final = 32
_FEW: Final = 8
"""Fewer alike, and the next ones are not expected to be."""
_NULL_SIZE: Final = 1
"""The length -1, as it is encoded."""


class Lists(NamedTuple):
    """A list per number; timestamp and offset deltas as they are encoded."""

    times: list[int]
    deltas: list[int]
    key_starts: list[int]
    key_ends: list[int]
    value_starts: list[int]
    value_ends: list[int]
    headers: dict[int, tuple[int, int]]
    """By the record's place: where its header count is, and where the record ends."""


Walked: TypeAlias = "list[Run] | Lists"


def walk(data: bytes, length: int, count: int, shift: int) -> Walked:
    """Walk ``count`` records that fill the first ``length`` bytes; ``PADDING`` is after them.

    Those that are laid out alike cost half; of these, runs of one size nearly nothing.
    """
    start = 0
    left = count
    runs: list[Run] = []
    while left:
        run = find_run(data, start, length, left)
        if run is None:
            break
        runs.append(run)
        start += run.records * run.shape.stride
        left -= run.records
    walked: Walked = runs
    if left:
        walked = lists_of(data, runs)
        start = _walk_rest(data, start, length, left, shift, walked)
    if start != length:
        raise left_behind(length - start, start + shift)
    return walked


def lists_of(data: bytes, runs: list[Run]) -> Lists:
    """Runs as lists."""
    lists = Lists([], [], [], [], [], [], {})
    for run in runs:
        _keep_run(data, run, lists)
    return lists


def _walk_rest(data: bytes, start: int, length: int, left: int, shift: int, lists: Lists) -> int:
    strict = memoryview(data)[:length]
    while left:
        run = find_run(data, start, length, left)
        if run is not None:
            _keep_run(data, run, lists)
            start += run.records * run.shape.stride
            left -= run.records
            continue
        taken = 0
        layout = layout_at(data, start)
        if layout is not None:
            start, taken = _walk_alike(data, length, start, min(left, _SOME), layout, lists)
            left -= taken
        if taken < _FEW and left:
            some = min(left, _SOME)
            start = _walk_some(data, strict, start, some, shift, lists)
            left -= some
    return start


def _keep_run(data: bytes, run: Run, lists: Lists) -> None:
    start, count, shape, _ = run
    stride = shape.stride
    stop = start + count * stride
    times, deltas, key_starts, key_ends, value_starts, value_ends, _ = lists
    times += numbers_of(data, run, shape.time)
    deltas += numbers_of(data, run, shape.offset)
    for starts, ends, piece in (
        (key_starts, key_ends, shape.key),
        (value_starts, value_ends, shape.value),
    ):
        if piece is None:
            nulls = [NULL] * count
            starts += nulls
            ends += nulls
        else:
            starts += range(start + piece[0], stop, stride)
            ends += range(start + piece[1], stop, stride)


def _walk_alike(
    data: bytes, length: int, start: int, count: int, layout: Layout, lists: Lists
) -> tuple[int, int]:
    """Walk records as long as they have this layout; the position after them, and how many."""
    unpack, known, time_mask, time_is, offset_mask, offset_is = layout[:6]
    key, key_start, key_size, head = layout[6:]
    times, deltas, starts, ends = [], [], [], []
    for _ in range(count):
        size, time, offset, key_is, value = unpack(data, start)
        # Size and value agree only if nothing but the other fields is between: no headers.
        size_is, extent = known[value]
        end = start + extent
        if (
            size != size_is
            or key_is != key
            or time & time_mask != time_is
            or offset & offset_mask != offset_is
            or end > length
            or data[end - 1]
        ):
            break
        times.append(time)
        deltas.append(offset)
        starts.append(start + head)
        ends.append(end - 1)
        start = end
    taken = len(times)
    all_times, all_deltas, key_starts, key_ends, value_starts, value_ends, _ = lists
    all_times += _decoded(times) if time_mask > ONE_BYTE else times
    all_deltas += _decoded(deltas) if offset_mask > ONE_BYTE else deltas
    value_starts += starts
    value_ends += ends
    if key == _NULL_SIZE:
        nulls = [NULL] * taken
        key_starts += nulls
        key_ends += nulls
    else:
        back = key_start - head
        key_starts += [begin + back for begin in starts]
        key_ends += [begin + back + key_size for begin in starts]
    return start, taken


def _decoded(numbers: list[int]) -> list[int]:
    """Numbers of two bytes each, without the bit that says so."""
    return [number & 0x7F | number >> 1 & 0x3F80 for number in numbers]


def _walk_some(
    data: bytes, strict: memoryview, start: int, count: int, shift: int, lists: Lists
) -> int:
    """Walk ``count`` records of any layout; give the position after the last one.

    The same steps as in :mod:`fencepost_protocol.records.columns`, which tells why; what is left
    out is to cut keys and values out of the data.
    """
    times, deltas, key_starts, key_ends, value_starts, value_ends, headers = lists
    length = len(strict)
    unpack = _EIGHT.unpack_from
    for _ in range(count):
        size, more, attributes, time, offset, key_size, a, b = unpack(data, start)
        if size < 0x80:
            # A length of one byte: everything after it is one place earlier than named above.
            time, offset, key_size, a, b = attributes, time, offset, key_size, a
            end = start + (size >> 1)
            pos = start + 5
        else:
            size = size & 0x7F | more << 7
            end = start + 1 + (size >> 1)
            pos = start + 6
        if time >= 0x80:
            time = time & 0x7F | offset << 7
            offset, key_size, a = key_size, a, b
            pos += 1
        if offset >= 0x80:
            offset = offset & 0x7F | key_size << 7
            key_size = a
            pos += 1
        # A number that takes three bytes has become one of more than 14 bits.
        if (size | time | offset) < 0x4000 and key_size < 0x80 and end < length:
            if key_size == _NULL_SIZE:
                key_start = key_end = NULL
                key_size = 0
            else:
                key_start = pos
                key_end = pos = pos + (key_size >> 1)
            value_size = data[pos]
            pos += 1
            if value_size >= 0x80:
                # A third byte makes the size larger than any record that comes here.
                value_size = value_size & 0x7F | data[pos] << 7
                pos += 1
            if value_size == _NULL_SIZE:
                value_start = NULL
                value_size = 0
                value_end = pos
            else:
                value_start = pos
                value_end = pos + (value_size >> 1)
            # ``end`` is the record's last byte, the header count where there are no headers.
            if not (size | key_size | value_size) & 1 and (
                not data[end] if value_end == end else value_end < end and data[value_end]
            ):
                if value_end != end:
                    headers[len(times)] = (value_end, end + 1)
                times.append(time)
                deltas.append(offset)
                key_starts.append(key_start)
                key_ends.append(key_end)
                value_starts.append(value_start)
                value_ends.append(value_end)
                start = end + 1
                continue
        start = _walk_unusual(strict, start, shift, lists)
    return start


def _walk_unusual(view: memoryview, start: int, shift: int, lists: Lists) -> int:
    """Find the fields of the record at ``start`` whatever its shape; give the position after it."""
    fields = read_fields(view, start, shift)
    behind, time, offset, key_start, key_end, value_start, value_end, pos = fields
    times, deltas, key_starts, key_ends, value_starts, value_ends, headers = lists
    if view[pos]:
        headers[len(times)] = (pos, behind)
    times.append(time << 1 ^ time >> 63)
    deltas.append(offset << 1 ^ offset >> 31)
    key_starts.append(key_start)
    key_ends.append(key_end)
    value_starts.append(value_start)
    value_ends.append(value_end)
    return behind
