"""DescribeCluster and ElectLeaders: list the brokers, and elect partitions' leaders.

Behaviour: DescribeCluster lists the brokers with their addresses for the request's listener. On a
broker's port a request for controllers (endpoint type 2) is answered with
MISMATCHED_ENDPOINT_TYPE, any other type with UNSUPPORTED_ENDPOINT_TYPE. The controller carries out
elections.

Version notes: DescribeCluster 1 brought endpoint types (KIP-919), 2 fenced brokers (KIP-1073).
A request with tag 60900, which is Fencepost's, also gets the brokers' epochs.
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
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest

from fencepost_broker.apis.authorized_operations import CLUSTER_OPERATIONS, UNASKED
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.metadata.advertised_brokers import advertised_brokers

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext, HandlerContext

_BROKERS: Final = 1
_CONTROLLERS: Final = 2


def describe_cluster(
    context: BrokerContext, request: Request, message: DescribeClusterRequest
) -> Answer:
    """Answer DescribeCluster, versions 0 to 2."""
    kind = message.endpoint_type
    if kind != _BROKERS:
        if kind == _CONTROLLERS:
            code = ErrorCode.MISMATCHED_ENDPOINT_TYPE
            text = "this is a broker's port: ask a controller's for controllers"
        else:
            code = ErrorCode.UNSUPPORTED_ENDPOINT_TYPE
            text = f"endpoints are of type 1 (brokers) or 2 (controllers), not {kind}"
        return DescribeClusterResponse(error_code=code, error_message=text)
    listener = request.peer.listener
    kinds = (False, True) if message.include_fenced_brokers else (False,)
    brokers = [
        DescribeClusterBroker(*told, is_fenced)
        for is_fenced in kinds
        for told in advertised_brokers(context.image, listener, fenced=is_fenced)
    ]
    if message.include_broker_epochs:
        for each in brokers:
            each.broker_epoch = context.image.cluster.brokers[each.broker_id].epoch
    return DescribeClusterResponse(
        cluster_id=context.identity.cluster_id,
        controller_id=context.identity.node_id,
        brokers=brokers,
        cluster_authorized_operations=CLUSTER_OPERATIONS
        if message.include_cluster_authorized_operations
        else UNASKED,
    )


def elect_leaders(
    context: HandlerContext, _request: Request, message: ElectLeadersRequest
) -> Answer:
    """Answer ElectLeaders, versions 0 to 2; version 0 knows preferred leaders only."""
    answer: Message = context.controller.command(message)
    return answer
