"""One request on its way through the broker."""

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
"""What a handler gives: a response, or its frame where it has that already."""
NO_ANSWER: Pieces = []
"""The answer to a request that must not be answered (Produce with acks 0)."""
Complete = Callable[[Answer], Answer]
"""Changes an answer before it leaves."""
_MESSAGE_SHOWN: Final = 1_000


class Peer(Protocol):
    """What a handler may know of the connection that a request came by."""

    listener: str
    client_host: str
    user: str
    """The name of the principal: ``ANONYMOUS`` where nobody is asked who it is."""
    client_software_name: str
    client_software_version: str
    metrics: Metrics
    client: RemoteClient

    @property
    def may_park(self) -> bool:
        """Whether one more request may wait; else it is answered with what there is."""

    def release(self, request: Request, answer: Answer) -> None:
        """Send the answer of a request that was parked."""

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """Close the connection: a request that was parked ran into a bug of ours."""

    def on_loss(self, call: Callable[[], None]) -> None:
        """Have this called if the connection is lost before the parked request is answered."""

    def drop(self, reason: str) -> None:
        """Close the connection, as Kafka does where the protocol has no answer."""


class Request:
    """A request's header, and what is to become of its answer.

    ``frame`` belongs to the connection and is valid only until the handler returns: what a
    handler keeps, it copies. So it does with what the message has of the frame (records).
    """

    __slots__ = (
        "api_key", "body", "client_id", "correlation_id", "frame", "peer", "true_at", "version",
    )  # fmt: skip

    needs_message = False
    """Whether the answer has to be a message, if there is one."""
    has_own_frame = False
    """Whether the frame stays as it is after the handler has returned."""
    true_at: int
    """The offset of the metadata that the answer goes by, where it may be given again until that
    changes (``response_cache``)."""

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
        """Send the answer later than the handler's return."""
        self.peer.release(self, answer)


class CompletedRequest(Request):
    """A request whose answer is changed before it leaves, or is watched."""

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
        """Have the answer changed by this, whenever it comes; the last of such is the first."""
        self._changes.insert(0, change)

    @property
    def is_changed(self) -> bool:
        """Whether something changes the answer."""
        return bool(self._changes)

    def take_over(self, other: CompletedRequest) -> None:
        """Have the answer changed as another request's."""
        self._changes = other._changes

    def completed(self, answer: Answer) -> Answer:
        """The answer as it leaves."""
        for change in self._changes:
            answer = change(answer)
        return answer


def encode_answer(request: Request, response: Message) -> Pieces:
    """The frame of a response; the errors in it are counted."""
    told: Any = response
    if response.__class__ not in WITH_ONE_ERROR or told.error_code:
        request.peer.metrics.note_errors(response)
    return [encoded(response, request.version, request.correlation_id)]


def encode_uncounted(request: Request, response: Message) -> Pieces:
    """The frame of a response whose handler has counted the errors in it."""
    return [encoded(response, request.version, request.correlation_id)]


def encode_with_records(request: Request, response: MessageWithRecords) -> Pieces:
    """The same, with records as pieces of their own."""
    return [*encode_response_pieces(response, request.version, request.correlation_id)]


def encoded(response: Message, version: int, correlation_id: int) -> bytearray:
    """A response's frame, with shorter messages if it has to be."""
    try:
        return encode_response(response, version, correlation_id)
    except LocalProtocolError:
        # An error message may repeat what a client sent, and be too long by that.
        shorten_messages(response)
        return encode_response(response, version, correlation_id)


def shorten_messages(response: object) -> None:
    """Cut every error message in a response to what a person would read of it."""
    for name in getattr(response, "__slots__", ()):
        value = getattr(response, name)
        if name.endswith("error_message"):
            if value is not None and len(value) > _MESSAGE_SHOWN:
                setattr(response, name, f"{value[:_MESSAGE_SHOWN]}...")
        elif isinstance(value, list):
            for each in value:
                shorten_messages(each)
