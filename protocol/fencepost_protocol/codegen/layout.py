"""How a schema's types and versions appear in Python; shared by the two emitters.

The body of ``encode`` and ``decode`` is written once for the classic versions and once for the
flexible ones (a ``Span`` each), because nothing but the fixed-size fields is encoded alike in
both. Inside a span a field is there always, never, or under a condition on ``version``.
"""

from __future__ import annotations

import json
import keyword
from dataclasses import dataclass
from typing import Final

from fencepost_protocol.schema.model import (
    EMPTY,
    NO_VERSIONS,
    Array,
    Field,
    Message,
    Primitive,
    Struct,
    Versions,
)
from fencepost_protocol.schema.model import snake_case as snake_case

FIXED_CODES: Final = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "uint16": "H", "uint32": "I", "float64": "d", "uuid": "16s",
}  # fmt: skip
"""Primitives of fixed size, with their ``struct`` codes."""

PYTHON_TYPES: Final = {
    "bool": "bool", "int8": "int", "int16": "int", "int32": "int", "int64": "int",
    "uint16": "int", "uint32": "int", "float64": "float", "uuid": "bytes",
    "string": "str", "bytes": "bytes", "records": "Buffer",
}  # fmt: skip

RESERVED_NAMES: Final = frozenset(
    {
        "buf", "data", "pos", "n", "version", "size", "budget", "end", "raw", "out", "m", "tag",
        "new", "pieces", "start", "struct", "self", "cause", "count",
    }
)  # fmt: skip
"""Local names of the generated functions that an element variable must not take."""


@dataclass(frozen=True, slots=True)
class Span:
    """Versions that share one body."""

    versions: Versions
    flexible: bool

    def narrowed(self, versions: Versions) -> Span:
        """The part of the span in which a field of these versions exists."""
        return Span(self.versions & versions, self.flexible)

    def condition(self, versions: Versions) -> str | None:
        """When a field of these versions is there: ``""`` always, ``None`` never, or a test."""
        within = versions & self.versions
        if not within:
            return None
        low = within.lowest > self.versions.lowest
        high = within.highest < self.versions.highest
        if low and high:
            return f"{within.lowest} <= version <= {within.highest}"
        if low:
            return f"version >= {within.lowest}"
        return f"version <= {within.highest}" if high else ""


def spans(message: Message) -> list[Span]:
    """The message's one or two spans, the flexible (newer) one first."""
    result = []
    flexible = message.flexible & message.valid
    if flexible:
        result.append(Span(flexible, True))
    classic = Versions(
        message.valid.lowest, flexible.lowest - 1 if flexible else message.valid.highest
    )
    if classic & message.valid:
        result.append(Span(classic & message.valid, False))
    return result


def field_runs(structure: Struct, span: Span) -> list[tuple[str | None, list[Field]]]:
    """The fields outside of the tagged section with the conditions under which they are there.

    Fields that follow one another and share their condition stand together; those that the span
    never has come first.
    """
    absent: list[Field] = []
    runs: list[tuple[str | None, list[Field]]] = []
    for field in structure.fields:
        if field.tag is not None and span.condition(field.tagged) is not None:
            continue
        condition = span.condition(field.versions)
        if condition is None:
            absent.append(field)
        elif runs and runs[-1][0] == condition:
            runs[-1][1].append(field)
        else:
            runs.append((condition, [field]))
    return [(None, absent), *runs] if absent else runs


def field_is_flexible(field: Field, span: Span) -> bool:
    """A field may opt out of its message's flexible versions, as the request header's client id."""
    return span.flexible and field.flexible != NO_VERSIONS


def kinds(message: Message) -> set[str]:
    """The primitives that a message has anywhere, on their own or in arrays."""
    fields = [field for structure in message.structs.values() for field in structure.fields]
    types = [field.type for field in (*message.root.fields, *fields)]
    inner = [kind.element if isinstance(kind, Array) else kind for kind in types]
    return {kind.name for kind in inner if isinstance(kind, Primitive)}


