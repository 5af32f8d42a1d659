"""Handlers of requests that only brokers may send, on listeners with authentication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.apis.served import Later

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext


def may_ask(context: HandlerContext, request: Request) -> bool:
    """Whether a request may be answered as a broker's; log a warning if not."""
    if context.access.allows_cluster_action(request.peer):
        return True
    context.access.warn_of_refusal(request.peer, ApiKey(request.api_key).name)
    return False


class OfBrokers(Later):
    """A handler for brokers; others get CLUSTER_AUTHORIZATION_FAILED, as in Apache Kafka."""

    __slots__ = ()

    def __call__(self, context: HandlerContext, request: Request, message: Any) -> Answer | None:
        """Answer a request."""
        if may_ask(context, request):
            return super().__call__(context, request, message)
        refused: Any = response_class(request.api_key)()
        refused.error_code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        answer: Message = refused
        return answer
