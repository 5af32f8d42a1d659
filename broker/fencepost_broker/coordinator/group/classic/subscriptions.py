"""What consumers and their leader tell each other, as far as the broker must understand it.

The metadata of a ``consumer`` group's member is the clients' own affair: an int16 version and a
ConsumerProtocolSubscription. Version 0, the topics, is how every later version begins. The same
goes for the leader's ConsumerProtocolAssignment.
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
    """The topics in all of these subscriptions; None when one of them is something else."""
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
    """The version that a member speaks, newer ones as the newest that we know."""
    if len(metadata) < _INT16.size:
        raise RemoteProtocolError("a subscription of less than two bytes")
    version: int = _INT16.unpack_from(metadata)[0]
    if version < 0:
        raise RemoteProtocolError(f"there is no version {version} of a subscription")
    return min(version, ConsumerProtocolSubscription.MAX_VERSION)


def read_subscription(metadata: bytes) -> ConsumerProtocolSubscription:
    """All that a member told; raises RemoteProtocolError."""
    version = subscription_version(metadata)
    subscription: ConsumerProtocolSubscription
    subscription, _ = ConsumerProtocolSubscription.decode(
        memoryview(metadata), version, _INT16.size
    )
    return subscription


def read_assignment(assignment: bytes) -> ConsumerProtocolAssignment:
    """What the leader gave; nothing when it has not yet. Raises RemoteProtocolError."""
    if not assignment:
        return ConsumerProtocolAssignment([], None)
    version = min(subscription_version(assignment), ConsumerProtocolAssignment.MAX_VERSION)
    found: ConsumerProtocolAssignment
    found, _ = ConsumerProtocolAssignment.decode(memoryview(assignment), version, _INT16.size)
    return found


def write_assignment(partitions: Mapping[str, list[int]], version: int) -> bytes:
    """An assignment as a leader would have made it."""
    out = bytearray(_INT16.pack(version))
    rows = [AssignedTopic(topic, numbers) for topic, numbers in partitions.items()]
    ConsumerProtocolAssignment(rows, None).encode(version, out)
    return bytes(out)
