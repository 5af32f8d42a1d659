"""Reading all records of a batch at once, a list per field: the consumer's way.

A list per field costs less than an object per record, and is what a consumer that hands out
batches, a data frame or an audit wants anyway.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

from fencepost_protocol import limits
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
from fencepost_protocol.records.runs import Walked, take_run
from fencepost_protocol.varint import MAX_VARLONG, MIN_VARLONG

_EIGHT: Final = struct.Struct("8B")
_LONGEST_SHORT_KEY: Final = 63
_PADDING: Final = bytes(_EIGHT.size + _LONGEST_SHORT_KEY + 2)
"""So far may the fast path look behind the last record before it notices."""

_SOME: Final = 32
"""How many records of one size make it worth a try whether more of them follow."""

_FIRST_REACH: Final = 64

_FAR: Final = 1 << 62
"""Two numbers below it make a sum that fits into 64 bits."""

_NULL: Final = 1
"""The length -1, as it is encoded."""


@dataclass(slots=True)
class RecordColumns:
    """All records of a batch, a list per field; keys and values are copies."""

    offsets: list[int]
    timestamps: list[int]
    keys: list[bytes | None]
    values: list[bytes | None]
    headers: dict[int, Headers]
    """By position in the lists; records without headers, most of them, are left out."""

    def __len__(self) -> int:
        return len(self.offsets)


def read_columns(batch: Buffer, limit: int = limits.MAX_DECOMPRESSED_BYTES) -> RecordColumns:
    """Read all records of one batch.

    The CRC is the caller's to check. A compressed batch is decompressed whole, up to ``limit``.
    """
    header = unpack_header(batch)
    attributes, base_timestamp, count = header[5], header[7], header[12]
    body, shift = open_records(batch, header, limit)
    times, deltas, keys, values, headers = _walk(body, count, shift)
    offsets = offsets_of(deltas, header[0], header[6])
    if attributes & LOG_APPEND_TIME_FLAG:
        timestamps = [header[8]] * count
    else:
        timestamps = timestamps_of(times, base_timestamp, shift)
    return RecordColumns(offsets, timestamps, keys, values, headers)


def timestamps_of(times: list[int], base_timestamp: int, shift: int) -> list[int]:
    """Make timestamps of encoded deltas."""
    timestamps = [base_timestamp + (time >> 1 ^ -(time & 1)) for time in times]
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


def _walk(body: Buffer, count: int, shift: int) -> Walked:
    """Walk ``count`` records that fill ``body``; deltas are given as they are encoded.

    When the records so far had one size, more of them may be had at once. How many are tried grows
    only with success, so that a try in vain never costs more than a few records walked.
    """
    length = len(body)
    data = b"".join((body, _PADDING))
    strict = memoryview(data)[:length]
    walked: Walked = ([], [], [], [], {})
    start = 0
    left = count
    while left:
        some = min(left, _SOME)
        begin = start
        start, last = _walk_some(data, strict, start, some, shift, walked)
        left -= some
        size = start - last
        reach = _FIRST_REACH
        taken = reach if size * some == start - begin else 0
        while 0 < taken == reach and left >= _SOME:
            reach = min(2 * reach, left, (length - start) // size)
            taken = take_run(data, start, size, reach, walked)
            left -= taken
            start += taken * size
    if start != length:
        raise left_behind(length - start, start + shift)
    return walked


def _walk_some(
    data: bytes, strict: memoryview, start: int, count: int, shift: int, walked: Walked
) -> tuple[int, int]:
    """Walk ``count`` records; give the position behind the last one, and where that one began.

    Nearly every record has a length, a timestamp delta and an offset delta of one or two bytes, a
    key of up to 63 bytes or none, and headers that are few or none. For those, one ``unpack`` of
    eight bytes gets all the small numbers at once, for the price of indexing three times. A record
    of another shape, and any record where something does not add up, drops to the bottom of the
    loop, where :func:`read_fields` takes what is merely unusual and tells what is wrong.
    """
    times, offsets, keys, values, headers = walked
    length = len(strict)
    unpack = _EIGHT.unpack_from
    last = start
    for _ in range(count):
        last = start
        size, more, attributes, time, offset, key_size, a, b = unpack(data, start)
        if size < 0x80:
            # A length of one byte: everything behind it is one place earlier than named above.
            time, offset, key_size, a, b = attributes, time, offset, key_size, a
            end = start + (size >> 1)
            pos = start + 4
        else:
            size = size & 0x7F | more << 7
            end = start + 1 + (size >> 1)
            pos = start + 5
        if time >= 0x80:
            time = time & 0x7F | offset << 7
            offset, key_size, a = key_size, a, b
            pos += 1
        if offset >= 0x80:
            offset = offset & 0x7F | key_size << 7
            key_size = a
            pos += 1
        pos += 1
        # A number that takes three bytes has become one of more than 14 bits.
        if (size | time | offset) < 0x4000 and key_size < 0x80 and end < length:
            if key_size == _NULL:
                key = None
                key_size = 0
            else:
                key_end = pos + (key_size >> 1)
                key = data[pos:key_end]
                pos = key_end
            value_size = data[pos]
            pos += 1
            if value_size >= 0x80:
                # A third byte makes the size larger than any record that comes here.
                value_size = value_size & 0x7F | data[pos] << 7
                pos += 1
            if value_size == _NULL:
                value = None
                value_size = 0
                value_end = pos
            else:
                value_end = pos + (value_size >> 1)
                value = data[pos:value_end]
            # ``end`` is the record's last byte, the header count where there are no headers.
            if not (size | key_size | value_size) & 1 and (
                not data[end] if value_end == end else value_end < end and data[value_end]
            ):
                if value_end != end:
                    found = read_headers(data, value_end, end + 1, shift)
                    if found:
                        headers[len(times)] = found
                times.append(time)
                offsets.append(offset)
                keys.append(key)
                values.append(value)
                start = end + 1
                continue
        start = _walk_unusual(strict, start, shift, walked)
    return start, last


def _walk_unusual(view: memoryview, start: int, shift: int, walked: Walked) -> int:
    """Read the record at ``start`` whatever its shape; give the position behind it."""
    fields = read_fields(view, start, shift)
    behind, time, offset, key_start, key_end, value_start, value_end, pos = fields
    times, offsets, keys, values, headers = walked
    if view[pos]:
        found = read_headers(view, pos, behind, shift)
        if found:
            headers[len(times)] = found
    times.append(time << 1 ^ time >> 63)
    offsets.append(offset << 1 ^ offset >> 31)
    keys.append(None if key_start < 0 else bytes(view[key_start:key_end]))
    values.append(None if value_start < 0 else bytes(view[value_start:value_end]))
    return behind
