"""DescribeTopicPartitions and CreatePartitions: describe topics in pages (KIP-966), and grow them.

Behaviour: described topics are answered once each, in the order of their names, from the cursor
on, up to the limit of partitions (1 to `max.request.partition.size.limit`). The next cursor is the
end of the page, if anything is left. In a request with a list of topics the cursor's topic must be
among them; if it is not, or if its partition is negative, all of them are INVALID_REQUEST. In a
request for all topics, a cursor whose topic is deleted means the next topic. The controller creates
partitions.

Unlike Kafka, which answers the whole request with UNKNOWN_SERVER_ERROR, an invalid name is
INVALID_TOPIC_EXCEPTION for that topic only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_partitions import CreatePartitionsRequest
from fencepost_protocol.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseCursor,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

from fencepost_broker.apis.authorized_operations import TOPIC_OPERATIONS
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.apis.topics.topics import decided
from fencepost_broker.config.internal_topics import is_internal
from fencepost_broker.metadata.image.model import Partition, Topic
from fencepost_broker.metadata.names import name_problem

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext, HandlerContext

_STRICT_FROM: Final = 3


def describe_topic_partitions(
    context: BrokerContext, _request: Request, message: DescribeTopicPartitionsRequest
) -> Answer:
    """Answer DescribeTopicPartitions, version 0."""
    cursor = message.cursor
    asked = {topic.name for topic in message.topics}
    start, first = ("", 0) if cursor is None else (cursor.topic_name, cursor.partition_index)
    if first < 0 or (cursor is not None and asked and start not in asked):
        code = ErrorCode.INVALID_REQUEST
        refused = [DescribeTopicPartitionsResponseTopic(code, each.name) for each in message.topics]
        return DescribeTopicPartitionsResponse(topics=refused)
    limit = context.config.settings.max_request_partition_size_limit
    left = max(1, min(message.response_partition_limit, limit))
    response = DescribeTopicPartitionsResponse()
    for name in sorted(asked or context.image.topics.by_name):
        if name < start:
            continue
        if left == 0:
            response.next_cursor = DescribeTopicPartitionsResponseCursor(name, 0)
            break
        topic = context.image.topics.by_name.get(name)
        if topic is None:
            response.topics.append(_missing(name))
            continue
        begin = first if name == start else 0
        page = topic.in_order()[begin : begin + left]
        response.topics.append(_page(topic, page))
        left -= len(page)
        if begin + len(page) < len(topic.partitions):
            response.next_cursor = DescribeTopicPartitionsResponseCursor(name, begin + len(page))
            break
    return response


def _missing(name: str) -> DescribeTopicPartitionsResponseTopic:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if name_problem(name) is not None:
        code = ErrorCode.INVALID_TOPIC_EXCEPTION
    return DescribeTopicPartitionsResponseTopic(
        code, name, topic_authorized_operations=TOPIC_OPERATIONS
    )


def _page(topic: Topic, partitions: list[Partition]) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        ErrorCode.NONE,
        topic.name,
        topic.topic_id,
        is_internal(topic.name),
        [
            DescribeTopicPartitionsResponsePartition(
                ErrorCode.NONE if each.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
                each.partition_id,
                each.leader,
                each.leader_epoch,
                list(each.replicas),
                list(each.isr),
                list(each.eligible_leader_replicas),
                list(each.last_known_elr),
            )
            for each in partitions
        ],
        TOPIC_OPERATIONS,
    )


def create_partitions(
    context: HandlerContext, request: Request, message: CreatePartitionsRequest
) -> Answer:
    """Answer CreatePartitions, versions 0 to 3."""
    return decided(context, request, message, _STRICT_FROM)
