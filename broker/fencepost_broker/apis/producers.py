"""DescribeProducers: what partitions know of the producers that wrote to them (KIP-664).

Behaviour: per producer its epoch, last sequence number and timestamp, the epoch of the coordinator
that ended its last transaction (-1 before the first), and where its open one begins (-1: none).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.partitions import Partition

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker


def describe_producers(broker: Broker, request: Request) -> Pieces:
    """Answer DescribeProducers, version 0."""
    message, _ = DescribeProducersRequest.decode(request.frame, request.version, request.body)
    topics = []
    for named in message.topics:
        # As in Kafka, a missing topic is told in words, a missing partition by its code alone.
        known = named.name in broker.table.by_name
        unknown = None if known else f"there is no topic {named.name}"
        partitions = [
            _producers(broker.table.find(named.name, number), number, unknown)
            for number in named.partition_indexes
        ]
        topics.append(TopicResponse(named.name, partitions))
    return request.answer(DescribeProducersResponse(topics=topics))


def _producers(partition: Partition | None, number: int, unknown: str | None) -> PartitionResponse:
    if partition is None:
        return PartitionResponse(number, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, unknown)
    states = partition.log.describe_producers()
    return PartitionResponse(
        number, ErrorCode.NONE, active_producers=[ProducerState(*state) for state in states]
    )
