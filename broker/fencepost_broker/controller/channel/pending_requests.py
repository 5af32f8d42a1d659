"""What a broker asks its controller, until there is a connection, and until there is an answer.

    waiting   --taken: it goes out------------------------> under way
    under way --answered----------------------------------> told the answer
    under way --lost, it may be asked once only-----------> told ``None``
    under way --lost, it has a time limit-----------------> waiting, where it was
    under way --lost, and that too often------------------> told ``None``
    either    --its time is over--------------------------> told ``None``
    either    --nobody waits for the answer any more------> forgotten

What has no limit waits for as long as the controller is away, and is asked once: whoever asks
knows whether the same may be asked twice. What has one is asked again and again, as Kafka's brokers
do with what they pass on, but not for ever: one that the controller does not survive, or answers by
closing the connection, would keep all others from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, Final

from fencepost_protocol.apis import Message

LOSSES_MAX: Final = 5
"""A controller that goes away by itself does not do so with the same request so often."""


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request for the controller, and who hears the answer."""

    message: Message | None
    """``None`` when nobody waits for the answer any more; it may be large, so it is let go."""
    then: Callable[[Any], None]
    give_up_ms: int | None = None
    """It is asked again until then; ``None``: it is asked once."""
    losses: int = 0
    """How often it went out, and no answer came."""
    number: int = 0
    """Its place among all: one that was lost goes out before what was asked later."""

    def withdraw(self) -> None:
        """Nobody waits for the answer any more: do not ask, and tell nobody."""
        self.message, self.then = None, _ignore

    def complete(self, answer: Any | None) -> None:
        """Say what came of it."""
        then = self.then
        self.withdraw()
        then(answer)


class PendingRequests:
    """All requests that are not answered yet."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, PendingRequest]] = []
        """A heap: the one that was asked first comes first."""
        self._under_way: set[PendingRequest] = set()
        self._put = 0
        self._is_closed = False

    def __len__(self) -> int:
        """How many wait."""
        return sum(request.message is not None for _, request in self._waiting)

    def put(self, request: PendingRequest) -> None:
        """Ask it when there is a connection."""
        self._put += 1
        request.number = self._put
        heappush(self._waiting, (request.number, request))

    def take(self) -> PendingRequest | None:
        """The next one: it goes out now."""
        while self._waiting:
            request = heappop(self._waiting)[1]
            if request.message is not None:
                self._under_way.add(request)
                return request
        return None

    def answered(self, request: PendingRequest, answer: Any | None, now_ms: int) -> None:
        """What came of one that went out; ``None``: nobody knows."""
        self._under_way.discard(request)
        limit_ms = request.give_up_ms
        request.losses += answer is None
        again = answer is None and limit_ms is not None and now_ms < limit_ms
        if again and request.losses < LOSSES_MAX and not self._is_closed:
            heappush(self._waiting, (request.number, request))
        else:
            request.complete(answer)

    def deadline(self) -> int | None:
        """When the time of the first one is over."""
        return min((limit_ms for limit_ms, _ in self._limited()), default=None)

    def expire(self, now_ms: int) -> None:
        """Tell those whose time is over, whether they wait or are under way."""
        late = [request for limit_ms, request in self._limited() if limit_ms <= now_ms]
        for request in sorted(late, key=lambda each: each.number):
            request.complete(None)

    def _limited(self) -> list[tuple[int, PendingRequest]]:
        """All that have a limit and are wanted."""
        requests = [*(each for _, each in self._waiting), *self._under_way]
        return [
            (each.give_up_ms, each)
            for each in requests
            if each.give_up_ms is not None and each.message is not None
        ]

    def close(self) -> None:
        """Nothing will be asked any more."""
        self._is_closed = True
        waiting, self._waiting = sorted(self._waiting), []
        for _, request in waiting:
            request.complete(None)


def _ignore(_: Any) -> None:
    """Whoever asked does not want to know."""
