"""AllocateProducerIds: a block of producer ids for a broker (KIP-730).

Behaviour: a block of 1000, by a record that is in the log before the answer leaves. The same
request again gets another block. STALE_BROKER_EPOCH for a broker that is not registered with this
epoch, UNKNOWN_SERVER_ERROR when there are no ids left, CLUSTER_AUTHORIZATION_FAILED for one that
`controller.producer.ids.brokers` does not name, which ends that broker. Who takes more than
`controller.producer.ids.rate` blocks a second is told to wait by the throttle time. By a listener
that asks who comes, only users of brokers (`super.users`) are answered at all.

Not done: the mode of Kafka's bridge release, with blocks in ZooKeeper, is not there on purpose.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fencepost_protocol.generated.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)

from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.context import ControllerContext


def allocate_producer_ids(
    context: ControllerContext, _request: Request, message: AllocateProducerIdsRequest
) -> Answer:
    """Answer AllocateProducerIds, version 0."""
    answer: AllocateProducerIdsResponse = context.controller.command(message)
    if not answer.error_code:
        rate = context.config.settings.controller_producer_ids_rate
        wait_ms = context.allocation_rate.taken(message.broker_id, context.clock.now_ms(), rate)
        answer = replace(answer, throttle_time_ms=wait_ms)
    return answer
