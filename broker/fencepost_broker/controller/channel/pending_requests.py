"""Requests of a broker to its controller that have no answer yet.

    waiting   --taken: it is sent--------------------------> in flight
    in flight --answered-----------------------------------> completed
    in flight --lost, without a time limit-----------------> completed with ``None``
    in flight --lost, with a time limit--------------------> waiting, at its old place
    in flight --lost too often-----------------------------> completed with ``None``
    either    --its time limit is over---------------------> completed with ``None``
    either    --withdrawn----------------------------------> forgotten

A request without a time limit waits as long as the controller is away, and is sent once, since only
its sender knows whether it may be repeated. A request with a time limit is repeated, as Kafka's
brokers do with forwarded requests, but not for ever: one that crashes the controller, or that it
answers by closing the connection, would block all others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Final

from fencepost_protocol.apis import Message

LOSSES_MAX: Final = 5
"""Number of losses after which a request is given up."""


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request for the controller, and the callback for its answer."""

    message: Message | None
    """``None`` when the answer is not needed any more; a large message is freed then."""
    then: Callable[[Any], None]
    give_up_ms: int | None = None
    """It is repeated until then; ``None``: it is sent once."""
    losses: int = 0
    """Number of times that it was sent without an answer."""
    number: int = 0
    """Its position: a lost request is sent before later ones."""

    def withdraw(self) -> None:
        """Drop the request: its answer is not needed any more."""
        self.message, self.then = None, _ignore

    def complete(self, answer: Any | None) -> None:
        """Call the callback with the answer, or with ``None``."""
        then = self.then
        self.withdraw()
        then(answer)


class PendingRequests:
    """All requests without an answer."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, PendingRequest]] = []
        """A heap: the oldest request is first."""
        self._under_way: set[PendingRequest] = set()
        self._put = 0
        self._is_closed = False

    def __len__(self) -> int:
        """Number of requests that wait to be sent."""
        return sum(request.message is not None for _, request in self._waiting)

    def put(self, request: PendingRequest) -> None:
        """Add a request; it is sent when there is a connection."""
        self._put += 1
        request.number = self._put
        heappush(self._waiting, (request.number, request))

    def take(self) -> PendingRequest | None:
        """Return the next request to send."""
        while self._waiting:
            request = heappop(self._waiting)[1]
            if request.message is not None:
                self._under_way.add(request)
                return request
        return None

    def answered(self, request: PendingRequest, answer: Any | None, now_ms: int) -> None:
        """Take the answer to a request in flight; ``None``: it was lost."""
        self._under_way.discard(request)
        limit_ms = request.give_up_ms
        request.losses += answer is None
        again = answer is None and limit_ms is not None and now_ms < limit_ms
        if again and request.losses < LOSSES_MAX and not self._is_closed:
            heappush(self._waiting, (request.number, request))
        else:
            request.complete(answer)

    def deadline(self) -> int | None:
        """Return when the first time limit is over."""
        return min((limit_ms for limit_ms, _ in self._limited()), default=None)

    def expire(self, now_ms: int) -> None:
        """Complete requests whose time limit is over."""
        late = [request for limit_ms, request in self._limited() if limit_ms <= now_ms]
        for request in sorted(late, key=lambda each: each.number):
            request.complete(None)

    def _limited(self) -> list[tuple[int, PendingRequest]]:
        """Return all requests with a time limit that were not withdrawn."""
        requests = [*(each for _, each in self._waiting), *self._under_way]
        return [
            (each.give_up_ms, each)
            for each in requests
            if each.give_up_ms is not None and each.message is not None
        ]

    def close(self) -> None:
        """Complete all waiting requests: none will be sent any more."""
        self._is_closed = True
        waiting, self._waiting = sorted(self._waiting), []
        for _, request in waiting:
            request.complete(None)


def _ignore(_: Any) -> None:
    """Callback of a withdrawn request."""
