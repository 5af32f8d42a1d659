"""Construct declarations for every message and version, made from the schemas.

This is a second decoder, which shares nothing with the generated one but the schema model: it
interprets the declarations field by field and so can say where it is. The tests hold the generated
code against it; the dissector and the error messages use it to find the field of a byte.

It accepts and refuses exactly what the generated decoders do. Building (``build``) is Kafka's
encoding as well, except that a value for a field that the version lacks is left out silently.
"""

from __future__ import annotations

import contextlib
import functools
import keyword
from collections.abc import Callable
from typing import Any, Final

from construct import (
    Bytes,
    Construct,
    ConstructError,
    Container,
    Flag,
    Float64b,
    Int8sb,
    Int16sb,
    Int16ub,
    Int32sb,
    Int32ub,
    Int64sb,
)

from fencepost_protocol import limits
from fencepost_protocol.dissect.constructs import (
    MAX_STRING,
    Blob,
    Elements,
    Length,
    Numbers,
    Part,
    Sized,
    Source,
    Text,
    UVarint,
    why,
)
from fencepost_protocol.dissect.structs import Fields, Filling, Marker, Nullable, TaggedSection
from fencepost_protocol.dissect.trace import ELEMENT, TAGS, Label, PathTrace, TooManyParts
from fencepost_protocol.dissect.values import hint_of
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.schema import files
from fencepost_protocol.schema.model import (
    EMPTY,
    NO_VERSIONS,
    Array,
    Field,
    Message,
    Primitive,
    Struct,
)

UUID_SIZE: Final = 16
FIXED: Final[dict[str, Construct]] = {
    "bool": Flag,
    "int8": Int8sb,
    "int16": Int16sb,
    "int32": Int32sb,
    "int64": Int64sb,
    "uint16": Int16ub,
    "uint32": Int32ub,
    "float64": Float64b,
    "uuid": Bytes(UUID_SIZE),
}
"""The primitives of fixed size."""

CODES: Final = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint16": "H",
    "uint32": "I", "float64": "d",
}  # fmt: skip
"""Their ``struct`` codes, for arrays of them."""


def parse(
    name: str, version: int, content: bytes | bytearray | memoryview
) -> tuple[dict[str, Any], int]:
    """Parse the message at the beginning of ``content``; returns its fields and its end.

    The fields of a struct are a dictionary by attribute, those that this version lacks with their
    defaults, so that it equals the generated class field by field.
    """
    source = Source(memoryview(content))
    declared = declaration(name, version)
    try:
        value: dict[str, Any] = declared._parse(source, _context(), "")
    except ConstructError as error:
        path, offset, reason = _where(declared, source, error)
        raise RemoteProtocolError(
            reason, api=name, version=version, path=path, offset=offset
        ) from error
    return value, source.tell()


def build(name: str, version: int, value: dict[str, Any]) -> bytes:
    """Encode a message from what ``parse`` returns."""
    try:
        built: bytes = declaration(name, version).build(value)
    except (ConstructError, KeyError, TypeError, AttributeError) as error:
        raise LocalProtocolError(f"cannot build {name} v{version}: {error}") from error
    return built


def defaults(name: str, struct: str | None = None) -> dict[str, Any]:
    """A message, or one of its structs, of which nothing was set."""
    message = files.load(name)
    return _Declarer(message, message.valid.highest).defaults(struct or name)


def read_through(declared: Construct, source: Source) -> ConstructError | None:
    """Read with the source's trace listening; gives the error at which reading stopped, if any.

    ``TooManyParts`` is the trace's own and goes through.
    """
    try:
        declared._parse(source, _context(), "")
    except ConstructError as error:
        return error
    return None


def _where(declared: Construct, source: Source, error: ConstructError) -> tuple[str, int, str]:
    """Read once more, now with an eye on the position."""
    trace = PathTrace(limits.MAX_LOCATED_PARTS)
    again = Source(source.content, trace)
    with contextlib.suppress(TooManyParts):
        error = read_through(declared, again) or error
    return trace.path, trace.at, why(error, again, trace.at)


def _context() -> Any:
    return Container(_parsing=True, _building=False, _sizing=False, _params=None)


@functools.cache
def declaration(name: str, version: int) -> Construct:
    """The construct of one message in one version."""
    message = files.load(name)
    if version not in message.valid:
        raise LocalProtocolError(f"{name} has versions {message.valid}, not {version}")
    return _Declarer(message, version).struct(message.root)


