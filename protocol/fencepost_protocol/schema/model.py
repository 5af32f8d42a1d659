"""The model of a schema, after it was read and checked.

Generated code, dissector, documentation and random messages of tests are derived from this model,
never from the JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

MAX_VERSION: Final = 32767
"""The end of an open range such as ``3+``; versions travel as int16."""

PRIMITIVES: Final = frozenset(
    {
        "bool", "int8", "int16", "int32", "int64", "uint16", "uint32", "float64",
        "uuid", "string", "bytes", "records",
    }
)  # fmt: skip

NULLABLE_PRIMITIVES: Final = frozenset({"string", "bytes", "records"})

RESERVED_TAGS_FROM: Final = 10_000
"""Tags from here on are Fencepost's own and may leave gaps; below, Kafka's are gapless."""


@dataclass(frozen=True, slots=True)
class Versions:
    """An inclusive range of versions; ``NO_VERSIONS`` is the empty one."""

    lowest: int
    highest: int

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __bool__(self) -> bool:
        return self.lowest <= self.highest

    def __and__(self, other: Versions) -> Versions:
        both = Versions(max(self.lowest, other.lowest), min(self.highest, other.highest))
        return both or NO_VERSIONS

    def covers(self, other: Versions) -> bool:
        """Whether every version of ``other`` is one of ours."""
        return not other or (self.lowest <= other.lowest and other.highest <= self.highest)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.highest == MAX_VERSION:
            return f"{self.lowest}+"
        if self.lowest == self.highest:
            return str(self.lowest)
        return f"{self.lowest}-{self.highest}"


NO_VERSIONS: Final = Versions(0, -1)


@dataclass(frozen=True, slots=True)
class Primitive:
    """One of ``PRIMITIVES``."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Array:
    """A list of primitives or of structs; Kafka has no arrays of arrays."""

    element: Primitive | StructType

    def __str__(self) -> str:
        return f"[]{self.element}"


@dataclass(frozen=True, slots=True)
class StructType:
    """A reference to one of the message's structs, by name."""

    name: str

    def __str__(self) -> str:
        return self.name


FieldType = Primitive | Array | StructType
Default = bool | int | float | str | None
"""A default as a value; for bytes, uuid, arrays and structs only ``None`` or "the empty one"."""

EMPTY: Final = "empty"
"""The default of arrays and structs that are not null: an empty list, a struct of defaults."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message or of a nested struct."""

    name: str
    type: FieldType
    versions: Versions
    nullable: Versions
    tagged: Versions
    tag: int | None
    default: Default
    ignorable: bool
    map_key: bool
    entity_type: str | None
    flexible: Versions | None
    about: str

    @property
    def attribute(self) -> str:
        """The field's name in Python."""
        return snake_case(self.name)

    @property
    def struct_name(self) -> str | None:
        """The struct that this field holds, itself or as the elements of an array."""
        kind = self.type.element if isinstance(self.type, Array) else self.type
        return kind.name if isinstance(kind, StructType) else None


@dataclass(frozen=True, slots=True)
class Struct:
    """A named group of fields; the message itself is one."""

    name: str
    versions: Versions
    fields: tuple[Field, ...]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One schema file."""

    name: str
    kind: str
    api_key: int | None
    valid: Versions
    flexible: Versions
    latest_version_unstable: bool
    listeners: tuple[str, ...]
    about: str
    history: dict[int, str]
    root: Struct
    structs: dict[str, Struct]
    """The nested and common structs by name, inner ones before those that use them."""
    source: str
    """The file's path below the schema folder, with forward slashes."""
    digest: str
    """SHA-256 of the file's bytes, in hexadecimal."""

    def struct(self, name: str) -> Struct:
        """The struct of that name; the message's own name is its root."""
        return self.root if name == self.name else self.structs[name]

    @property
    def base_name(self) -> str:
        """What request and response, or key and value, have in common: ``EndTxn``."""
        return re.sub(r"(Request|Response|Key|Value)$", "", self.name)

    @property
    def module(self) -> str:
        """The generated module that holds this message."""
        return snake_case(self.base_name)


@cache
def snake_case(name: str) -> str:
    """``TransactionalId`` -> ``transactional_id``, ``KRaftVersion`` -> ``kraft_version``."""
    joined = name.replace("KRaft", "Kraft")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", joined).lower()
