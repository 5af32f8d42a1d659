"""OffsetCommit, OffsetFetch and OffsetDelete: how far consumers have come.

Behaviour: an OffsetFetch below version 7 does not see an offset that a transaction has pending,
and is asked to come again instead (``offset.fetch.pending.legacy``).

Version notes: OffsetFetch from 8 on asks for several groups, each of which answers for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from fencepost_protocol.generated.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
)

from fencepost_broker.apis.group_requests import NoCoordinatorError, ask
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.coordinators.groups.offsets.fetch import failed_fetch

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker

_SEVERAL_GROUPS_FROM: Final = 8


def offset_commit(broker: Broker, request: Request) -> Pieces:
    """Answer OffsetCommit, versions 2 to 10."""
    message, _ = OffsetCommitRequest.decode(request.frame, request.version, request.body)
    response: OffsetCommitResponse
    try:
        response = ask(broker, request, message.group_id, message)
    except NoCoordinatorError as error:
        response = OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic(
                    topic.name,
                    topic.topic_id,
                    [
                        OffsetCommitResponsePartition(each.partition_index, error.code)
                        for each in topic.partitions
                    ],
                )
                for topic in message.topics
            ]
        )
    return request.answer(response)


def offset_fetch(broker: Broker, request: Request) -> Pieces:
    """Answer OffsetFetch, versions 1 to 10."""
    message, _ = OffsetFetchRequest.decode(request.frame, request.version, request.body)
    if request.version < _SEVERAL_GROUPS_FROM:
        return request.answer(_fetch(broker, request, message, message.group_id))
    groups: list[OffsetFetchResponseGroup] = []
    for asked in message.groups:
        one = OffsetFetchRequest(groups=[asked], require_stable=message.require_stable)
        groups += _fetch(broker, request, one, asked.group_id).groups
    return request.answer(OffsetFetchResponse(groups=groups))


def _fetch(
    broker: Broker, request: Request, message: OffsetFetchRequest, group_id: str
) -> OffsetFetchResponse:
    response: OffsetFetchResponse
    try:
        response = ask(broker, request, group_id, message)
    except NoCoordinatorError as error:
        return failed_fetch(message, request.version, error.code)
    return response


def offset_delete(broker: Broker, request: Request) -> Pieces:
    """Answer OffsetDelete, version 0."""
    message, _ = OffsetDeleteRequest.decode(request.frame, request.version, request.body)
    response: OffsetDeleteResponse
    try:
        response = ask(broker, request, message.group_id, message)
    except NoCoordinatorError as error:
        response = OffsetDeleteResponse(error_code=error.code)
    return request.answer(response)
