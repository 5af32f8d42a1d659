"""Metadata: the brokers of the cluster and the leaders of topics.

Behaviour: no list of topics asks for all of them (in version 0 an empty list does). A topic is
answered once, however often it is named: first what is there, then what is not. A name that no
topic can have is INVALID_TOPIC_EXCEPTION. A topic that does not exist is UNKNOWN_TOPIC_OR_PARTITION
even when this very request creates it, as the request and `auto.create.topics.enable` may allow,
and also when its creation is refused: the client asks again. The host is the advertised address of
the listener that the request came by. Answers without an error are remembered until the image
changes.

Version notes: 10 brought topic ids into the answer, 12 asking by them; where one topic is asked for
by its id, names do not count. Before 12, an id or a missing name refuses the whole request.
Authorised operations (8+) are told as unknown (the int32 minimum) unless asked for.

Unlike Kafka, which answers UNKNOWN_SERVER_ERROR, a topic with neither name nor id is
INVALID_REQUEST in every version.

Authorised operations are all those of the resource; an authorizer leaves those that the user has.
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
from fencepost_broker.metadata.names import name_problem

if TYPE_CHECKING:
    from fencepost_broker.apis.ports import Broker
    from fencepost_broker.metadata.model import Topic

_FIRST_BY_ID = 12


def metadata(broker: Broker, request: Request, message: MetadataRequest) -> Answer:
    """Answer Metadata, versions 0 to 13."""
    version = request.version
    true_at = broker.image.last_offset
    wanted = message.topics
    if wanted is None or (version == 0 and not wanted):
        all_topics = broker.image.topics.by_name.values()
        topics = [_describe(broker, topic, message) for topic in all_topics]
    else:
        ids = {each.topic_id: None for each in wanted if each.topic_id != ZERO_UUID}
        names = {each.name: None for each in wanted if each.name is not None}
        if (ids and version < _FIRST_BY_ID) or (not ids and any(t.name is None for t in wanted)):
            return _refused(wanted)
        topics = _by_ids(broker, ids, message) if ids else _by_names(broker, names, message)
    response = MetadataResponse(
        brokers=[
            MetadataResponseBroker(node_id, host, port, rack)
            for node_id, host, port, rack in broker.advertised_brokers(request.peer.listener)
        ],
        cluster_id=broker.cluster_id,
        controller_id=broker.node_id,
        topics=topics,
        cluster_authorized_operations=CLUSTER_OPERATIONS
        if message.include_cluster_authorized_operations
        else UNASKED,
    )
    if not any(topic.error_code for topic in topics) and broker.image.last_offset == true_at:
        request.true_at = true_at
    return response


def _by_names(
    broker: Broker, names: Iterable[str], message: MetadataRequest
) -> list[MetadataResponseTopic]:
    topics = broker.image.topics.by_name
    known, missing, wanted = [], [], []
    for name in names:
        topic = topics.get(name)
        if topic is not None:
            known.append(_describe(broker, topic, message))
            continue
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if name_problem(name) is not None:
            error = ErrorCode.INVALID_TOPIC_EXCEPTION
        elif message.allow_auto_topic_creation:
            wanted.append(name)
        internal = broker.is_internal(name)
        missing.append(
            MetadataResponseTopic(
                error, name, is_internal=internal, topic_authorized_operations=_operations(message)
            )
        )
    if wanted:
        broker.auto_create(wanted)
    return known + missing


def _by_ids(
    broker: Broker, ids: Iterable[bytes], message: MetadataRequest
) -> list[MetadataResponseTopic]:
    topics = broker.image.topics.by_id
    known, missing = [], []
    for topic_id in ids:
        topic = topics.get(topic_id)
        if topic is not None:
            known.append(_describe(broker, topic, message))
        else:
            unknown = MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id)
            missing.append(unknown)
    return missing + known


def _refused(wanted: list[MetadataRequestTopic]) -> MetadataResponse:
    """What Kafka answers to a request that it does not carry out: not even its brokers."""
    error = ErrorCode.INVALID_REQUEST
    return MetadataResponse(
        topics=[MetadataResponseTopic(error, each.name or "", each.topic_id) for each in wanted],
        error_code=error,
    )


def _operations(message: MetadataRequest) -> int:
    return TOPIC_OPERATIONS if message.include_topic_authorized_operations else UNASKED


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
        topic_authorized_operations=_operations(message),
    )
