"""Consumer groups of KIP-848: the broker assigns partitions, and members heartbeat.

Behaviour: a heartbeat never waits for its group. A request to describe several groups is split,
and each group has its own result.
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

from fencepost_broker.apis.fetch.leaving import answer_fetches_of
from fencepost_broker.apis.groups.requests import ask, describe_each, has_feature
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
    if message.member_epoch < 0:
        answer_fetches_of(context, request)
    return ask(context, request, message.group_id, message, _heartbeat_refused)


def _heartbeat_refused(
    _message: ConsumerGroupHeartbeatRequest, code: ErrorCode
) -> ConsumerGroupHeartbeatResponse:
    return ConsumerGroupHeartbeatResponse(error_code=code)


def consumer_group_describe(
    context: BrokerContext, request: Request, message: ConsumerGroupDescribeRequest
) -> Answer | None:
    """Answer ConsumerGroupDescribe, versions 0 and 1."""
    return describe_each(
        context,
        request,
        _FEATURE,
        message,
        DescribedGroup,
        lambda groups: ConsumerGroupDescribeResponse(groups=groups),
    )
