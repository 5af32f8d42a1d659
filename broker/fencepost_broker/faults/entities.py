"""The topics, groups, transactions and producers that a request names, found by its schema."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Container, Iterable, Iterator
from copy import copy
from typing import Any, Final, NamedTuple

from fencepost_protocol.primitives import ZERO_UUID
from fencepost_protocol.records.batch import HEADER_SIZE
from fencepost_protocol.schema.files import load
from fencepost_protocol.schema.model import Field, Message, Struct

from fencepost_broker.apis.matching_lists import INDEXES
from fencepost_broker.faults.paths import Path

NameOf = Callable[[bytes], str | None]
"""Gives the name of the topic with an id."""
_TOPIC: Final = "topicName"
_PRODUCER: Final = struct.Struct(">qh").unpack_from
_PRODUCER_AT: Final = 43
"""The position of producer id and epoch in a record batch."""


class Names(NamedTuple):
    """What an entity is called in rules, and how the schemas mark the fields that name it."""

    entity_type: str
    attributes: tuple[str, ...]


ENTITIES: Final = {
    "group": Names("groupId", ("group_id",)),
    "member": Names("", ("member_id",)),
    "transactional_id": Names("transactionalId", ("transactional_id",)),
    "producer_id": Names("producerId", ("producer_id",)),
    "producer_epoch": Names("", ("producer_epoch",)),
}
"""The entities but topics and partitions, by their names in ``Match``."""


@functools.cache
def paths_of(request: str, entity: str) -> tuple[Path, ...]:
    """Return the fields of a request that name an entity."""
    schema, names = load(request), ENTITIES[entity]
    return tuple(
        Path.read(".".join(path), schema)
        for path, field in _walk(schema, schema.root)
        if (names.entity_type and field.entity_type == names.entity_type)
        or field.attribute.endswith(names.attributes)
    )


def values_of(request: str, entity: str, message: Any) -> Iterator[Any]:
    """Yield the ids of an entity in a request; a Produce has its producer in its batches."""
    for path in paths_of(request, entity):
        yield from path.values(message)
    if request == "ProduceRequest" and entity in _IN_BATCHES:
        for topic in message.topic_data:
            for data in topic.partition_data:
                if data.records is not None and len(data.records) >= HEADER_SIZE:
                    yield _PRODUCER(data.records, _PRODUCER_AT)[_IN_BATCHES.index(entity)]


_IN_BATCHES: Final = ("producer_id", "producer_epoch")


def has_entity(request: str, entity: str) -> bool:
    """Whether requests of this name can name an entity."""
    if entity in ("topic", "partition"):
        return bool(topic_lists(request))
    return bool(paths_of(request, entity)) or (
        request == "ProduceRequest" and entity in _IN_BATCHES
    )


class TopicList(NamedTuple):
    """A list of topics in a request."""

    outer: tuple[str, ...]
    """The lists around it, outermost first."""
    name: str
    """The name of the list."""
    topic: str
    """The field of an element with the topic's name; empty if the elements are names."""
    topic_id: str
    """The field of an element with the topic's id; empty if there is none."""
    partitions: str
    """The field of an element with its list of partitions; empty if there is none."""
    number: str
    """The field of a partition with its number; empty if partitions are numbers."""

    def lists(self, message: Any) -> Iterator[tuple[Any, list[Any]]]:
        """Yield the lists, and what holds them."""
        holders = [message]
        for name in self.outer:
            holders = [each for holder in holders for each in getattr(holder, name) or ()]
        for holder in holders:
            yield holder, getattr(holder, self.name) or []

    def name_of(self, element: Any, name_of: NameOf) -> str | None:
        """Return the name of an element's topic; ``None`` if it is unknown."""
        if not self.topic:
            return str(element)
        if self.topic_id:
            topic_id = getattr(element, self.topic_id)
            if topic_id != ZERO_UUID:
                return name_of(bytes(topic_id))
        found: str | None = getattr(element, self.topic)
        return found

    def indexes_of(self, element: Any) -> Iterable[int] | None:
        """Return the numbers of an element's partitions; ``None`` if it names no partitions."""
        if not self.partitions:
            return None
        return [self.index_of(each) for each in getattr(element, self.partitions) or ()]

    def index_of(self, partition: Any) -> int:
        """Return the number of an element's partition."""
        number: int = getattr(partition, self.number) if self.number else partition
        return number


