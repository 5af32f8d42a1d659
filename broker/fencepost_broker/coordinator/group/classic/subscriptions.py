"""Subscriptions and assignments of consumers, as far as the broker has to read them.

In a ``consumer`` group the clients define the metadata: an int16 version, then a
ConsumerProtocolSubscription or, from the leader, a ConsumerProtocolAssignment. Every version begins
with the fields of version 0, which are the topics.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Final

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
)
from fencepost_protocol.generated.consumer_protocol_assignment import (
    TopicPartition as AssignedTopic,
)
from fencepost_protocol.generated.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)

_INT16: Final = struct.Struct(">h")


def subscribed_topics(metadata: Iterable[bytes]) -> frozenset[str] | None:
    """Return the topics of these subscriptions; ``None`` if one of them cannot be read."""
    found: set[str] = set()
    try:
        for each in metadata:
            subscription_version(each)
            subscription, _ = ConsumerProtocolSubscription.decode(memoryview(each), 0, _INT16.size)
            found.update(subscription.topics)
    except RemoteProtocolError:
        return None
    return frozenset(found)


def subscription_version(metadata: bytes) -> int:
    """Return a member's version, or the newest known one if that is lower."""
    if len(metadata) < _INT16.size:
        raise RemoteProtocolError("a subscription has at least two bytes")
    version: int = _INT16.unpack_from(metadata)[0]
    if version < 0:
        raise RemoteProtocolError(f"subscription version {version} does not exist")
    return min(version, ConsumerProtocolSubscription.MAX_VERSION)


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """Decode a member's subscription; raise RemoteProtocolError if it is invalid."""
    version = subscription_version(metadata)
    subscription: ConsumerProtocolSubscription
    subscription, _ = ConsumerProtocolSubscription.decode(
        memoryview(metadata), version, _INT16.size
    )
    return subscription


def read_assignment(assignment: bytes) -> ConsumerProtocolAssignment:
    """Decode an assignment, which may be empty; raise RemoteProtocolError if it is invalid."""
    if not assignment:
        return ConsumerProtocolAssignment([], None)
    version = min(subscription_version(assignment), ConsumerProtocolAssignment.MAX_VERSION)
    found: ConsumerProtocolAssignment
    found, _ = ConsumerProtocolAssignment.decode(memoryview(assignment), version, _INT16.size)
    return found


def write_assignment(partitions: Mapping[str, list[int]], version: int) -> bytes:
    """Encode an assignment in the form of a group leader's."""
    out = bytearray(_INT16.pack(version))
    rows = [AssignedTopic(topic, numbers) for topic, numbers in partitions.items()]
    ConsumerProtocolAssignment(rows, None).encode(version, out)
    return bytes(out)
