"""``__cluster_metadata`` as a table: the decisions of the controllers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from fencepost_protocol.primitives import uuid_text

from fencepost_pipeline.columns.tables import list_of
from fencepost_pipeline.segments.files import Slice
from fencepost_pipeline.segments.internal_records import Row, decode_metadata_record, read_typed
from fencepost_pipeline.segments.problems import OnProblem, ignore_problem

METADATA_SCHEMA: Final = pa.schema(
    [
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("type", pa.string()),
        ("version", pa.int16()),
        ("name", pa.string()),
        ("topic_id", pa.string()),
        ("partition_id", pa.int32()),
        ("leader", pa.int32()),
        ("leader_epoch", pa.int32()),
        ("replicas", list_of(pa.int32())),
        ("isr", list_of(pa.int32())),
        ("broker_id", pa.int32()),
        ("broker_epoch", pa.int64()),
        ("next_producer_id", pa.int64()),
        ("fields", pa.string()),
    ]
)
"""One row per record. ``type`` is the record's name in Kafka's schemas.

What most questions are about has a column, null where a record has no such field; ``fields`` has
all of them, as JSON by their names in snake case.
"""

_COLUMNS: Final = (
    "name",
    "partition_id",
    "leader",
    "leader_epoch",
    "replicas",
    "isr",
    "broker_id",
    "broker_epoch",
    "next_producer_id",
)
_UUID_BYTES: Final = 16


def read_metadata(
    part: Slice, *, on_problem: OnProblem = ignore_problem
) -> Iterator[pa.RecordBatch]:
    """Read a slice of ``__cluster_metadata``."""
    return read_typed(part, METADATA_SCHEMA, _row, on_problem)


def _row(record: Row) -> Row:
    message, version = decode_metadata_record(record["value"])
    row: Row = {"type": message.NAME, "version": version}
    row |= {name: getattr(message, name, None) for name in _COLUMNS}
    topic_id = getattr(message, "topic_id", None)
    row["topic_id"] = None if topic_id is None else uuid_text(topic_id)
    row["fields"] = json.dumps(_plain(message), ensure_ascii=False)
    return row


def _plain(value: Any) -> Any:
    """Turn a message into what JSON has; 16 bytes are always a uuid here, others come in hex."""
    if dataclasses.is_dataclass(value):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        if not fields.get("unknown_tagged_fields"):
            fields.pop("unknown_tagged_fields", None)
        return {name: _plain(field) for name, field in fields.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bytes | memoryview):
        return uuid_text(bytes(value)) if len(value) == _UUID_BYTES else bytes(value).hex()
    return value
