"""What a request's user may do, asked before its handler.

What is denied is taken out of the request, the handler answers for the rest, and the denied is put
into its answer, whenever that comes.
"""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.apis import response_class
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.authorization.table import CHECKS
from fencepost_broker.apis.authorization.verdicts import Asked, Check, Refused, Rest
from fencepost_broker.apis.authorization.whole import everybody, refuse_unlisted
from fencepost_broker.apis.request import NO_ANSWER, Answer, CompletedRequest, Request
from fencepost_broker.apis.served import Step
from fencepost_broker.security.authorizer.authorizer import Authorizer, Rights

CHECKED_WHERE_PASSED_ON: Final = frozenset({ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS})
"""Of what is passed on to the controller, which asks for rights itself, these are partly answered
by the broker: the levels of its loggers."""


def rights_step(api_key: int, authorizer: Authorizer, *, is_passed_on: bool = False) -> Step | None:
    """The step that asks for rights; ``None`` where everybody may."""
    key = ApiKey(api_key)
    check = CHECKS.get(key, refuse_unlisted)
    if check is everybody or (is_passed_on and key not in CHECKED_WHERE_PASSED_ON):
        return None

    def within_rights(broker: Any, request: CompletedRequest, message: Any) -> Answer | None:
        return _look(broker, request, message, check, authorizer)

    return within_rights


def _look(
    broker: Any, request: CompletedRequest, message: Any, check: Check, authorizer: Authorizer
) -> Answer | None:
    rights = Rights(authorizer, request.peer.user, request.peer.client_host)
    verdict = check(Asked(rights, message, request.version, broker.image, broker.settings))
    if verdict is None:
        return None
    if isinstance(verdict, Refused):
        return verdict.response
    if not verdict.is_left:
        if verdict.drop:
            request.peer.drop(verdict.drop)
            return NO_ANSWER
        response: Any = response_class(request.api_key)()
        verdict.complete(response)
        told: Answer = response
        return told
    request.complete_with(lambda answer: _completed(request, verdict, answer))
    return None


def _completed(request: Request, rest: Rest, answer: Answer) -> Answer:
    if rest.drop:
        request.peer.drop(rest.drop)
        return NO_ANSWER
    if not isinstance(answer, list):
        rest.complete(answer)
    return answer
