"""The checks of APIs whose rights are simple, one line each, as in Apache Kafka."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorization import configs, groups, transactions
from fencepost_broker.apis.authorization.by_topics import ByTopics, Place, module_of
from fencepost_broker.apis.authorization.verdicts import Asked, Refused, Rest, Verdict
from fencepost_broker.apis.authorization.whole import (
    each_of,
    needs_cluster,
    needs_group,
    needs_transaction,
    only_some,
)
from fencepost_broker.apis.error_responses import refused_elements
from fencepost_broker.security.authorizer.acls import Operation

ALTER_CLUSTER: Final = needs_cluster(Operation.ALTER)
DESCRIBE_CLUSTER: Final = needs_cluster(Operation.DESCRIBE)
MEMBER: Final = needs_group(Operation.READ)
WRITE_TRANSACTION: Final = needs_transaction(Operation.WRITE)


def offsets_for_epochs(asked: Asked) -> Verdict:
    """Check DESCRIBE of each topic; followers, which also send this, need ClusterAction."""
    if asked.rights.of_cluster(Operation.CLUSTER_ACTION):
        return None
    return _EPOCHS(asked)


_EPOCHS: Final = ByTopics(Operation.DESCRIBE)


def create_partitions(asked: Asked) -> Verdict:
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


def describe_quotas(asked: Asked) -> Verdict:
    if asked.rights.of_cluster(Operation.DESCRIBE_CONFIGS):
        return None
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    response = module_of(asked.message).DescribeClientQuotasResponse
    return Refused(response(error_code=code, error_message=None, entries=None))


def describe_users(asked: Asked) -> Verdict:
    if asked.rights.of_cluster(Operation.DESCRIBE):
        return None
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    module = module_of(asked.message)
    # As in Kafka, which does not list the elements here.
    results = [
        module.DescribeUserScramCredentialsResult(error_code=code, error_message=None)
        for _ in asked.message.users or ()
    ]
    response = module.DescribeUserScramCredentialsResponse
    return Refused(response(error_code=code, error_message=None, results=results))


def move(asked: Asked) -> Verdict:
    """Check ALTER of the cluster; a refusal lists all replicas of the request."""
    if asked.rights.of_cluster(Operation.ALTER):
        return None
    message = asked.message
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    module = module_of(message)
    response = module.AlterReplicaLogDirsResponse()
    kinds = module.AlterReplicaLogDir, module.AlterReplicaLogDirsResponse
    for each in message.dirs:
        response.results += refused_elements(*kinds, "topics", each.topics, code, None)
    return Refused(response)


LIST_OFFSETS: Final = ByTopics(Operation.DESCRIBE)
OFFSET_COMMIT: Final = each_of(needs_group(Operation.READ), groups.COMMITTED)
LIST_GROUPS: Final = only_some(
    "groups",
    lambda asked, group: asked.rights.of_group(Operation.DESCRIBE, group.group_id),
    all_of_them=lambda asked: asked.rights.of_cluster(Operation.DESCRIBE),
)
DELETE_RECORDS: Final = ByTopics(Operation.DELETE)
ADD_OFFSETS_TO_TXN: Final = each_of(WRITE_TRANSACTION, needs_group(Operation.READ))
TXN_OFFSET_COMMIT: Final = each_of(
    needs_transaction(Operation.WRITE),
    needs_group(Operation.READ),
    transactions.COMMITTED,
)
DESCRIBE_CONFIGS: Final = configs.of_each_resource(
    Operation.DESCRIBE_CONFIGS, "results", "DescribeConfigsResult", denied_last=True
)
ALTER_CONFIGS: Final = configs.of_each_resource(
    Operation.ALTER_CONFIGS, "responses", "AlterConfigsResourceResponse"
)
INCREMENTAL_ALTER_CONFIGS: Final = configs.of_each_resource(
    Operation.ALTER_CONFIGS, "responses", "AlterConfigsResourceResponse"
)
OFFSET_DELETE: Final = each_of(needs_group(Operation.DELETE), groups.DELETED)
ALTER_CLIENT_QUOTAS: Final = needs_cluster(Operation.ALTER_CONFIGS)
DESCRIBE_PRODUCERS: Final = ByTopics(
    Operation.READ, Place.IN_PLACE, error_message="not authorized to read the topic"
)
LIST_TRANSACTIONS: Final = only_some(
    "transaction_states",
    lambda asked, each: asked.rights.of_transaction(Operation.DESCRIBE, each.transactional_id),
    all_of_them=lambda _: False,
)
LIST_CONFIG_RESOURCES: Final = needs_cluster(Operation.DESCRIBE_CONFIGS)
