"""Consumer groups of KIP-848: the broker assigns partitions, and members heartbeat.

Behaviour: a heartbeat never waits for its group. A request to describe several groups is split,
and each group has its own result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

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

from fencepost_broker.apis.coordinator_requests import answer_when_durable
from fencepost_broker.apis.groups.requests import ask, ask_one, has_feature, refusal
from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_FEATURE: Final = "group.version"


def consumer_group_heartbeat(
    context: BrokerContext, request: Request, message: ConsumerGroupHeartbeatRequest
) -> Answer | None:
    """Answer ConsumerGroupHeartbeat, versions 0 and 1."""
    if not has_feature(context, _FEATURE):
        return _heartbeat_refused(message, ErrorCode.UNSUPPORTED_VERSION)
    return ask(context, request, message.group_id, message, _heartbeat_refused)


def _heartbeat_refused(
    _message: ConsumerGroupHeartbeatRequest, code: ErrorCode
) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=code)


def consumer_group_describe(
    context: BrokerContext, request: Request, message: ConsumerGroupDescribeRequest
) -> Answer | None:
    """Answer ConsumerGroupDescribe, versions 0 and 1."""

    def answer(told: list[Any]) -> Answer:
        groups: list[DescribedGroup] = []
        for group_id, each in zip(message.group_ids, told, strict=True):
            code = refusal(each)
            groups += [DescribedGroup(code, None, group_id)] if code else each.groups
        return ConsumerGroupDescribeResponse(groups=groups)

    if not has_feature(context, _FEATURE):
        return answer([ErrorCode.UNSUPPORTED_VERSION] * len(message.group_ids))
    authorized = message.include_authorized_operations
    parts = [
        ask_one(context, request, group_id, ConsumerGroupDescribeRequest([group_id], authorized))
        for group_id in message.group_ids
    ]
    return answer_when_durable(request, parts, answer)
