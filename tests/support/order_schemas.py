"""A schema of orders in Avro and in Protobuf, and values."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any, Final

import fastavro

ORDER: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "raw", "type": "bytes"},
        {"name": "note", "type": ["null", "string"]},
    ],
}
AVSC: Final = json.dumps(ORDER).encode()
PROTO: Final = b"""
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Customer { string name = 1; message Address { int32 zip = 3; } }
message Order { int64 id = 1; google.protobuf.Timestamp at = 2; map<string, int32> items = 3; }
"""
PREFIX: Final = b"\x00\x00\x00\x00\x07"
PAPER: Final = b"\x08\x05\x1a\x09\x0a\x05paper\x10\x02"
"""An Order of two sheets."""


def avro(note: str | None = "two") -> bytes:
    written = io.BytesIO()
    order = {"id": 5, "at": datetime(2026, 1, 2, tzinfo=UTC), "raw": b"\xff\x00", "note": note}
    fastavro.schemaless_writer(written, fastavro.parse_schema(ORDER), order)
    return written.getvalue()
