"""The records of Kafka's internal logs as messages.

__transaction_state, __consumer_offsets
key      int16 record type, then the key's message at version 0
value    int16 version, then the value's message at that version; null deletes the key
__cluster_metadata
value    uvarint frame version, record type and version, then the message
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import pyarrow as pa
from fencepost_protocol.apis import Message, message_class
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.index import METADATA_RECORDS
from fencepost_protocol.varint import read_uvarint

from fencepost_pipeline.segments.files import Slice
from fencepost_pipeline.segments.problems import OnProblem, Problem, ProblemKind
from fencepost_pipeline.segments.records import read_records

TRANSACTION_TOPIC: Final = "__transaction_state"
OFFSETS_TOPIC: Final = "__consumer_offsets"
METADATA_TOPIC: Final = "__cluster_metadata"

Row: TypeAlias = dict[str, Any]
"""A row of a table, by column."""
MakeRow: TypeAlias = Callable[[Row], Row | None]
"""Makes a row of a record's row; ``None`` if the table has no such. What it raises is told."""

_INT16: Final = struct.Struct(">h")
_FRAME_VERSION: Final = 1
_ROWS_MAX: Final = 16 * 1024


def read_typed(
    part: Slice, schema: pa.Schema, make_row: MakeRow, on_problem: OnProblem
) -> Iterator[pa.RecordBatch]:
    """Make a table of the records of an internal log; a record that cannot be read is told."""
    for records in read_records(part, on_problem=on_problem):
        for first in range(0, records.num_rows, _ROWS_MAX):
            rows = []
            for record in records.slice(first, _ROWS_MAX).to_pylist():
                try:
                    row = make_row(record)
                except RemoteProtocolError as error:
                    on_problem(_problem(part, record["offset"], error))
                    continue
                if row is not None:
                    rows.append(record | row)
            if rows:
                yield pa.RecordBatch.from_pylist(rows, schema=schema)


def decode_coordinator_record(
    key: bytes | None, value: bytes | None, names: Mapping[int, str]
) -> tuple[Message, Message | None, int] | None:
    """Decode key and value, and give the value's version (-1 if it is null).

    ``None`` is a record of a type that is not among ``names``, which may be a later Kafka's.
    """
    if key is None:
        raise RemoteProtocolError("a coordinator's record without a key")
    name = names.get(_leading_int16(key, "key"))
    if name is None:
        return None
    found = _decode(message_class(name + "Key"), key, 0, _INT16.size)
    if value is None:
        return found, None, -1
    version = _leading_int16(value, "value")
    return found, _decode(message_class(name + "Value"), value, version, _INT16.size), version


def decode_metadata_record(value: bytes | None) -> tuple[Message, int]:
    """Decode a record of the metadata log, and give its version."""
    if value is None:
        raise RemoteProtocolError("a metadata record without a value")
    try:
        frame_version, pos = read_uvarint(value, 0)
        record_type, pos = read_uvarint(value, pos)
        version, pos = read_uvarint(value, pos)
    except (IndexError, ValueError):
        raise RemoteProtocolError(f"{len(value)} bytes are no metadata record", offset=0) from None
    if frame_version != _FRAME_VERSION:
        raise RemoteProtocolError(f"frame version {frame_version}, not {_FRAME_VERSION}", offset=0)
    name = METADATA_RECORDS.get(record_type)
    if name is None:
        raise RemoteProtocolError(f"metadata record type {record_type} is not known", offset=1)
    return _decode(message_class(name), value, version, pos), version


def _decode(schema: type[Message], data: bytes, version: int, pos: int) -> Message:
    message: Message
    message, end = schema.decode(memoryview(data), version, pos)
    if end != len(data):
        raise RemoteProtocolError(
            f"{len(data) - end} bytes are left behind it",
            api=schema.NAME,
            version=version,
            offset=end,
        )
    return message


def _leading_int16(data: bytes, what: str) -> int:
    if len(data) < _INT16.size:
        raise RemoteProtocolError(f"a {what} of {len(data)} bytes")
    number: int = _INT16.unpack_from(data)[0]
    return number


def _problem(part: Slice, offset: int, error: RemoteProtocolError) -> Problem:
    """Tell of a record in a batch that is right; where in the file it is, nobody has counted."""
    segment = part.segment
    return Problem(
        ProblemKind.CORRUPT,
        segment.path,
        segment.topic,
        segment.partition,
        -1,
        0,
        offset,
        str(error),
    )
