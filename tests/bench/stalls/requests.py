"""One request for each array that a request can have, with that array long.

What is in them is legal and ordinary: names that a topic can have, partitions that count from 0, a
batch of one record. An array is long once with names of its own for each element, and once with the
one name that there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from fencepost_broker.apis.registry import SERVED
from fencepost_protocol.apis import Message, message_class, request_class
from fencepost_protocol.codegen.layout import Names, attribute
from fencepost_protocol.generated.index import MODULES
from fencepost_protocol.records.writer import build_batch
from fencepost_protocol.schema import files
from fencepost_protocol.schema.model import Array, Field, Primitive, Struct
from fencepost_protocol.schema.model import Message as Schema

TOPIC: Final = "t"
"""A topic of one partition that there is."""
GROUP: Final = "g"
TRANSACTIONAL_ID: Final = "x"
BATCH: Final = bytes(build_batch(None, [b"v"], 1_000))
_VALUES: Final[dict[str, Any]] = {
    "Acks": -1,
    "AllowAutoTopicCreation": False,
    "Count": 2,
    "CurrentLeaderEpoch": -1,
    "GenerationId": -1,
    "GenerationIdOrMemberEpoch": -1,
    "GroupId": GROUP,
    "LastFetchedEpoch": -1,
    "MaxBytes": 1 << 20,
    "NumPartitions": -1,
    "PartitionMaxBytes": 1 << 10,
    "ProtocolName": "range",
    "ProtocolType": "consumer",
    "RebalanceTimeoutMs": 10_000,
    "Records": BATCH,
    "ReplicaId": -1,
    "ReplicationFactor": -1,
    "ResourceType": 2,
    "ResponsePartitionLimit": 2_000,
    "SessionEpoch": -1,
    "SessionTimeoutMs": 10_000,
    "TimeoutMs": 1_000,
    "Timestamp": -1,
    "TransactionalId": TRANSACTIONAL_ID,
    "V3AndBelowTransactionalId": TRANSACTIONAL_ID,
}
"""What stands in fields whose default would have the request refused at once."""
_ELEMENTS: Final[dict[str, Any]] = {"BrokerIds": 0, "ConfigNames": "retention.ms", "Replicas": 0}
"""Of arrays that are no use with anything else in them."""
_LEFT_EMPTY: Final = ("Assignments", "ForgottenTopicsData")
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A kind of request that is as long as one likes."""

    schema: Schema
    version: int
    path: Path
    """The array that is long, from the outside in."""
    is_one_name: bool
    changes: tuple[tuple[str, Any], ...] = ()
    """Fields that have other values than usual, by Kafka's name."""

    @property
    def api(self) -> str:
        """Its name without what all have in common."""
        return self.schema.base_name

    @property
    def label(self) -> str:
        """For people."""
        names = ", one name" if self.is_one_name else ""
        changed = "".join(f", {name}={value}" for name, value in self.changes)
        return f"{self.api} {'.'.join(self.path)}{names}{changed}"

    def make(self, count: int, values: dict[str, Any]) -> Message:
        """A request with so many elements; ``values`` are for fields by Kafka's name."""
        return _Maker(self, count, {**_VALUES, **values, **dict(self.changes)}).make()


class _Maker:
    def __init__(self, case: Case, count: int, values: dict[str, Any]) -> None:
        self._case = case
        self._count = count
        self._values = values
        schema = case.schema
        module = MODULES[schema.name]
        self._names = Names([files.load(each) for each in MODULES if MODULES[each] == module])
        self._module: Any = __import__(f"fencepost_protocol.generated.{module}", fromlist=["*"])

    def make(self) -> Message:
        schema = self._case.schema
        made: Message = self._struct(schema.root, message_class(schema.name), 0, self._case.path)
        return made

    def _struct(self, structure: Struct, cls: type, number: int, path: Path) -> Any:
        made = cls()
        for field in structure.fields:
            on_path = bool(path) and field.name == path[0]
            if self._case.version in field.versions and (on_path or field.tag is None):
                value = self._value(field, number, path[1:] if on_path else None)
                setattr(made, attribute(field), value)
        return made

    def _value(self, field: Field, number: int, path: Path | None) -> Any:
        """``path`` is what is left of it, where the field is on it."""
        kind = field.type
        if isinstance(kind, Array):
            if path == ():
                count = self._count
            elif path is None and self._case.version in field.nullable:
                return None
            else:
                count = int(path is not None or field.name not in _LEFT_EMPTY)
            return [self._element(field.name, kind, at, path or ()) for at in range(count)]
        if field.name in self._values:
            return self._values[field.name]
        if isinstance(kind, Primitive):
            if self._case.version in field.nullable and not field.name.endswith("Name"):
                return None
            return self._primitive(kind.name, number)
        return self._one(kind.name, number, path or ())

    def _element(self, name: str, kind: Array, number: int, path: Path) -> Any:
        if isinstance(kind.element, Primitive):
            found = _ELEMENTS.get(name)
            return self._primitive(kind.element.name, number) if found is None else found
        return self._one(kind.element.name, number, path)

    def _one(self, name: str, number: int, path: Path) -> Any:
        schema = self._case.schema
        cls = getattr(self._module, self._names.of(schema, name))
        return self._struct(schema.structs[name], cls, number, path)

    def _primitive(self, kind: str, number: int) -> Any:
        match kind:
            case "string":
                return TOPIC if self._case.is_one_name else f"s-{number}"
            case "uuid":
                return number.to_bytes(16, "big")
            case "bytes" | "records":
                return b""
            case "bool":
                return False
            case "float64":
                return 0.0
            case "int8":
                return number % 100
            case "int16":
                return number % 30_000
        return number


def cases() -> Iterator[Case]:
    """All of them, those of one API together; each in the latest version that has its array."""
    for served in SERVED:
        schema = files.load(request_class(served.key.value).NAME)
        lowest = max(served.accepted[0], schema.valid.lowest)
        highest = min(served.accepted[1], schema.valid.highest)
        found: dict[Path, int] = {}
        for version in range(lowest, highest + 1):
            found |= dict.fromkeys(_paths(schema, schema.root, version), version)
        for path, version in found.items():
            for is_one_name in (False, True):
                yield Case(schema, version, path, is_one_name)
        yield from _others(schema, highest)


def _others(schema: Schema, version: int) -> Iterator[Case]:
    """What a field's value makes another request of."""
    if schema.base_name == "Metadata":
        yield Case(schema, version, ("Topics",), False, (("AllowAutoTopicCreation", True),))
    if schema.base_name == "Fetch":
        for path in (("Topics",), ("Topics", "Partitions")):
            yield Case(schema, 12, path, False, (("SessionEpoch", 0),))
            yield Case(schema, 12, path, True, (("MinBytes", 1 << 20), ("MaxWaitMs", 50)))
    if schema.base_name == "CreateTopics":
        yield Case(schema, version, ("Topics",), False, (("NumPartitions", 1),))
        yield Case(schema, version, ("Topics",), False, (("ValidateOnly", True),))
    if schema.base_name == "Produce":
        for acks in (0, -1):
            changes = (("TransactionalId", None), ("Acks", acks))
            yield Case(schema, 12, ("TopicData",), True, changes)


def _paths(schema: Schema, structure: Struct, version: int) -> Iterator[Path]:
    for field in structure.fields:
        if version not in field.versions:
            continue
        if isinstance(field.type, Array):
            yield (field.name,)
        if field.struct_name is not None:
            for path in _paths(schema, schema.struct(field.struct_name), version):
                yield (field.name, *path)
