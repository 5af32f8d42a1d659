"""Envelope: carry out a client's request that a broker has forwarded unchanged (KIP-590).

Behaviour: the request inside is decoded and carried out as if the client had sent it here, and its
answer is returned in the same way, with its header. The envelope has the client's principal and
address. As in Kafka, an invalid principal is answered with PRINCIPAL_DESERIALIZATION_FAILURE, an
invalid address or a request that brokers do not forward with INVALID_REQUEST, and a request that
cannot be decoded with UNSUPPORTED_VERSION. On a listener with authentication, a sender that is no
broker gets CLUSTER_AUTHORIZATION_FAILED. An authorizer decides about the client.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from fencepost_protocol.apis import Api
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import SIZE_BYTES, read_request_head
from fencepost_protocol.generated.default_principal_data import DefaultPrincipalData
from fencepost_protocol.generated.envelope import EnvelopeRequest, EnvelopeResponse
from fencepost_protocol.primitives import Buffer

from fencepost_broker.apis.controller.from_clients import IN_ENVELOPES
from fencepost_broker.apis.request import Answer, CompletedRequest, Pieces, Request
from fencepost_broker.apis.served import Step, carry_out
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import RemoteClient

if TYPE_CHECKING:
    from fencepost_broker.apis.context import ControllerContext

_VERSION: Final = struct.Struct(">h")
_PRINCIPAL_VERSION: Final = 0


class _Sender:
    """The client whose request a broker has forwarded, as a peer."""

    client_software_name = ""
    client_software_version = ""
    may_park = False

    def __init__(
        self, listener: str, metrics: Metrics, principal: DefaultPrincipalData, client_host: str
    ) -> None:
        self.listener = listener
        self.metrics = metrics
        self.user = principal.name
        self.client_host = client_host
        self.client = RemoteClient(has_token=principal.token_authenticated)

    def release(self, request: Request, answer: Answer) -> None:
        """Raise an error: forwarded requests are never parked."""
        raise AssertionError(f"{request.api_key} was parked in an envelope: {answer}")

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """Raise an error: forwarded requests are never parked."""
        raise AssertionError(f"{request.api_key} was parked in an envelope") from error

    def on_loss(self, call: Callable[[], None]) -> None:
        """Do nothing: there is no connection to lose."""

    def drop(self, reason: str) -> None:
        """There is no connection to close."""
        raise AssertionError(reason)


def envelope(context: ControllerContext, request: Request, message: EnvelopeRequest) -> Answer:
    """Answer Envelope, version 0."""
    answered = _carry_out(context, request, message)
    if isinstance(answered, ErrorCode):
        return EnvelopeResponse(error_code=answered)
    return EnvelopeResponse(b"".join(answered)[SIZE_BYTES:])


def _carry_out(
    context: ControllerContext, request: Request, message: EnvelopeRequest
) -> Pieces | ErrorCode:
    principal = _principal(message.request_principal)
    if principal is None:
        return ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE
    try:
        client_host = f"/{ipaddress.ip_address(bytes(message.client_host_address))}"
    except ValueError:
        return ErrorCode.INVALID_REQUEST
    peer = request.peer
    sender = _Sender(peer.listener, peer.metrics, principal, client_host)
    frame = memoryview(message.request_data)
    try:
        api_key, version, correlation_id, client_id, body = read_request_head(frame)
    except RemoteProtocolError:
        return ErrorCode.UNSUPPORTED_VERSION
    api = Api.of(api_key)
    if api is None or not api.min_version <= version <= api.max_version:
        return ErrorCode.UNSUPPORTED_VERSION
    served = IN_ENVELOPES.get(api_key)
    if served is None:
        return ErrorCode.INVALID_REQUEST
    low, high = served.accepted
    if not low <= version <= high:
        return ErrorCode.UNSUPPORTED_VERSION
    inner = CompletedRequest(sender, api_key, version, correlation_id, client_id, frame, body)
    steps: tuple[Step, ...] = ()
    if context.access.authorizer is not None:
        from fencepost_broker.apis.authorization.layer import rights_step

        if (step := rights_step(served, context.access.authorizer)) is not None:
            steps = (step,)
    try:
        asked, _ = served.reads(frame, version, body)
        answer = carry_out(steps, served.handler, context, inner, asked)
    except RemoteProtocolError:
        return ErrorCode.UNSUPPORTED_VERSION
    assert answer is not None
    answer = inner.completed(answer)
    return answer if isinstance(answer, list) else served.encode(inner, answer)


def _principal(data: Buffer | None) -> DefaultPrincipalData | None:
    """Decode a principal as brokers encode it: a version, then the principal."""
    if data is None or len(data) < _VERSION.size:
        return None
    (version,) = _VERSION.unpack_from(data)
    if version != _PRINCIPAL_VERSION:
        return None
    try:
        principal, _ = DefaultPrincipalData.decode(memoryview(data), version, _VERSION.size)
    except RemoteProtocolError:
        return None
    return principal
