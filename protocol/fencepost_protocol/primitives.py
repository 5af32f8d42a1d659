"""What generated code calls for the parts that are not worth writing out every time.

The rule of the generated decoders: a slice that runs past the end of the buffer is noticed once,
at the end (``pos > size``), a fixed-size read past it by ``struct.error`` or ``IndexError`` at
once. So nothing here needs to check a length against the buffer unless it would allocate for it.
Everything raised here is a ``ValueError``; the decoder's one handler turns it into a
``RemoteProtocolError`` that names the field.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Sequence
from typing import Final

from fencepost_protocol import limits
from fencepost_protocol.varint import (
    read_uvarint,
    read_uvarint_tail,
    write_uvarint,
)

Buffer = bytes | bytearray | memoryview
TaggedFields = tuple[tuple[int, bytes], ...]
"""Tagged fields that our schemas do not know, kept so that they can be written again."""

ZERO_UUID: Final = bytes(16)
MAX_STRING_BYTES: Final = 0x7FFF
"""Kafka's own limit of a string, in every encoding."""
PIECE_BYTES_MIN: Final = 2048
"""Records of at least this size are sent as a piece of their own instead of being copied."""

NULL_REFUSED: Final = "null, but the field cannot be null"
CUT_SHORT: Final = "the message ends before the field does"
TAG_SIZE_WRONG: Final = "the tagged field's size does not fit its content"
TAG_NOT_IN_VERSION: Final = "the tag is not defined in this version"

DECODE_ERRORS: Final = (struct.error, IndexError, ValueError)
"""What a generated decoder can run into on hostile bytes; ``UnicodeDecodeError`` is one of them."""


def uuid_text(value: bytes | bytearray) -> str:
    """A uuid as Kafka prints it: URL-safe base64 without padding."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


_UUID_CHARACTERS: Final = 22
_BASE64: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def parse_uuid(text: str) -> bytes:
    """The reverse of ``uuid_text``."""
    if len(text) != _UUID_CHARACTERS or not _BASE64.issuperset(text):
        raise ValueError(f"{text!r} is not a uuid: 22 characters of URL-safe base64")
    return base64.urlsafe_b64decode(text + "==")


# -- lengths ----------------------------------------------------------------------------------


def long_length(buf: Buffer, pos: int, first: int) -> tuple[int, int]:
    """A compact length whose first byte was not 1 to 127, where null is not allowed."""
    if first == 0:
        raise ValueError(NULL_REFUSED)
    length, pos = read_uvarint_tail(buf, pos, first)
    if length == 0:  # zero, padded to several bytes
        raise ValueError(NULL_REFUSED)
    return length, pos


def long_string_length(buf: Buffer, pos: int, first: int) -> tuple[int, int]:
    """The same for a string, which has Kafka's limit."""
    if first == 0:
        raise ValueError(NULL_REFUSED)
    length, pos = long_nullable_string_length(buf, pos, first)
    if length == 0:
        raise ValueError(NULL_REFUSED)
    return length, pos


def long_nullable_string_length(buf: Buffer, pos: int, first: int) -> tuple[int, int]:
    """A compact string's length of several bytes, where null (zero) is allowed."""
    length, pos = read_uvarint_tail(buf, pos, first)
    if length - 1 > MAX_STRING_BYTES:
        raise ValueError(f"a string of {length - 1} bytes; the limit is {MAX_STRING_BYTES}")
    return length, pos


def negative_length(length: int) -> ValueError:
    """The error for a classic length below zero where null is not allowed."""
    if length == -1:
        return ValueError(NULL_REFUSED)
    return ValueError(f"the length is {length}")


def too_many_elements(budget: int) -> ValueError:
    """The error for array lengths that promise more than the message can hold."""
    return ValueError(
        f"arrays promise {-budget} elements more than the bytes of the message (or the limit "
        f"MAX_ELEMENTS = {limits.MAX_ELEMENTS}) allow"
    )


def write_string_length(out: bytearray, length: int) -> None:
    """A compact string's length field (length plus one) that needs more than one byte."""
    if length - 1 > MAX_STRING_BYTES:
        raise ValueError(f"a string of {length - 1} bytes; the limit is {MAX_STRING_BYTES}")
    write_uvarint(out, length)


# -- arrays of primitives -----------------------------------------------------------------------

_SHORT_RUN: Final = 17
_INT32_RUNS: Final = [struct.Struct(f">{count}i").unpack_from for count in range(_SHORT_RUN)]
_INT32_PACKS: Final = [struct.Struct(f">{count}i").pack for count in range(_SHORT_RUN)]
_WIDTHS: Final = {"b": 1, "h": 2, "i": 4, "q": 8}


def read_int32_array(buf: Buffer, pos: int, count: int) -> tuple[list[int], int]:
    """``count`` int32 values; short runs, by far the most frequent, have their formats ready."""
    if count < _SHORT_RUN:
        return list(_INT32_RUNS[count](buf, pos)), pos + 4 * count
    return read_int_array(buf, pos, count, "i")


