"""Where the fields of all records of a batch are, with nothing cut out of it.

For those who hand on whole batches (a column store, an audit, a filter): a record costs some
numbers in lists, and its key and value become objects only if somebody looks at them. Records of
one size cost not even a step of a loop each (:mod:`fencepost_protocol.records.runs`).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from fencepost_protocol import limits
from fencepost_protocol.records.alike import ONE_BYTE, Layout, layout_at
from fencepost_protocol.records.batch import (
    HEADER_SIZE,
    LOG_APPEND_TIME_FLAG,
    Buffer,
    unpack_header,
)
from fencepost_protocol.records.reader import (
    Headers,
    invalid,
    left_behind,
    open_records,
    outside,
    read_fields,
    read_headers,
)
from fencepost_protocol.records.runs import Shape, find_run, numbers_of
from fencepost_protocol.varint import MAX_VARLONG, MIN_VARLONG

_EIGHT: Final = struct.Struct("8B")
_LONGEST_SHORT_KEY: Final = 63
_PADDING: Final = bytes(_EIGHT.size + _LONGEST_SHORT_KEY + 2)
"""So far may the fast path look behind the last record before it notices."""
_SOME: Final = 32
_FEW: Final = 8
"""Fewer alike, and the next ones are not expected to be."""
_NULL_SIZE: Final = 1
"""The length -1, as it is encoded."""
_FAR: Final = 1 << 62
"""Two numbers below it make a sum that fits into 64 bits."""
NULL: Final = -1
"""The start of a key or a value that is null."""


@dataclass(slots=True)
class RecordSpans:
    """All records of a batch; where a field is null, its start and end are -1."""

    data: bytes
    """The records, decompressed."""
    offsets: Sequence[int]
    key_starts: list[int]
    key_ends: list[int]
    value_starts: list[int]
    value_ends: list[int]
    headers: dict[int, tuple[int, int]]
    """By the record's place: where its header count is, and where the record ends."""
    base_timestamp: int
    times: list[int] | None
    """Timestamps less the base, as they are encoded; ``None``: all have the base, from the log."""
    shift: int
    """What to add to a position for an error message."""

    def __len__(self) -> int:
        return len(self.offsets)

    def timestamps(self) -> list[int]:
        """Make all timestamps."""
        if self.times is None:
            return [self.base_timestamp] * len(self)
        return timestamps_of(self.times, self.base_timestamp, self.shift)

    def read_headers(self, index: int) -> Headers:
        """Decode the headers of one record; what is wrong with them is only noticed now."""
        place = self.headers.get(index)
        return [] if place is None else read_headers(self.data, *place, self.shift)


_Walked: TypeAlias = tuple[
    list[int], list[int], list[int], list[int], list[int], list[int], dict[int, tuple[int, int]]
]
"""Timestamp and offset deltas as they are encoded, then as in ``RecordSpans``."""


def read_spans(batch: Buffer, limit: int = limits.MAX_DECOMPRESSED_BYTES) -> RecordSpans:
    """Find all records of one batch.

    The CRC is the caller's to check. A compressed batch is decompressed whole, up to ``limit``; one
    that is not is copied whole, so that nobody who keeps a record keeps all that arrived with it.
    """
    header = unpack_header(batch)
    base_offset, attributes, last_delta, count = header[0], header[5], header[6], header[12]
    body, shift = open_records(batch, header, limit)
    data = b"".join((body, _PADDING))
    walked: _Walked = ([], [], [], [], [], [], {})
    _walk(data, len(body), count, shift, walked)
    times, deltas, key_starts, key_ends, value_starts, value_ends, headers = walked
    offsets: Sequence[int]
    if count == last_delta + 1 and deltas == list(range(0, 2 * count, 2)):
        offsets = range(base_offset, base_offset + count)
    else:
        offsets = offsets_of(deltas, base_offset, last_delta)
    by_log = attributes & LOG_APPEND_TIME_FLAG
    base = header[8] if by_log else header[7]
    found = RecordSpans(
        data,
        offsets,
        key_starts,
        key_ends,
        value_starts,
        value_ends,
        headers,
        base,
        None if by_log else times,
        shift,
    )
    if not -_FAR < base < _FAR or max(times, default=0) >= _FAR:
        found.timestamps()  # which may be refused
    return found


