"""Brokers' requests to the controller, and DescribeCluster at the controller's port.

Behaviour: each request (registration, heartbeat, producer ids, in-sync replicas) is one decision of
the controller's machine, whose answer is the response. DescribeCluster lists controllers (endpoint
type 2) here, and brokers at brokers' ports (KIP-919).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

from fencepost_broker.apis.authorized_operations import CLUSTER_OPERATIONS, UNASKED
from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_CONTROLLERS: Final = 2


def command(context: HandlerContext, _request: Request, message: Message) -> Answer:
    """Answer a request that is a command to the controller's machine."""
    answer: Message = context.controller.command(message)
    return answer


def describe_cluster(
    context: HandlerContext, request: Request, message: DescribeClusterRequest
) -> Answer:
    """Answer DescribeCluster, versions 0 to 2, with the one controller."""
    kind = message.endpoint_type
    if kind != _CONTROLLERS:
        code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
        text = "this is a controller's port: ask a broker's for brokers"
        return DescribeClusterResponse(error_code=code, error_message=text, endpoint_type=kind)
    return DescribeClusterResponse(
        endpoint_type=kind,
        cluster_id=context.identity.cluster_id,
        controller_id=context.identity.node_id,
        brokers=[
            DescribeClusterBroker(context.identity.node_id, each.host, each.port)
            for each in context.controller_addresses
            if each.listener == request.peer.listener
        ],
        cluster_authorized_operations=CLUSTER_OPERATIONS
        if message.include_cluster_authorized_operations
        else UNASKED,
    )
