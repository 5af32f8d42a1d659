"""Random valid messages of every schema, the same for the same seed."""

from __future__ import annotations

import codecs
import random
import string
from typing import Any

from fencepost_protocol.apis import message_class
from fencepost_protocol.codegen.layout import Names, attribute
from fencepost_protocol.generated.index import MODULES
from fencepost_protocol.schema import files
from fencepost_protocol.schema.model import (
    RESERVED_TAGS_FROM,
    Array,
    Field,
    Message,
    Primitive,
    Struct,
    StructType,
)

INTEGER_BITS = {
    "int8": (7, True), "int16": (15, True), "int32": (31, True), "int64": (63, True),
    "uint16": (16, False), "uint32": (32, False),
}  # fmt: skip
LETTERS = string.ascii_letters + string.digits + '._-äß漢字🐘\x00\n"\\'
LETTER_OF_BYTE = (LETTERS * 4)[:256]


class MessageMaker:
    """Makes messages of one schema from one source of randomness."""

    def __init__(self, schema: Message, rng: random.Random, *, own_tags: bool = True) -> None:
        self.schema = schema
        self.rng = rng
        self.own_tags = own_tags
        self.module = __import__(
            f"fencepost_protocol.generated.{MODULES[schema.name]}", fromlist=["*"]
        )
        siblings = [files.load(name) for name, module in MODULES.items() if module == schema.module]
        self.names = Names(siblings)

    def make(self, version: int) -> Any:
        """A message whose fields are those of ``version``; all others keep their defaults."""
        return self._struct(self.schema.root, version, message_class(self.schema.name))

    def _struct(self, structure: Struct, version: int, cls: type) -> Any:
        made = cls()
        for field in structure.fields:
            if version not in field.versions:
                continue
            if field.tag is not None:
                own = field.tag >= RESERVED_TAGS_FROM
                if self.rng.random() < 0.5 or (own and not self.own_tags):
                    continue
            value = self.value(field, version)
            is_tagged_struct = field.tag is not None and isinstance(field.type, StructType)
            if is_tagged_struct and value == type(value)():
                continue  # of defaults only: it is left out, and absent when it is read again
            setattr(made, attribute(field), value)
        return made

    def value(self, field: Field, version: int) -> Any:
        if version in field.nullable and self.rng.random() < 0.2:
            return None
        kind = field.type
        if isinstance(kind, Array):
            element = kind.element
            if isinstance(element, Primitive):
                count = self.rng.choice([0, 1, 2, 3, 17, 130])
                return [self._primitive(element.name) for _ in range(count)]
            count = self.rng.choice([0, 1, 1, 2, 3])
            return [self._one(element.name, version) for _ in range(count)]
        if isinstance(kind, Primitive):
            return self._primitive(kind.name)
        return self._one(kind.name, version)

    def _one(self, struct_name: str, version: int) -> Any:
        cls = getattr(self.module, self.names.of(self.schema, struct_name))
        return self._struct(self.schema.structs[struct_name], version, cls)

    def _primitive(self, kind: str) -> Any:
        rng = self.rng
        if kind == "bool":
            return rng.random() < 0.5
        if kind in INTEGER_BITS:
            bits, signed = INTEGER_BITS[kind]
            low, high = (-(1 << bits) if signed else 0), (1 << bits) - 1
            if rng.random() < 0.3:
                return rng.choice((low, high, 0, 1))
            low, high = max(low, -1000), min(high, 100_000)
            return low + int(rng.random() * (high - low + 1))  # half the time of randint
        if kind == "float64":
            return rng.choice([0.0, 1.5, -2.25, 1e300, rng.uniform(-1e6, 1e6)])
        if kind == "uuid":
            return bytes(16) if rng.random() < 0.1 else rng.randbytes(16)
        if kind == "string":
            length = rng.choice([0, 1, 5, 12, 12, 126, 127, 128, 300])
            return codecs.charmap_decode(rng.randbytes(length), "strict", LETTER_OF_BYTE)[0]
        return rng.randbytes(rng.choice([0, 1, 20, 126, 127, 200, 3000]))


def all_schemas() -> list[Message]:
    """Every message and record that has a generated class, by name."""
    return [files.load(name) for name in sorted(MODULES)]


def seeded(name: str, version: int, seed: int = 0) -> random.Random:
    """A source of randomness for one message and version."""
    return random.Random(f"{name}/{version}/{seed}")
