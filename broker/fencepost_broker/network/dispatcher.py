"""What a connection calls: the server that carries out its requests, and whoever watches it."""

from __future__ import annotations

from typing import Protocol, TypeVar

from fencepost_protocol.exceptions import RemoteProtocolError

from fencepost_broker.apis.request import Answer, Pieces, Request
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import ReadyList

ConnectionT_contra = TypeVar("ConnectionT_contra", contravariant=True)


class Watcher(Protocol[ConnectionT_contra]):
    """Somebody who hears of everything; slow or not, nothing waits for it.

    What it is given belongs to the connection: it copies what it keeps.
    """

    def opened(self, connection: ConnectionT_contra) -> None:
        """A client has connected."""

    def requested(self, request: Request) -> None:
        """A request is about to be carried out."""

    def parked(self, request: Request) -> None:
        """It waits, and will be answered later."""

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Its answer leaves; no pieces when it must not be answered."""

    def dropped(self, connection: ConnectionT_contra, reason: str) -> None:
        """The broker closes a connection."""

    def closed(self, connection: ConnectionT_contra, reason: str) -> None:
        """A connection is gone."""


class Dispatcher(Protocol[ConnectionT_contra]):
    """What a connection needs of the server around it."""

    frame_bytes_max: int
    waiting_max: int
    metrics: Metrics
    parked_max: int
    answers_bytes_max: int
    parked_count: int
    ready: ReadyList

    def dispatch(self, connection: ConnectionT_contra, frame: memoryview) -> Pieces | None:
        """Carry out one request; ``None`` when it is parked.

        The frame of a large one stays as it is if its handler calls ``keep_frame``.
        """

    def released(self, connection: ConnectionT_contra, request: Request, answer: Answer) -> Pieces:
        """The parked request has its answer; gives its frame."""

    def opened(self, connection: ConnectionT_contra) -> bool:
        """Whether the connection may stay."""

    def closed(self, connection: ConnectionT_contra, error: Exception | None) -> None:
        """It is gone."""

    def failed(self, connection: ConnectionT_contra, frame: memoryview, error: Exception) -> None:
        """A handler failed, which is our fault; the connection is closed after this."""

    def violated(self, connection: ConnectionT_contra, error: RemoteProtocolError) -> None:
        """The peer broke the protocol; the connection is closed after this."""
