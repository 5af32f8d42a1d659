"""Groups of KIP-848: the broker assigns, members say in each heartbeat what they have.

Behaviour: a heartbeat never waits. A description of several groups is taken apart, and each of
them answers for itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
)
from fencepost_protocol.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

from fencepost_broker.apis.group_requests import NoCoordinatorError, ask
from fencepost_broker.apis.request import Pieces, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker

_FEATURE: Final = "group.version"


def consumer_group_heartbeat(broker: Broker, request: Request) -> Pieces:
    """Answer ConsumerGroupHeartbeat, versions 0 and 1."""
    message, _ = ConsumerGroupHeartbeatRequest.decode(request.frame, request.version, request.body)
    response: ConsumerGroupHeartbeatResponse
    if not _is_enabled(broker):
        code = ErrorCode.UNSUPPORTED_VERSION
        return request.answer(ConsumerGroupHeartbeatResponse(error_code=code))
    try:
        response = ask(broker, request, message.group_id, message)
    except NoCoordinatorError as error:
        response = ConsumerGroupHeartbeatResponse(error_code=error.code)
    return request.answer(response)


def consumer_group_describe(broker: Broker, request: Request) -> Pieces:
    """Answer ConsumerGroupDescribe, versions 0 and 1."""
    message, _ = ConsumerGroupDescribeRequest.decode(request.frame, request.version, request.body)
    groups: list[DescribedGroup] = []
    if not _is_enabled(broker):
        code = ErrorCode.UNSUPPORTED_VERSION
        groups = [DescribedGroup(code, None, group_id) for group_id in message.group_ids]
        return request.answer(ConsumerGroupDescribeResponse(groups=groups))
    for group_id in message.group_ids:
        one = ConsumerGroupDescribeRequest([group_id], message.include_authorized_operations)
        try:
            groups += ask(broker, request, group_id, one).groups
        except NoCoordinatorError as error:
            groups.append(DescribedGroup(error.code, None, group_id))
    return request.answer(ConsumerGroupDescribeResponse(groups=groups))


def _is_enabled(broker: Broker) -> bool:
    """Whether the cluster's features (``group.version``) allow such groups."""
    return broker.image.features.get(_FEATURE, 0) > 0
