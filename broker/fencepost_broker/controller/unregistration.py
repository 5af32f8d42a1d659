"""UnregisterBroker: removes a broker's registration."""

from __future__ import annotations

from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from fencepost_protocol.generated.unregister_broker_record import UnregisterBrokerRecord

from fencepost_broker.controller.context import Context
from fencepost_broker.controller.leadership import without_broker
from fencepost_broker.metadata.decision import Decision, MetadataRecord


def unregister_broker(
    context: Context, request: UnregisterBrokerRequest
) -> Decision[UnregisterBrokerResponse]:
    """Remove a broker, until it registers again."""
    broker = context.image.cluster.brokers.get(request.broker_id)
    if broker is None:
        message = f"broker {request.broker_id} is not registered"
        code = ErrorCode.BROKER_ID_NOT_REGISTERED
        return Decision(UnregisterBrokerResponse(error_code=code, error_message=message))
    gone = MetadataRecord(UnregisterBrokerRecord(broker.broker_id, broker.epoch), 0)
    return Decision(UnregisterBrokerResponse(), (*without_broker(context, broker.broker_id), gone))
