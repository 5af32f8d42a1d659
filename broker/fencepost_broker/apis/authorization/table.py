"""What each API asks of who sends it: one line each, as Apache Kafka has it.

An API that is served and does not stand here is refused (``tests/unit/test_authorization_table.py``
does not let it come to that).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.authorization import configs, data, groups, topics, transactions
from fencepost_broker.apis.authorization.by_topics import ByTopics, Place, Shape, module_of
from fencepost_broker.apis.authorization.verdicts import Asked, Check, Refused, Rest, Verdict
from fencepost_broker.apis.authorization.whole import (
    each_of,
    everybody,
    needs_cluster,
    needs_group,
    needs_transaction,
    only_some,
)
from fencepost_broker.security.authorizer.acls import Operation

_ALTER_CLUSTER: Final = needs_cluster(Operation.ALTER)
_DESCRIBE_CLUSTER: Final = needs_cluster(Operation.DESCRIBE)
_MEMBER: Final = needs_group(Operation.READ)
_WRITE_TRANSACTION: Final = needs_transaction(Operation.WRITE)


def _offsets_for_epochs(asked: Asked) -> Verdict:
    """Followers ask, too, who may know of all topics."""
    if asked.rights.of_cluster(Operation.CLUSTER_ACTION):
        return None
    return _EPOCHS(asked)


_EPOCHS: Final = ByTopics(
    Operation.DESCRIBE,
    Shape("OffsetForLeaderTopicResult", "EpochEndOffset"),
)


def _create_partitions(asked: Asked) -> Verdict:
    message, may = asked.message, asked.rights.of_topic
    denied = [each for each in message.topics if not may(Operation.ALTER, each.name)]
    if not denied:
        return None
    message.topics = [each for each in message.topics if may(Operation.ALTER, each.name)]
    make = module_of(message).CreatePartitionsTopicResult
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED

    def complete(response: object) -> None:
        told = response.results  # type: ignore[attr-defined]
        response.results = [*(make(each.name, code) for each in denied), *told]  # type: ignore[attr-defined]

    return Rest(complete, is_left=bool(message.topics))


def _describe_quotas(asked: Asked) -> Verdict:
    if asked.rights.of_cluster(Operation.DESCRIBE_CONFIGS):
        return None
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    response = module_of(asked.message).DescribeClientQuotasResponse
    return Refused(response(error_code=code, error_message=None, entries=None))


def _describe_users(asked: Asked) -> Verdict:
    if asked.rights.of_cluster(Operation.DESCRIBE):
        return None
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    module = module_of(asked.message)
    # As in Kafka, which names nobody here.
    results = [
        module.DescribeUserScramCredentialsResult(error_code=code, error_message=None)
        for _ in asked.message.users or ()
    ]
    response = module.DescribeUserScramCredentialsResponse
    return Refused(response(error_code=code, error_message=None, results=results))


def _move(asked: Asked) -> Verdict:
    """All replicas that are to be in other directories."""
    if asked.rights.of_cluster(Operation.ALTER):
        return None
    message = asked.message
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    response = module_of(message).AlterReplicaLogDirsResponse()
    response.results = [
        _MOVED.refused(message, topic, code) for each in message.dirs for topic in each.topics
    ]
    return Refused(response)


_MOVED: Final = Shape("AlterReplicaLogDirTopicResult", "AlterReplicaLogDirPartitionResult")


CHECKS: Final[Mapping[ApiKey, Check]] = {
    ApiKey.PRODUCE: data.produce,
    ApiKey.FETCH: everybody,  # asked for each topic where it is looked up: see `fetching.py`
    ApiKey.LIST_OFFSETS: ByTopics(
        Operation.DESCRIBE, Shape("ListOffsetsTopicResponse", "ListOffsetsPartitionResponse")
    ),
    ApiKey.METADATA: topics.metadata,
    ApiKey.OFFSET_COMMIT: each_of(
        needs_group(Operation.READ, groups.OFFSET_COMMIT), groups.COMMITTED
    ),
    ApiKey.OFFSET_FETCH: groups.offset_fetch,
    ApiKey.FIND_COORDINATOR: transactions.find_coordinator,
    ApiKey.JOIN_GROUP: groups.join_group,
    ApiKey.HEARTBEAT: _MEMBER,
    ApiKey.LEAVE_GROUP: _MEMBER,
    ApiKey.SYNC_GROUP: groups.sync_group,
    ApiKey.DESCRIBE_GROUPS: groups.describe_groups,
    ApiKey.LIST_GROUPS: only_some(
        "groups",
        lambda asked, group: asked.rights.of_group(Operation.DESCRIBE, group.group_id),
        all_of_them=lambda asked: asked.rights.of_cluster(Operation.DESCRIBE),
    ),
    ApiKey.API_VERSIONS: everybody,
    ApiKey.SASL_HANDSHAKE: everybody,
    ApiKey.SASL_AUTHENTICATE: everybody,
    ApiKey.CREATE_TOPICS: topics.create_topics,
    ApiKey.DELETE_TOPICS: topics.delete_topics,
    ApiKey.DELETE_RECORDS: ByTopics(
        Operation.DELETE,
        Shape(
            "DeleteRecordsTopicResult", "DeleteRecordsPartitionResult", values={"low_watermark": -1}
        ),
    ),
    ApiKey.INIT_PRODUCER_ID: transactions.init_producer_id,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: _offsets_for_epochs,
    ApiKey.ADD_PARTITIONS_TO_TXN: transactions.add_partitions_to_txn,
    ApiKey.ADD_OFFSETS_TO_TXN: each_of(_WRITE_TRANSACTION, needs_group(Operation.READ)),
    ApiKey.END_TXN: transactions.end_txn,
    ApiKey.WRITE_TXN_MARKERS: transactions.write_txn_markers,
    ApiKey.TXN_OFFSET_COMMIT: each_of(
        needs_transaction(Operation.WRITE, transactions.TXN_OFFSET_COMMIT),
        needs_group(Operation.READ, transactions.TXN_OFFSET_COMMIT),
        transactions.COMMITTED,
    ),
    ApiKey.DESCRIBE_ACLS: _DESCRIBE_CLUSTER,
    ApiKey.CREATE_ACLS: _ALTER_CLUSTER,
    ApiKey.DELETE_ACLS: _ALTER_CLUSTER,
    ApiKey.DESCRIBE_CONFIGS: configs.of_each_resource(
        Operation.DESCRIBE_CONFIGS, "results", "DescribeConfigsResult", denied_last=True
    ),
    ApiKey.ALTER_CONFIGS: configs.of_each_resource(
        Operation.ALTER_CONFIGS, "responses", "AlterConfigsResourceResponse"
    ),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: configs.of_each_resource(
        Operation.ALTER_CONFIGS, "responses", "AlterConfigsResourceResponse"
    ),
    ApiKey.LIST_CONFIG_RESOURCES: needs_cluster(Operation.DESCRIBE_CONFIGS),
    ApiKey.ALTER_REPLICA_LOG_DIRS: _move,
    ApiKey.DESCRIBE_LOG_DIRS: _DESCRIBE_CLUSTER,
    ApiKey.CREATE_PARTITIONS: _create_partitions,
    ApiKey.DELETE_GROUPS: groups.delete_groups,
    ApiKey.ELECT_LEADERS: _ALTER_CLUSTER,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _ALTER_CLUSTER,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _DESCRIBE_CLUSTER,
    ApiKey.OFFSET_DELETE: each_of(needs_group(Operation.DELETE), groups.DELETED),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: _describe_quotas,
    ApiKey.ALTER_CLIENT_QUOTAS: needs_cluster(Operation.ALTER_CONFIGS),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: _describe_users,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _ALTER_CLUSTER,
    ApiKey.DESCRIBE_QUORUM: _DESCRIBE_CLUSTER,
    ApiKey.UPDATE_FEATURES: _ALTER_CLUSTER,
    ApiKey.DESCRIBE_CLUSTER: topics.describe_cluster,
    ApiKey.DESCRIBE_PRODUCERS: ByTopics(
        Operation.READ,
        Shape(
            "TopicResponse",
            "PartitionResponse",
            asked_partitions="partition_indexes",
            values={"error_message": "not authorized to read the topic"},
        ),
        Place.IN_PLACE,
    ),
    ApiKey.DESCRIBE_TRANSACTIONS: transactions.describe_transactions,
    ApiKey.UNREGISTER_BROKER: _ALTER_CLUSTER,
    ApiKey.LIST_TRANSACTIONS: only_some(
        "transaction_states",
        lambda asked, each: asked.rights.of_transaction(Operation.DESCRIBE, each.transactional_id),
        all_of_them=lambda _: False,
    ),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: groups.consumer_group_heartbeat,
    ApiKey.CONSUMER_GROUP_DESCRIBE: groups.consumer_group_describe,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: topics.describe_topic_partitions,
    # What brokers ask each other and the controller: asked by `cluster_action.py`.
    ApiKey.ALTER_PARTITION: everybody,
    ApiKey.ENVELOPE: everybody,
    ApiKey.FETCH_SNAPSHOT: everybody,
    ApiKey.BROKER_REGISTRATION: everybody,
    ApiKey.BROKER_HEARTBEAT: everybody,
    ApiKey.ALLOCATE_PRODUCER_IDS: everybody,
}
