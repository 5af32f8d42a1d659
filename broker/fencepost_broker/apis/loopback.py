"""Requests that the broker sends to itself, answered by the same handlers as clients' requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Protocol

from fencepost_protocol.apis import Message
from fencepost_protocol.framing import api_key_of

from fencepost_broker.apis.request import NO_FRAME, Answer, Request
from fencepost_broker.apis.served import Handler, loaded
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import RemoteClient
from fencepost_broker.replication.partition import raise_it
from fencepost_broker.security.principals import ANONYMOUS

Answered = Callable[[Any], None]


class Route(Protocol):
    """An API and its handler."""

    @property
    def key(self) -> int:
        """The API key."""

    @property
    def handler(self) -> Handler:
        """The handler of its requests."""


class Loopback:
    """A peer without a connection: the broker itself."""

    listener = ""
    client_host = "/loopback"
    client = RemoteClient()
    user = ANONYMOUS
    client_software_name = "fencepost"
    client_software_version = ""

    def __init__(
        self,
        context: object,
        served: Iterable[Route],
        metrics: Metrics,
        call_later: Callable[[int, Callable[[], None]], object],
    ) -> None:
        self.metrics = metrics
        self._call_later = call_later
        self._context = context
        self._served = {int(route.key): route.handler for route in served}
        self._handlers: dict[int, Handler] = {}
        """Those that were needed, without what imports them first."""
        self._waiting: dict[Request, Answered] = {}
        self._correlation_id = 0

    def ask(self, message: Message, version: int, then: Answered) -> None:
        """Send a request; ``then`` is called with the response, at once or later."""
        request = self._request(message, version)
        api_key = request.api_key
        handler = self._handlers.get(api_key)
        if handler is None:
            handler = self._handlers[api_key] = loaded(self._served[api_key])
        response = handler(self._context, request, message)
        if response is None:
            self._waiting[request] = then
        else:
            then(response)

    def waiting(self, message: Message, version: int, then: Answered) -> Request:
        """Return a request that the caller answers later; ``then`` is called with the response."""
        request = self._request(message, version)
        self._waiting[request] = then
        return request

    def _request(self, message: Message, version: int) -> Request:
        self._correlation_id = self._correlation_id + 1 & 0x7FFFFFFF
        api_key = api_key_of(message)
        return Request(self, api_key, version, self._correlation_id, None, NO_FRAME, 0)

    def release(self, request: Request, answer: Answer) -> None:
        """Deliver the answer to a parked request."""
        then = self._waiting.pop(request, None)
        if then is not None:
            then(answer)

    @property
    def may_park(self) -> bool:
        """Always true: the limit on parked requests is for clients."""
        return True

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """Raise the exception in the event loop: there is no connection to close."""
        self._waiting.pop(request, None)
        self._call_later(0, partial(raise_it, error))

    def on_loss(self, call: Callable[[], None]) -> None:
        """Do nothing: there is no connection to lose."""

    def drop(self, reason: str) -> None:
        """Raise an error: an invalid request of the broker to itself is a bug."""
        raise AssertionError(reason)
