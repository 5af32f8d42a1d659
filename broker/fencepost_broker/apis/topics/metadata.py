"""Metadata: list the cluster's brokers, and topics with their partitions' leaders.

Behaviour: a request without a list asks for all topics (in version 0, one with an empty list). Each
topic is answered once, existing ones first. An invalid name is INVALID_TOPIC_EXCEPTION. A missing
topic is UNKNOWN_TOPIC_OR_PARTITION, even if this request creates it (as the request and
`auto.create.topics.enable` may allow) or its creation is refused; clients ask again. Brokers have
their advertised addresses for the request's listener. Answers without an error are cached until the
image changes.

Version notes: 10 brought topic ids into the answer, 12 into the request; if one topic is requested
by its id, names are ignored. Before 12, an id or a missing name refuses the whole request.
Authorized operations (8+) are unknown (the int32 minimum) unless requested.

Unlike Kafka, which answers UNKNOWN_SERVER_ERROR, a topic with neither name nor id is
INVALID_REQUEST in every version.

Authorized operations are all those of the resource; an authorizer removes those that the user may
not do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

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

from fencepost_broker.apis.authorized_operations import (
    CLUSTER_OPERATIONS,
    TOPIC_OPERATIONS,
    UNASKED,
)
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.config.internal_topics import is_internal
from fencepost_broker.metadata.advertised_brokers import advertised_brokers
from fencepost_broker.metadata.names import name_problem

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.metadata.image.model import Topic

_FIRST_BY_ID = 12


def metadata(context: BrokerContext, request: Request, message: MetadataRequest) -> Answer:
    """Answer Metadata, versions 0 to 13."""
    version = request.version
    true_at = context.image.last_offset
    wanted = message.topics
    if wanted is None or (version == 0 and not wanted):
        topics = [_describe(topic, message) for topic in context.image.topics.by_name.values()]
    else:
        ids = {each.topic_id: None for each in wanted if each.topic_id != ZERO_UUID}
        names = {each.name: None for each in wanted if each.name is not None}
        if (ids and version < _FIRST_BY_ID) or (not ids and any(t.name is None for t in wanted)):
            return _refused(wanted)
        topics = _by_ids(context, ids, message) if ids else _by_names(context, names, message)
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(*each)
            for each in advertised_brokers(context.image, request.peer.listener)
        ],
        cluster_id=context.identity.cluster_id,
        controller_id=context.identity.node_id,
        topics=topics,
        cluster_authorized_operations=CLUSTER_OPERATIONS
        if message.include_cluster_authorized_operations
        else UNASKED,
    )
    if not any(topic.error_code for topic in topics) and context.image.last_offset == true_at:
        request.true_at = true_at
    return response


def _by_names(
    context: BrokerContext, names: Iterable[str], message: MetadataRequest
) -> list[MetadataResponseTopic]:
    known, missing, wanted = [], [], []
    topics = context.image.topics.by_name
    for name in names:
        topic = topics.get(name)
        if topic is not None:
            known.append(_describe(topic, message))
            continue
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if name_problem(name) is not None:
            error = ErrorCode.INVALID_TOPIC_EXCEPTION
        elif message.allow_auto_topic_creation:
            wanted.append(name)
        internal = is_internal(name)
        missing.append(
            MetadataResponseTopic(
                error, name, is_internal=internal, topic_authorized_operations=_operations(message)
            )
        )
    if wanted:
        context.topics.auto_create(wanted)
    return known + missing


def _by_ids(
    context: BrokerContext, ids: Iterable[bytes], message: MetadataRequest
) -> list[MetadataResponseTopic]:
    known, missing = [], []
    topics = context.image.topics.by_id
    for topic_id in ids:
        topic = topics.get(topic_id)
        if topic is not None:
            known.append(_describe(topic, message))
        else:
            unknown = MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id)
            missing.append(unknown)
    return missing + known


def _refused(wanted: list[MetadataRequestTopic]) -> MetadataResponse:
    """Refuse the whole request; as in Kafka, the response does not even have the brokers."""
    error = ErrorCode.INVALID_REQUEST
    return MetadataResponse(
        topics=[MetadataResponseTopic(error, each.name or "", each.topic_id) for each in wanted],
        error_code=error,
    )


def _operations(message: MetadataRequest) -> int:
    return TOPIC_OPERATIONS if message.include_topic_authorized_operations else UNASKED


def _describe(topic: Topic, message: MetadataRequest) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        ErrorCode.NONE,
        topic.name,
        topic.topic_id,
        is_internal=is_internal(topic.name),
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
        topic_authorized_operations=_operations(message),
    )
