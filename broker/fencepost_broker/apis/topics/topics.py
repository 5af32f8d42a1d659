"""CreateTopics, DeleteTopics: commands to the controller, whose answer is the response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreateTopicsRequest
from fencepost_protocol.generated.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

from fencepost_broker.apis.request import Pieces, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.ports import Broker

_DISABLED_FROM: Final = 3


def create_topics(broker: Broker, request: Request) -> Pieces:
    """Answer CreateTopics, versions 2 to 7."""
    message = request.message(CreateTopicsRequest)
    return request.answer(broker.command(message))


def delete_topics(broker: Broker, request: Request) -> Pieces:
    """Answer DeleteTopics, versions 1 to 6; up to 5 topics are a list of names."""
    message = request.message(DeleteTopicsRequest)
    if message.topic_names:
        message.topics = [DeleteTopicState(name) for name in message.topic_names]
        message.topic_names = []
    if not broker.settings.delete_topic_enable:
        newer = request.version >= _DISABLED_FROM
        code = ErrorCode.TOPIC_DELETION_DISABLED if newer else ErrorCode.INVALID_REQUEST
        refused = [DeletableTopicResult(each.name, each.topic_id, code) for each in message.topics]
        return request.answer(DeleteTopicsResponse(responses=refused))
    return request.answer(broker.command(message))
