"""Our messages as the JSON that Apache Kafka's own converters write, for comparison."""

from __future__ import annotations

import base64
from typing import Any

from fencepost_protocol.codegen.layout import attribute, is_none_when_absent
from fencepost_protocol.primitives import uuid_text
from fencepost_protocol.schema.model import (
    RESERVED_TAGS_FROM,
    Array,
    Field,
    Message,
    Primitive,
    Struct,
)


def to_kafka_json(schema: Message, version: int, message: Any) -> dict[str, Any]:
    """The message as Kafka's converter for this version writes it."""
    return _struct(schema, schema.root, version, message)


def _struct(schema: Message, structure: Struct, version: int, value: Any) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for field in structure.fields:
        if version not in field.versions:
            continue
        if field.tag is not None and field.tag >= RESERVED_TAGS_FROM:
            continue
        held = getattr(value, attribute(field))
        if field.tag is not None and _is_default(field, held, schema):
            continue
        made[field.name[0].lower() + field.name[1:]] = _value(schema, field, version, held)
    return made


def _is_default(field: Field, held: Any, schema: Message) -> bool:
    if field.struct_name is not None and not isinstance(field.type, Array):
        if held is None:
            return is_none_when_absent(field)
        return bool(held == type(held)())
    default: Any = field.default
    if field.default is None:
        return held is None
    kind = field.type
    if isinstance(kind, Array):
        default = []
    elif isinstance(kind, Primitive) and kind.name in {"bytes", "uuid"}:
        default = bytes(16) if kind.name == "uuid" else b""
    return bool(held == default)


def _value(schema: Message, field: Field, version: int, held: Any) -> Any:
    if held is None:
        return None
    kind = field.type
    if isinstance(kind, Array):
        return [_one(schema, kind.element.name, version, element) for element in held]
    return _one(schema, kind.name, version, held)


def _one(schema: Message, kind: str, version: int, held: Any) -> Any:
    if kind in schema.structs:
        return _struct(schema, schema.structs[kind], version, held)
    if kind == "uuid":
        return uuid_text(held)
    if kind in {"bytes", "records"}:
        return base64.b64encode(held).decode()
    return held
