"""Clients' requests for the controller, passed on in an Envelope as they came (KIP-590).

The answer goes back as it is, but for the correlation id, which is the client's own already: the
controller answers the request that is inside. While the controller cannot be reached the request
waits, and where a connection breaks it is asked again: the client hears REQUEST_TIMED_OUT when
there is no answer within a minute, as from Apache Kafka, and at once when as many requests wait
already as may (``requests.parked.max``). If the client goes away meanwhile, nobody is asked
(again). What is about this broker alone (the levels of its loggers) is not passed on, and settings
of another broker are refused.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import (
    SIZE_BYTES,
    encode_request,
    read_request_head,
    read_response_head,
)
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.request import Answer, Request
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
"""What Kafka's brokers give to what they pass on; no setting of theirs changes it."""
_TOO_MANY: Final = "too many requests wait at this broker already (requests.parked.max)"
_NOWHERE: Final = bytes(4)
"""The controller refuses a sender without an address."""
_SIZE: Final = struct.Struct(">i")


def passed_on(api: Served) -> Served:
    """The same API, answered by the controller if it is one of those."""
    if not api.by_controller:
        return api
    if api.answers_part_here:
        return replace(api, handler=_pass_on_what_is_not_answered_here, is_passed_on=True)
    return replace(api, handler=pass_on, is_passed_on=True, decode=not_read)


def _pass_on_what_is_not_answered_here(
    context: BrokerContext, request: Request, message: Any
) -> Answer | None:
    """The controller answers for the rest of the request, if there is any, and is completed."""
    from fencepost_broker.apis.cluster.configs import answered_here, with_own

    own = answered_here(context, message)
    if own and not message.resources:
        answer: Message = with_own(response_class(request.api_key)(), own)
        return answer
    frame = encode_request(message, request.version, request.correlation_id, request.client_id)
    rest = memoryview(frame)[SIZE_BYTES:]
    request.frame, request.body = rest, read_request_head(rest)[-1]
    return pass_on(context, request, None, lambda response: with_own(response, own))


def pass_on(
    context: BrokerContext,
    request: Request,
    _: None,
    complete: Callable[[Any], Message] | None = None,
) -> Answer | None:
    """Have the controller answer a request, which waits for that; ``complete`` adds the rest."""
    from fencepost_protocol.generated.envelope import EnvelopeRequest

    from fencepost_broker.apis.error_responses import timed_out

    def refusal(why: str) -> Message:
        told = timed_out(request, why)
        return told if complete is None else complete(told)

    if not request.peer.may_park:
        return refusal(_TOO_MANY)

    def answered(answer: EnvelopeResponse | None) -> None:
        if answer is None:
            try:
                told = refusal(_why_no_answer(question))
            except RemoteProtocolError as error:  # nobody has read it before
                request.peer.drop(str(error))
            else:
                request.release(told)
            return
        if answer.error_code or answer.response_data is None:
            code = ErrorCode(answer.error_code)
            request.peer.drop(f"the controller does not take what was passed on: {code.name}")
            return
        data = bytes(answer.response_data)
        if complete is None:
            request.release([_SIZE.pack(len(data)) + data])
            return
        _, body = read_response_head(memoryview(data), request.api_key, request.version)
        kind = response_class(ApiKey(request.api_key))
        response, _ = kind.decode(memoryview(data), request.version, body)
        request.release(complete(response))

    kept = bytes(request.frame)  # it lies where others receive
    request.frame = memoryview(kept)
    envelope = EnvelopeRequest(
        kept, _principal(request.peer.user), _address(request.peer.client_host)
    )
    controller = context.controller
    assert isinstance(controller, RemoteController), "what is passed on is for another process"
    question = controller.ask_within(GIVE_UP_MS, envelope, answered)
    request.peer.on_loss(question.withdraw)
    return None


def _why_no_answer(question: PendingRequest) -> str:
    if question.losses < LOSSES_MAX:
        return "the controller was asked, and has not answered in time"
    return (
        f"the controller closed the connection each of {question.losses} times that it was asked"
        " this: what it logs tells why (socket.request.max.bytes may be smaller there than here)"
    )


def _principal(user: str) -> bytes:
    """Who asks, as brokers tell it: a version, and the principal in it."""
    from fencepost_protocol.generated.default_principal_data import DefaultPrincipalData

    out = bytearray(struct.pack(">h", 0))
    DefaultPrincipalData(USER_TYPE, user).encode(0, out)
    return bytes(out)


def _address(client_host: str) -> bytes:
    try:
        return ipaddress.ip_address(client_host.removeprefix("/")).packed
    except ValueError:
        return _NOWHERE
