"""Procedures: exchanges of several requests, as generators that yield what they need.

    def find(key: str) -> Procedure[int]:
        answer = yield Ask(ANY_NODE, ApiKey.FIND_COORDINATOR, lambda version: ...)
        if answer.error_code in RETRIABLE:
            yield Pause(100)
        ...
        return answer.node_id

``yield Ask`` returns the decoded answer, or raises a :class:`KafkaError` if there is none (the
connection was lost, the request timed out, the broker lacks the version). A driver sends the
requests: ``NetworkClient.run`` in production, a list of answers in tests. A procedure has no clock.
It chooses its own pauses; the driver limits the total time, and cancels a procedure by closing the
generator.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.errors import KafkaError, RetriableError, consumer_error, producer_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.connection import Build

T = TypeVar("T")

GROUP: Final = 0
TRANSACTION: Final = 1
_BATCHED_FROM: Final = 4
"""The first version of FindCoordinator with several keys (KIP-699)."""


class AnyNode(NamedTuple):
    """Any broker."""


class Controller(NamedTuple):
    """The controller."""


class NodeId(NamedTuple):
    """A broker."""

    id: int


class LeaderOf(NamedTuple):
    """The leader of a partition at the time of the request."""

    topic: str
    partition: int


class Coordinator(NamedTuple):
    """The coordinator of a group or of a transactional id."""

    kind: int
    key: str


Target: TypeAlias = AnyNode | Controller | NodeId | LeaderOf | Coordinator
ANY_NODE: Final = AnyNode()


@dataclass(slots=True)
class Ask:
    """Send a request and wait for its answer."""

    to: Target
    api_key: int
    build: Build
    version_max: int | None = None
    timeout_ms: int | None = None
    """The time to wait for the answer; ``None`` means ``request_timeout_ms``."""
    may_wait: bool = False
    """The broker may hold the request for long, and all later ones of the connection."""


class Pause(NamedTuple):
    """Wait."""

    ms: int
    because: KafkaError | None = None
    """The reason for the pause, for the error at the timeout."""


class Moved(NamedTuple):
    """The target has moved, by an answer: look it up again for the next request."""

    what: Target


class PartitionCounts(NamedTuple):
    """Ask for the partition counts of topics; topics that do not exist are left out."""

    topics: tuple[str, ...]


class PartitionRacks(NamedTuple):
    """Ask for the racks of the replicas of each partition, as far as they are known."""

    topics: tuple[str, ...]


Step: TypeAlias = Ask | Pause | Moved | PartitionCounts | PartitionRacks
Procedure: TypeAlias = Generator[Step, Any, T]


def retry(ask: Ask, code_of: Callable[[Any], int], backoff: Backoff) -> Procedure[Any]:
    """Ask until the answer's code is not retriable; it may still be an error.

    It also repeats requests without an answer, so use it only for requests that may be carried out
    twice. Only the driver's timeout limits the attempts.
    """
    while True:
        try:
            answer = yield ask
        except RetriableError:
            yield Moved(ask.to)
        else:
            code = code_of(answer)
            if code not in RETRIABLE:
                return answer
            if KINDS[code] == "refresh" or code == ErrorCode.NOT_CONTROLLER:
                yield Moved(ask.to)
        yield Pause(backoff.next_ms())


def find_coordinator(what: Coordinator, backoff: Backoff) -> Procedure[tuple[int, str, int]]:
    """Find a coordinator: its node id, host and port."""

    def build(version: int) -> FindCoordinatorRequest:
        if version >= _BATCHED_FROM:
            return FindCoordinatorRequest(key_type=what.kind, coordinator_keys=[what.key])
        return FindCoordinatorRequest(what.key, what.kind)

    def found(answer: Any) -> Any:
        return answer.coordinators[0] if answer.coordinators else answer

    ask = Ask(ANY_NODE, ApiKey.FIND_COORDINATOR, build)
    state = f"looking for the coordinator of {what.key!r}"
    answer = yield from retry(ask, lambda answer: found(answer).error_code, backoff)
    place = found(answer)
    if place.error_code:
        error = producer_error if what.kind == TRANSACTION else consumer_error
        raise error(place.error_code, place.error_message, state=state)
    return place.node_id, place.host, place.port
