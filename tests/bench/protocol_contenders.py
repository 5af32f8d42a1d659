"""The codecs that are measured, each behind the same four questions.

A contender gives statements for ``timeit``: so no call of ours stands between the clock and the
codec. A statement leaves its result in ``out``.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import importlib
import importlib.metadata
import io
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fencepost_protocol.apis import message_class
from fencepost_protocol.schema.model import snake_case

from tests.bench.protocol_cases import Case, values


@dataclass(frozen=True, slots=True)
class Operation:
    """A statement, the names in it, and its result in a form that can be compared."""

    statement: str
    names: dict[str, Any]
    result: Callable[[Any], Any]

    def run(self) -> Any:
        """Do it once; gives the result in its comparable form."""
        names = dict(self.names)
        exec(self.statement, names)
        return self.result(names["out"])


class Contender(Protocol):
    """One codec."""

    name: str
    version: str
    """Of the package."""

    def speaks(self, case: Case) -> bool:
        """Whether it has this message in this version."""

    def decode(self, case: Case, wire: bytes) -> Operation:
        """Bytes to a message; the result is ``protocol_cases.values``."""

    def encode(self, case: Case, wire: bytes) -> Operation:
        """A message to bytes; the result is the bytes."""


class Fencepost:
    """Ours: generated code."""

    name = "fencepost"
    version = importlib.metadata.version("fencepost")

    def speaks(self, case: Case) -> bool:
        return True

    def decode(self, case: Case, wire: bytes) -> Operation:
        names = {
            "decode": message_class(case.name).decode,
            "buf": memoryview(wire),
            "version": case.version,
        }
        return Operation(
            "out = decode(buf, version)", names, lambda r: values(r[0], case.name, case.version)
        )

    def encode(self, case: Case, wire: bytes) -> Operation:
        names = {"message": case.message, "version": case.version}
        return Operation("out = bytearray(); message.encode(version, out)", names, bytes)


class FencepostPieces(Fencepost):
    """Ours as the broker sends records: as pieces of their own instead of copied."""

    name = "fencepost, in pieces"

    def speaks(self, case: Case) -> bool:
        return hasattr(case.message, "encode_pieces")

    def encode(self, case: Case, wire: bytes) -> Operation:
        names = {"message": case.message, "version": case.version}
        return Operation("out = message.encode_pieces(version, bytearray())", names, b"".join)


class KafkaPython:
    """kafka-python: functions compiled from the schemas on first use."""

    name = "kafka-python"

    def __init__(self) -> None:
        self.version = importlib.metadata.version("kafka-python")
        self._modules = [
            importlib.import_module(f"kafka.protocol.{part}")
            for part in ("producer", "consumer", "metadata")
        ]

    def _class(self, case: Case) -> Any:
        found = (getattr(module, case.name, None) for module in self._modules)
        return next((cls for cls in found if cls is not None), None)

    def speaks(self, case: Case) -> bool:
        cls = self._class(case)
        return cls is not None and case.version <= cls.max_version

    def decode(self, case: Case, wire: bytes) -> Operation:
        names = {
            "decode": self._class(case).decode,
            "buf": memoryview(wire),
            "version": case.version,
        }
        return Operation("out = decode(buf, version=version)", names, _of_container)

    def encode(self, case: Case, wire: bytes) -> Operation:
        message = self._class(case).decode(wire, version=case.version)
        message._header = None  # What the constructor does, and decode does not.
        names = {"message": message, "version": case.version}
        return Operation("out = message.encode(version=version)", names, bytes)


def _of_container(held: Any) -> Any:
    """kafka-python's values, its sets of bits as the integers that they are on the wire."""
    if isinstance(held, list):
        return [_of_container(element) for element in held]
    if isinstance(held, uuid.UUID):
        return held.bytes
    if not hasattr(held, "_struct"):
        return held
    said = []
    for field in held._struct.untagged_fields(held._version):
        value = getattr(held, field.name)
        if field.type_str == "bitfield":
            bits = {31} if value is None else value
            value = sum(-(1 << bit) if bit == 31 else 1 << bit for bit in bits)
        elif field.type_str == "uuid" and value is None:
            value = bytes(16)
        said.append(_of_container(value))
    return said


