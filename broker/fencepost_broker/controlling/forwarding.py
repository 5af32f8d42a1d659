"""Clients' requests for the controller, passed on in an Envelope as they came (KIP-590).

The answer goes back as it is, but for the correlation id, which is the client's own already: the
controller answers the request that is inside. While the controller cannot be reached the request
waits; if the client goes away meanwhile, its answer goes nowhere. What is about this broker alone
(the levels of its loggers) is not passed on.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.controller.model import ResourceType

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
        ApiKey.UPDATE_FEATURES,
    }
)
_SIZE: Final = struct.Struct(">i")


def passed_on(api: Served) -> Served:
    """The same API, answered by the controller if it is one of those."""
    if api.key not in PASSED_ON:
        return api
    handler: Callable[[Any, Request], Pieces | None] = pass_on
    if api.key == ApiKey.INCREMENTAL_ALTER_CONFIGS:
        here = api.handler

        def by_resource(broker: Broker, request: Request) -> Pieces | None:
            if _is_about_loggers(request):
                return here(broker, request)
            pass_on(broker, request)
            return None

        handler = by_resource
    return replace(api, handler=handler, is_passed_on=True)


def _is_about_loggers(request: Request) -> bool:
    from fencepost_protocol.generated.incremental_alter_configs import (
        IncrementalAlterConfigsRequest,
    )

    message = request.message(IncrementalAlterConfigsRequest)
    kinds = {each.resource_type for each in message.resources}
    return kinds == {ResourceType.BROKER_LOGGER}


def pass_on(broker: Any, request: Request) -> None:
    """Have the controller answer a request; it waits for that."""
    from fencepost_protocol.generated.envelope import EnvelopeRequest

    frame = bytes(request.frame)  # it lies where others receive
    request.frame = memoryview(frame)
    envelope = EnvelopeRequest(frame, _principal(), _address(request.peer.client_host))
    gone: list[bool] = []
    request.peer.on_loss(lambda: gone.append(True))

    def answered(answer: EnvelopeResponse | None) -> None:
        if gone:
            return
        if answer is None or answer.error_code or answer.response_data is None:
            code = ErrorCode.NETWORK_EXCEPTION if answer is None else ErrorCode(answer.error_code)
            request.peer.drop(f"the controller did not answer what was passed on: {code.name}")
            return
        data = answer.response_data
        request.release([_SIZE.pack(len(data)) + bytes(data)])

    broker.ask(envelope, answered)


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
        return b""
