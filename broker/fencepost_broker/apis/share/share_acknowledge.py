"""ShareAcknowledge: what a member of a share group says about its records (KIP-932).

The answer leaves when the share coordinator has written it. Version 2 brought the renewal of locks
(KIP-1222).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.share_acknowledge import (
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)

from fencepost_broker.apis.groups.requests import has_feature
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.apis.share.requests import SHARE_VERSION, Acknowledging, Leaders, refused_ids
from fencepost_broker.apis.share.sessions import FINAL_EPOCH, FIRST_EPOCH, ShareSession
from fencepost_broker.replication.share.share_partitions import SharePartitionKey

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


def share_acknowledge(
    context: BrokerContext, request: Request, message: ShareAcknowledgeRequest
) -> Answer | None:
    """Answer ShareAcknowledge, versions 1 and 2."""
    if not has_feature(context, SHARE_VERSION):
        return ShareAcknowledgeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    group_id, member_id = message.group_id, message.member_id
    wrong = refused_ids(group_id, member_id)
    if wrong is not None:
        return ShareAcknowledgeResponse(error_code=ErrorCode.INVALID_REQUEST, error_message=wrong)
    assert group_id is not None
    assert member_id is not None
    epoch = message.share_session_epoch
    if epoch == FIRST_EPOCH:
        return ShareAcknowledgeResponse(error_code=ErrorCode.INVALID_SHARE_SESSION_EPOCH)
    session = context.share_sessions.go_on(group_id, member_id, epoch)
    if isinstance(session, ErrorCode):
        return ShareAcknowledgeResponse(error_code=session)
    acknowledging = Acknowledging(context, request, member_id)
    for topic in message.topics:
        for each in topic.partitions:
            key = SharePartitionKey(group_id, topic.topic_id, each.partition_index)
            batches = each.acknowledgement_batches
            acknowledging.begin(key, batches, is_renew=message.is_renew_ack)

    def answer() -> ShareAcknowledgeResponse:
        return _answer(context, request, session, acknowledging, is_final=epoch == FINAL_EPOCH)

    if acknowledging.is_done:
        return answer()
    acknowledging.when_done(lambda: request.release(answer()))
    return None


def _answer(
    context: BrokerContext,
    request: Request,
    session: ShareSession,
    acknowledging: Acknowledging,
    *,
    is_final: bool,
) -> ShareAcknowledgeResponse:
    if is_final:
        context.share_sessions.end(session)
    lock_ms = context.shares.lock_ms(session.group_id)
    response = ShareAcknowledgeResponse(acquisition_lock_timeout_ms=lock_ms)
    leaders = Leaders(context, request)
    topics: dict[bytes, ShareAcknowledgeTopicResponse] = {}
    for key, error in acknowledging.results.items():
        topic = topics.get(key.topic_id)
        if topic is None:
            topic = topics[key.topic_id] = ShareAcknowledgeTopicResponse(key.topic_id)
            response.responses.append(topic)
        data = PartitionData(key.number, error)
        leaders.tell(data, key, error)
        topic.partitions.append(data)
    response.node_endpoints = leaders.endpoints(NodeEndpoint)
    return response
