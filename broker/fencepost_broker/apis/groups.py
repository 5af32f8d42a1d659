"""Groups of consumers: membership by the classic protocol, and what administrators ask.

Behaviour: JoinGroup and SyncGroup wait until the group has come that far; requests behind them on
the same connection wait too. A request for several groups is taken apart, and each of them answers
for itself; a list is put together from all partitions that this broker coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

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

from fencepost_broker.apis.group_requests import NoCoordinatorError, Waiting, ask, ask_all
from fencepost_broker.apis.request import Pieces, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker

_DEAD = "Dead"


def join_group(broker: Broker, request: Request) -> Pieces | None:
    """Answer JoinGroup, versions 0 to 9."""
    message, _ = JoinGroupRequest.decode(request.frame, request.version, request.body)

    def refused(code: ErrorCode) -> Message:
        from fencepost_broker.coordinators.groups.classic.work import join_refusal

        return join_refusal(code, message.member_id, request.version)

    return _answer_or_wait(broker, request, message.group_id, message, refused)


def sync_group(broker: Broker, request: Request) -> Pieces | None:
    """Answer SyncGroup, versions 0 to 5."""
    message, _ = SyncGroupRequest.decode(request.frame, request.version, request.body)

    def refused(code: ErrorCode) -> Message:
        return SyncGroupResponse(error_code=code)

    return _answer_or_wait(broker, request, message.group_id, message, refused)


def heartbeat(broker: Broker, request: Request) -> Pieces:
    """Answer Heartbeat, versions 0 to 4."""
    message, _ = HeartbeatRequest.decode(request.frame, request.version, request.body)
    response: HeartbeatResponse
    try:
        response = ask(broker, request, message.group_id, message)
    except NoCoordinatorError as error:
        response = HeartbeatResponse(error_code=error.code)
    return request.answer(response)


def leave_group(broker: Broker, request: Request) -> Pieces:
    """Answer LeaveGroup, versions 0 to 5."""
    message, _ = LeaveGroupRequest.decode(request.frame, request.version, request.body)
    response: LeaveGroupResponse
    try:
        response = ask(broker, request, message.group_id, message)
    except NoCoordinatorError as error:
        response = LeaveGroupResponse(error_code=error.code)
    return request.answer(response)


def _answer_or_wait(
    broker: Broker,
    request: Request,
    group_id: str,
    message: JoinGroupRequest | SyncGroupRequest,
    refused: Callable[[ErrorCode], Message],
) -> Pieces | None:
    token = Waiting(request)
    try:
        answer = ask(broker, request, group_id, message, token)
    except NoCoordinatorError as error:
        return request.answer(refused(error.code))
    return token.park() if answer is None else request.answer(answer)


# --- administrators ---------------------------------------------------------------------------


def describe_groups(broker: Broker, request: Request) -> Pieces:
    """Answer DescribeGroups, versions 0 to 6."""
    message, _ = DescribeGroupsRequest.decode(request.frame, request.version, request.body)
    groups: list[DescribedGroup] = []
    for group_id in message.groups:
        one = DescribeGroupsRequest([group_id], message.include_authorized_operations)
        try:
            groups += ask(broker, request, group_id, one).groups
        except NoCoordinatorError as error:
            groups.append(DescribedGroup(error.code, None, group_id, _DEAD))
    return request.answer(DescribeGroupsResponse(groups=groups))


def delete_groups(broker: Broker, request: Request) -> Pieces:
    """Answer DeleteGroups, versions 0 to 2."""
    message, _ = DeleteGroupsRequest.decode(request.frame, request.version, request.body)
    results: list[DeletableGroupResult] = []
    for group_id in dict.fromkeys(message.groups_names):
        try:
            results += ask(broker, request, group_id, DeleteGroupsRequest([group_id])).results
        except NoCoordinatorError as error:
            results.append(DeletableGroupResult(group_id, error.code))
    return request.answer(DeleteGroupsResponse(results=results))


def list_groups(broker: Broker, request: Request) -> Pieces:
    """Answer ListGroups, versions 0 to 5."""
    message, _ = ListGroupsRequest.decode(request.frame, request.version, request.body)
    response = ListGroupsResponse()
    try:
        for answer in ask_all(broker, request, message):
            response.groups += answer.groups
    except NoCoordinatorError as error:
        response = ListGroupsResponse(error_code=error.code)
    return request.answer(response)
