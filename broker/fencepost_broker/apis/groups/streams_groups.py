"""Streams groups (KIP-1071): members heartbeat and get tasks.

Behaviour: a heartbeat never waits for its group. Internal topics that a topology lacks are created
for the member; it joins without tasks, and a later heartbeat brings them.

Not done: static members, warm-up tasks, regular expressions and changed topologies, all of which
Apache Kafka 4.3 refuses, too. A member that may not create internal topics is refused with
TOPIC_AUTHORIZATION_FAILED, where Apache Kafka lets it join and says so in its status.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from fencepost_protocol.generated.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

from fencepost_broker.apis.groups.requests import ask, describe_each, has_feature
from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_FEATURE: Final = "streams.version"


def streams_group_heartbeat(
    context: BrokerContext, request: Request, message: StreamsGroupHeartbeatRequest
) -> Answer | None:
    """Answer StreamsGroupHeartbeat, version 0."""
    if not has_feature(context, _FEATURE):
        return _heartbeat_refused(message, ErrorCode.UNSUPPORTED_VERSION)
    return ask(context, request, message.group_id, message, _heartbeat_refused)


def _heartbeat_refused(_message: Message, code: ErrorCode) -> StreamsGroupHeartbeatResponse:
    return StreamsGroupHeartbeatResponse(error_code=code, status=[])


def streams_group_describe(
    context: BrokerContext, request: Request, message: StreamsGroupDescribeRequest
) -> Answer | None:
    """Answer StreamsGroupDescribe, version 0."""
    return describe_each(
        context,
        request,
        _FEATURE,
        message,
        DescribedGroup,
        lambda groups: StreamsGroupDescribeResponse(groups=groups),
    )
