"""One request on its way through the broker."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

from fencepost_protocol.apis import Message
from fencepost_protocol.exceptions import LocalProtocolError
from fencepost_protocol.framing import encode_response
from fencepost_protocol.primitives import Buffer

from fencepost_broker.observability.metrics import WITH_ONE_ERROR, Metrics
from fencepost_broker.ports import RemoteClient

Pieces = list[Buffer]
NO_ANSWER: Pieces = []
"""The answer to a request that must not be answered (Produce with acks 0)."""
_MESSAGE_SHOWN: Final = 1_000
AnyMessage = TypeVar("AnyMessage", bound=Message)


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

    def release(self, request: Request, pieces: Pieces) -> None:
        """Send the answer of a request that was parked."""

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """Close the connection: a request that was parked ran into a bug of ours."""

    def on_loss(self, call: Callable[[], None]) -> None:
        """Have this called if the connection is lost before the parked request is answered."""

    def drop(self, reason: str) -> None:
        """Close the connection, as Kafka does where the protocol has no answer."""


class Request:
    """A header that was read and a body that was not.

    ``frame`` belongs to the connection and is valid only until the handler returns: what a
    handler keeps, it copies.
    """

    __slots__ = ("api_key", "body", "client_id", "correlation_id", "frame", "peer", "version")

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

    def message(self, kind: type[AnyMessage]) -> AnyMessage:
        """The body; a large one was read before the handler was called."""
        read: AnyMessage = kind.decode(self.frame, self.version, self.body)[0]
        return read

    def answer(self, response: Message) -> Pieces:
        """The response's frame for this request; the errors in it are counted."""
        told: Any = response
        if response.__class__ not in WITH_ONE_ERROR or told.error_code:
            self.peer.metrics.note_errors(response)
        return [encoded(response, self.version, self.correlation_id)]

    def answer_fine(self, response: Message) -> Pieces:
        """The frame of a response that is known to tell no errors."""
        return [encode_response(response, self.version, self.correlation_id)]

    def release(self, pieces: Pieces) -> None:
        """Send the answer later than the handler's return."""
        self.peer.release(self, pieces)


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
