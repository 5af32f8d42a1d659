"""Every API that the broker serves: one line each, and nowhere else.

What stands here is what ApiVersions advertises (in the range of ``apis.Api.advertised``) and what
the support table of the docs lists as served.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.cluster.api_versions import api_versions, read_api_versions
from fencepost_broker.apis.fetch.fetching import encode_fetch
from fencepost_broker.apis.fetch.handler import fetch
from fencepost_broker.apis.produce.handler import produce
from fencepost_broker.apis.request import encode_uncounted
from fencepost_broker.apis.served import Later, Served
from fencepost_broker.apis.topics.list_offsets import list_offsets
from fencepost_broker.apis.topics.metadata import metadata
from fencepost_broker.apis.topics.topics import create_topics, delete_topics
from fencepost_broker.config import Settings
from fencepost_broker.config.version_caps import parse_version_caps

SERVED: Final = (
    Served(ApiKey.PRODUCE, produce),
    Served(ApiKey.FETCH, fetch, encode=encode_fetch),
    Served(ApiKey.LIST_OFFSETS, list_offsets),
    Served(ApiKey.METADATA, metadata),
    Served(ApiKey.OFFSET_COMMIT, Later("fencepost_broker.apis.groups.offsets", "offset_commit")),
    Served(ApiKey.OFFSET_FETCH, Later("fencepost_broker.apis.groups.offsets", "offset_fetch")),
    Served(
        ApiKey.FIND_COORDINATOR,
        Later("fencepost_broker.apis.groups.find_coordinator", "find_coordinator"),
    ),
    Served(ApiKey.JOIN_GROUP, Later("fencepost_broker.apis.groups.classic_groups", "join_group")),
    Served(ApiKey.HEARTBEAT, Later("fencepost_broker.apis.groups.classic_groups", "heartbeat")),
    Served(ApiKey.LEAVE_GROUP, Later("fencepost_broker.apis.groups.classic_groups", "leave_group")),
    Served(ApiKey.SYNC_GROUP, Later("fencepost_broker.apis.groups.classic_groups", "sync_group")),
    Served(
        ApiKey.DESCRIBE_GROUPS,
        Later("fencepost_broker.apis.groups.classic_groups", "describe_groups"),
    ),
    Served(ApiKey.LIST_GROUPS, Later("fencepost_broker.apis.groups.classic_groups", "list_groups")),
    Served(ApiKey.SASL_HANDSHAKE, Later("fencepost_broker.apis.security.sasl", "sasl_handshake")),
    Served(ApiKey.API_VERSIONS, api_versions, decode=read_api_versions),
    Served(ApiKey.CREATE_TOPICS, create_topics),
    Served(ApiKey.DELETE_TOPICS, delete_topics),
    Served(
        ApiKey.DELETE_RECORDS,
        Later("fencepost_broker.apis.topics.delete_records", "delete_records"),
    ),
    Served(
        ApiKey.INIT_PRODUCER_ID,
        Later("fencepost_broker.apis.transactions.init_producer_id", "init_producer_id"),
    ),
    Served(
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        Later("fencepost_broker.apis.topics.offset_for_leader_epoch", "offset_for_leader_epoch"),
    ),
    Served(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        Later("fencepost_broker.apis.transactions.transactions", "add_partitions_to_txn"),
    ),
    Served(
        ApiKey.ADD_OFFSETS_TO_TXN,
        Later("fencepost_broker.apis.transactions.transactions", "add_offsets_to_txn"),
    ),
    Served(ApiKey.END_TXN, Later("fencepost_broker.apis.transactions.transactions", "end_txn")),
    Served(
        ApiKey.WRITE_TXN_MARKERS,
        Later("fencepost_broker.apis.transactions.write_txn_markers", "write_txn_markers"),
        encode=encode_uncounted,
    ),
    Served(
        ApiKey.TXN_OFFSET_COMMIT,
        Later("fencepost_broker.apis.transactions.txn_offset_commit", "txn_offset_commit"),
    ),
    Served(ApiKey.DESCRIBE_ACLS, Later("fencepost_broker.apis.security.acls", "describe_acls")),
    Served(ApiKey.CREATE_ACLS, Later("fencepost_broker.apis.security.acls", "create_acls")),
    Served(ApiKey.DELETE_ACLS, Later("fencepost_broker.apis.security.acls", "delete_acls")),
    Served(
        ApiKey.DESCRIBE_CONFIGS, Later("fencepost_broker.apis.cluster.configs", "describe_configs")
    ),
    Served(ApiKey.ALTER_CONFIGS, Later("fencepost_broker.apis.cluster.configs", "alter_configs")),
    Served(
        ApiKey.ALTER_REPLICA_LOG_DIRS,
        Later("fencepost_broker.apis.topics.log_dirs", "alter_replica_log_dirs"),
    ),
    Served(
        ApiKey.DESCRIBE_LOG_DIRS,
        Later("fencepost_broker.apis.topics.log_dirs", "describe_log_dirs"),
    ),
    Served(
        ApiKey.SASL_AUTHENTICATE, Later("fencepost_broker.apis.security.sasl", "sasl_authenticate")
    ),
    Served(
        ApiKey.CREATE_PARTITIONS,
        Later("fencepost_broker.apis.topics.partitions", "create_partitions"),
    ),
    Served(
        ApiKey.DELETE_GROUPS, Later("fencepost_broker.apis.groups.classic_groups", "delete_groups")
    ),
    Served(ApiKey.ELECT_LEADERS, Later("fencepost_broker.apis.cluster.cluster", "elect_leaders")),
    Served(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        Later("fencepost_broker.apis.cluster.configs", "incremental_alter_configs"),
    ),
    Served(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        Later("fencepost_broker.apis.topics.reassignments", "alter_partition_reassignments"),
    ),
    Served(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        Later("fencepost_broker.apis.topics.reassignments", "list_partition_reassignments"),
    ),
    Served(ApiKey.OFFSET_DELETE, Later("fencepost_broker.apis.groups.offsets", "offset_delete")),
    Served(
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        Later("fencepost_broker.apis.cluster.client_quotas", "describe_client_quotas"),
    ),
    Served(
        ApiKey.ALTER_CLIENT_QUOTAS,
        Later("fencepost_broker.apis.cluster.client_quotas", "alter_client_quotas"),
    ),
    Served(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        Later("fencepost_broker.apis.security.scram_users", "describe_user_scram_credentials"),
    ),
    Served(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        Later("fencepost_broker.apis.security.scram_users", "alter_user_scram_credentials"),
    ),
    Served(
        ApiKey.DESCRIBE_QUORUM, Later("fencepost_broker.apis.controller.quorum", "describe_quorum")
    ),
    Served(
        ApiKey.UPDATE_FEATURES, Later("fencepost_broker.apis.cluster.features", "update_features")
    ),
    Served(
        ApiKey.DESCRIBE_CLUSTER, Later("fencepost_broker.apis.cluster.cluster", "describe_cluster")
    ),
    Served(
        ApiKey.DESCRIBE_PRODUCERS,
        Later("fencepost_broker.apis.transactions.describe_producers", "describe_producers"),
    ),
    Served(
        ApiKey.DESCRIBE_TRANSACTIONS,
        Later("fencepost_broker.apis.transactions.listing", "describe_transactions"),
    ),
    Served(ApiKey.UNREGISTER_BROKER, Later("fencepost_broker.apis.controller.brokers", "command")),
    Served(
        ApiKey.LIST_TRANSACTIONS,
        Later("fencepost_broker.apis.transactions.listing", "list_transactions"),
    ),
    Served(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        Later("fencepost_broker.apis.groups.consumer_groups", "consumer_group_heartbeat"),
    ),
    Served(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        Later("fencepost_broker.apis.groups.consumer_groups", "consumer_group_describe"),
    ),
    Served(
        ApiKey.LIST_CONFIG_RESOURCES,
        Later("fencepost_broker.apis.cluster.configs", "list_config_resources"),
    ),
    Served(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        Later("fencepost_broker.apis.topics.partitions", "describe_topic_partitions"),
    ),
)


def served(settings: Settings) -> tuple[Served, ...]:
    """What a broker with these settings serves: ``SERVED``, some of it only up to a version.

    Where the controller is another process, what it answers is passed on to it.
    """
    caps = parse_version_caps(settings.api_versions_max)
    apis = tuple(replace(api, version_cap=caps.get(api.key)) for api in SERVED)
    if "controller" in settings.process_roles:
        return apis
    from fencepost_broker.apis.forwarding import passed_on

    return tuple(map(passed_on, apis))
