"""The process that decodes: it reads one ``ValuesToDecode``, and writes a line for each value.

The first line has the schema's types, or why the schema is refused.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Final

import msgspec
from fencepost_protocol.commands import did_you_mean

from fencepost_broker.server.control.values.avro import AvroSchema
from fencepost_broker.server.control.values.framing import PREFIX_BYTES, has_prefix, schema_id
from fencepost_broker.server.control.values.model import (
    TEXT_MAX,
    TEXTS_MAX,
    DecodedValue,
    SchemaRefusedError,
    UndecodableError,
    ValuesToDecode,
)
from fencepost_broker.server.control.values.protobuf import ProtobufSchema

MEMORY_BYTES_MAX: Final = 1 << 30
Schema = AvroSchema | ProtobufSchema


def main() -> int:
    """Decode what the standard input asks for; its one argument is the limit of CPU seconds."""
    _limit(int(sys.argv[1]))
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=ValuesToDecode)
    try:
        schema = read_schema(asked)
    except SchemaRefusedError as error:
        _write(error.refused)
        return 0
    _write(schema.types)
    left = TEXTS_MAX
    for value in asked.values:
        decoded = _decoded(schema, value, asked) if left > 0 else _TOO_MUCH
        left -= len(decoded.text or "")
        _write(decoded)
    return 0


_TOO_MUCH: Final = DecodedValue(
    None, problem=f"the values before it have {TEXTS_MAX:,} characters: ask for fewer"
)


def _limit(seconds: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # Windows has no limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def read_schema(asked: ValuesToDecode) -> Schema:
    """Read the schema; raises ``SchemaRefusedError``."""
    if asked.file.lower().endswith(".avsc"):
        return AvroSchema(asked.schema)
    schema = ProtobufSchema(asked.schema, is_source=asked.file.lower().endswith(".proto"))
    if asked.type and asked.type not in schema.types:
        near = did_you_mean(asked.type, schema.types).removeprefix("; ")
        raise SchemaRefusedError(f"it has no message type {asked.type}", near)
    return schema


def _decoded(schema: Schema, value: bytes, asked: ValuesToDecode) -> DecodedValue:
    """Decode a value: after the id of its schema, if there can be one, and else from its start."""
    is_framed = asked.framing == "registry" or (asked.framing == "auto" and has_prefix(value))
    try:
        return _read(schema, value, asked.type, is_framed=is_framed)
    except UndecodableError as error:
        if is_framed and asked.framing == "auto":
            with suppress(UndecodableError):
                return _read(schema, value, asked.type, is_framed=False)
        return DecodedValue(None, problem=str(error))


def _read(schema: Schema, value: bytes, type_name: str, *, is_framed: bool) -> DecodedValue:
    number = schema_id(value) if is_framed else None
    content = value[PREFIX_BYTES:] if is_framed else value
    text, found, odd = schema.decode(content, type_name, is_framed=is_framed)
    if len(text) > TEXT_MAX:
        text = f"{text[:TEXT_MAX]} ..."
    return DecodedValue(text, found, number, odd)


def _write(answer: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    raise SystemExit(main())
