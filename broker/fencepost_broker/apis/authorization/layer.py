"""A handler behind what its request's user may do.

What is denied is taken out of the decoded request, the handler answers for the rest, and the
denied is put into its answer, also where that comes later. A request of which nothing is denied
reaches the handler as it came.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fencepost_protocol.apis import request_class, response_class
from fencepost_protocol.framing import (
    SIZE_BYTES,
    encode_request,
    read_request_head,
    read_response_head,
)
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.authorization.table import CHECKS
from fencepost_broker.apis.authorization.verdicts import Asked, Check, Refused, Rest
from fencepost_broker.apis.authorization.whole import everybody, refuse_unlisted
from fencepost_broker.apis.request import NO_ANSWER, Pieces, Request, encoded
from fencepost_broker.security.authorizer.authorizer import Authorizer, Rights

Handler = Callable[[Any, Request], Pieces | None]

CHECKED_WHERE_PASSED_ON: Final = frozenset({ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS})
"""Of what is passed on to the controller, which asks for rights itself, these are partly answered
by the broker: the levels of its loggers."""


def authorized(
    api_key: int, handler: Handler, authorizer: Authorizer, *, is_passed_on: bool = False
) -> Handler:
    """The handler, for those who may ask; itself, where everybody may."""
    key = ApiKey(api_key)
    check = CHECKS.get(key, refuse_unlisted)
    if check is everybody or (is_passed_on and key not in CHECKED_WHERE_PASSED_ON):
        return handler

    def within_rights(broker: Any, request: Request) -> Pieces | None:
        return _carry_out(broker, request, check, handler, authorizer)

    return within_rights


def _carry_out(
    broker: Any, request: Request, check: Check, handler: Handler, authorizer: Authorizer
) -> Pieces | None:
    message: Any = request_class(request.api_key).decode(
        request.frame, request.version, request.body
    )[0]
    rights = Rights(authorizer, request.peer.user, request.peer.client_host)
    verdict = check(Asked(rights, message, request.version, broker.image, broker.settings))
    if verdict is None:
        return handler(broker, request)
    if isinstance(verdict, Refused):
        return request.answer(verdict.response)
    if not verdict.is_left:
        if verdict.drop:
            request.peer.drop(verdict.drop)
            return NO_ANSWER
        response: Any = response_class(request.api_key)()
        verdict.complete(response)
        return request.answer(response)
    if verdict.is_changed:
        frame = encode_request(message, request.version, request.correlation_id, request.client_id)
        request.frame = memoryview(frame)[SIZE_BYTES:]
        request.body = read_request_head(request.frame)[-1]
    peer = request.peer
    request.peer = _Completing(peer, verdict)
    pieces = handler(broker if verdict.through is None else verdict.through(broker), request)
    if pieces is None:
        return None
    request.peer = peer
    if verdict.drop:
        peer.drop(verdict.drop)
        return NO_ANSWER
    return _completed(request, verdict, pieces)


class _Completing:
    """A connection to a request that parks: its answer is completed when it comes."""

    def __init__(self, peer: Any, rest: Rest) -> None:
        self._peer = peer
        self._rest = rest

    def __getattr__(self, name: str) -> Any:
        return getattr(self._peer, name)

    def release(self, request: Request, pieces: Pieces) -> None:
        """Send the answer."""
        if self._rest.drop:
            self._peer.drop(self._rest.drop)
        else:
            self._peer.release(request, _completed(request, self._rest, pieces))


def _completed(request: Request, rest: Rest, pieces: Pieces) -> Pieces:
    if not pieces or (rest.is_due is not None and not rest.is_due()):
        return pieces
    frame = memoryview(b"".join(pieces))[SIZE_BYTES:]
    _, body = read_response_head(frame, request.api_key, request.version)
    response, _ = response_class(request.api_key).decode(frame, request.version, body)
    rest.complete(response)
    return [encoded(response, request.version, request.correlation_id)]
