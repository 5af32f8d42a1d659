"""Consumer groups of the classic protocol: membership, and administrators' requests.

Behaviour: JoinGroup and SyncGroup wait for the rebalance; later requests on the same connection
wait, too. If too many requests wait already (``requests.parked.max``), the answer is
COORDINATOR_NOT_AVAILABLE, after which clients retry. A request for several groups is split, and
each group has its own result; a list is joined from all partitions that this broker coordinates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from fencepost_protocol.generated.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from fencepost_protocol.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from fencepost_protocol.generated.join_group import JoinGroupRequest
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, LeaveGroupResponse
from fencepost_protocol.generated.list_groups import ListGroupsRequest, ListGroupsResponse
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupResponse

from fencepost_broker.apis.coordinator_requests import answer_when_durable
from fencepost_broker.apis.fetch.leaving import answer_fetches_of
from fencepost_broker.apis.groups.requests import (
    ParkedGroupRequest,
    ask,
    ask_all,
    ask_one,
    refusal,
    tell_operations,
)
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.group.share.commands import Errand

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_DEAD = "Dead"


def join_group(
    context: BrokerContext, request: Request, message: JoinGroupRequest
) -> Answer | None:
    """Answer JoinGroup, versions 0 to 9."""
    version = request.version  # the closures below must not keep a lost connection alive

    def refused(message: JoinGroupRequest, code: ErrorCode) -> Message:
        from fencepost_broker.coordinator.group.classic.transition import join_refusal

        return join_refusal(code, message.member_id, version)

    if not (message.member_id or request.peer.may_park):
        # Without this, each retry of a client would add another member.
        return refused(message, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return ParkedGroupRequest(request, message, refused).submit(context, message.group_id)


def sync_group(
    context: BrokerContext, request: Request, message: SyncGroupRequest
) -> Answer | None:
    """Answer SyncGroup, versions 0 to 5."""
    if not (message.member_id or request.peer.may_park):
        return SyncGroupResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return ParkedGroupRequest(request, message, _sync_refused).submit(context, message.group_id)


def _sync_refused(_message: Message, code: ErrorCode) -> Message:
    return SyncGroupResponse(error_code=code)


def heartbeat(context: BrokerContext, request: Request, message: HeartbeatRequest) -> Answer | None:
    """Answer Heartbeat, versions 0 to 4."""
    return ask(context, request, message.group_id, message, _heartbeat_refused)


def _heartbeat_refused(_message: Message, code: ErrorCode) -> Message:
    return HeartbeatResponse(error_code=code)


def leave_group(
    context: BrokerContext, request: Request, message: LeaveGroupRequest
) -> Answer | None:
    """Answer LeaveGroup, versions 0 to 5."""
    answer_fetches_of(context, request)
    return ask(context, request, message.group_id, message, _leave_refused)


def _leave_refused(_message: Message, code: ErrorCode) -> Message:
    return LeaveGroupResponse(error_code=code)


# --- administrators ---------------------------------------------------------------------------


def describe_groups(
    context: BrokerContext, request: Request, message: DescribeGroupsRequest
) -> Answer | None:
    """Answer DescribeGroups, versions 0 to 6."""

    def answer(told: list[Any]) -> Answer:
        groups: list[DescribedGroup] = []
        for group_id, each in zip(message.groups, told, strict=True):
            code = refusal(each)
            groups += [DescribedGroup(code, None, group_id, _DEAD)] if code else each.groups
        tell_operations(message, groups)
        return DescribeGroupsResponse(groups=groups)

    parts = [
        ask_one(context, request, group_id, DescribeGroupsRequest([group_id]))
        for group_id in message.groups
    ]
    return answer_when_durable(request, parts, answer)


def delete_groups(
    context: BrokerContext, request: Request, message: DeleteGroupsRequest
) -> Answer | None:
    """Answer DeleteGroups, versions 0 to 2; the state of share groups goes first."""
    group_ids = list(dict.fromkeys(message.groups_names))

    def answer(told: list[Any]) -> Answer:
        results: list[DeletableGroupResult] = []
        for group_id, each in zip(group_ids, told, strict=True):
            code = refusal(each)
            results += [DeletableGroupResult(group_id, code)] if code else each.results
        return DeleteGroupsResponse(results=results)

    parts = [
        ask_one(context, request, group_id, DeleteGroupsRequest([group_id]))
        for group_id in group_ids
    ]
    if any(isinstance(told, Errand) for _, told in parts):
        from fencepost_broker.apis.groups.share_deletion import ShareDeletion

        ShareDeletion(context, request, parts, answer).begin()
        return None
    return answer_when_durable(request, parts, answer)


def list_groups(
    context: BrokerContext, request: Request, message: ListGroupsRequest
) -> Answer | None:
    """Answer ListGroups, versions 0 to 5."""

    def answer(told: list[Any]) -> Answer:
        response = ListGroupsResponse()
        for each in told:
            code = refusal(each)
            if code:
                return ListGroupsResponse(error_code=code)
            response.groups += each.groups
        return response

    return answer_when_durable(request, ask_all(context, request, message), answer)
