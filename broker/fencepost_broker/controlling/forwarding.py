"""Clients' requests for the controller, passed on in an Envelope as they came (KIP-590).

The answer goes back as it is, but for the correlation id, which is the client's own already: the
controller answers the request that is inside. While the controller cannot be reached the request
waits, and where a connection breaks it is asked again: the client hears REQUEST_TIMED_OUT when
there is no answer within a minute, as from Apache Kafka. If the client goes away meanwhile, its
answer goes nowhere. What is about this broker alone (the levels of its loggers) is not passed on.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import SIZE_BYTES, encode_request, read_response_head
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.request import Pieces, Request

if TYPE_CHECKING:
    from fencepost_protocol.generated.envelope import EnvelopeResponse

    from fencepost_broker.apis.registry import Broker, Served

PASSED_ON: Final = frozenset(
    {
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.ELECT_LEADERS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKey.DESCRIBE_QUORUM,
        ApiKey.UNREGISTER_BROKER,
        ApiKey.UPDATE_FEATURES,
    }
)
GIVE_UP_MS: Final = 60_000
"""What Kafka's brokers give to what they pass on; no setting of theirs changes it."""
_NOWHERE: Final = bytes(4)
"""The controller refuses a sender without an address."""
_SIZE: Final = struct.Struct(">i")


def passed_on(api: Served) -> Served:
    """The same API, answered by the controller if it is one of those."""
    if api.key not in PASSED_ON:
        return api
    handler: Callable[[Any, Request], Pieces | None] = pass_on
    if api.key == ApiKey.INCREMENTAL_ALTER_CONFIGS:
        handler = _pass_on_all_but_loggers
    return replace(api, handler=handler, is_passed_on=True)


def _pass_on_all_but_loggers(broker: Broker, request: Request) -> Pieces | None:
    """The controller answers for the rest of the request, if there is any, and is completed."""
    from fencepost_protocol.generated import incremental_alter_configs as messages

    from fencepost_broker.apis.configs import changed_loggers, with_loggers

    message = request.message(messages.IncrementalAlterConfigsRequest)
    asked = len(message.resources)
    of_loggers = changed_loggers(broker, message)
    if not of_loggers:
        pass_on(broker, request)
        return None
    response = messages.IncrementalAlterConfigsResponse()
    if len(of_loggers) == asked:
        return request.answer(with_loggers(response, of_loggers))
    version = request.version

    def completed(data: memoryview) -> Pieces:
        _, body = read_response_head(data, request.api_key, version)
        rest, _ = messages.IncrementalAlterConfigsResponse.decode(data, version, body)
        return request.answer(with_loggers(rest, of_loggers))

    rest = encode_request(message, version, request.correlation_id, request.client_id)
    pass_on(broker, request, bytes(rest[SIZE_BYTES:]), completed)
    return None


def pass_on(
    broker: Any,
    request: Request,
    frame: bytes | None = None,
    completed: Callable[[memoryview], Pieces] | None = None,
) -> None:
    """Have the controller answer a request; it waits for that.

    ``frame`` is passed on in its place, and ``completed`` makes its answer of the controller's.
    """
    from fencepost_protocol.generated.envelope import EnvelopeRequest

    from fencepost_broker.apis.timed_out import timed_out

    kept = bytes(request.frame)  # it lies where others receive
    request.frame = memoryview(kept)
    address = _address(request.peer.client_host)
    envelope = EnvelopeRequest(kept if frame is None else frame, _principal(), address)
    gone: list[bool] = []
    request.peer.on_loss(lambda: gone.append(True))

    def answered(answer: EnvelopeResponse | None) -> None:
        if gone:
            return
        if answer is None:
            text = "the controller was asked, and has not answered in time"
            try:
                refusal = timed_out(request, text)
            except RemoteProtocolError as error:  # nobody has read it before
                request.peer.drop(str(error))
            else:
                request.release(request.answer(refusal))
            return
        if answer.error_code or answer.response_data is None:
            code = ErrorCode(answer.error_code)
            request.peer.drop(f"the controller does not take what was passed on: {code.name}")
            return
        data = bytes(answer.response_data)
        whole = completed and completed(memoryview(data))
        request.release(whole or [_SIZE.pack(len(data)) + data])

    broker.ask_within(GIVE_UP_MS, envelope, answered)


def _principal() -> bytes:
    """Who asks; nobody is known by name here."""
    from fencepost_protocol.generated.default_principal_data import DefaultPrincipalData

    out = bytearray(struct.pack(">h", 0))
    DefaultPrincipalData("User", "ANONYMOUS").encode(0, out)
    return bytes(out)


def _address(client_host: str) -> bytes:
    try:
        return ipaddress.ip_address(client_host.removeprefix("/")).packed
    except ValueError:
        return _NOWHERE
