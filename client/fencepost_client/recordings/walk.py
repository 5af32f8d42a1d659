"""Walks over a message by its schema: which fields it has, and what their ids belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple, Self

from fencepost_protocol.schema.model import Field, Message, Struct

from fencepost_client.recordings.ids import Ids, Kind

_PARTITIONS: Final = ("PartitionIndex", "Partition", "PartitionId", "Index")
_PRODUCER_IDS: Final = ("ProducerId", "V3AndBelowProducerId")


class Scope(NamedTuple):
    """What a field belongs to, by the ids of the recording."""

    topic: str = ""
    partition: int = -1
    producer_id: int = -1
    group: str = ""

    def within(self, struct: Struct, version: int, value: Any, ids: Ids) -> Self:
        """Return the scope of the fields of a struct."""
        topic, partition, producer_id, group = self
        for field in fields_of(struct, version):
            found = getattr(value, field.attribute)
            if field.entity_type == "topicName" and isinstance(found, str):
                topic = found
            elif field.name == "TopicId" and any(found) and not topic:
                topic = ids.topic(None, bytes(found))
            elif field.name in _PARTITIONS and isinstance(found, int):
                partition = found
            elif field.name in _PRODUCER_IDS:
                producer_id = found
            elif field.entity_type == "groupId" and isinstance(found, str):
                group = found
        return self._replace(topic=topic, partition=partition, producer_id=producer_id, group=group)

    def of(self, kind: Kind) -> Any:
        """Return what ids of a kind are counted within."""
        if kind is Kind.PRODUCER_EPOCH:
            return self.producer_id
        if kind is Kind.GENERATION:
            return self.group
        if kind is Kind.LEADER_EPOCH:
            return self.topic, self.partition
        return None


def fields_of(struct: Struct, version: int) -> Iterator[Field]:
    """Yield the fields that a version has."""
    return (each for each in struct.fields if version in each.versions)


def struct_of(schema: Message, field: Field) -> Struct | None:
    """Return the struct that a field holds, itself or in a list."""
    return None if field.struct_name is None else schema.struct(field.struct_name)
