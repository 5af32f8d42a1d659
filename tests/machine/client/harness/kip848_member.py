"""A member of a KIP-848 group, and the answers that it gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fencepost_client import (
    TopicPartition,
)
from fencepost_client.consumer.kip848_member import ConsumerGroupMember, ConsumerGroupSettings
from fencepost_client.consumer.rebalance import AssignmentChange, WantedTopics
from fencepost_protocol.generated.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseTopicPartitions,
)
from fencepost_protocol.generated.metadata import MetadataResponse, MetadataResponseTopic

from tests.machine.client.scripts import Script

ID, OTHER_ID = b"t" * 16, b"u" * 16
ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)

NOTHING: frozenset[TopicPartition] = frozenset()


def member(**settings: Any) -> ConsumerGroupMember:
    made = ConsumerGroupMember(ConsumerGroupSettings("g", **settings), lambda: 0.5)
    made.subscribe(WantedTopics(frozenset(["t"])))
    made.owns(NOTHING)
    return made


def told(
    assigned: Mapping[bytes, Sequence[int]] | None = None, epoch: int = 2, member_id: str = ""
) -> ConsumerGroupHeartbeatResponse:
    answer = ConsumerGroupHeartbeatResponse(0, 0, None, member_id or None, epoch, 5_000)
    if assigned is not None:
        topics = [
            ConsumerGroupHeartbeatResponseTopicPartitions(topic_id, list(numbers))
            for topic_id, numbers in assigned.items()
        ]
        answer.assignment = Assignment(topics)
    return answer


def refused(code: int) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(0, code, "why", None, 0, 0)


def names(**topics: bytes) -> MetadataResponse:
    rows = [MetadataResponseTopic(0, name, topic_id) for name, topic_id in topics.items()]
    return MetadataResponse(topics=rows)


def joined(**settings: Any) -> ConsumerGroupMember:
    """A member that reads t-0 and t-1, and whose coordinator knows it."""
    made = member(**settings)
    Script([told({ID: [0, 1]}), names(t=ID)]).play(made.heartbeat())
    assert made.change() == AssignmentChange(assigned=frozenset([ZERO, ONE]))
    assert made.owns({ZERO, ONE})
    Script([told()]).play(made.heartbeat())
    assert not made.has_news
    assert made.change() is None
    return made
