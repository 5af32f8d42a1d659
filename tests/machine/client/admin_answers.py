"""Answers that admin procedures need again and again."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost_client import TopicPartition
from fencepost_client.requests.backoff import Backoff
from fencepost_protocol.generated.find_coordinator import Coordinator, FindCoordinatorResponse
from fencepost_protocol.generated.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)


def backoff() -> Backoff:
    return Backoff(lambda: 0.5)


def leaders(*node_ids: int, code: int = 0, topic: str = "t") -> MetadataResponse:
    """Who leads each partition of a topic."""
    parts = [
        MetadataResponsePartition(partition_index=number, leader_id=node_id)
        for number, node_id in enumerate(node_ids)
    ]
    return MetadataResponse(topics=[MetadataResponseTopic(code, topic, partitions=parts)])


def brokers(*node_ids: int) -> MetadataResponse:
    return MetadataResponse(brokers=[MetadataResponseBroker(each, "h", 1) for each in node_ids])


def coordinators(
    places: Mapping[str, int], codes: Mapping[str, int] | None = None
) -> FindCoordinatorResponse:
    """Who coordinates each key."""
    codes = codes or {}
    return FindCoordinatorResponse(
        coordinators=[
            Coordinator(key, node_id, "h", 1, codes.get(key, 0)) for key, node_id in places.items()
        ]
    )
