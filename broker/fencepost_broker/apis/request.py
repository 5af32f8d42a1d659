"""Requests as handlers see them, and the encoding of their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from fencepost_protocol.apis import Message
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.framing import (
    MessageWithRecords,
    encode_response,
    encode_response_pieces,
)
from fencepost_protocol.primitives import Buffer

from fencepost_broker.observability.metrics import WITH_ONE_ERROR, Metrics
from fencepost_broker.ports import RemoteClient

Pieces = list[Buffer]
"""A response's frame, in one piece or several."""
Answer = Message | Pieces
"""A handler's result: a response, or its frame if it is encoded already."""
NO_ANSWER: Pieces = []
"""The answer to a request that must not be answered (Produce with acks 0)."""
NO_FRAME: Final = memoryview(b"")
"""The frame of a request that did not come in a frame, or whose frame is not valid any longer."""
Complete = Callable[[Answer], Answer]
"""Changes an answer before it is sent."""
_MESSAGE_SHOWN: Final = 1_000


class Peer(Protocol):
    """The connection that a request came from, as far as handlers may use it."""

    listener: str
    client_host: str
    user: str
    """The principal's name; ``ANONYMOUS`` on listeners without authentication."""
    client_software_name: str
    client_software_version: str
    metrics: Metrics
    client: RemoteClient

    @property
    def may_park(self) -> bool:
        """Whether one more request may wait; if not, it has to be answered at once."""

    def release(self, request: Request, answer: Answer) -> None:
        """Send the answer to a parked request."""

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """Close the connection, because a parked request raised an unexpected exception."""

    def on_loss(self, call: Callable[[], None]) -> None:
        """Call this if the connection is lost before the parked request is answered."""

    def drop(self, reason: str) -> None:
        """Close the connection, as Kafka does if the protocol has no way to report an error."""


class Request:
    """A request's header and frame, and the way to release its answer.

    ``frame`` belongs to the connection and is valid only until the handler returns. A handler
    copies what it keeps of it, and what it keeps of the message's views of it (records).
    """

    __slots__ = (
        "api_key", "body", "client_id", "correlation_id", "frame", "peer", "true_at", "version",
    )  # fmt: skip

    needs_message = False
    """Whether the answer has to be a message; a frame is not accepted."""
    has_own_frame = False
    """Whether the frame stays valid after the handler has returned."""
    true_at: int
    """The metadata offset that the answer is based on; set only if the answer may be cached
    (``response_cache``)."""

    def __init__(
        self,
        peer: Peer,
        api_key: int,
        version: int,
        correlation_id: int,
        client_id: str | None,
        frame: memoryview,
        body: int,
    ) -> None:
        self.peer = peer
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.frame = frame
        self.body = body

    def release(self, answer: Answer) -> None:
        """Send the answer after the handler has returned ``None``."""
        self.peer.release(self, answer)


class CompletedRequest(Request):
    """A request whose answer is changed or observed before it is sent."""

    __slots__ = ("_changes",)
    needs_message = True

    def __init__(
        self,
        peer: Peer,
        api_key: int,
        version: int,
        correlation_id: int,
        client_id: str | None,
        frame: memoryview,
        body: int,
    ) -> None:
        super().__init__(peer, api_key, version, correlation_id, client_id, frame, body)
        self._changes: list[Complete] = []

    def complete_with(self, change: Complete) -> None:
        """Register a change to the answer; the change registered last is applied first."""
        self._changes.insert(0, change)

    @property
    def is_changed(self) -> bool:
        """Whether any change is registered."""
        return bool(self._changes)

    def take_over(self, other: CompletedRequest) -> None:
        """Use the changes of another request in place of this one's."""
        self._changes = other._changes

    def completed(self, answer: Answer) -> Answer:
        """Return the answer with all registered changes."""
        for change in self._changes:
            answer = change(answer)
        return answer


def encode_answer(request: Request, response: Message) -> Pieces:
    """Encode a response, and count the errors in it."""
    told: Any = response
    if response.__class__ not in WITH_ONE_ERROR or told.error_code:
        request.peer.metrics.note_errors(response)
    return [encoded(response, request.version, request.correlation_id)]


def encode_uncounted(request: Request, response: Message) -> Pieces:
    """Encode a response whose errors the handler has counted."""
    return [encoded(response, request.version, request.correlation_id)]


def encode_with_records(request: Request, response: MessageWithRecords) -> Pieces:
    """Encode a response, with its records as separate pieces, without counting errors."""
    return [*encode_response_pieces(response, request.version, request.correlation_id)]


def encoded(response: Message, version: int, correlation_id: int) -> bytearray:
    """Encode a response; shorten its error messages if it does not fit otherwise."""
    try:
        return encode_response(response, version, correlation_id)
    except LocalProtocolError:
        # An error message that quotes the request may be too long to encode.
        shorten_messages(response)
        return encode_response(response, version, correlation_id)


def shorten_messages(response: object) -> None:
    """Cut every error message in a response to a readable length."""
    for name in getattr(response, "__slots__", ()):
        value = getattr(response, name)
        if name.endswith("error_message"):
            if value is not None and len(value) > _MESSAGE_SHOWN:
                setattr(response, name, f"{value[:_MESSAGE_SHOWN]}...")
        elif isinstance(value, list):
            for each in value:
                shorten_messages(each)
