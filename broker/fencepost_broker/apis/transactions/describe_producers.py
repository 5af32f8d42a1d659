"""DescribeProducers: the state of the producers that wrote to partitions (KIP-664).

Behaviour: for each producer, its epoch, last sequence number and timestamp, the epoch of the
coordinator that ended its last transaction (-1 before the first), and the first offset of its open
one (-1 if there is none). Followers answer from their own logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
    TopicResponse,
)

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.metadata.names import name_problem
from fencepost_broker.replication.partition import Partition

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


def describe_producers(
    context: BrokerContext, _request: Request, message: DescribeProducersRequest
) -> Answer:
    """Answer DescribeProducers, version 0."""
    topics = []
    for named in message.topics:
        topic = context.replicas.table.by_name.get(named.name)
        if topic is None:
            partitions = _all_missing(named)
        else:
            partitions = [
                _producers(topic.partition(number), number) for number in named.partition_indexes
            ]
        topics.append(TopicResponse(named.name, partitions))
    return DescribeProducersResponse(topics=topics)


def _all_missing(named: TopicRequest) -> list[PartitionResponse]:
    code, text = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {named.name}"
    problem = name_problem(named.name)
    if problem is not None:
        code, text = ErrorCode.INVALID_TOPIC_EXCEPTION, problem
    return [PartitionResponse(number, code, text) for number in named.partition_indexes]


def _producers(partition: Partition | None, number: int) -> PartitionResponse:
    if partition is None:  # as in Kafka, only unknown topics get an error message
        return PartitionResponse(number, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if not partition.is_here:
        return PartitionResponse(number, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    states = partition.log.describe_producers()
    return PartitionResponse(
        number, ErrorCode.NONE, active_producers=[ProducerState(*state) for state in states]
    )
