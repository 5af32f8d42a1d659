"""Answers that admin procedures need again and again."""

from __future__ import annotations

from collections.abc import Mapping

from fencepost_client import TopicPartition
from fencepost_client.requests.backoff import Backoff
from fencepost_protocol.generated import alter_share_group_offsets as share_altering
from fencepost_protocol.generated import describe_share_group_offsets as share_describing
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


def share_offset(
    part_code: int = 0, group_code: int = 0
) -> share_describing.DescribeShareGroupOffsetsResponse:
    part = share_describing.DescribeShareGroupOffsetsResponsePartition(0, 5, error_code=part_code)
    topic = share_describing.DescribeShareGroupOffsetsResponseTopic("t", partitions=[part])
    return share_describing.DescribeShareGroupOffsetsResponse(
        groups=[share_describing.DescribeShareGroupOffsetsResponseGroup("g", [topic], group_code)]
    )


def share_altered(
    part_code: int = 0, group_code: int = 0
) -> share_altering.AlterShareGroupOffsetsResponse:
    part = share_altering.AlterShareGroupOffsetsResponsePartition(0, part_code)
    topic = share_altering.AlterShareGroupOffsetsResponseTopic("t", partitions=[part])
    return share_altering.AlterShareGroupOffsetsResponse(
        0, group_code, None, [] if group_code else [topic]
    )
