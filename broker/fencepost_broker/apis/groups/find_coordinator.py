"""FindCoordinator: which broker coordinates a group, a transactional id or a share partition.

Behaviour: an id's coordinator is the broker that leads its partition of the coordinators' topic;
while it has no leader the answer is COORDINATOR_NOT_AVAILABLE. The first request creates the topic.
A broker that is also the controller answers that request at once; others answer
COORDINATOR_NOT_AVAILABLE the first time, as Apache Kafka does.

Version notes: up to 3 one key, from 4 on several (KIP-699); 5 may answer TRANSACTION_ABORTABLE; 6
asks for share partitions, by keys of the form ``group:topicId:partition`` (KIP-932).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.metadata.advertised_brokers import advertised_brokers

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_FAMILIES: Final = dict(
    enumerate((RecordFamily.GROUPS, RecordFamily.TRANSACTIONS, RecordFamily.SHARES))
)
_SHARE_KEY: Final = re.compile(r".+:[\w-]{22}:-?\d+", re.ASCII | re.DOTALL)
_BATCHED_FROM: Final = 4
_Place = tuple[int, str, int]
_NOBODY: Final[_Place] = (-1, "", -1)


def find_coordinator(
    context: BrokerContext, request: Request, message: FindCoordinatorRequest
) -> Answer:
    """Answer FindCoordinator, versions 0 to 6."""
    family = _FAMILIES.get(message.key_type)
    refusal = _prepare(context, family)
    places = {
        broker_id: (broker_id, host, port)
        for broker_id, host, port, _ in advertised_brokers(context.image, request.peer.listener)
    }
    found_text = "" if request.version >= _BATCHED_FROM else ErrorCode.NONE.name  # as in Kafka

    def find(key: str) -> tuple[_Place, ErrorCode, str]:
        error, place = refusal, _NOBODY
        if family is RecordFamily.SHARES and not _SHARE_KEY.fullmatch(key):
            return place, ErrorCode.INVALID_REQUEST, ""
        if not error and family is not None:
            leader = _leader_of(context, family, key)
            place = places.get(leader, _NOBODY)
            error = ErrorCode.COORDINATOR_NOT_AVAILABLE if place is _NOBODY else ErrorCode.NONE
        return place, error, f"there is no coordinator: {error.name}" if error else found_text

    if request.version < _BATCHED_FROM:
        place, error, text = find(message.key)
        errors = [error]
        response = FindCoordinatorResponse(0, error, text, *place)
    else:
        found = [(key, *find(key)) for key in message.coordinator_keys]
        errors = [error for _, _, error, _ in found]
        coordinators = [Coordinator(key, *place, error, text) for key, place, error, text in found]
        response = FindCoordinatorResponse(coordinators=coordinators)
    if not any(errors):
        request.true_at = context.image.last_offset
    return response


def _leader_of(context: BrokerContext, family: RecordFamily, coordinator_id: str) -> int:
    """Return the leader of an id's partition; -1 if it has none."""
    topic = context.image.topics.by_name[family.value]
    return topic.partitions[partition_of(coordinator_id, len(topic.partitions))].leader


def _prepare(context: BrokerContext, family: RecordFamily | None) -> ErrorCode:
    """Create the coordinators' topic if it does not exist."""
    if family is None:
        return ErrorCode.INVALID_REQUEST
    if context.coordinators.runtime.create_topic(family):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return ErrorCode.NONE
