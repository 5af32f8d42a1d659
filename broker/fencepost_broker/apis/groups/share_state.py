"""The share coordinator's requests: brokers begin, read, write, delete and sum up share partitions.

Behaviour: a request for several share partitions is split, and each has its own result. Only
brokers may send them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.controller.brokers_only import may_ask
from fencepost_broker.apis.coordinator_requests import answer_when_durable
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.runtime.persister import asked_here, result_of
from fencepost_broker.coordinator.share.messages import answer_to, asked_of, failed

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


def share_group_state(context: BrokerContext, request: Request, message: Message) -> Answer | None:
    """Answer the five requests about the state of share partitions."""
    rows = asked_of(message)
    if not may_ask(context, request):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return answer_to(message, [(row, failed(row, code)) for row in rows])
    if not rows:
        return answer_to(message, [])

    def answer(told: list[Any]) -> Answer:
        results = zip(rows, told, strict=True)
        return answer_to(message, [(row, result_of(row, each)) for row, each in results])

    runtime = context.coordinators.runtime
    return answer_when_durable(request, [asked_here(runtime, row) for row in rows], answer)
