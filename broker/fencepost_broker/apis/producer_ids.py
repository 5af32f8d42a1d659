"""InitProducerId: an id of its own for an idempotent producer.

Behaviour: without a transactional id every request gets a fresh id with epoch 0, whatever id and
epoch it gives. An empty transactional id is an INVALID_REQUEST.

Not done: transactional ids; there is no transaction coordinator yet, which is answered as
COORDINATOR_NOT_AVAILABLE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

from fencepost_broker.apis.request import Pieces, Request

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker


def init_producer_id(broker: Broker, request: Request) -> Pieces:
    """Answer InitProducerId, versions 0 to 5."""
    message, _ = InitProducerIdRequest.decode(request.frame, request.version, request.body)
    if message.transactional_id is not None:
        given = bool(message.transactional_id)
        error = ErrorCode.COORDINATOR_NOT_AVAILABLE if given else ErrorCode.INVALID_REQUEST
        return request.answer(InitProducerIdResponse(error_code=error, producer_epoch=-1))
    error, producer_id = broker.producer_ids.take()
    epoch = -1 if error else 0
    response = InitProducerIdResponse(
        error_code=error, producer_id=producer_id, producer_epoch=epoch
    )
    return request.answer(response)
