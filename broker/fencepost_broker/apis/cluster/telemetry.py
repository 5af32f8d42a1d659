"""GetTelemetrySubscriptions and PushTelemetry: clients send their metrics (KIP-714).

Behaviour: as in Apache Kafka without a reporter that takes clients' metrics, ApiVersions does not
name these APIs unless the setting ``client.telemetry.enable`` is on. A client without an id gets
one.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from fencepost_protocol.generated.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from fencepost_protocol.generated.push_telemetry import PushTelemetryRequest, PushTelemetryResponse

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.observability.client_telemetry import (
    CODECS,
    ClientInstance,
    ClientProperties,
    ClientTelemetry,
)

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_NO_ID: Final = bytes(16)


def get_telemetry_subscriptions(
    context: BrokerContext, request: Request, message: GetTelemetrySubscriptionsRequest
) -> Answer:
    """Answer GetTelemetrySubscriptions, version 0."""
    telemetry = _telemetry(context)
    instance_id = message.client_instance_id
    if instance_id == _NO_ID:
        instance_id = telemetry.new_id()
    client = _properties(request, instance_id)
    found = telemetry.subscribe(instance_id, client, request.peer.client)
    if not isinstance(found, ClientInstance):
        return GetTelemetrySubscriptionsResponse(error_code=found)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=found.subscription_id,
        accepted_compression_types=list(CODECS),
        push_interval_ms=found.interval_ms,
        telemetry_max_bytes=context.config.settings.telemetry_max_bytes,
        delta_temporality=True,
        requested_metrics=found.metrics,
    )


def push_telemetry(
    context: BrokerContext, request: Request, message: PushTelemetryRequest
) -> Answer:
    """Answer PushTelemetry, version 0."""
    instance_id = message.client_instance_id
    error = _telemetry(context).push(
        instance_id,
        _properties(request, instance_id),
        request.peer.client,
        message.subscription_id,
        message.compression_type,
        message.metrics,
        is_terminating=message.terminating,
    )
    return PushTelemetryResponse(error_code=error)


def _telemetry(context: BrokerContext) -> ClientTelemetry:
    assert context.telemetry is not None, "these APIs are served only with client.telemetry.enable"
    return context.telemetry


def _properties(request: Request, instance_id: bytes) -> ClientProperties:
    peer = request.peer
    return ClientProperties(
        base64.urlsafe_b64encode(instance_id).decode().rstrip("="),
        request.client_id or "",
        peer.client_software_name,
        peer.client_software_version,
        peer.client_host.removeprefix("/"),
        peer.client.address.rpartition(":")[2],
    )
