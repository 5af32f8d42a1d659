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
from fencepost_broker.controller.ports import TopicCommand

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_DISABLED_FROM: Final = 3
_CREATION_STRICT_FROM: Final = 6
_DELETION_STRICT_FROM: Final = 5


def create_topics(
    context: HandlerContext, request: Request, message: CreateTopicsRequest
) -> Answer:
    """Answer CreateTopics, versions 2 to 7."""
    return decided(context, request, message, _CREATION_STRICT_FROM)


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
    return decided(context, request, message, _DELETION_STRICT_FROM)


def decided(
    context: HandlerContext, request: Request, message: Message, strict_from: int
) -> Message:
    """Let the controller decide; clients know the error of an exceeded quota since a version."""
    is_strict = request.version >= strict_from
    answer: Message = context.controller.command(
        TopicCommand(request.peer.user, request.client_id or "", is_strict, message)
    )
    return answer