@functools.cache
def topic_lists(request: str) -> tuple[TopicList, ...]:
    """Return the lists of topics that a request has."""
    schema = load(request)
    found: list[TopicList] = []
    for path, field in _walk(schema, schema.root):
        *outer, name = (each.removesuffix("[]") for each in path)
        if field.struct_name is None:
            if field.entity_type == _TOPIC and path[-1].endswith("[]"):
                found.append(TopicList(tuple(outer), name, "", "", "", ""))
            continue
        struct = schema.struct(field.struct_name)
        names = [each.attribute for each in struct.fields if each.entity_type == _TOPIC]
        ids = [each.attribute for each in struct.fields if each.attribute == "topic_id"]
        if (names or ids) and path[-1].endswith("[]"):
            partitions, index = _partitions(schema, struct)
            topic = names[0] if names else ids[0]
            found.append(
                TopicList(tuple(outer), name, topic, ids[0] if ids else "", partitions, index)
            )
    return tuple(found)


def _partitions(schema: Message, struct: Struct) -> tuple[str, str]:
    """Return a topic's list of partitions, and the field of a partition with its number."""
    for each in struct.fields:
        if not str(each.type).startswith("[]") or "partition" not in each.attribute:
            continue
        if each.struct_name is None:
            return each.attribute, ""
        for inner in schema.struct(each.struct_name).fields:
            if inner.attribute in INDEXES:
                return each.attribute, inner.attribute
    return "", ""


def _walk(
    schema: Message, struct: Struct, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Field]]:
    for field in struct.fields:
        ending = "[]" if str(field.type).startswith("[]") else ""
        here = (*path, field.attribute + ending)
        yield here, field
        if field.struct_name is not None:
            yield from _walk(schema, schema.struct(field.struct_name), here)


def take_out(
    message: Any, topics: Container[str], partition: int | None, name_of: NameOf, *, leave: bool
) -> tuple[Any, bool]:
    """Take the elements of topics, or of one partition of each, out of a request.

    Return a copy of the request with these elements only, and whether others are left in it. With
    ``leave``, the request stays as it is.
    """
    taken, is_left = copy(message), False
    for shape in topic_lists(message.NAME):
        if not shape.outer:
            kept, some = _parted(shape, getattr(message, shape.name), topics, partition, name_of)
            setattr(taken, shape.name, some)
            if not leave:
                setattr(message, shape.name, kept)
            is_left = is_left or bool(kept)
            continue
        (outer,) = shape.outer
        left: list[Any] = []
        found: list[Any] = []
        for holder in getattr(message, outer) or []:
            kept, some = _parted(shape, getattr(holder, shape.name), topics, partition, name_of)
            if some:
                found.append(_with(holder, shape.name, some))
            if kept or not some:
                left.append(_with(holder, shape.name, kept))
        setattr(taken, outer, found)
        if not leave:
            setattr(message, outer, left)
        is_left = is_left or bool(left)
    return taken, is_left


def _parted(
    shape: TopicList,
    elements: list[Any] | None,
    topics: Container[str],
    partition: int | None,
    name_of: NameOf,
) -> tuple[list[Any] | None, list[Any]]:
    """Return the elements that stay, and those that are taken out."""
    if not elements:
        return elements, []
    kept: list[Any] = []
    taken: list[Any] = []
    for element in elements:
        if shape.name_of(element, name_of) not in topics:
            kept.append(element)
        elif partition is None or not shape.partitions:
            taken.append(element)
        else:
            inner = getattr(element, shape.partitions) or []
            some = [each for each in inner if shape.index_of(each) == partition]
            rest = [each for each in inner if shape.index_of(each) != partition]
            if some:
                taken.append(_with(element, shape.partitions, some))
            if rest or not some:
                kept.append(_with(element, shape.partitions, rest))
    return kept, taken


def _with(element: Any, name: str, value: Any) -> Any:
    """Return a copy of an element with another value of a field."""
    like = copy(element)
    setattr(like, name, value)
    return like
