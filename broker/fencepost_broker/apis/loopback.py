"""Requests of the broker to itself: encoded frames through the same handlers as anybody's.

What is watched, delayed or refused between brokers can so be watched, delayed and refused when
there is only one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import (
    SIZE_BYTES,
    encode_request,
    read_request_head,
    read_response_head,
)

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import RemoteClient
from fencepost_broker.replication.partition import raise_it
from fencepost_broker.security.principals import ANONYMOUS

Answered = Callable[[Any], None]


class Route(Protocol):
    """An API and who answers it."""

    @property
    def key(self) -> int:
        """Its number."""

    @property
    def handler(self) -> Callable[[Any, Request], Pieces | None]:
        """Who answers."""


class Loopback:
    """A peer like any other, but that it is the broker itself."""

    listener = ""
    client_host = "/loopback"
    client = RemoteClient()
    user = ANONYMOUS
    client_software_name = "fencepost"
    client_software_version = ""

    def __init__(
        self,
        broker: object,
        served: Iterable[Route],
        metrics: Metrics,
        call_later: Callable[[int, Callable[[], None]], object],
    ) -> None:
        self.metrics = metrics
        self._call_later = call_later
        self._broker = broker
        self._handlers = {int(route.key): route.handler for route in served}
        self._waiting: dict[Request, Answered] = {}
        self._correlation_id = 0

    def ask(self, message: Message, version: int, then: Answered) -> None:
        """Send a request; ``then`` gets the response, now or later."""
        self._correlation_id = self._correlation_id + 1 & 0x7FFFFFFF
        frame = memoryview(encode_request(message, version, self._correlation_id))[SIZE_BYTES:]
        api_key, version, correlation_id, client_id, body = read_request_head(frame)
        request = Request(self, api_key, version, correlation_id, client_id, frame, body)
        pieces = self._handlers[api_key](self._broker, request)
        if pieces is None:
            self._waiting[request] = then
        else:
            then(_decoded(request, pieces))

    def release(self, request: Request, pieces: Pieces) -> None:
        """The answer to a request that was parked."""
        then = self._waiting.pop(request, None)
        if then is not None:
            then(_decoded(request, pieces))

    @property
    def may_park(self) -> bool:
        """Whoever waits for markers is no client: there is always room."""
        return True

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """There is no connection to close: the loop tells of it."""
        self._waiting.pop(request, None)
        self._call_later(0, partial(raise_it, error))

    def on_loss(self, call: Callable[[], None]) -> None:
        """There is no connection to lose."""

    def drop(self, reason: str) -> None:
        """There is no connection to close: a broker that talks nonsense to itself is broken."""
        raise AssertionError(reason)


def _decoded(request: Request, pieces: Pieces) -> Any:
    frame = memoryview(b"".join(pieces))[SIZE_BYTES:]
    _, body = read_response_head(frame, request.api_key, request.version)
    response, _ = response_class(request.api_key).decode(frame, request.version, body)
    return response