class _Declarer:
    """Makes the construct of one message in one version."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version
        self.flexible = version in message.flexible

    def struct(self, structure: Struct) -> Construct:
        parts: list[Construct] = []
        known: dict[int, tuple[Part, Callable[[Any], bool]]] = {}
        elsewhere: dict[int, str] = {}
        for field in structure.fields:
            if field.tag is not None and self.version in field.tagged:
                part = self.field(field)
                known[field.tag] = (Part(part.label, Filling(part.subcon)), self.set_test(field))
            elif field.tag is not None and self.message.flexible & field.tagged:
                elsewhere[field.tag] = str(field.tagged & self.message.valid)
            elif self.version in field.versions:
                parts.append(self.field(field))
        if self.flexible:
            label = Label(Fields.TAGS, TAGS, "tagged fields")
            parts.append(Part(label, TaggedSection(known, elsewhere)))
        return Fields(parts, self.absent(structure))

    def absent(self, structure: Struct) -> Callable[[], dict[str, Any]]:
        """Makes the values of the fields that may not be among the bytes."""
        lacking = [
            field
            for field in structure.fields
            if self.version not in field.versions or field.tag is not None
        ]
        return lambda: {attribute(field): self.default(field) for field in lacking}

    def default(self, field: Field) -> Any:
        """The value of a field that is not there; a fresh one each time."""
        kind = field.type
        if field.default != EMPTY:
            return field.default
        if isinstance(kind, Array):
            return []
        if isinstance(kind, Primitive):
            return bytes(UUID_SIZE) if kind.name == "uuid" else b""
        # A struct without null is None where a tag that was not sent leaves it out.
        is_absent = field.tag is not None and not field.nullable
        return None if is_absent else self.defaults(kind.name)

    def defaults(self, struct_name: str) -> dict[str, Any]:
        """A struct in which every field has its default."""
        fields = self.message.struct(struct_name).fields
        made = {attribute(field): self.default(field) for field in fields}
        return {**made, "unknown_tagged_fields": ()}

    def set_test(self, field: Field) -> Callable[[Any], bool]:
        """Whether a tagged field is worth its bytes."""
        default = self.default(field)
        if field.struct_name is not None and not isinstance(field.type, Array):
            empty = self.defaults(field.struct_name)
            return lambda value: bool(value != empty and (field.nullable or value is not None))
        return lambda value: bool(value != default)

    # -- fields -------------------------------------------------------------------------------

    def field(self, field: Field) -> Part:
        """A field of this version, with its label."""
        inner, kind = self.content(field)
        group = isinstance(field.type, Array) or field.struct_name is not None
        primitive = field.type.name if isinstance(field.type, Primitive) else ""
        return Part(
            Label(
                name=attribute(field),
                role="group" if group else "field",
                type=kind,
                schema=field.name,
                about=field.about,
                hint=hint_of(field.attribute, primitive),
            ),
            inner,
        )

    def content(self, field: Field) -> tuple[Construct, str]:
        """The construct of a field, and its type in words."""
        kind = field.type
        nullable = self.version in field.nullable
        prefix = "nullable " if nullable else ""
        if isinstance(kind, Primitive):
            if kind.name in FIXED:
                return FIXED[kind.name], kind.name
            compact = self.flexible and field.flexible != NO_VERSIONS
            text = f"{'compact ' if compact else ''}{prefix}{kind.name}"
            return self.sized(field, kind.name, compact, nullable), text
        if isinstance(kind, Array):
            text = f"{'compact ' if self.flexible else ''}{prefix}array of {kind.element}"
            return self.array(field, kind), text
        inner = self.struct(self.message.structs[kind.name])
        if not nullable:
            return inner, kind.name
        if field.tag is None:
            marker = _labelled(field, "null marker", "int8", Marker(Int8sb, null=-1))
        else:
            marker = _labelled(field, "null marker", "uvarint", Marker(UVarint(), null=0))
        return Nullable(marker, inner), prefix + kind.name

    def sized(self, field: Field, kind: str, compact: bool, nullable: bool) -> Construct:
        """A string, bytes or records: a length and so many bytes."""
        text = f"{'compact ' if compact else ''}{kind}"
        label = Label(
            name="",
            role="content",
            type=text,
            schema=field.name,
            about=field.about,
        )
        content = Text() if kind == "string" else Blob()
        return Sized(self.length(field, kind, "length", compact, nullable), content, label)

    def length(self, field: Field, kind: str, role: str, compact: bool, nullable: bool) -> Part:
        """The length field itself."""
        is_string = kind == "string"
        number = UVarint() if compact else (Int16sb if is_string else Int32sb)
        text = "uvarint" if compact else ("int16" if is_string else "int32")
        longest = MAX_STRING if is_string else None
        length = Length(
            number,
            compact=compact,
            nullable=nullable,
            longest=longest,
            of_elements=role == "count",
        )
        return _labelled(field, role, text, length)

    def array(self, field: Field, kind: Array) -> Construct:
        """A count and so many elements."""
        compact = self.flexible and field.flexible != NO_VERSIONS
        nullable = self.version in field.nullable
        count = self.length(field, "", "count", compact, nullable)
        element = kind.element
        if not isinstance(element, Primitive):
            inner = self.struct(self.message.structs[element.name])
            label = Label(ELEMENT, "group", element.name, field.name)
            return Elements(count, inner, label)
        label = Label(
            name=ELEMENT,
            role="field",
            type=element.name,
            schema=field.name,
            about=field.about,
            hint=hint_of(field.attribute, element.name),
        )
        if element.name in CODES:
            return Numbers(count, FIXED[element.name], label, CODES[element.name])
        if element.name == "uuid":
            return Elements(count, FIXED[element.name], label)
        return Elements(count, self.sized(field, element.name, compact, nullable=False), label)


def _labelled(field: Field, role: str, kind: str, inner: Construct) -> Part:
    label = Label("", role, kind, field.name)
    return Part(label, inner)


def attribute(field: Field) -> str:
    """The field's name in Python, as the generated classes have it."""
    name = field.attribute
    return f"{name}_" if keyword.iskeyword(name) else name
