"""What serializers for Confluent's schema registry write before a value.

A byte 0, and four bytes with the schema's id. With Protobuf, the place of the message's type in
its file comes after that: how many numbers there are, and a number for each level of nesting. The
single byte 0 is the first message.
"""

from __future__ import annotations

from typing import Final

from fencepost_broker.server.control.values.model import UndecodableError

PREFIX_BYTES: Final = 5
_DEPTH_MAX: Final = 64


def has_prefix(value: bytes) -> bool:
    """Whether a value can begin with the id of a schema."""
    return len(value) >= PREFIX_BYTES and value[0] == 0


def schema_id(value: bytes) -> int:
    """Return the id of the schema before a value; raises ``UndecodableError``."""
    if not has_prefix(value):
        raise UndecodableError("it does not begin with a byte 0 and the id of a schema")
    return int.from_bytes(value[1:PREFIX_BYTES], "big")


def read_message_index(content: bytes) -> tuple[list[int], bytes]:
    """Return the place of a message's type, and what comes after it."""
    count, at = _varint(content, 0)
    if count == 0:
        return [0], content[at:]
    if not 0 < count <= _DEPTH_MAX:
        raise UndecodableError(f"its message index has {count} numbers")
    index = []
    for _ in range(count):
        number, at = _varint(content, at)
        index.append(number)
    return index, content[at:]


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """Return a zigzag number, and the position after it."""
    number = shift = 0
    while shift < 35 and at < len(content):
        byte = content[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), at
        shift += 7
    raise UndecodableError("its message index is cut off, or too large")