def timestamps_of(times: list[int], base_timestamp: int, shift: int) -> list[int]:
    """Make timestamps of encoded deltas."""
    different = {time: base_timestamp + (time >> 1 ^ -(time & 1)) for time in set(times)}
    timestamps = [different[time] for time in times]
    near = -_FAR < base_timestamp < _FAR and max(times, default=0) < _FAR
    if times and not near and not MIN_VARLONG <= min(timestamps) <= max(timestamps) <= MAX_VARLONG:
        raise invalid("a timestamp has more than 64 bits", shift)
    return timestamps


def offsets_of(deltas: list[int], base_offset: int, last_delta: int) -> list[int]:
    """Make offsets of encoded deltas, which are 0, 1, 2 ... unless the batch was compacted."""
    count = len(deltas)
    if count <= last_delta + 1 and deltas == list(range(0, 2 * count, 2)):
        return list(range(base_offset, base_offset + count))
    for delta in deltas:
        if delta & 1 or delta >> 1 > last_delta:
            raise outside(delta >> 1 ^ -(delta & 1), last_delta, HEADER_SIZE)
    return [base_offset + (delta >> 1) for delta in deltas]


def _walk(data: bytes, length: int, count: int, shift: int, walked: _Walked) -> None:
    """Walk ``count`` records that fill the first ``length`` bytes.

    Those that are laid out alike cost half; of these, runs of one size nearly nothing.
    """
    strict = memoryview(data)[:length]
    start = 0
    left = count
    while left:
        shape, taken = find_run(data, start, length, left)
        if shape is not None:
            _keep_run(data, start, shape, taken, walked)
            start += taken * shape.stride
            left -= taken
            continue
        some = min(left, _SOME)
        layout = layout_at(data, start)
        if layout is not None:
            start, taken = _walk_alike(data, length, start, some, layout, walked)
            left -= taken
        if taken < _FEW and left:
            some = min(left, _SOME)
            start = _walk_some(data, strict, start, some, shift, walked)
            left -= some
    if start != length:
        raise left_behind(length - start, start + shift)


def _walk_alike(
    data: bytes, length: int, start: int, count: int, layout: Layout, walked: _Walked
) -> tuple[int, int]:
    """Walk records as long as they have this layout; the position behind them, and how many."""
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
    all_times, all_deltas, key_starts, key_ends, value_starts, value_ends, _ = walked
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
    data: bytes, strict: memoryview, start: int, count: int, shift: int, walked: _Walked
) -> int:
    """Walk ``count`` records of any layout; give the position behind the last one.

    The same steps as in :mod:`fencepost_protocol.records.columns`, which tells why; what is left
    out is to cut keys and values out of the data.
    """
    times, deltas, key_starts, key_ends, value_starts, value_ends, headers = walked
    length = len(strict)
    unpack = _EIGHT.unpack_from
    for _ in range(count):
        size, more, attributes, time, offset, key_size, a, b = unpack(data, start)
        if size < 0x80:
            # A length of one byte: everything behind it is one place earlier than named above.
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
        start = _walk_unusual(strict, start, shift, walked)
    return start


def _walk_unusual(view: memoryview, start: int, shift: int, walked: _Walked) -> int:
    """Find the fields of the record at ``start`` whatever its shape; give the position behind."""
    fields = read_fields(view, start, shift)
    behind, time, offset, key_start, key_end, value_start, value_end, pos = fields
    times, deltas, key_starts, key_ends, value_starts, value_ends, headers = walked
    if view[pos]:
        headers[len(times)] = (pos, behind)
    times.append(time << 1 ^ time >> 63)
    deltas.append(offset << 1 ^ offset >> 31)
    key_starts.append(key_start)
    key_ends.append(key_end)
    value_starts.append(value_start)
    value_ends.append(value_end)
    return behind


def _keep_run(data: bytes, start: int, shape: Shape, taken: int, walked: _Walked) -> None:
    """Keep a run's records."""
    stride = shape.stride
    stop = start + taken * stride
    times, deltas, key_starts, key_ends, value_starts, value_ends, _ = walked
    times += numbers_of(data, start, stop, stride, shape.time)
    deltas += numbers_of(data, start, stop, stride, shape.offset)
    for starts, ends, piece in (
        (key_starts, key_ends, shape.key),
        (value_starts, value_ends, shape.value),
    ):
        if piece is None:
            nulls = [NULL] * taken
            starts += nulls
            ends += nulls
        else:
            starts += range(start + piece[0], stop, stride)
            ends += range(start + piece[1], stop, stride)
