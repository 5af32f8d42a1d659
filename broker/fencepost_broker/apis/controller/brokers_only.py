"""What only brokers may ask, where a listener asks who comes."""

from __future__ import annotations

from typing import Any

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.authorization.cluster_action import refusal_text
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.apis.served import Later


def may_ask(host: Any, request: Request) -> bool:
    """Whether whoever asks is a broker, or nobody has to be one; a person hears of who is not."""
    if host.cluster_action.allows(request.peer):
        return True
    peer = request.peer
    host.warnings.add(refusal_text(peer.user, peer.listener, ApiKey(request.api_key).name))
    return False


class OfBrokers(Later):
    """A handler for brokers; others hear CLUSTER_AUTHORIZATION_FAILED, as from Apache Kafka."""

    __slots__ = ()

    def __call__(self, broker: Any, request: Request, message: Any) -> Answer | None:
        """Answer a request."""
        if may_ask(broker, request):
            return super().__call__(broker, request, message)
        refused: Any = response_class(request.api_key)()
        refused.error_code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        answer: Message = refused
        return answer
