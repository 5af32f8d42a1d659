"""Reading the records of a batch one at a time; :mod:`.columns` reads them all at once.

::

    length            varint     of what follows
    attributes        i8         no bit has a meaning yet
    timestamp_delta   varlong    relative to the batch's base timestamp
    offset_delta      varint     relative to the batch's base offset
    key_length        varint     negative: null
    key
    value_length      varint     negative: null
    value
    header_count      varint
    per header: key_length varint, key (UTF-8), value_length varint (negative: null), value

All integers are signed (zigzag). What a reader is strict about: the lengths must nest exactly, the
records must fill the batch exactly, there must be as many as the batch says, and their offsets
must lie within the batch. What it takes as Kafka's readers take it: any negative length means null
(-1 is what is written), and a header key that is no UTF-8 comes with replacement characters, so
that one careless producer does not make a partition unreadable.

Positions in errors count from the start of the batch; in a compressed one, from the first byte of
its decompressed records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from fencepost_protocol import limits
from fencepost_protocol.records.batch import (
    CODEC_MASK,
    HEADER_SIZE,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD,
    Buffer,
    InvalidBatchError,
    RawHeader,
    codec_of,
    unpack_header,
)
from fencepost_protocol.records.compression import decompress
from fencepost_protocol.varint import (
    MAX_VARLONG,
    MIN_VARLONG,
    read_uvarint_tail,
    read_varint,
    read_varlong,
)

Headers: TypeAlias = list[tuple[str, bytes | None]]
"""Header keys and values in their order; a key may come more than once."""

MIN_RECORD_SIZE: Final = 7
"""Seven fields of a byte each: what the smallest record takes, its length included."""
_MIN_HEADER_SIZE: Final = 2

Fields: TypeAlias = tuple[int, int, int, int, int, int, int, int]
"""Of one record: its end, timestamp delta, offset delta, key start and end (start -1: null), value
start and end (likewise), and the position of its header count."""

_NULL: Final = -1


@dataclass(slots=True)
class Record:
    """One record; key and value are views of the batch (or of its decompressed records)."""

    offset: int
    timestamp: int
    key: memoryview | None
    value: memoryview | None
    headers: Headers


# --- one at a time ----------------------------------------------------------------------------


def iter_records(batch: Buffer, limit: int = limits.MAX_DECOMPRESSED_BYTES) -> Iterator[Record]:
    """Give the records of one batch in order.

    The CRC is the caller's to check. A compressed batch is decompressed whole, up to ``limit``.
    """
    header = unpack_header(batch)
    base_offset, attributes, last_delta = header[0], header[5], header[6]
    base_timestamp = header[7]
    stamp = header[8] if attributes & LOG_APPEND_TIME_FLAG else None
    body, shift = open_records(batch, header, limit)
    view = memoryview(body)
    pos = 0
    for _ in range(header[12]):
        fields = read_fields(view, pos, shift)
        behind, timestamp_delta, offset_delta, key_start, key_end, value_start, value_end, at = (
            fields
        )
        if not 0 <= offset_delta <= last_delta:
            raise outside(offset_delta, last_delta, pos + shift)
        timestamp = base_timestamp + timestamp_delta if stamp is None else stamp
        if not MIN_VARLONG <= timestamp <= MAX_VARLONG:
            raise invalid(f"the timestamp {timestamp} has more than 64 bits", pos + shift)
        yield Record(
            base_offset + offset_delta,
            timestamp,
            None if key_start < 0 else view[key_start:key_end],
            None if value_start < 0 else view[value_start:value_end],
            [] if view[at] == 0 else read_headers(view, at, behind, shift),
        )
        pos = behind
    if pos != len(view):
        raise left_behind(len(view) - pos, pos + shift)


def open_records(
    batch: Buffer, header: RawHeader, limit: int
) -> tuple[bytes | bytearray | memoryview, int]:
    """Get at the records of a batch: a buffer that holds them and nothing else.

    The number is what to add to a position in the buffer for an error message. A record count that
    the buffer cannot hold is refused here, before anybody makes room for it.
    """
    attributes, count = header[5], header[12]
    if header[0] + header[6] > MAX_VARLONG:
        raise invalid("the last offset has more than 64 bits", 0)
    end = LOG_OVERHEAD + header[1]
    records = memoryview(batch)[HEADER_SIZE:end]
    body: bytes | bytearray | memoryview = records
    shift = HEADER_SIZE
    if attributes & CODEC_MASK:
        codec = codec_of(attributes)
        # A batch that compaction emptied keeps no compressed nothing, it has no byte there at all.
        if records:
            body = decompress(codec, records, limit)
        shift = 0
    if not 0 <= count <= len(body) // MIN_RECORD_SIZE:
        raise invalid(f"{len(body)} bytes cannot hold {count} records", HEADER_SIZE - 4)
    return body, shift


def read_fields(view: Buffer, start: int, shift: int = 0) -> Fields:
    """Find the fields of the record at ``start``, up to but not into its headers.

    Everything found lies within the record, and the record within the buffer.
    """
    try:
        size, pos = read_varint(view, start)
        behind = pos + size
        if size < MIN_RECORD_SIZE - 1 or behind > len(view):
            raise invalid(f"a record of {size} bytes, {len(view) - pos} are left", start + shift)
        byte = view[pos + 1]
        if byte < 0x80:
            timestamp_delta = byte >> 1 ^ -(byte & 1)
            pos += 2
        else:
            timestamp_delta, pos = read_varlong(view, pos + 1)
        offset_delta, pos = read_varint(view, pos)
        key_start = key_end = _NULL
        size = view[pos]
        pos += 1
        if size >= 0x80:
            size, pos = read_uvarint_tail(view, pos, size)
        if not size & 1:
            key_start = pos
            key_end = pos = pos + (size >> 1)
            if pos >= behind:
                raise invalid(
                    f"a key of {size >> 1} bytes runs out of its record", key_start + shift
                )
        size, pos = read_varint(view, pos)
        value_start = value_end = _NULL
        if size >= 0:
            value_start = pos
            value_end = pos = pos + size
        if pos >= behind:
            raise invalid("the record has no room for its fields", start + shift)
        if view[pos] == 0 and pos + 1 != behind:
            raise invalid("the record is longer than its fields", start + shift)
    except IndexError:
        raise invalid("the records end within one", start + shift) from None
    except ValueError as error:
        raise invalid(str(error), start + shift) from None
    return behind, timestamp_delta, offset_delta, key_start, key_end, value_start, value_end, pos


def read_headers(view: Buffer, pos: int, behind: int, shift: int = 0) -> Headers:
    """Read the headers of the record that ends at ``behind``; ``pos`` is at their count."""
    headers: Headers = []
    start = pos
    try:
        count, pos = read_varint(view, pos)
        if not 0 <= count <= (behind - pos) // _MIN_HEADER_SIZE:
            raise invalid(f"{behind - pos} bytes cannot hold {count} headers", start + shift)
        if count > limits.MAX_RECORD_HEADERS:
            raise invalid(
                f"{count} headers are more than limits.MAX_RECORD_HEADERS "
                f"({limits.MAX_RECORD_HEADERS})",
                start + shift,
            )
        for _ in range(count):
            size = view[pos]
            pos += 1
            if size >= 0x80:
                size, pos = read_uvarint_tail(view, pos, size)
            end = pos + (size >> 1)
            if size & 1 or end >= behind:
                raise invalid(f"a header key of {size >> 1 ^ -(size & 1)} bytes", pos + shift)
            key = str(view[pos:end], "utf-8", "replace")
            size = view[end]
            pos = end + 1
            if size >= 0x80:
                size, pos = read_uvarint_tail(view, pos, size)
            value = None
            if not size & 1:
                end = pos + (size >> 1)
                if end > behind:
                    raise invalid(f"a header value of {size >> 1} bytes", pos + shift)
                value = bytes(view[pos:end])
                pos = end
            headers.append((key, value))
    except IndexError:
        raise invalid("the records end within a header", start + shift) from None
    except ValueError as error:
        raise invalid(str(error), start + shift) from None
    if pos != behind:
        raise invalid(f"the headers end at {pos}, their record at {behind}", start + shift)
    return headers


# --- errors -----------------------------------------------------------------------------------


def invalid(reason: str, offset: int) -> InvalidBatchError:
    """Something is wrong with the records at ``offset``."""
    return InvalidBatchError(reason, error="INVALID_RECORD", offset=offset)


def outside(offset_delta: int, last_offset_delta: int, offset: int) -> InvalidBatchError:
    """A record claims an offset that is another batch's."""
    return invalid(f"offset delta {offset_delta} is not within 0..{last_offset_delta}", offset)


def left_behind(size: int, offset: int) -> InvalidBatchError:
    """The batch has fewer records than bytes for them."""
    return invalid(f"{size} bytes are left behind the last record", offset)
