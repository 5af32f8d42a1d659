"""Compares an answer of a replay with the recorded one, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.primitives import uuid_text
from fencepost_protocol.schema.files import load
from fencepost_protocol.schema.model import Array, Field, Message, Primitive, Struct

from fencepost_client.recordings.ids import ID_KINDS, Ids, Kind, kind_of
from fencepost_client.recordings.walk import Scope, fields_of, struct_of

TEXT_MAX: Final = 80
_KEYS: Final = (
    "Key", "Name", "Topic", "TopicName", "TopicId", "PartitionIndex", "Partition", "PartitionId",
    "Index", "GroupId", "TransactionalId", "MemberId", "ResourceName", "NodeId", "BrokerId",
    "ProducerId", "User", "Feature", "ApiKey",
)  # fmt: skip
"""Fields that tell the elements of a list apart, if the schema marks none (``mapKey``)."""
_RETRIED: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.UNKNOWN_TOPIC_ID,
    }
)  # fmt: skip
"""Errors that go away by themselves."""
_SOONER: Final = (_RETRIED - {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID}) | {
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
}
"""Errors that a target may not have. A topic that does not exist is no matter of time."""


class FieldDifference(NamedTuple):
    """A field that is not as recorded."""

    path: str
    recorded: str
    got: str
    error: tuple[int, int] | None = None
    """The recorded code and the one that came, if the field holds an error."""


def may_pass(differences: Sequence[FieldDifference]) -> bool:
    """Return whether a later attempt may be answered as recorded."""
    return any(each.error is not None and each.error[1] in _RETRIED for each in differences)


def is_sooner(differences: Sequence[FieldDifference]) -> bool:
    """Return whether a target has only done sooner what the recorded client had to wait for."""
    return all(
        each.error is not None and each.error[0] in _SOONER and not each.error[1]
        for each in differences
    )


class Comparison:
    """Compares answers, and learns from them which ids stand for which."""

    def __init__(self, ids: Ids) -> None:
        self.ids = ids
        self.created: set[str] = set()
        """Topics that the replay has created."""
        self._differences: list[FieldDifference] = []
        self._version = 0
        self._schema: Message

    def compare(
        self, name: str, version: int, recorded: Any, got: Any, group: str = ""
    ) -> list[FieldDifference]:
        """Compare two messages of a name, such as ``MetadataResponse``."""
        self._differences, self._version, self._schema = [], version, load(name)
        self._struct(self._schema.root, recorded, got, "", Scope(group=group or ""))
        return self._differences

    def _struct(self, struct: Struct, recorded: Any, got: Any, path: str, scope: Scope) -> None:
        fields = list(fields_of(struct, self._version))
        scope = scope.within(struct, self._version, recorded, self.ids)
        if self._errors_differ(fields, recorded, got, path):
            if any(each.name == "BaseOffset" for each in fields):
                self._begin_offsets(scope, 0)
            return  # other fields follow from the error
        self._learn(fields, recorded)
        for field in fields:
            ours, theirs = getattr(recorded, field.attribute), getattr(got, field.attribute)
            self._field(field, ours, theirs, path + field.attribute, scope)

    def _errors_differ(self, fields: list[Field], recorded: Any, got: Any, path: str) -> bool:
        found: list[FieldDifference] = []
        for field in fields:
            if field.name.endswith("ErrorCode"):
                ours, theirs = getattr(recorded, field.attribute), getattr(got, field.attribute)
                found += error_differences(path + field.attribute, ours, theirs)
        self._differences += found
        return bool(found)

    def _learn(self, fields: list[Field], recorded: Any) -> None:
        """Note the names of topics, and which ones the replay has created."""
        names = {field.name for field in fields}
        if {"Name", "TopicId"} <= names and recorded.name:
            self.ids.topic_names[bytes(recorded.topic_id)] = recorded.name
            if "NumPartitions" in names and not recorded.error_code:
                self.created.add(recorded.name)

    def _field(self, field: Field, recorded: Any, got: Any, path: str, scope: Scope) -> None:
        kind = kind_of(field)
        if kind is Kind.IGNORED or field.name.endswith("ErrorCode"):
            return
        inner = struct_of(self._schema, field)
        if recorded is None or got is None:
            if recorded is not got:
                self._tell(path, _text(recorded), _text(got))
        elif inner is not None and isinstance(field.type, Array):
            self._elements(inner, recorded, got, path, scope)
        elif inner is not None:
            self._struct(inner, recorded, got, path + ".", scope)
        elif isinstance(field.type, Array):
            self._values(field, kind, recorded, got, path, scope)
        elif not self._is_same(field, kind, recorded, got, scope):
            shift = self.ids.offset_shifts.get((scope.topic, scope.partition), 0)
            shifted = f" ({shift:+d})" if kind is Kind.OFFSET and shift else ""
            self._tell(path, _text(recorded) + shifted, _text(got))

    def _is_same(self, field: Field, kind: Kind, recorded: Any, got: Any, scope: Scope) -> bool:
        if kind in ID_KINDS:
            if kind is Kind.UUID:
                recorded, got = bytes(recorded), bytes(got)
            return self.ids.match(kind, scope.of(kind), recorded, got)
        if kind is Kind.BROKER:
            return bool((recorded < 0) == (got < 0))
        if kind is Kind.OFFSET and isinstance(recorded, int):
            place = scope.topic, scope.partition
            if field.name == "BaseOffset" and min(recorded, got) >= 0:
                self._begin_offsets(scope, got - recorded)
            if field.name == "EndOffset" and self.ids.leaders_changed(place):
                return bool(self.ids.shifted(place, recorded) <= got)  # its only epoch goes on
            return bool(self.ids.shifted(place, recorded) == got)
        if isinstance(recorded, bytes | bytearray | memoryview):
            return bytes(recorded) == bytes(got)
        return bool(recorded == got)

    def _begin_offsets(self, scope: Scope, shift: int) -> None:
        """Learn from the first Produce how offsets of a topic differ that was there before."""
        place = scope.topic, scope.partition
        self.ids.offset_shifts.setdefault(place, 0 if scope.topic in self.created else shift)

    def _values(
        self, field: Field, kind: Kind, recorded: Any, got: Any, path: str, scope: Scope
    ) -> None:
        """Compare lists of values; the order of those that are no ids means nothing."""
        if kind is Kind.BROKER:
            return
        if kind in ID_KINDS and len(recorded) == len(got):
            pairs = zip(recorded, got, strict=True)
            same = all(self._is_same(field, kind, *each, scope) for each in pairs)
        else:
            same = sorted(map(_text, recorded)) == sorted(map(_text, got))
        if not same:
            self._tell(path, _text(list(recorded)), _text(list(got)))

    # -- lists -----------------------------------------------------------------------------------

    def _elements(
        self, struct: Struct, recorded: list[Any], got: list[Any], path: str, scope: Scope
    ) -> None:
        """Compare lists of structs: elements that have the same keys."""
        keys = self._key_fields(struct)
        if any(kind_of(each) is Kind.BROKER for each in keys):
            return
        by_key: dict[Any, Any] = {self._key(keys, each): each for each in got}
        ours: dict[Any, Any] = {
            self._key(keys, each, scope, is_recorded=True): each for each in recorded
        }
        if not keys or len(by_key) < len(got) or len(ours) < len(recorded):
            ours, by_key = dict(enumerate(recorded)), dict(enumerate(got))
        left = [key for key in by_key if key not in ours]
        for key, each in ours.items():
            at = f"{path}[{self._label(keys, key, each)}]"
            if key in by_key:
                self._struct(struct, each, by_key[key], at + ".", scope)
            elif left and self._is_new(keys, each, scope):
                self._struct(struct, each, by_key[left.pop(0)], at + ".", scope)
            else:
                self._tell(at, "present", "absent")
        for key in left:
            self._tell(f"{path}[{self._label(keys, key, None)}]", "absent", "present")

    def _label(self, keys: list[Field], key: Any, recorded: Any) -> str:
        """Return how an element is called in paths."""
        if not isinstance(key, tuple):
            return str(key)
        if recorded is not None and keys[-1].name == "TopicId":
            topic_id = bytes(recorded.topic_id)
            return self.ids.topic_names.get(topic_id) or uuid_text(topic_id)
        return ",".join(map(str, key))

    def _key_fields(self, struct: Struct) -> list[Field]:
        fields = list(fields_of(struct, self._version))
        marked = [each for each in fields if each.map_key]
        names = {each.name: each for each in fields}
        return marked or [names[name] for name in _KEYS if name in names][:1]

    def _key(
        self,
        fields: list[Field],
        element: Any,
        scope: Scope | None = None,
        *,
        is_recorded: bool = False,
    ) -> tuple[Any, ...]:
        found = []
        for field in fields:
            value = getattr(element, field.attribute)
            kind = kind_of(field)
            if field.type == Primitive("uuid"):
                value = bytes(value)
            if is_recorded and kind in ID_KINDS:
                value = self.ids.to_target(kind, (scope or Scope()).of(kind), value)
            found.append(uuid_text(value) if isinstance(value, bytes) else value)
        return tuple(found)

    def _is_new(self, fields: list[Field], element: Any, scope: Scope) -> bool:
        """Return whether the key of an element is an id that has no counterpart yet."""
        return any(
            kind_of(field) in ID_KINDS
            and not self.ids.knows(
                kind_of(field), scope.of(kind_of(field)), getattr(element, field.attribute)
            )
            for field in fields
        )

    def _tell(self, path: str, recorded: str, got: str) -> None:
        self._differences.append(FieldDifference(path, recorded, got))


def error_differences(path: str, recorded: int, got: int) -> Iterator[FieldDifference]:
    """Yield the difference of two error codes, if there is one."""
    if recorded != got:
        yield FieldDifference(path, _error_text(recorded), _error_text(got), (recorded, got))


def _error_text(code: int) -> str:
    try:
        return ErrorCode(code).name
    except ValueError:
        return f"error {code}"


def _text(value: Any) -> str:
    """Return a value in a few characters."""
    if isinstance(value, bytes | bytearray | memoryview):
        value = bytes(value)
    text = repr(value)
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}... ({len(text)} characters)"
