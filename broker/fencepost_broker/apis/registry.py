"""The table of all APIs that the broker serves, one entry each.

ApiVersions advertises these APIs (in the range of ``apis.Api.advertised``), and the support table
of the docs lists them as served.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.cluster.api_versions import api_versions, read_api_versions
from fencepost_broker.apis.controller.quorum_apis import QUORUM_APIS
from fencepost_broker.apis.cutting import (
    RESOURCE,
    WHOLE,
    Cut,
    create_missing,
    each_group_once,
    each_topic_once,
    explain_first,
    few_partitions,
    last_of_each,
    names_or_ids,
    pairs_last,
    to_look_for,
    topic_key,
    unless_in_transaction,
)
from fencepost_broker.apis.delegation_tokens import DELEGATION_TOKEN_APIS
from fencepost_broker.apis.fetch.fetching import encode_fetch
from fencepost_broker.apis.fetch.handler import fetch
from fencepost_broker.apis.produce.handler import produce
from fencepost_broker.apis.request import encode_uncounted
from fencepost_broker.apis.served import Later, Longest, Refusal, Served
from fencepost_broker.apis.share_and_streams_groups import SHARE_AND_STREAMS_APIS
from fencepost_broker.apis.topics.metadata import metadata
from fencepost_broker.config import Settings
from fencepost_broker.config.values.releases import release_of
from fencepost_broker.config.values.version_caps import parse_version_caps
from fencepost_broker.metadata.image import client_quotas as quotas
from fencepost_broker.observability.tap.hiding import hide_credentials, hide_settings, hide_token

SERVED: Final = (
    Served(
        ApiKey.PRODUCE,
        produce,
        rights="data:produce",
        is_frequent=True,
        large=Cut("topic_data.partition_data", unless_in_transaction),
        longest=Longest(ErrorCode.INVALID_REQUEST, ("topic_data.partition_data",)),
        quota=quotas.PRODUCER_BYTE_RATE,
    ),
    Served(
        ApiKey.FETCH,
        fetch,
        rights="whole:everybody",
        is_frequent=True,
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("topics.partitions",), most=100_000),
        quota=quotas.CONSUMER_BYTE_RATE,
        encode=encode_fetch,
    ),
    Served(
        ApiKey.LIST_OFFSETS,
        Later("topics.list_offsets", "list_offsets"),
        rights="checks:LIST_OFFSETS",
        large=Cut("topics.partitions", pairs_last),
    ),
    Served(
        ApiKey.METADATA,
        metadata,
        rights="topics:metadata",
        is_frequent=True,
        large=Cut("topics", to_look_for, finish=create_missing),
        is_remembered=True,
    ),
    Served(
        ApiKey.OFFSET_COMMIT,
        Later("groups.offsets", "offset_commit"),
        rights="checks:OFFSET_COMMIT",
        is_frequent=True,
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_COMMIT_OFFSET_SIZE, ("topics.partitions",)),
    ),
    Served(
        ApiKey.OFFSET_FETCH,
        Later("groups.offsets", "offset_fetch"),
        rights="groups:offset_fetch",
        large=Cut("groups"),
        longest=Longest(
            ErrorCode.INVALID_REQUEST,
            ("topics.partition_indexes", "groups.topics.partition_indexes"),
        ),
    ),
    Served(
        ApiKey.FIND_COORDINATOR,
        Later("groups.find_coordinator", "find_coordinator"),
        rights="transactions:find_coordinator",
        large=Cut("coordinator_keys"),
        is_remembered=True,
    ),
    Served(
        ApiKey.JOIN_GROUP,
        Later("groups.classic_groups", "join_group"),
        rights="groups:join_group",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("protocols",)),
    ),
    Served(
        ApiKey.HEARTBEAT,
        Later("groups.classic_groups", "heartbeat"),
        rights="checks:MEMBER",
    ),
    Served(
        ApiKey.LEAVE_GROUP,
        Later("groups.classic_groups", "leave_group"),
        rights="checks:MEMBER",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("members",)),
    ),
    Served(
        ApiKey.SYNC_GROUP,
        Later("groups.classic_groups", "sync_group"),
        rights="groups:sync_group",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("assignments",)),
    ),
    Served(
        ApiKey.DESCRIBE_GROUPS,
        Later("groups.classic_groups", "describe_groups"),
        rights="groups:describe_groups",
        large=Cut("groups"),
    ),
    Served(
        ApiKey.LIST_GROUPS,
        Later("groups.classic_groups", "list_groups"),
        rights="checks:LIST_GROUPS",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("states_filter", "types_filter")),
    ),
    Served(
        ApiKey.SASL_HANDSHAKE,
        Later("security.sasl", "sasl_handshake"),
        rights="whole:everybody",
    ),
    Served(
        ApiKey.API_VERSIONS,
        api_versions,
        rights="whole:everybody",
        is_remembered=True,
        decode=read_api_versions,
    ),
    Served(
        ApiKey.CREATE_TOPICS,
        Later("topics.topics", "create_topics"),
        rights="topics:create_topics",
        large=WHOLE,
        longest=Longest(ErrorCode.POLICY_VIOLATION, ("topics",)),
        by_controller=True,
        quota=quotas.CONTROLLER_MUTATION_RATE,
    ),
    Served(
        ApiKey.DELETE_TOPICS,
        Later("topics.topics", "delete_topics"),
        rights="topics:delete_topics",
        large=Cut("topics", names_or_ids, key=topic_key),
        longest=Longest(ErrorCode.POLICY_VIOLATION, ("topics", "topic_names")),
        by_controller=True,
        quota=quotas.CONTROLLER_MUTATION_RATE,
    ),
    Served(
        ApiKey.DELETE_RECORDS,
        Later("topics.delete_records", "delete_records"),
        rights="checks:DELETE_RECORDS",
        large=Cut("topics.partitions", last_of_each),
    ),
    Served(
        ApiKey.INIT_PRODUCER_ID,
        Later("transactions.init_producer_id", "init_producer_id"),
        rights="transactions:init_producer_id",
    ),
    Served(
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        Later("topics.offset_for_leader_epoch", "offset_for_leader_epoch"),
        rights="checks:offsets_for_epochs",
        large=Cut("topics.partitions"),
    ),
    Served(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        Later("transactions.transactions", "add_partitions_to_txn"),
        rights="transactions:add_partitions_to_txn",
        is_frequent=True,
        large=Cut("transactions"),
        longest=Longest(
            ErrorCode.INVALID_REQUEST,
            ("transactions.topics.partitions", "v3_and_below_topics.partitions"),
        ),
        refusal=Refusal.EACH_ELEMENT,
    ),
    Served(
        ApiKey.ADD_OFFSETS_TO_TXN,
        Later("transactions.transactions", "add_offsets_to_txn"),
        rights="checks:ADD_OFFSETS_TO_TXN",
    ),
    Served(
        ApiKey.END_TXN,
        Later("transactions.transactions", "end_txn"),
        rights="transactions:end_txn",
        is_frequent=True,
        large=WHOLE,
    ),
    Served(
        ApiKey.WRITE_TXN_MARKERS,
        Later("transactions.write_txn_markers", "write_txn_markers"),
        rights="transactions:write_txn_markers",
        quota=None,
        is_frequent=True,
        large=Cut("markers.topics.partition_indexes"),
        encode=encode_uncounted,
    ),
    Served(
        ApiKey.TXN_OFFSET_COMMIT,
        Later("transactions.txn_offset_commit", "txn_offset_commit"),
        rights="checks:TXN_OFFSET_COMMIT",
        is_frequent=True,
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_COMMIT_OFFSET_SIZE, ("topics.partitions",)),
    ),
    Served(
        ApiKey.DESCRIBE_ACLS,
        Later("security.acls", "describe_acls"),
        rights="checks:DESCRIBE_CLUSTER",
    ),
    Served(
        ApiKey.CREATE_ACLS,
        Later("security.acls", "create_acls"),
        rights="checks:ALTER_CLUSTER",
        large=WHOLE,
        longest=Longest(ErrorCode.POLICY_VIOLATION, ("creations",)),
        by_controller=True,
    ),
    Served(
        ApiKey.DELETE_ACLS,
        Later("security.acls", "delete_acls"),
        rights="checks:ALTER_CLUSTER",
        large=WHOLE,
        longest=Longest(ErrorCode.POLICY_VIOLATION, ("filters",)),
        by_controller=True,
    ),
    Served(
        ApiKey.DESCRIBE_CONFIGS,
        Later("cluster.configs", "describe_configs"),
        rights="checks:DESCRIBE_CONFIGS",
        large=Cut("resources"),
    ),
    Served(
        ApiKey.ALTER_CONFIGS,
        Later("cluster.configs", "alter_configs"),
        rights="checks:ALTER_CONFIGS",
        large=Cut("resources", key=RESOURCE),
        longest=Longest(ErrorCode.POLICY_VIOLATION, ("resources",)),
        by_controller=True,
        answers_part_here=True,
        hides_in_request=hide_settings,
    ),
    Served(
        ApiKey.ALTER_REPLICA_LOG_DIRS,
        Later("topics.log_dirs", "alter_replica_log_dirs"),
        rights="checks:move",
        large=Cut("dirs.topics.partitions", answered="results.partitions"),
    ),
    Served(
        ApiKey.DESCRIBE_LOG_DIRS,
        Later("topics.log_dirs", "describe_log_dirs"),
        rights="checks:DESCRIBE_CLUSTER",
        large=Cut("topics", each_topic_once, answered="results.topics"),
        longest=Longest(ErrorCode.INVALID_REQUEST, ("topics",)),
    ),
    Served(
        ApiKey.SASL_AUTHENTICATE,
        Later("security.sasl", "sasl_authenticate"),
        rights="whole:everybody",
        hides_in_request=hide_token,
        hides_in_response=hide_token,
    ),
    Served(
        ApiKey.CREATE_PARTITIONS,
        Later("topics.partitions", "create_partitions"),
        rights="checks:create_partitions",
        large=Cut("topics", few_partitions, key=attrgetter("name")),
        longest=Longest(ErrorCode.POLICY_VIOLATION, ("topics",)),
        by_controller=True,
        quota=quotas.CONTROLLER_MUTATION_RATE,
    ),
    Served(
        ApiKey.DELETE_GROUPS,
        Later("groups.classic_groups", "delete_groups"),
        rights="groups:delete_groups",
        large=Cut("groups_names", each_group_once),
    ),
    Served(
        ApiKey.ELECT_LEADERS,
        Later("cluster.cluster", "elect_leaders"),
        rights="checks:ALTER_CLUSTER",
        large=Cut("topic_partitions.partitions"),
        by_controller=True,
        refusal=Refusal.EACH_ELEMENT,
    ),
    Served(
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        Later("cluster.configs", "incremental_alter_configs"),
        rights="checks:INCREMENTAL_ALTER_CONFIGS",
        large=Cut("resources", key=RESOURCE),
        longest=Longest(ErrorCode.POLICY_VIOLATION, ("resources",)),
        by_controller=True,
        answers_part_here=True,
        hides_in_request=hide_settings,
    ),
    Served(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        Later("topics.reassignments", "alter_partition_reassignments"),
        rights="checks:ALTER_CLUSTER",
        large=Cut("topics.partitions"),
        by_controller=True,
        refusal=Refusal.EACH_ELEMENT,
    ),
    Served(
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        Later("topics.reassignments", "list_partition_reassignments"),
        rights="checks:DESCRIBE_CLUSTER",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("topics.partition_indexes",)),
        by_controller=True,
        refusal=Refusal.EACH_ELEMENT,
    ),
    Served(
        ApiKey.OFFSET_DELETE,
        Later("groups.offsets", "offset_delete"),
        rights="checks:OFFSET_DELETE",
        large=WHOLE,
    ),
    Served(
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        Later("cluster.client_quotas", "describe_client_quotas"),
        rights="checks:describe_quotas",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("components",)),
    ),
    Served(
        ApiKey.ALTER_CLIENT_QUOTAS,
        Later("cluster.client_quotas", "alter_client_quotas"),
        rights="checks:ALTER_CLIENT_QUOTAS",
        large=WHOLE,
        longest=Longest(ErrorCode.POLICY_VIOLATION, ("entries.entity", "entries.ops")),
        by_controller=True,
        refusal=Refusal.EACH_ELEMENT,
    ),
    Served(
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        Later("security.scram_users", "describe_user_scram_credentials"),
        rights="checks:describe_users",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("users",)),
    ),
    Served(
        ApiKey.ALTER_USER_SCRAM_CREDENTIALS,
        Later("security.scram_users", "alter_user_scram_credentials"),
        rights="checks:ALTER_CLUSTER",
        large=WHOLE,
        longest=Longest(ErrorCode.POLICY_VIOLATION, ("deletions", "upsertions")),
        by_controller=True,
        refusal=Refusal.EACH_NAME,
        hides_in_request=hide_credentials,
    ),
    *QUORUM_APIS,
    Served(
        ApiKey.UPDATE_FEATURES,
        Later("cluster.features", "update_features"),
        rights="checks:ALTER_CLUSTER",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("feature_updates",)),
        by_controller=True,
    ),
    Served(
        ApiKey.DESCRIBE_CLUSTER,
        Later("cluster.cluster", "describe_cluster"),
        rights="topics:describe_cluster",
    ),
    Served(
        ApiKey.DESCRIBE_PRODUCERS,
        Later("transactions.describe_producers", "describe_producers"),
        rights="checks:DESCRIBE_PRODUCERS",
        large=Cut("topics.partition_indexes"),
    ),
    Served(
        ApiKey.DESCRIBE_TRANSACTIONS,
        Later("transactions.listing", "describe_transactions"),
        rights="transactions:describe_transactions",
        large=Cut("transactional_ids", explain_first),
    ),
    Served(
        ApiKey.UNREGISTER_BROKER,
        Later("controller.brokers", "command"),
        rights="checks:ALTER_CLUSTER",
        by_controller=True,
    ),
    Served(
        ApiKey.LIST_TRANSACTIONS,
        Later("transactions.listing", "list_transactions"),
        rights="checks:LIST_TRANSACTIONS",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("state_filters", "producer_id_filters")),
    ),
    Served(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        Later("groups.consumer_groups", "consumer_group_heartbeat"),
        rights="groups:consumer_group_heartbeat",
        large=WHOLE,
        longest=Longest(
            ErrorCode.INVALID_REQUEST, ("subscribed_topic_names", "topic_partitions.partitions")
        ),
    ),
    Served(
        ApiKey.CONSUMER_GROUP_DESCRIBE,
        Later("groups.consumer_groups", "consumer_group_describe"),
        rights="groups:consumer_group_describe",
        large=Cut("group_ids"),
    ),
    Served(
        ApiKey.GET_TELEMETRY_SUBSCRIPTIONS,
        Later("cluster.telemetry", "get_telemetry_subscriptions"),
        rights="whole:everybody",
    ),
    Served(
        ApiKey.PUSH_TELEMETRY,
        Later("cluster.telemetry", "push_telemetry"),
        rights="whole:everybody",
    ),
    Served(
        ApiKey.LIST_CONFIG_RESOURCES,
        Later("cluster.configs", "list_config_resources"),
        rights="checks:LIST_CONFIG_RESOURCES",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("resource_types",)),
    ),
    Served(
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        Later("topics.partitions", "describe_topic_partitions"),
        rights="topics:describe_topic_partitions",
        large=WHOLE,
        longest=Longest(ErrorCode.INVALID_REQUEST, ("topics",)),
    ),
    *SHARE_AND_STREAMS_APIS,
    *DELEGATION_TOKEN_APIS,
)

_OF_TELEMETRY: Final = frozenset({ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, ApiKey.PUSH_TELEMETRY})


def served(settings: Settings) -> tuple[Served, ...]:
    """Return ``SERVED`` as settings change it; requests for another controller are passed on."""
    unserved = frozenset() if settings.client_telemetry_enable else _OF_TELEMETRY
    given, has_controller = settings.api_versions_max, "controller" in settings.process_roles
    unstable = settings.unstable_api_versions_enable
    return _served(
        given, settings.kafka_release, unserved, unstable=unstable, has_controller=has_controller
    )


@cache
def _served(
    given: tuple[str, ...], release_name: str | None, unserved: frozenset[ApiKey], *,
    unstable: bool, has_controller: bool,
) -> tuple[Served, ...]:  # fmt: skip
    caps, release = parse_version_caps(given), release_of(release_name)
    apis = tuple(api for api in SERVED if api.key not in unserved)
    if release is not None:
        apis = tuple(api for api in apis if api.key in release.versions)
        caps = {key: high for key, (_, high) in release.versions.items()} | caps
    if caps or unstable:
        apis = tuple(api._replace(version_cap=caps.get(api.key), unstable=unstable) for api in apis)
    if has_controller:
        return apis
    from fencepost_broker.apis.forwarding import passed_on

    return tuple(map(passed_on, apis))
