"""The plain values that the SDK takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

Headers: TypeAlias = Sequence[tuple[str, bytes | None]]
"""Header keys and values in their order; a key may come more than once."""


class TopicPartition(NamedTuple):
    """One partition of a topic."""

    topic: str
    partition: int


class OffsetAndMetadata(NamedTuple):
    """What is committed for a partition: the offset of the next record to read, and a note."""

    offset: int
    metadata: str = ""
    leader_epoch: int = -1


class RecordMetadata(NamedTuple):
    """Where a record that was sent has its place now.

    The offset is -1 if the broker kept the record from an earlier attempt and does not say where,
    or if ``acks=0`` asked for no answer.
    """

    topic: str
    partition: int
    offset: int
    timestamp_ms: int


class ConsumerRecord(NamedTuple):
    """A record that was read."""

    topic: str
    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class GroupMetadata:
    """Who a consumer is within its group, for a producer's ``send_offsets`` (KIP-447)."""

    group_id: str
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None
