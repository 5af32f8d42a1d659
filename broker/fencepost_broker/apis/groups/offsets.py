"""OffsetCommit, OffsetFetch and OffsetDelete: the committed offsets of consumer groups.

Behaviour: if a transaction has an offset pending, an OffsetFetch below version 7 gets an error that
makes the client retry (``offset.fetch.pending.legacy``).

Version notes: OffsetFetch from 8 on asks for several groups, each with its own result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
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

from fencepost_broker.apis.coordinator_requests import answer_when_durable
from fencepost_broker.apis.groups.requests import ask, ask_one, refusal
from fencepost_broker.apis.groups.unknown_partitions import put_first, take_unknown
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.group.offsets.fetch import failed_fetch

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_SEVERAL_GROUPS_FROM: Final = 8
_TOPIC_IDS_FROM: Final = 10
"""Of OffsetCommit."""


def offset_commit(
    context: BrokerContext, request: Request, message: OffsetCommitRequest
) -> Answer | None:
    """Answer OffsetCommit, versions 2 to 10."""
    unknown = take_unknown(context, message, by_id=request.version >= _TOPIC_IDS_FROM)
    if not message.topics:
        return put_first(unknown, OffsetCommitResponse())
    return ask(context, request, message.group_id, message, _commit_refused, unknown)


def _commit_refused(message: OffsetCommitRequest, code: ErrorCode) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                topic.name,
                topic.topic_id,
                [
                    OffsetCommitResponsePartition(each.partition_index, code)
                    for each in topic.partitions
                ],
            )
            for topic in message.topics
        ]
    )


def offset_fetch(
    context: BrokerContext, request: Request, message: OffsetFetchRequest
) -> Answer | None:
    """Answer OffsetFetch, versions 1 to 10."""
    if request.version < _SEVERAL_GROUPS_FROM:

        def refused(message: OffsetFetchRequest, code: ErrorCode) -> OffsetFetchResponse:
            return failed_fetch(message, request.version, code)

        return ask(context, request, message.group_id, message, refused)
    asked = [
        OffsetFetchRequest(groups=[group], require_stable=message.require_stable)
        for group in message.groups
    ]

    def answer(told: list[Any]) -> Answer:
        groups: list[OffsetFetchResponseGroup] = []
        for one, each in zip(asked, told, strict=True):
            code = refusal(each)
            groups += (failed_fetch(one, request.version, code) if code else each).groups
        return OffsetFetchResponse(groups=groups)

    parts = [ask_one(context, request, one.groups[0].group_id, one) for one in asked]
    return answer_when_durable(request, parts, answer)


def offset_delete(
    context: BrokerContext, request: Request, message: OffsetDeleteRequest
) -> Answer | None:
    """Answer OffsetDelete, version 0."""
    unknown = take_unknown(context, message)
    return ask(context, request, message.group_id, message, _delete_refused, unknown)


def _delete_refused(_message: OffsetDeleteRequest, code: ErrorCode) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(error_code=code)
