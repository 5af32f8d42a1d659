"""The step that checks a user's rights before a handler.

Denied elements are removed from the request, the handler answers the rest, and the denied elements
are added to its answer, at once or later.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.apis import response_class

from fencepost_broker.apis.authorization.verdicts import Asked, Check, Refused, Rest, Verdict
from fencepost_broker.apis.authorization.whole import everybody
from fencepost_broker.apis.request import NO_ANSWER, Answer, CompletedRequest, Request
from fencepost_broker.apis.served import Served, Step
from fencepost_broker.security.authorizer.authorizer import Authorizer, Rights

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_AUTHORIZATION: Final = "fencepost_broker.apis.authorization"


def rights_step(api: Served, authorizer: Authorizer) -> Step | None:
    """Return the step that checks rights; ``None`` if an API needs none."""
    check = check_of(api)
    # The controller checks forwarded requests, except the part that is answered here.
    if check is everybody or (api.is_passed_on and not api.answers_part_here):
        return None

    def within_rights(
        context: HandlerContext, request: CompletedRequest, message: Any
    ) -> Answer | None:
        rights = Rights(authorizer, request.peer.user, request.peer.client_host)
        settings = context.config.settings
        asked = Asked(api, rights, message, request.version, context.image, settings)
        return _answer(request, check(asked))

    return within_rights


def check_of(api: Served) -> Check:
    """Return the check that an API's ``rights`` name."""
    module, name = api.rights.split(":")
    check: Check = getattr(importlib.import_module(f"{_AUTHORIZATION}.{module}"), name)
    return check


def _answer(request: CompletedRequest, verdict: Verdict) -> Answer | None:
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
