"""Offsets of a stream, and bounds of a read, as JSON.

A checkpoint has ``{"orders": {"0": 23, "1": 45}, "#ids": {"orders": "..."}}``: the format of
Spark's Kafka source, and topic ids, which reveal a topic that was deleted and created again, even
if it has grown past the old offsets. (A topic name cannot have a ``#``.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from fencepost_client.types import TopicPartition

EARLIEST: Final = -2
LATEST: Final = -1
_IDS: Final = "#ids"
_PLACES: Final = {"earliest": EARLIEST, "latest": LATEST}

Offsets: TypeAlias = dict[TopicPartition, int]
Json: TypeAlias = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """The offset of the next record of each partition, and which topics they are of."""

    offsets: Offsets
    ids: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> Json:
        """As Spark keeps it; equal ones give equal texts, by which Spark sees that nothing came."""
        found: Json = {}
        for where in sorted(self.offsets):
            found.setdefault(where.topic, {})[str(where.partition)] = self.offsets[where]
        if self.ids:
            found[_IDS] = {topic: self.ids[topic] for topic in sorted(self.ids)}
        return found

    @classmethod
    def from_json(cls, text: Mapping[str, Mapping[str, Any]]) -> StreamOffset:
        """What ``to_json`` gave; that of a stream of Spark's own source has no ids."""
        offsets = {
            TopicPartition(topic, int(partition)): int(offset)
            for topic, partitions in text.items()
            if topic != _IDS
            for partition, offset in partitions.items()
        }
        return cls(offsets, dict(text.get(_IDS, {})))

    def is_of_another(self, topic: str, other: StreamOffset) -> bool:
        """Whether both know the topic's id, and it is not the same: it was made anew."""
        mine, theirs = self.ids.get(topic), other.ids.get(topic)
        return mine is not None and theirs is not None and mine != theirs


@dataclass(frozen=True, slots=True)
class AtPlace:
    """All partitions at their beginning or at their end."""

    place: int


@dataclass(frozen=True, slots=True)
class AtOffsets:
    """Each partition at an offset of its own, ``EARLIEST`` and ``LATEST`` among them."""

    offsets: Offsets


@dataclass(frozen=True, slots=True)
class AtTime:
    """All partitions at the first record of this time or later."""

    time_ms: int


@dataclass(frozen=True, slots=True)
class AtTimes:
    """Each partition at a time of its own."""

    times_ms: Offsets


Bound: TypeAlias = AtPlace | AtOffsets | AtTime | AtTimes


def read_bound(text: str) -> Bound:
    """``earliest``, ``latest``, or ``{"orders": {"0": 23, "1": -2}}``."""
    place = _PLACES.get(text.strip().lower())
    return AtOffsets(read_partitions(text)) if place is None else AtPlace(place)


def read_partitions(text: str) -> Offsets:
    """``{"orders": {"0": 23, "1": 45}}``: a number for each partition."""
    try:
        found = json.loads(text)
        offsets = StreamOffset.from_json(found).offsets
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(
            f'{text!r:.200} is no JSON of a number for each partition, {{"orders": {{"0": 23}}}}'
        ) from error
    return offsets


def read_assignment(text: str) -> list[TopicPartition]:
    """``{"orders": [0, 1], "payments": [3]}``."""
    try:
        return sorted(
            TopicPartition(topic, int(partition))
            for topic, partitions in json.loads(text).items()
            for partition in partitions
        )
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f'{text!r:.200} is no JSON of partitions, {{"orders": [0, 1]}}') from error