class Names:
    """Class names of one generated module.

    A struct keeps its schema name. Where request and response define different structs of the
    same name, each is prefixed with its message's name.
    """

    def __init__(self, messages: list[Message]) -> None:
        counts: dict[str, int] = {}
        for message in messages:
            for name in (message.name, *message.structs):
                counts[name] = counts.get(name, 0) + 1
        self._clashing = {name for name, count in counts.items() if count > 1}

    def of(self, message: Message, struct: str) -> str:
        """The Python class for a struct of ``message``."""
        return f"{message.name}{struct}" if struct in self._clashing else struct


def attribute(field: Field) -> str:
    """The field's attribute; a Python keyword gets an underscore after it."""
    name = field.attribute
    return f"{name}_" if keyword.iskeyword(name) else name


def element_variables(message: Message) -> dict[str, str]:
    """For each struct the local variable that holds one of it: the field's name in the singular.

    Two structs never share a variable, because one of them may be inside the other.
    """
    chosen: dict[str, str] = {}
    for structure in (message.root, *reversed(message.structs.values())):
        for field in structure.fields:
            struct = field.struct_name
            if struct is None or struct in chosen:
                continue
            name = _singular(field.attribute) or snake_case(struct)
            if name in chosen.values():
                name = snake_case(struct)
            if name in RESERVED_NAMES or keyword.iskeyword(name) or name in chosen.values():
                name = f"{name}_"
            chosen[struct] = name
    return chosen


def _singular(plural: str) -> str | None:
    if plural.endswith("ies"):
        return f"{plural[:-3]}y"
    return plural[:-1] if plural.endswith("s") and not plural.endswith("ss") else None


def may_be_none(field: Field) -> bool:
    """Whether ``None`` is one of the attribute's values.

    A tagged struct is ``None`` when it is absent, so that a message without it costs nothing;
    but where null may be written, ``None`` is null, and absent is a struct of defaults.
    """
    return bool(field.nullable) or is_none_when_absent(field)


def is_none_when_absent(field: Field) -> bool:
    """A struct (not an array of them) in a tagged field that has no null."""
    is_struct = not isinstance(field.type, Array | Primitive)
    return field.tag is not None and is_struct and not field.nullable


def annotation(field: Field, message: Message, names: Names) -> str:
    """The attribute's type."""
    kind = field.type
    if isinstance(kind, Array):
        inner = kind.element
        element = PYTHON_TYPES[inner.name] if isinstance(inner, Primitive) else ""
        text = f"list[{element or names.of(message, inner.name)}]"
    elif isinstance(kind, Primitive):
        text = PYTHON_TYPES[kind.name]
    else:
        text = names.of(message, kind.name)
    return f"{text} | None" if may_be_none(field) else text


def default_value(field: Field, message: Message, names: Names) -> str:
    """The default as an expression that makes a fresh value each time."""
    if field.default is None or is_none_when_absent(field):
        return "None"
    kind = field.type
    if isinstance(field.default, str) and field.default != EMPTY:
        return json.dumps(field.default)
    if field.default != EMPTY:
        return repr(field.default)
    if isinstance(kind, Array):
        return "[]"
    if isinstance(kind, Primitive):
        return "ZERO_UUID" if kind.name == "uuid" else 'b""'
    return f"{names.of(message, kind.name)}()"


def differs_from_default(field: Field, value: str, message: Message, names: Names) -> str:
    """A test whether ``value`` is worth writing into a version that need not carry it."""
    kind = field.type
    if is_none_when_absent(field):
        struct = names.of(message, field.struct_name or "")
        return f"{value} is not None and {value} != {struct}()"
    if field.default is None:
        return f"{value} is not None"
    if isinstance(kind, Array) or (isinstance(kind, Primitive) and kind.name == "bytes"):
        # Null is not the default either; it can only stand where the field is nullable.
        return f"{value} is None or {value}" if may_be_none(field) else value
    if isinstance(kind, Primitive) and kind.name == "bool":
        return f"not {value}" if field.default else value
    if isinstance(kind, Primitive) and kind.name == "string" and not may_be_none(field):
        return f"{value} != {json.dumps(field.default)}" if field.default else value
    return f"{value} != {default_value(field, message, names)}"
