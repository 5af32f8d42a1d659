"""Puts one generated module together: header, imports, classes.

A module holds what belongs together under one base name: a request and its response, a record's
key and value.
"""

from __future__ import annotations

import re
from typing import Final

from fencepost_protocol.codegen.decode import DecodeEmitter
from fencepost_protocol.codegen.encode import EncodeEmitter
from fencepost_protocol.codegen.layout import (
    Names,
    annotation,
    attribute,
    default_value,
)
from fencepost_protocol.codegen.source import LINE_MAX, Source, struct_label
from fencepost_protocol.schema.model import Message, Struct

IMPORTABLE: Final = {
    "fencepost_protocol.failures": (
        "ENCODE_ERRORS", "decode_failure", "encode_failure", "not_in_version", "not_nullable",
        "unknown_version",
    ),
    "fencepost_protocol.fields": ("MADE_ANEW", "Fields"),
    "fencepost_protocol.primitives": (
        "CUT_SHORT", "DECODE_ERRORS", "NULL_REFUSED", "PIECE_BYTES_MIN", "TAG_NOT_IN_VERSION",
        "TAG_SIZE_WRONG", "ZERO_UUID", "Buffer", "TaggedFields", "long_length",
        "long_nullable_string_length", "long_string_length", "negative_length",
        "read_compact_string_array", "read_int32_array", "read_int_array", "read_string_array",
        "read_tag", "read_unknown_tags", "read_uuid_array", "tagged_field", "too_many_elements",
        "uuid_bytes", "with_unknown_tag", "write_compact_string_array", "write_int32_array",
        "write_int_array", "write_string_array", "write_string_length", "write_tagged_fields",
        "write_uuid_array",
    ),
    "fencepost_protocol.varint": ("read_uvarint_tail", "write_uvarint"),
}  # fmt: skip
"""What a page may use without saying so; the imports are made from what it did use."""


def header(messages: list[Message]) -> list[str]:
    """The lines that name the sources and their hashes."""
    lines = [
        f"# Generated from schemas/{message.source} (sha256 {message.digest[:16]})"
        for message in messages
    ]
    return [*lines, "# by python -m fencepost_protocol.codegen. Do not edit."]


def emit_module(messages: list[Message]) -> str:
    """The text of the module that holds these messages."""
    names = Names(messages)
    body = Source()
    for message in messages:
        for structure in message.structs.values():
            _emit_struct(body, message, structure, names)
        _emit_message(body, message, names)
    page = Source()
    page.lines += header(messages)
    page.docstring(_module_docstring(messages))
    page.line()
    _emit_imports(page, body)
    for codes in sorted(body.unpackers):
        page.line(f'_unpack_{struct_label(codes)} = struct.Struct(">{codes}").unpack_from')
    for codes in sorted(body.packers):
        page.line(f'_pack_{struct_label(codes)} = struct.Struct(">{codes}").pack')
    page.line("new = object.__new__")
    page.lines += body.lines
    page.line()
    page.line()
    page.line("__all__ = [")
    for message in messages:
        exported = (*message.structs, message.name)
        for name in exported:
            page.line(f'    "{names.of(message, name)}",')
    page.line("]")
    return "\n".join(page.lines) + "\n"


def _module_docstring(messages: list[Message]) -> str:
    first = messages[0]
    if first.kind in {"request", "response"}:
        return f"{first.base_name} (API key {first.api_key})."
    if first.kind == "metadata":
        return f"{first.name} (metadata record {first.api_key})."
    if first.kind.startswith("coordinator"):
        return f"{first.base_name} (coordinator record {first.api_key})."
    return f"{first.name}."


def _emit_imports(page: Source, body: Source) -> None:
    used = set(re.findall(r"[A-Za-z_]\w*", "\n".join(body.lines)))
    page.line("from __future__ import annotations")
    page.line()
    if body.packers or body.unpackers:
        page.line("import struct")
    page.line("from typing import ClassVar")
    page.line()
    for module, importable in IMPORTABLE.items():
        wanted = [name for name in importable if name in used]
        if not wanted:
            continue
        one_line = f"from {module} import {', '.join(wanted)}"
        if len(one_line) <= LINE_MAX:
            page.line(one_line)
            continue
        with page.block(f"from {module} import ("):
            for name in wanted:
                page.line(f"{name},")
        page.line(")")
    page.line()


def _emit_fields(page: Source, message: Message, structure: Struct, names: Names) -> None:
    slots = [*(attribute(each) for each in structure.fields), "unknown_tagged_fields"]
    one_line = ", ".join(f'"{name}"' for name in slots)
    if len(slots) == 1:
        page.line(f"__slots__ = ({one_line},)")
    elif len(one_line) + 17 + 4 * page.depth <= LINE_MAX:
        page.line(f"__slots__ = ({one_line})")
    else:
        with page.block("__slots__ = ("):
            for name in slots:
                page.line(f'"{name}",')
        page.line(")")
    page.line()
    for each in structure.fields:
        page.line(f"{attribute(each)}: {annotation(each, message, names)}")
        versions = (
            f"Versions {each.versions & message.valid}. "
            if (each.versions & message.valid != message.valid)
            else ""
        )
        page.docstring(versions + each.about)
    page.line("unknown_tagged_fields: TaggedFields")
    page.line()
    _emit_init(page, message, structure, names)


def _emit_init(page: Source, message: Message, structure: Struct, names: Names) -> None:
    with page.block("def __init__("):
        page.line("self,")
        for each in structure.fields:
            default = default_value(each, message, names)
            if default.endswith(("[]", "()")):
                default = "MADE_ANEW"
            page.line(f"{attribute(each)}: {annotation(each, message, names)} = {default},")
        page.line("unknown_tagged_fields: TaggedFields = (),")
    with page.block(") -> None:"):
        for each in structure.fields:
            name, default = attribute(each), default_value(each, message, names)
            if default.endswith(("[]", "()")):
                page.line(f"self.{name} = {default} if {name} is MADE_ANEW else {name}")
            else:
                page.line(f"self.{name} = {name}")
        page.line("self.unknown_tagged_fields = unknown_tagged_fields")


def _emit_struct(page: Source, message: Message, structure: Struct, names: Names) -> None:
    page.line()
    page.line()
    with page.block(f"class {names.of(message, structure.name)}(Fields):"):
        page.docstring(structure.about or f"Part of {message.name}.")
        page.line()
        _emit_fields(page, message, structure, names)


def _emit_message(page: Source, message: Message, names: Names) -> None:
    page.line()
    page.line()
    with page.block(f"class {names.of(message, message.name)}(Fields):"):
        page.docstring(message.about)
        page.line()
        page.line(f'NAME: ClassVar[str] = "{message.name}"')
        if message.api_key is not None:
            label = "API_KEY" if message.kind in {"request", "response"} else "RECORD_TYPE"
            page.line(f"{label}: ClassVar[int] = {message.api_key}")
        page.line(f"MIN_VERSION: ClassVar[int] = {message.valid.lowest}")
        page.line(f"MAX_VERSION: ClassVar[int] = {message.valid.highest}")
        flexible = message.flexible & message.valid
        page.line(f"FLEXIBLE_FROM: ClassVar[int | None] = {flexible.lowest if flexible else None}")
        page.line()
        _emit_fields(page, message, message.root, names)
        page.line()
        EncodeEmitter(page, message, names).emit()
        page.line()
        DecodeEmitter(page, message, names).emit()
