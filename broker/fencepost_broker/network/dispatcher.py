"""The protocols that connections call: the dispatcher of requests, and the watcher of traffic."""

from __future__ import annotations

from typing import Protocol, TypeVar

from fencepost_broker.apis.request import Answer, Pieces, Request
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import ReadyList

ConnectionT_contra = TypeVar("ConnectionT_contra", contravariant=True)


class Watcher(Protocol[ConnectionT_contra]):
    """Observes all connections and requests; the server never waits for it.

    Arguments belong to the connection: a watcher copies what it keeps.
    """

    def opened(self, connection: ConnectionT_contra) -> None:
        """Note that a client has connected."""

    def requested(self, request: Request) -> None:
        """Note that a request is about to be carried out."""

    def parked(self, request: Request) -> None:
        """Note that a request waits, and will be answered later."""

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Note an answer; ``pieces`` is empty if the request must not be answered."""

    def dropped(self, connection: ConnectionT_contra, reason: str) -> None:
        """Note that the broker closes a connection."""

    def closed(self, connection: ConnectionT_contra, reason: str) -> None:
        """Note that a connection is closed."""


class Dispatcher(Protocol[ConnectionT_contra]):
    """Carries out the requests of connections: the server, or a SASL gate in front of it."""

    frame_bytes_max: int
    waiting_max: int
    metrics: Metrics
    parked_max: int
    answers_bytes_max: int
    parked_count: int
    ready: ReadyList

    def dispatch(self, connection: ConnectionT_contra, frame: memoryview) -> Pieces | None:
        """Carry out one request; ``None`` if it is parked.

        The frame of a large one stays valid if its handler calls ``keep_frame``.
        """

    def released(self, connection: ConnectionT_contra, request: Request, answer: Answer) -> Pieces:
        """Encode the answer to a parked request."""

    def opened(self, connection: ConnectionT_contra) -> bool:
        """Register a connection; return whether it may stay."""

    def closed(self, connection: ConnectionT_contra, error: Exception | None) -> None:
        """Forget a connection that is closed."""

    def dropped(self, connection: ConnectionT_contra, error: Exception, frame: memoryview) -> None:
        """Report why a connection is closed after this.

        A ``RemoteProtocolError`` is the peer's violation; another exception is a bug, and ``frame``
        has the request that triggers it.
        """
