"""The "consumer" protocol of classic groups: subscriptions and assignments as bytes.

JoinGroup and SyncGroup transport these bytes between members and leader; brokers do not read them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from fencepost_protocol.generated.consumer_protocol_assignment import (
    TopicPartition as AssignedTopic,
)
from fencepost_protocol.generated.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from fencepost_protocol.generated.consumer_protocol_subscription import (
    TopicPartition as OwnedTopic,
)

from fencepost_client.types import TopicPartition

NO_GENERATION: Final = -1
_VERSION: Final = struct.Struct(">h")
_LENGTH: Final = struct.Struct(">h")
_INT: Final = struct.Struct(">i")
_SUBSCRIPTION_VERSION: Final = ConsumerProtocolSubscription.MAX_VERSION


@dataclass(frozen=True, slots=True)
class Holding:
    """The partitions of a member, and the generation in which it got them."""

    partitions: tuple[TopicPartition, ...] = ()
    generation_id: int = NO_GENERATION


NOTHING: Final = Holding()


@dataclass(frozen=True, slots=True)
class Subscription:
    """The subscription that a member sends to the leader."""

    topics: tuple[str, ...]
    owned: Holding = NOTHING
    user_data: bytes | None = None
    rack: str | None = None


def write_subscription(subscription: Subscription) -> bytes:
    """Encode a subscription in version 3 (KIP-429, KIP-792, KIP-881); older ones skip its end."""
    out = bytearray(_VERSION.pack(_SUBSCRIPTION_VERSION))
    owned = subscription.owned
    ConsumerProtocolSubscription(
        sorted(subscription.topics),
        subscription.user_data,
        [OwnedTopic(topic, parts) for topic, parts in _by_topic(owned.partitions)],
        owned.generation_id,
        subscription.rack,
    ).encode(_SUBSCRIPTION_VERSION, out)
    return bytes(out)


def read_subscription(metadata: bytes) -> Subscription:
    """Decode a subscription of any version."""
    version = _version_of(metadata, "subscription")
    told, _ = ConsumerProtocolSubscription.decode(
        memoryview(metadata), min(version, _SUBSCRIPTION_VERSION), _VERSION.size
    )
    owned = tuple(
        TopicPartition(entry.topic, number)
        for entry in told.owned_partitions
        for number in entry.partitions
    )
    user_data = None if told.user_data is None else bytes(told.user_data)
    return Subscription(
        tuple(told.topics), Holding(owned, told.generation_id), user_data, told.rack_id
    )


def write_assignment(partitions: Iterable[TopicPartition]) -> bytes:
    """Encode the assignment of a member."""
    out = bytearray(_VERSION.pack(0))
    ConsumerProtocolAssignment(
        [AssignedTopic(topic, parts) for topic, parts in _by_topic(partitions)]
    ).encode(0, out)
    return bytes(out)


def read_assignment(assignment: bytes) -> list[TopicPartition]:
    """Decode an assignment; empty bytes mean no partitions."""
    if not assignment:
        return []
    _version_of(assignment, "assignment")
    told, _ = ConsumerProtocolAssignment.decode(memoryview(assignment), 0, _VERSION.size)
    return [
        TopicPartition(topic.topic, number)
        for topic in told.assigned_partitions
        for number in topic.partitions
    ]


def _version_of(told: bytes, what: str) -> int:
    if len(told) < _VERSION.size:
        raise RemoteProtocolError(f"a {what} of {len(told)} bytes", path=what)
    version: int = _VERSION.unpack_from(told)[0]
    if version < 0:
        raise RemoteProtocolError(f"a {what} of version {version}", path=what)
    return version


def _by_topic(partitions: Iterable[TopicPartition]) -> list[tuple[str, list[int]]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return list(topics.items())


# -- user data ---------------------------------------------------------------------------------


def write_sticky_user_data(last: Holding) -> bytes | None:
    """What the "sticky" assignor says in every client: topics with partitions, generation."""
    if last.generation_id == NO_GENERATION:
        return None
    topics = _by_topic(last.partitions)
    out = bytearray(_INT.pack(len(topics)))
    for topic, numbers in topics:
        name = topic.encode()
        out += _LENGTH.pack(len(name)) + name + _INT.pack(len(numbers))
        out += struct.pack(f">{len(numbers)}i", *numbers)
    return bytes(out + _INT.pack(last.generation_id))


def read_sticky_user_data(user_data: bytes | None) -> Holding:
    """What a member had; what cannot be read means nothing, for it is only a preference."""
    partitions: list[TopicPartition] = []
    try:
        if not user_data:
            return NOTHING
        (topics,) = _INT.unpack_from(user_data)
        pos = _INT.size
        for _ in range(topics):
            (length,) = _LENGTH.unpack_from(user_data, pos)
            pos += _LENGTH.size
            topic = user_data[pos : pos + length].decode()
            pos += length
            (count,) = _INT.unpack_from(user_data, pos)
            pos += _INT.size
            if length < 0 or not 0 <= count <= (len(user_data) - pos) // _INT.size:
                return NOTHING
            numbers = struct.unpack_from(f">{count}i", user_data, pos)
            pos += count * _INT.size
            partitions += [TopicPartition(topic, number) for number in numbers]
        # The first version, of Kafka 2.2 and before, ends without a generation.
        left = len(user_data) - pos
        generation_id = _INT.unpack_from(user_data, pos)[0] if left else NO_GENERATION
    except (struct.error, UnicodeDecodeError):
        return NOTHING
    return Holding(tuple(partitions), generation_id)


def write_cooperative_user_data(last: Holding) -> bytes:
    """What "cooperative-sticky" says: the generation, for readers of before KIP-792."""
    return _INT.pack(last.generation_id)


def read_cooperative_holding(subscription: Subscription) -> Holding:
    """What a member owns; one of before KIP-792 has its generation in its user data."""
    owned, user_data = subscription.owned, subscription.user_data
    if owned.generation_id == NO_GENERATION and user_data and len(user_data) == _INT.size:
        return Holding(owned.partitions, _INT.unpack(user_data)[0])
    return owned
