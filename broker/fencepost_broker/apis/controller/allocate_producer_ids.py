"""AllocateProducerIds: a block of producer ids for a broker (KIP-730).

Behaviour: a block has 1000 ids; its record is in the log before the answer is sent. A repeated
request gets another block. The answer is STALE_BROKER_EPOCH for a broker that is not registered
with this epoch, UNKNOWN_SERVER_ERROR when there are no ids left, and CLUSTER_AUTHORIZATION_FAILED
for a broker that is not in `controller.producer.ids.brokers`, which stops that broker. A broker
that takes more than `controller.producer.ids.rate` blocks a second is delayed by the throttle time.
On a listener with authentication only brokers' users (`super.users`) get ids.

Not done: the mode of Kafka's bridge release, with blocks in ZooKeeper, is left out on purpose.
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
