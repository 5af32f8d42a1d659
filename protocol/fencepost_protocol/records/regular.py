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
_last_forms: dict[tuple[int, int], _Form] = {}
"""By length and count of a batch: the form of the last one, which the next one mostly has, too."""


class _Form(NamedTuple):
    """What batches with the same count and sizes have in common."""

    records: int
    key: int
    """The key's length as it is encoded."""
    length: bytes
    """The value's."""
    unpack: Callable[[Buffer, int], tuple[Any, ...]]
    size: int
    frame: bytes
    """All that is neither a key nor a value nor, after a key, a value's length; times are zero."""
    width: int
    """So much of it comes before each record's first key or value."""
    time: int
    """Where in that the time is."""


def read_regular(
    batch: Buffer, count: int
) -> tuple[bytes, list[bytes | None], list[bytes | None]] | None:
    """Encoded timestamp deltas, keys and values of an uncompressed batch, if it is of this kind.

    Offset deltas are 0, 1, 2 and so on then.
    """
    if not 0 < count <= _RECORDS_MAX:
        return None
    kind = len(batch), count
    form = _last_forms.get(kind)
    if form is not None:
        found = _read(batch, form)
        if found is not None:
            return found
    form = _form_at(batch, count)
    if form is None:
        return None
    if len(_last_forms) >= _FORMS_KEPT:
        _last_forms.clear()
    _last_forms[kind] = form
    return _read(batch, form)


def _form_at(batch: Buffer, count: int) -> _Form | None:
    """The form that the first record has, if all records can have it."""
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
    return None if form is None or HEADER_SIZE + form.size != len(batch) else form


def _read(
    batch: Buffer, form: _Form
) -> tuple[bytes, list[bytes | None], list[bytes | None]] | None:
    """Read a batch of the form's length; None if it has another form."""
    count, key, length, unpack, _, expected, width, time = form
    fields = unpack(batch, HEADER_SIZE - 1)
    step = 4 if key > _NULL else 2
    frame = bytearray().join(fields[::step])
    times = bytes(frame[time::width])
    frame[time::width] = bytes(count)
    if (
        frame != expected
        or not times.isascii()
        or (step == 4 and fields[2::4].count(length) != count)
    ):
        return None
    keys: list[bytes | None] = [None if key else b""] * count
    if step == 4:
        keys = list(fields[1::4])
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
    head = bytearray(1)  # no headers of the record before
    write_varint(head, behind)
    time = len(head) + 1
    frame = bytearray()
    for number in range(count):
        frame += head + bytes((0, 0, number << 1, key)) + (b"" if key_size else length)
    frame[0] = count  # before the first record, a batch's header ends with the count
    width = len(frame) // count
    frame += b"\0"
    key_and_length = f"{key_size}s{len(length)}s" if key_size else ""
    whole = struct.Struct(f"{width}s{key_and_length}{value_size}s" * count + "1s")
    return _Form(count, key, length, whole.unpack_from, whole.size - 1, bytes(frame), width, time)
