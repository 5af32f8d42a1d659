"""Explains errors in messages: which field, at which byte.

It runs only after a failure. The dissector, which tracks its position, reads the bytes again;
values are checked against the schema, field by field.
"""

from __future__ import annotations

import struct
from typing import Any, Final

from fencepost_protocol.dissect.locate import locate
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError, UnencodableError
from fencepost_protocol.schema import files
from fencepost_protocol.schema.model import Array, Field, Message, Struct


def undecodable(
    name: str, version: int, content: memoryview, cause: Exception
) -> RemoteProtocolError:
    """The error for bytes that are not a message of this name and version."""
    path, offset, reason = locate(name, version, content)
    return RemoteProtocolError(
        reason or str(cause), api=name, version=version, path=path, offset=offset
    )


def unencodable(name: str, version: int, message: Any, cause: Exception) -> LocalProtocolError:
    """The error for a message with a value that this version cannot encode."""
    path, reason = None, str(cause)
    if isinstance(cause, UnencodableError):
        path, reason = cause.path, cause.reason
    else:
        schema = files.load(name)
        if version in schema.valid:
            found = _first_bad_value(schema, schema.root, version, message, "")
            path, reason = found or (None, reason)
    where = f"{name} v{version}" + (f": {path}" if path else "")
    return LocalProtocolError(f"cannot encode {where}: {reason}")


def _first_bad_value(
    schema: Message, structure: Struct, version: int, value: Any, parent: str
) -> tuple[str, str] | None:
    for field in structure.fields:
        if version not in field.versions:
            continue
        path = f"{parent}{field.attribute}"
        if not hasattr(value, field.attribute):
            return path, f"{type(value).__name__} has no attribute {field.attribute!r}"
        found = _check(schema, field, version, getattr(value, field.attribute), path)
        if found is not None:
            return found
    return None


def _check(
    schema: Message, field: Field, version: int, value: Any, path: str
) -> tuple[str, str] | None:
    if value is None:
        allowed = version in field.nullable or field.tag is not None
        return None if allowed else (path, "None, but the field cannot be null in this version")
    if not isinstance(field.type, Array):
        return _check_one(schema, field.type.name, version, value, path)
    if not isinstance(value, list | tuple):
        return path, f"{type(value).__name__} is not a list"
    for position, element in enumerate(value):
        at = f"{path}[{position}]"
        found = _check_one(schema, field.type.element.name, version, element, at)
        if found is not None:
            return found
    return None


_CODES: Final = {
    "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H", "uint32": "I",
    "float64": "d", "bool": "?",
}  # fmt: skip


def _check_one(
    schema: Message, kind: str, version: int, value: Any, path: str
) -> tuple[str, str] | None:
    if kind in schema.structs:
        return _first_bad_value(schema, schema.structs[kind], version, value, f"{path}.")
    try:
        if kind in _CODES:
            struct.pack(f">{_CODES[kind]}", value)
        elif kind == "string":
            if len(value.encode()) > 0x7FFF:
                return path, f"a string of {len(value.encode())} bytes; the limit is 32767"
        elif kind == "uuid" and len(value) != 16:
            return path, f"a uuid of {len(value)} bytes"
        else:
            memoryview(value)
    except (struct.error, AttributeError, TypeError, ValueError) as cause:
        return path, f"{value!r:.80} is not of type {kind}: {cause}"
    return None