class Aiokafka:
    """aiokafka: objects that interpret a schema; no version is flexible."""

    name = "aiokafka"

    def __init__(self) -> None:
        self.version = importlib.metadata.version("aiokafka")
        self._modules = [
            importlib.import_module(f"aiokafka.protocol.{part}")
            for part in ("produce", "fetch", "metadata", "coordination", "transaction")
        ]

    def _class(self, case: Case) -> Any:
        wanted = f"{case.name}_v{case.version}"
        found = (getattr(module, wanted, None) for module in self._modules)
        return next((cls for cls in found if cls is not None), None)

    def speaks(self, case: Case) -> bool:
        return self._class(case) is not None

    def decode(self, case: Case, wire: bytes) -> Operation:
        names = {"decode": self._class(case).decode, "buf": wire}
        return Operation("out = decode(buf)", names, _of_tuples)

    def encode(self, case: Case, wire: bytes) -> Operation:
        names = {"message": self._class(case).decode(wire)}
        return Operation("out = message.encode()", names, bytes)


def _of_tuples(held: Any) -> Any:
    if isinstance(held, list | tuple):
        return [_of_tuples(element) for element in held]
    if hasattr(held, "SCHEMA"):
        return [_of_tuples(held.get_item(name)) for name in held.SCHEMA.names]
    return held


class Construct:
    """The dissector's declarations, interpreted by the construct library."""

    name = "construct"

    def __init__(self) -> None:
        self.version = importlib.metadata.version("construct")
        declarations = importlib.import_module("fencepost_protocol.dissect.declarations")
        self._parse = declarations.parse
        self._build = declarations.build

    def speaks(self, case: Case) -> bool:
        return True

    def decode(self, case: Case, wire: bytes) -> Operation:
        names = {"parse": self._parse, "name": case.name, "version": case.version, "buf": wire}
        return Operation(
            "out = parse(name, version, buf)",
            names,
            lambda r: values(r[0], case.name, case.version),
        )

    def encode(self, case: Case, wire: bytes) -> Operation:
        value, _ = self._parse(case.name, case.version, wire)
        names = {"build": self._build, "name": case.name, "version": case.version, "value": value}
        return Operation("out = build(name, version, value)", names, bytes)


class Kio:
    """kio: its reader is native code, its writer is Python."""

    name = "kio"

    def __init__(self) -> None:
        self.version = importlib.metadata.version("kio")
        self._serial = importlib.import_module("kio.serial")

    def _class(self, case: Case) -> Any:
        api = case.name.removesuffix("Request").removesuffix("Response")
        part = "request" if case.name.endswith("Request") else "response"
        where = f"kio.schema.{snake_case(api)}.v{case.version}.{part}"
        try:
            return getattr(importlib.import_module(where), case.name)
        except ModuleNotFoundError:
            return None

    def speaks(self, case: Case) -> bool:
        return self._class(case) is not None

    def decode(self, case: Case, wire: bytes) -> Operation:
        names = {"read": self._serial.entity_reader(self._class(case)), "buf": wire}
        return Operation("out = read(buf, 0)", names, lambda r: _of_entity(r[0]))

    def encode(self, case: Case, wire: bytes) -> Operation:
        cls = self._class(case)
        entity, _ = self._serial.entity_reader(cls)(wire, 0)
        write = self._serial.entity_writer(cls)
        names = {"write": write, "entity": entity, "BytesIO": io.BytesIO}
        return Operation(
            "out = BytesIO(); write(out, entity)", names, lambda buffer: buffer.getvalue()
        )


def _of_entity(held: Any) -> Any:
    """kio's values: its durations, moments, ids and error codes as they are on the wire."""
    if dataclasses.is_dataclass(held):
        said = []
        for field in dataclasses.fields(held):
            if "tag" in field.metadata:
                continue
            value = getattr(held, field.name)
            kind = field.metadata.get("kafka_type")
            if value is None and kind in {"uuid", "datetime_i64"}:
                value = bytes(16) if kind == "uuid" else -1
            said.append(_of_entity(value))
        return said
    if isinstance(held, tuple):
        return [_of_entity(element) for element in held]
    if isinstance(held, uuid.UUID):
        return held.bytes
    if isinstance(held, datetime.timedelta):
        return held // datetime.timedelta(milliseconds=1)
    if isinstance(held, enum.Enum):
        return held.value
    return bytes(held) if isinstance(held, memoryview | bytearray) else held


def contenders() -> tuple[list[Contender], list[str]]:
    """Ours first, then those that are installed; and what is missing, in words."""
    found: list[Contender] = [Fencepost(), FencepostPieces()]
    missing = []
    peers: Sequence[Callable[[], Contender]] = (KafkaPython, Aiokafka, Construct, Kio)
    for peer in peers:
        try:
            found.append(peer())
        except ImportError as error:
            missing.append(f"{getattr(peer, 'name', peer)} is not measured: {error}")
    return found, missing