def read_int_array(buf: Buffer, pos: int, count: int, code: str) -> tuple[list[int], int]:
    """``count`` integers of the ``struct`` code ``b``, ``h``, ``i`` or ``q``."""
    end = pos + count * _WIDTHS[code]
    if end > len(buf):
        raise ValueError(f"{count} integers in {max(len(buf) - pos, 0)} bytes")
    return list(struct.unpack_from(f">{count}{code}", buf, pos)), end


def read_string_array(data: bytes, pos: int, count: int) -> tuple[list[str], int]:
    """``count`` strings with int16 lengths."""
    values: list[str] = []
    while count:
        count -= 1
        length = data[pos] << 8 | data[pos + 1]
        if length > MAX_STRING_BYTES:
            raise negative_length(length - 0x10000)
        pos += 2
        end = pos + length
        values.append(data[pos:end].decode())
        pos = end
    return values, pos


def read_compact_string_array(data: bytes, pos: int, count: int) -> tuple[list[str], int]:
    """``count`` strings with compact lengths."""
    values: list[str] = []
    while count:
        count -= 1
        length = data[pos]
        pos += 1
        if not 0 < length < 128:
            length, pos = long_string_length(data, pos, length)
        end = pos + length - 1
        values.append(data[pos:end].decode())
        pos = end
    return values, pos


def read_uuid_array(buf: Buffer, pos: int, count: int) -> tuple[list[bytes], int]:
    """``count`` uuids."""
    end = pos + 16 * count
    if end > len(buf):
        raise ValueError(f"{count} uuids in {max(len(buf) - pos, 0)} bytes")
    return [bytes(buf[at : at + 16]) for at in range(pos, end, 16)], end


def write_int32_array(out: bytearray, values: Sequence[int]) -> None:
    """The integers alone, without their count; see ``read_int32_array``."""
    if len(values) < _SHORT_RUN:
        out += _INT32_PACKS[len(values)](*values)
    else:
        write_int_array(out, values, "i")


def write_int_array(out: bytearray, values: Sequence[int], code: str) -> None:
    """The integers alone, without their count."""
    out += struct.pack(f">{len(values)}{code}", *values)


def write_string_array(out: bytearray, values: Sequence[str]) -> None:
    """Strings with int16 lengths."""
    for value in values:
        raw = value.encode()
        out += struct.pack(">h", len(raw))
        out += raw


def write_compact_string_array(out: bytearray, values: Sequence[str]) -> None:
    """Strings with compact lengths."""
    for value in values:
        raw = value.encode()
        write_string_length(out, len(raw) + 1)
        out += raw


def write_uuid_array(out: bytearray, values: Sequence[bytes]) -> None:
    """Uuids, each of which must have its 16 bytes."""
    for value in values:
        out += uuid_bytes(value)


def uuid_bytes(value: bytes) -> bytes:
    """The value itself, once it is known to be 16 bytes: ``struct`` would pad or cut it."""
    if len(value) != 16:
        raise ValueError(f"a uuid of {len(value)} bytes")
    return value


# -- tagged fields ------------------------------------------------------------------------------


def read_tag(buf: Buffer, pos: int) -> tuple[int, int, int]:
    """One tagged field's head: the tag, where its content ends, where it begins."""
    tag, pos = read_uvarint(buf, pos)
    size, pos = read_uvarint(buf, pos)
    end = pos + size
    if end > len(buf):
        raise ValueError(f"tag {tag} announces {size} bytes, {len(buf) - pos} are left")
    return tag, end, pos


def read_unknown_tags(buf: Buffer, pos: int, count: int) -> tuple[TaggedFields, int]:
    """A tagged section of which we know no field; ``count`` is the section's first byte."""
    if count > 127:
        count, pos = read_uvarint_tail(buf, pos, count)
    fields: TaggedFields = ()
    for _ in range(count):
        tag, end, pos = read_tag(buf, pos)
        fields = with_unknown_tag(fields, tag, buf[pos:end])
        pos = end
    return fields, pos


def with_unknown_tag(fields: TaggedFields, tag: int, content: Buffer) -> TaggedFields:
    """``fields`` and one more, within the limit."""
    if len(fields) >= limits.MAX_UNKNOWN_TAGS:
        raise ValueError(f"more than MAX_UNKNOWN_TAGS = {limits.MAX_UNKNOWN_TAGS} unknown tags")
    return (*fields, (tag, bytes(content)))


def tagged_field(tag: int, content: Buffer) -> bytes:
    """A field of a tagged section: its tag, its size and its content."""
    out = bytearray()
    write_uvarint(out, tag)
    write_uvarint(out, len(content))
    out += content
    return bytes(out)


def write_tagged_fields(out: bytearray, known: list[bytes], unknown: TaggedFields) -> None:
    """A tagged section with fields that a later version has: all fields in the order of tags."""
    fields = known + [tagged_field(tag, content) for tag, content in unknown]
    write_uvarint(out, len(fields))
    fields.sort(key=_tag)
    out += b"".join(fields)


def _tag(field: bytes) -> int:
    first = field[0]
    return first if first < 128 else read_uvarint_tail(field, 1, first)[0]
