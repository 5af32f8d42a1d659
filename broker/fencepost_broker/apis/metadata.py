"""Metadata: the brokers of the cluster and the leaders of topics.

Behaviour: no list of topics asks for all of them (in version 0 an empty list does). A topic that
does not exist is created when the request and `auto.create.topics.enable` allow it, and told as
not there yet, as Kafka does: the client asks again. The host is the advertised address of the
listener that the request came by. Answers without an error are remembered until the image changes.

Version notes: 10 brought topic ids, 12 asking by them. Authorised operations (8+) are told as
unknown (the int32 minimum) unless asked for.

Not done: authorised operations are all those of the resource, since nothing is authorised yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.apis.request import Pieces, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker
    from fencepost_broker.controller.model import Topic

_UNASKED: Final = -(1 << 31)
_TOPIC_OPERATIONS: Final = sum(1 << operation for operation in (3, 4, 5, 6, 7, 8, 10, 11))
_CLUSTER_OPERATIONS: Final = sum(1 << operation for operation in (5, 7, 8, 9, 10, 11, 12))


def metadata(broker: Broker, request: Request) -> Pieces:
    """Answer Metadata, versions 0 to 13."""
    version = request.version
    true_at = broker.image.last_offset
    remembered = broker.metadata_answers.find(request, true_at)
    if remembered is not None:
        return remembered
    message, _ = MetadataRequest.decode(request.frame, version, request.body)
    wanted = message.topics
    if wanted is None or (version == 0 and not wanted):
        topics = [_describe(broker, topic, message) for topic in broker.image.topics.values()]
    else:
        topics = [_one(broker, named, message) for named in wanted]
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id, host, port, rack)
            for node_id, host, port, rack in broker.advertised_brokers(request.peer.listener)
        ],
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        topics=topics,
        cluster_authorized_operations=_CLUSTER_OPERATIONS
        if message.include_cluster_authorized_operations
        else _UNASKED,
    )
    answer = request.answer(response)
    if not any(topic.error_code for topic in topics) and broker.image.last_offset == true_at:
        broker.metadata_answers.keep(request, answer)
    return answer


def _one(
    broker: Broker, named: MetadataRequestTopic, message: MetadataRequest
) -> MetadataResponseTopic:
    if named.name is None:
        topic = broker.image.topics_by_id.get(named.topic_id)
        if topic is None:
            return MetadataResponseTopic(
                ErrorCode.UNKNOWN_TOPIC_ID,
                None,
                named.topic_id,
                topic_authorized_operations=_UNASKED,
            )
        return _describe(broker, topic, message)
    topic = broker.image.topics.get(named.name)
    if topic is not None:
        return _describe(broker, topic, message)
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if message.allow_auto_topic_creation:
        error = broker.auto_create(named.name)
    return MetadataResponseTopic(error, named.name, ZERO_UUID, topic_authorized_operations=_UNASKED)


def _describe(broker: Broker, topic: Topic, message: MetadataRequest) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        ErrorCode.NONE,
        topic.name,
        topic.topic_id,
        is_internal=broker.is_internal(topic.name),
        partitions=[
            MetadataResponsePartition(
                ErrorCode.NONE if each.leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
                each.partition_id,
                each.leader,
                each.leader_epoch,
                list(each.replicas),
                list(each.isr),
                [],
            )
            for each in topic.in_order()
        ],
        topic_authorized_operations=_TOPIC_OPERATIONS
        if message.include_topic_authorized_operations
        else _UNASKED,
    )
