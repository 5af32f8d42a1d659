"""Every API at the controller's port: one line each. What ApiVersions tells there stands here."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.cluster.api_versions import api_versions, read_api_versions
from fencepost_broker.apis.controller.brokers_only import OfBrokers
from fencepost_broker.apis.controller.from_clients import FROM_CLIENTS
from fencepost_broker.apis.request import encode_with_records
from fencepost_broker.apis.served import Later, Served

_CONTROLLER: Final = "fencepost_broker.apis.controller.brokers"

SERVED_BY_CONTROLLER: Final = (
    Served(
        ApiKey.FETCH,
        OfBrokers("fencepost_broker.apis.controller.metadata_fetch", "fetch_metadata"),
        encode=encode_with_records,
    ),
    Served(ApiKey.SASL_HANDSHAKE, Later("fencepost_broker.apis.security.sasl", "sasl_handshake")),
    Served(ApiKey.API_VERSIONS, api_versions, decode=read_api_versions),
    Served(
        ApiKey.SASL_AUTHENTICATE, Later("fencepost_broker.apis.security.sasl", "sasl_authenticate")
    ),
    *FROM_CLIENTS,
    Served(ApiKey.ALTER_PARTITION, OfBrokers(_CONTROLLER, "command")),
    Served(ApiKey.ENVELOPE, OfBrokers("fencepost_broker.apis.controller.envelope", "envelope")),
    Served(
        ApiKey.FETCH_SNAPSHOT,
        OfBrokers("fencepost_broker.apis.controller.metadata_fetch", "fetch_snapshot"),
    ),
    Served(ApiKey.DESCRIBE_CLUSTER, Later(_CONTROLLER, "describe_cluster")),
    Served(ApiKey.BROKER_REGISTRATION, OfBrokers(_CONTROLLER, "command")),
    Served(ApiKey.BROKER_HEARTBEAT, OfBrokers(_CONTROLLER, "command")),
    Served(
        ApiKey.ALLOCATE_PRODUCER_IDS,
        OfBrokers(
            "fencepost_broker.apis.controller.allocate_producer_ids", "allocate_producer_ids"
        ),
    ),
)
