"""Envelope: a broker passes a client's request on to the controller as it came (KIP-590).

Behaviour: the request inside is read and carried out as if it had come by itself, and its answer
goes back in the same way, header and all. What no broker passes on is INVALID_REQUEST, a version
that is not served UNSUPPORTED_VERSION; a request that is none closes the connection.

Not done: the principal in it is not looked at, since nothing is authorised yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import SIZE_BYTES, read_request_head
from fencepost_protocol.generated.envelope import EnvelopeRequest, EnvelopeResponse

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.metrics import Metrics


class _Sender:
    """The client behind a broker, as a peer."""

    client_host = "/forwarded"
    client_software_name = ""
    client_software_version = ""
    may_park = False

    def __init__(self, listener: str, metrics: Metrics) -> None:
        self.listener = listener
        self.metrics = metrics

    def release(self, request: Request, pieces: Pieces) -> None:
        """Nothing that is passed on is parked."""
        raise AssertionError(f"{request.api_key} was parked in an envelope: {len(pieces)}")

    def on_loss(self, call: Callable[[], None]) -> None:
        """There is no connection to lose."""

    def drop(self, reason: str) -> None:
        """There is no connection to close."""
        raise AssertionError(reason)


def envelope(host: Any, request: Request) -> Pieces:
    """Answer Envelope, version 0."""
    # Not above: the registry names this handler.
    from fencepost_broker.apis.controller_registry import IN_ENVELOPES

    message = request.message(EnvelopeRequest)
    frame = memoryview(message.request_data)
    api_key, version, correlation_id, client_id, body = read_request_head(frame)
    served = IN_ENVELOPES.get(api_key)
    if served is None:
        return request.answer(EnvelopeResponse(error_code=ErrorCode.INVALID_REQUEST))
    low, high = served.accepted
    if not low <= version <= high:
        return request.answer(EnvelopeResponse(error_code=ErrorCode.UNSUPPORTED_VERSION))
    sender = _Sender(request.peer.listener, request.peer.metrics)
    inner = Request(sender, api_key, version, correlation_id, client_id, frame, body)
    pieces = served.handler(host, inner)
    assert pieces is not None
    return request.answer(EnvelopeResponse(b"".join(pieces)[SIZE_BYTES:]))
