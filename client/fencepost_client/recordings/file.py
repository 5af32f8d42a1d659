"""Recordings in files: what clients sent and were answered, in the order in which it happened.

A file is a magic number, then entries: their length, their CRC-32C, and their content. The first
entry is JSON and says what the file is. Each other one is a kind, the number of a connection, the
time in microseconds since the recording began, and a frame without its size, or the reason why the
connection ended. An entry is written at once, so a file whose writer was killed can be read up to
its last whole entry.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, BinaryIO, Final, NamedTuple

from fencepost_protocol.crc import crc32c
from fencepost_protocol.primitives import Buffer

MAGIC: Final = b"\x89FPREC\r\n"
FORMAT: Final = "fencepost-recording"
VERSION: Final = 1
HEADER_BYTES_MAX: Final = 1 << 16
ENTRY_BYTES_MAX: Final = 128 << 20
CONNECTIONS_MAX: Final = 10_000
REQUEST_ID_BYTES: Final = 8
"""The part of a request that is left if it is hidden: API, version and correlation id."""
ANSWER_ID_BYTES: Final = 4
"""The part of an answer that is left if it is hidden: the correlation id."""
_ENTRY: Final = struct.Struct(">II")
_HEAD: Final = struct.Struct(">BIQ")


class RecordingError(ValueError):
    """A file is no recording that can be used."""


class EntryKind(IntEnum):
    """What an entry tells."""

    REQUEST = 1
    ANSWER = 2
    CLOSED = 3


class Entry(NamedTuple):
    """Something that happened on a connection."""

    kind: EntryKind
    connection: int
    time_us: int
    data: bytes
    """A frame without its size, or the reason for the end as text."""


def write_start(file: BinaryIO) -> None:
    """Begin a recording."""
    file.write(MAGIC + _packed(json.dumps({"format": FORMAT, "version": VERSION}).encode()))


def write_entry(
    file: BinaryIO, kind: EntryKind, connection: int, time_us: int, data: Buffer
) -> None:
    """Append an entry."""
    file.write(_packed(_HEAD.pack(kind, connection, time_us) + bytes(data)))


def _packed(content: bytes) -> bytes:
    return _ENTRY.pack(len(content), crc32c(content)) + content


def read_entries(file: BinaryIO) -> Iterator[Entry]:
    """Yield the entries of a recording, up to the last whole one.

    Raises ``RecordingError`` for another file, another version and a damaged entry.
    """
    if file.read(len(MAGIC)) != MAGIC:
        raise RecordingError("it is no recording of Fencepost")
    start = _read_packed(file, HEADER_BYTES_MAX)
    if start is None:
        raise RecordingError("it ends before its first entry")
    _check_start(start)
    connections: set[int] = set()
    while (content := _read_packed(file, ENTRY_BYTES_MAX)) is not None:
        try:
            kind, connection, time_us = _HEAD.unpack_from(content)
            entry = Entry(EntryKind(kind), connection, time_us, content[_HEAD.size :])
        except (struct.error, ValueError) as error:
            raise RecordingError(f"an entry cannot be read: {error}") from error
        connections.add(connection)
        if len(connections) > CONNECTIONS_MAX:
            raise RecordingError(f"it has more than {CONNECTIONS_MAX} connections")
        yield entry


def _check_start(content: bytes) -> None:
    try:
        start: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"its first entry is no JSON: {error}") from error
    if not isinstance(start, dict) or start.get("format") != FORMAT:
        raise RecordingError(f"its first entry does not name the format {FORMAT!r}")
    if start.get("version") != VERSION:
        found = str(start.get("version"))
        raise RecordingError(f"it has version {found:.20}; version {VERSION} can be read")


def _read_packed(file: BinaryIO, size_max: int) -> bytes | None:
    head = file.read(_ENTRY.size)
    if len(head) < _ENTRY.size:
        return None
    size, crc = _ENTRY.unpack(head)
    if size > size_max:
        raise RecordingError(f"an entry of {size} bytes is announced; the limit is {size_max}")
    content = file.read(size)
    if len(content) < size:
        return None
    if crc32c(content) != crc:
        raise RecordingError("an entry is damaged: its checksum is wrong")
    return content
