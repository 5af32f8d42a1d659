"""Forwarding of clients' requests to the controller, unchanged, in an Envelope (KIP-590).

The client gets the controller's response unchanged, with the client's own correlation id. The
request waits while the controller cannot be reached, and is sent again after a lost connection.
As in Apache Kafka, the client gets REQUEST_TIMED_OUT if there is no response within a minute. It
gets that error at once if too many requests wait already (``requests.parked.max``). If the client
disconnects, its request is not sent (again).

The broker answers requests about the levels of its own loggers itself. It refuses to change the
settings of another broker.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import (
    SIZE_BYTES,
    encode_request,
    read_response_head,
)

from fencepost_broker.apis.request import Answer, Peer, Request
from fencepost_broker.apis.served import not_read
from fencepost_broker.controller.channel.pending_requests import LOSSES_MAX
from fencepost_broker.controller.channel.remote import RemoteController
from fencepost_broker.security.principals import USER_TYPE

if TYPE_CHECKING:
    from fencepost_protocol.generated.envelope import EnvelopeResponse

    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.apis.served import Served
    from fencepost_broker.controller.channel.pending_requests import PendingRequest

GIVE_UP_MS: Final = 60_000
"""The same time as in Kafka, where no setting changes it."""
_TOO_MANY: Final = "too many requests wait at this broker already (requests.parked.max)"
_NOWHERE: Final = bytes(4)
"""Stands for an unknown address: the controller refuses an Envelope without one."""
_SIZE: Final = struct.Struct(">i")


def passed_on(api: Served) -> Served:
    """Return an API with a handler that forwards, if the controller answers it."""
    if not api.by_controller:
        return api

    def pass_on(context: BrokerContext, request: Request, _: None) -> Answer | None:
        return PassedOn(context, api, request, bytes(request.frame)).ask()

    def pass_on_rest(context: BrokerContext, request: Request, message: Any) -> Answer | None:
        own = answered_here(context, message)
        if own and not message.resources:
            answer: Message = with_own(response_class(api.key)(), own)
            return answer
        frame = encode_request(message, request.version, request.correlation_id, request.client_id)
        rest = bytes(memoryview(frame)[SIZE_BYTES:])
        return PassedOn(context, api, request, rest, lambda told: with_own(told, own)).ask()

    if api.answers_part_here:
        from fencepost_broker.apis.cluster.configs import answered_here, with_own

        return api._replace(handler=pass_on_rest, is_passed_on=True)
    return api._replace(handler=pass_on, is_passed_on=True, decode=not_read)


class _State(Enum):
    """The state of a forwarded request."""

    ASKED = "the controller may still answer it"
    ANSWERED = "the client has its answer, or its connection is closed"
    GIVEN_UP = "the client has gone"


class PassedOn:
    """A request that is forwarded to the controller."""

    def __init__(
        self,
        context: BrokerContext,
        api: Served,
        request: Request,
        frame: bytes,
        complete: Callable[[Any], Message] | None = None,
    ) -> None:
        """Take the frame to forward, and ``complete`` to change the controller's response."""
        self._context = context
        self._api = api
        self._request = request
        self._frame = frame
        self._complete = complete
        self._state = _State.ASKED
        self._question: PendingRequest | None = None

    def ask(self) -> Answer | None:
        """Forward the request; return an error response if too many requests wait already."""
        from fencepost_protocol.generated.envelope import EnvelopeRequest

        peer, controller = self._request.peer, self._context.controller
        if not peer.may_park:
            return self._timed_out(_TOO_MANY)
        assert isinstance(controller, RemoteController), "the controller is another process"
        envelope = EnvelopeRequest(self._frame, _principal(peer), _address(peer.client_host))
        self._question = controller.ask_within(GIVE_UP_MS, envelope, self._answered)
        peer.on_loss(self._give_up)
        return None

    def _give_up(self) -> None:
        self._state = _State.GIVEN_UP
        assert self._question is not None
        self._question.withdraw()

    def _answered(self, answer: EnvelopeResponse | None) -> None:
        if self._state is not _State.ASKED:
            return
        self._state = _State.ANSWERED
        request = self._request
        try:
            if answer is None:
                told: Answer = self._late()
            elif answer.error_code or answer.response_data is None:
                name = ErrorCode(answer.error_code).name
                request.peer.drop(f"the controller refused the forwarded request: {name}")
                return
            else:
                told = self._response(bytes(answer.response_data))
        except RemoteProtocolError as error:  # a malformed request is first decoded here
            request.peer.drop(str(error))
            return
        request.release(told)

    def _response(self, data: bytes) -> Answer:
        if self._complete is None:
            return [_SIZE.pack(len(data)) + data]
        request, frame = self._request, memoryview(data)
        _, body = read_response_head(frame, request.api_key, request.version)
        response, _ = response_class(self._api.key).decode(frame, request.version, body)
        return self._complete(response)

    def _late(self) -> Message:
        losses = 0 if self._question is None else self._question.losses
        if losses < LOSSES_MAX:
            return self._timed_out("the controller did not answer in time")
        return self._timed_out(
            f"the controller closed the connection each of {losses} times that it got this"
            " request: see its log (its socket.request.max.bytes may be smaller than this broker's)"
        )

    def _timed_out(self, why: str) -> Message:
        from fencepost_broker.apis.error_responses import timed_out

        response = timed_out(self._api, memoryview(self._frame), why)
        return response if self._complete is None else self._complete(response)


def _principal(peer: Peer) -> bytes:
    """Encode the user as in Kafka's Envelope: a version, then the principal."""
    from fencepost_protocol.generated.default_principal_data import DefaultPrincipalData

    out = bytearray(struct.pack(">h", 0))
    DefaultPrincipalData(USER_TYPE, peer.user, peer.client.has_token).encode(0, out)
    return bytes(out)


def _address(client_host: str) -> bytes:
    try:
        return ipaddress.ip_address(client_host.removeprefix("/")).packed
    except ValueError:
        return _NOWHERE
