"""Every API at the controller's port: one line each. What ApiVersions tells there stands here."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.api_versions import api_versions
from fencepost_broker.apis.registry import Later, Served
from fencepost_broker.apis.topics import create_topics, delete_topics

_CONTROLLER: Final = "fencepost_broker.apis.controller"

_FROM_CLIENTS: Final = (
    Served(ApiKey.CREATE_TOPICS, create_topics),
    Served(ApiKey.DELETE_TOPICS, delete_topics),
    Served(ApiKey.ALTER_CONFIGS, Later("fencepost_broker.apis.configs", "alter_configs")),
    Served(
        ApiKey.CREATE_PARTITIONS,
        Later("fencepost_broker.apis.topic_partitions", "create_partitions"),
    ),
    Served(ApiKey.ELECT_LEADERS, Later("fencepost_broker.apis.cluster", "elect_leaders")),
    Served(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        Later("fencepost_broker.apis.configs", "incremental_alter_configs"),
    ),
    Served(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        Later("fencepost_broker.apis.reassignments", "alter_partition_reassignments"),
    ),
    Served(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        Later("fencepost_broker.apis.reassignments", "list_partition_reassignments"),
    ),
    Served(ApiKey.DESCRIBE_QUORUM, Later("fencepost_broker.apis.quorum", "describe_quorum")),
    Served(ApiKey.UPDATE_FEATURES, Later("fencepost_broker.apis.features", "update_features")),
    Served(ApiKey.UNREGISTER_BROKER, Later(_CONTROLLER, "command")),
)

SERVED_BY_CONTROLLER: Final = (
    Served(ApiKey.FETCH, Later("fencepost_broker.apis.metadata_fetch", "fetch_metadata")),
    Served(ApiKey.API_VERSIONS, api_versions),
    *_FROM_CLIENTS,
    Served(ApiKey.ALTER_PARTITION, Later(_CONTROLLER, "command")),
    Served(ApiKey.ENVELOPE, Later("fencepost_broker.apis.envelope", "envelope")),
    Served(ApiKey.FETCH_SNAPSHOT, Later("fencepost_broker.apis.metadata_fetch", "fetch_snapshot")),
    Served(ApiKey.DESCRIBE_CLUSTER, Later(_CONTROLLER, "describe_cluster")),
    Served(ApiKey.BROKER_REGISTRATION, Later(_CONTROLLER, "command")),
    Served(ApiKey.BROKER_HEARTBEAT, Later(_CONTROLLER, "command")),
    Served(
        ApiKey.ALLOCATE_PRODUCER_IDS,
        Later("fencepost_broker.apis.allocate_producer_ids", "allocate_producer_ids"),
    ),
)

PASSED_ON: Final = {each.key.value: each for each in _FROM_CLIENTS}
"""What a broker passes on in an Envelope, where the controller is another process."""
