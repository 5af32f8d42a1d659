"""FindCoordinator: which broker coordinates a group or a transactional id.

Behaviour: the topic that the coordinators live in is made when it is first asked for, and the
answer does not wait for a second try, since one broker has it at once (Apache Kafka answers
COORDINATOR_NOT_AVAILABLE the first time).

Version notes: up to 3 one key, from 4 on several (KIP-699); 5 may answer TRANSACTION_ABORTABLE; 6
asks for share groups' partitions (KIP-932).

Not done: share groups, which no broker here coordinates (COORDINATOR_NOT_AVAILABLE).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.coordinators.records import RecordFamily

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker

_FAMILIES: Final = {0: RecordFamily.GROUPS, 1: RecordFamily.TRANSACTIONS}
_SHARE: Final = 2
_BATCHED_FROM: Final = 4
_NOBODY: Final = (-1, "", -1)


def find_coordinator(broker: Broker, request: Request) -> Pieces:
    """Answer FindCoordinator, versions 0 to 6."""
    message, _ = FindCoordinatorRequest.decode(request.frame, request.version, request.body)
    error = _prepare(broker, message.key_type)
    place = _NOBODY
    if not error:
        for broker_id, host, port, _ in broker.advertised_brokers(request.peer.listener):
            place = broker_id, host, port
        if place is _NOBODY:
            error = ErrorCode.COORDINATOR_NOT_AVAILABLE
    text = None if error is ErrorCode.NONE else f"there is no coordinator: {error.name}"
    if request.version < _BATCHED_FROM:
        response = FindCoordinatorResponse(0, error, text, *place)
    else:
        found = [Coordinator(key, *place, error, text) for key in message.coordinator_keys]
        response = FindCoordinatorResponse(coordinators=found)
    answer = request.answer(response)
    if not error:
        broker.remembered[request.api_key].keep(request, answer, broker.image.last_offset)
    return answer


def _prepare(broker: Broker, key_type: int) -> ErrorCode:
    """Have the topic that such coordinators live in."""
    family = _FAMILIES.get(key_type)
    if family is None:
        is_share = key_type == _SHARE
        return ErrorCode.COORDINATOR_NOT_AVAILABLE if is_share else ErrorCode.INVALID_REQUEST
    if broker.coordination.create_topic(family):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return ErrorCode.NONE
