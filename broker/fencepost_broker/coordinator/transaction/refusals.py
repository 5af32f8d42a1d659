"""InitProducerId responses with an error."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.init_producer_id import InitProducerIdResponse

from fencepost_broker.coordinator.transaction.model import NO_EPOCH
from fencepost_broker.metadata.decision import Decision

_FENCED_CODE_FROM: Final = 4
"""PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)."""


def refused(error: ErrorCode, version: int) -> Decision[InitProducerIdResponse]:
    """Return a response with an error that this version of the request knows."""
    if error is ErrorCode.PRODUCER_FENCED and version < _FENCED_CODE_FROM:
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    return Decision(InitProducerIdResponse(error_code=error, producer_epoch=NO_EPOCH))
