"""The table of all APIs at the controller's port, which ApiVersions advertises there."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.controller.brokers_only import OfBrokers
from fencepost_broker.apis.controller.from_clients import FROM_CLIENTS, hide_forwarded
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import encode_with_records
from fencepost_broker.apis.served import Later, Served

_OF_BROKERS: Final = {api.key: api for api in SERVED}

SERVED_BY_CONTROLLER: Final = (
    Served(
        ApiKey.FETCH,
        OfBrokers("controller.metadata_fetch", "fetch_metadata"),
        rights="whole:everybody",
        encode=encode_with_records,
    ),
    _OF_BROKERS[ApiKey.SASL_HANDSHAKE],
    _OF_BROKERS[ApiKey.API_VERSIONS],
    _OF_BROKERS[ApiKey.SASL_AUTHENTICATE],
    *FROM_CLIENTS,
    _OF_BROKERS[ApiKey.DESCRIBE_ACLS],
    _OF_BROKERS[ApiKey.DESCRIBE_CONFIGS],
    Served(
        ApiKey.ALTER_PARTITION,
        OfBrokers("controller.brokers", "command"),
        rights="whole:everybody",
    ),
    Served(
        ApiKey.ENVELOPE,
        OfBrokers("controller.envelope", "envelope"),
        rights="whole:everybody",
        hides_in_request=hide_forwarded,
    ),
    Served(
        ApiKey.FETCH_SNAPSHOT,
        OfBrokers("controller.metadata_fetch", "fetch_snapshot"),
        rights="whole:everybody",
    ),
    Served(
        ApiKey.DESCRIBE_CLUSTER,
        Later("controller.brokers", "describe_cluster"),
        rights="topics:describe_cluster",
    ),
    Served(
        ApiKey.BROKER_REGISTRATION,
        OfBrokers("controller.brokers", "command"),
        rights="whole:everybody",
    ),
    Served(
        ApiKey.BROKER_HEARTBEAT,
        OfBrokers("controller.brokers", "command"),
        rights="whole:everybody",
    ),
    Served(
        ApiKey.ALLOCATE_PRODUCER_IDS,
        OfBrokers("controller.allocate_producer_ids", "allocate_producer_ids"),
        rights="whole:everybody",
    ),
    Served(
        ApiKey.UPDATE_RAFT_VOTER,
        OfBrokers("controller.raft_voters", "update_raft_voter"),
        rights="whole:everybody",
    ),
)
