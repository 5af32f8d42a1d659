"""Reading a small batch whose keys have one size and whose values have one size, by one call.

All fields of its records are unpacked at once, and all that is neither a time, a key nor a value is
compared with what has to be there. Any other batch, and any that is not valid, is for the other
readers.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple

from fencepost_protocol.records.batch import HEADER_SIZE, Buffer
from fencepost_protocol.records.runs import length_of
from fencepost_protocol.varint import write_varint

_RECORDS_MAX: Final = 64
"""So many records can have offset deltas of one byte. In more, runs are faster to find."""
_HEAD_BYTES: Final = 80
"""More than there can be before the first value: a length takes one or two bytes, a key 63."""
_NULL: Final = 1
_FORMS_KEPT: Final = 256


class _Form(NamedTuple):
    """What batches with the same count and sizes have in common."""

    unpack: Callable[[Buffer, int], tuple[Any, ...]]
    size: int
    head: bytes
    """What comes before the first time: a record's length, and its attributes."""
    betweens: tuple[bytes, ...]
    """What comes after each time: an offset delta and lengths."""
    tails: tuple[bytes, ...]
    """What comes after each value: no headers, and the head of the next record."""


def read_regular(
    batch: Buffer, count: int
) -> tuple[tuple[int, ...], list[bytes | None], list[bytes | None]] | None:
    """Encoded timestamp deltas, keys and values of an uncompressed batch, if it is of this kind.

    Offset deltas are 0, 1, 2 and so on then.
    """
    if not 0 < count <= _RECORDS_MAX:
        return None
    first = bytes(batch[HEADER_SIZE : HEADER_SIZE + _HEAD_BYTES]).ljust(_HEAD_BYTES, b"\0")
    size, more = first[:2]
    pos = 1
    if size >= 0x80:
        size = size & 0x7F | more << 7
        pos = 2
    # Most batches of records of other sizes end here.
    if count * (pos + (size >> 1)) != len(batch) - HEADER_SIZE:
        return None
    key = first[pos + 3]
    if key >= 0x80:
        return None
    pos += 4 + (key >> 1)
    length = first[pos : pos + (1 if first[pos] < 0x80 else 2)]
    form = _form(key, length, count)
    if form is None or HEADER_SIZE + form.size != len(batch):
        return None
    fields = form.unpack(batch, HEADER_SIZE)
    step = 6 if key > _NULL else 4
    times = fields[1::step]
    if (
        fields[0] != form.head
        or fields[2::step] != form.betweens
        or fields[step::step] != form.tails
        or max(times) >= 0x80
        or (step == 6 and fields[4::step].count(length) != count)
    ):
        return None
    keys: list[bytes | None] = [None if key else b""] * count
    if step == 6:
        keys = list(fields[3::step])
    values = [None] * count if length[0] == _NULL else list(fields[step - 1 :: step])
    return times, keys, values


@lru_cache(_FORMS_KEPT)
def _form(key: int, length: bytes, count: int) -> _Form | None:
    """The form for a key's and a value's length as they are encoded; None if there is none."""
    value_length = length_of(length)
    if value_length is None or (key & 1 and key != _NULL):
        return None
    if value_length < 0 and len(length) > 1:  # a null whose length is written in two bytes
        return None
    key_size, value_size = key >> 1, max(0, value_length)
    behind = 4 + key_size + len(length) + value_size + 1
    head = bytearray()
    write_varint(head, behind)
    head += b"\0"
    tail = b"\0" + head
    between = bytes((key,)) if key_size else bytes((key,)) + length
    betweens = tuple(bytes((number << 1,)) + between for number in range(count))
    key_and_length = f"{key_size}s{len(length)}s" if key_size else ""
    record = f"B{1 + len(between)}s{key_and_length}{value_size}s"
    whole = struct.Struct(f">{len(head)}s" + f"{record}{len(tail)}s" * (count - 1) + f"{record}1s")
    tails = (*[bytes(tail)] * (count - 1), b"\0")
    return _Form(whole.unpack_from, whole.size, bytes(head), betweens, tails)
