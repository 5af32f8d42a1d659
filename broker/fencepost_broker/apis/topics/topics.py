"""CreateTopics and DeleteTopics: commands to the controller, whose answer is the response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreateTopicsRequest
from fencepost_protocol.generated.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_DISABLED_FROM: Final = 3


def create_topics(
    context: HandlerContext, _request: Request, message: CreateTopicsRequest
) -> Answer:
    """Answer CreateTopics, versions 2 to 7."""
    answer: Message = context.controller.command(message)
    return answer


def delete_topics(
    context: HandlerContext, request: Request, message: DeleteTopicsRequest
) -> Answer:
    """Answer DeleteTopics, versions 1 to 6; up to 5 topics are a list of names."""
    if message.topic_names:
        message.topics = [DeleteTopicState(name) for name in message.topic_names]
        message.topic_names = []
    if not context.config.settings.delete_topic_enable:
        newer = request.version >= _DISABLED_FROM
        code = ErrorCode.TOPIC_DELETION_DISABLED if newer else ErrorCode.INVALID_REQUEST
        refused = [DeletableTopicResult(each.name, each.topic_id, code) for each in message.topics]
        return DeleteTopicsResponse(responses=refused)
    answer: Message = context.controller.command(message)
    return answer
