"""InitProducerId: assign a producer's id and epoch.

Behaviour: a request without a transactional id gets a new id with epoch 0, whatever id and epoch it
has. With one, the transaction coordinator fences the older producer and aborts the transaction that
it left open; the request waits for that (KIP-609, ``transaction.park.enable``).

Version notes: 3 has the producer's own id and epoch (KIP-360); 4 may answer PRODUCER_FENCED; 6
is for two-phase commit (KIP-939).

Not done: version 6 is served only with unstable.api.versions.enable. Its KeepPreparedTxn could not
be compared with Apache Kafka 4.3, which refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

from fencepost_broker.apis.coordinator_requests import (
    ParkedTransactionRequest,
    coordinator_error,
    error_or,
    transaction_shard,
)
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.transaction.commands import InitProducerId

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


def init_producer_id(
    context: BrokerContext, request: Request, message: InitProducerIdRequest
) -> Answer | None:
    """Answer InitProducerId, versions 0 to 6."""
    name = message.transactional_id
    if name is None:
        if (message.producer_id == -1) != (message.producer_epoch == -1):
            return _refused(ErrorCode.INVALID_REQUEST)
        error, producer_id = context.coordinators.producer_ids.take()
        epoch = -1 if error else 0
        return InitProducerIdResponse(0, error, producer_id, epoch)

    def answer(told: Any) -> Answer:
        error = error_or(told)
        return _refused(error) if error else told

    shard = transaction_shard(context, name, request)
    if shard is None:
        return _refused(coordinator_error(context, name))
    waiting = ParkedTransactionRequest(context, request, shard, name, answer)
    return waiting.submit(InitProducerId(message, request.version, waiting))


def _refused(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error, producer_epoch=-1)
