"""Answers to what was passed on to the controller, and not answered in time.

REQUEST_TIMED_OUT stands wherever Apache Kafka's request of that API puts an error that is about all
of it. Nobody knows what became of the request.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any, Final

from fencepost_protocol.apis import Message, request_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_broker.apis.request import Request


def timed_out(request: Request, message: str) -> Message:
    """The response to a request that the controller has not answered."""
    key = ApiKey(request.api_key)
    asked = request_class(key).decode(request.frame, request.version, request.body)[0]
    return refused(key, asked, request.version, ErrorCode.REQUEST_TIMED_OUT, message)


def refused(
    key: ApiKey, asked: Message, version: int, code: ErrorCode, message: str | None
) -> Message:
    """The response to a request that is refused as a whole."""
    module = importlib.import_module(type(asked).__module__)
    made: Any = _BUILDERS.get(key, _one_code)(module, asked, code, message)
    if key is ApiKey.ELECT_LEADERS and not version:
        made.error_code = ErrorCode.NONE  # version 0 has errors of partitions only
    answer: Message = made
    return answer


def has_answer(key: ApiKey) -> bool:
    """Whether an API is known here."""
    return key in _BUILDERS


Build = Callable[[Any, Any, int, str | None], Any]
"""Makes a response from a generated module, a request, a code and words."""


def _one_code(module: Any, asked: Any, code: int, message: str | None) -> Any:
    """One error for all."""
    made = getattr(module, asked.NAME.removesuffix("Request") + "Response")(error_code=code)
    if "error_message" in made.__slots__:
        made.error_message = message
    return made


def _produced(module: Any, asked: Any, code: int, message: str | None) -> Any:
    topics = []
    for each in asked.topic_data:
        partitions = [
            module.PartitionProduceResponse(entry.index, code, -1, error_message=message)
            for entry in each.partition_data
        ]
        topics.append(module.TopicProduceResponse(each.name, each.topic_id, partitions))
    return module.ProduceResponse(topics)


def _topics_created(module: Any, asked: Any, code: int, message: str | None) -> Any:
    made = [
        module.CreatableTopicResult(each.name, error_code=code, error_message=message)
        for each in asked.topics
    ]
    return module.CreateTopicsResponse(topics=made)


def _topics_deleted(module: Any, asked: Any, code: int, message: str | None) -> Any:
    named = [(each.name, each.topic_id) for each in asked.topics]
    named += [(name, bytes(16)) for name in asked.topic_names]
    made = [module.DeletableTopicResult(*each, code, message) for each in named]
    return module.DeleteTopicsResponse(responses=made)


def _configs_altered(module: Any, asked: Any, code: int, message: str | None) -> Any:
    made = [
        module.AlterConfigsResourceResponse(code, message, each.resource_type, each.resource_name)
        for each in asked.resources
    ]
    return getattr(module, asked.NAME.removesuffix("Request") + "Response")(responses=made)


def _partitions_created(module: Any, asked: Any, code: int, message: str | None) -> Any:
    made = [module.CreatePartitionsTopicResult(each.name, code, message) for each in asked.topics]
    return module.CreatePartitionsResponse(results=made)


def _leaders_elected(module: Any, asked: Any, code: int, message: str | None) -> Any:
    def partitions(numbers: Iterable[int]) -> list[Any]:
        return [module.PartitionResult(number, code, message) for number in numbers]

    made = [
        module.ReplicaElectionResult(each.topic, partitions(each.partitions))
        for each in asked.topic_partitions or ()
    ]
    return module.ElectLeadersResponse(error_code=code, replica_election_results=made)


def _reassigned(module: Any, asked: Any, code: int, message: str | None) -> Any:
    def partitions(topic: Any) -> list[Any]:
        return [
            module.ReassignablePartitionResponse(each.partition_index, code, message)
            for each in topic.partitions
        ]

    made = [module.ReassignableTopicResponse(each.name, partitions(each)) for each in asked.topics]
    return module.AlterPartitionReassignmentsResponse(
        error_code=code, error_message=message, responses=made
    )


def _reassignments(module: Any, asked: Any, code: int, message: str | None) -> Any:
    made = [
        module.OngoingTopicReassignment(
            each.name, [module.OngoingPartitionReassignment(n) for n in each.partition_indexes]
        )
        for each in asked.topics or ()
    ]
    return module.ListPartitionReassignmentsResponse(
        error_code=code, error_message=message, topics=made
    )


def _quotas_altered(module: Any, asked: Any, code: int, message: str | None) -> Any:
    made = [
        module.AlterClientQuotasResponseEntryData(
            code,
            message,
            [
                module.AlterClientQuotasResponseEntityData(each.entity_type, each.entity_name)
                for each in entry.entity
            ],
        )
        for entry in asked.entries
    ]
    return module.AlterClientQuotasResponse(entries=made)


def _users_altered(module: Any, asked: Any, code: int, message: str | None) -> Any:
    users = dict.fromkeys(each.name for each in (*asked.deletions, *asked.upsertions))
    made = [module.AlterUserScramCredentialsResult(each, code, message) for each in users]
    return module.AlterUserScramCredentialsResponse(results=made)


def _acls_created(module: Any, asked: Any, code: int, message: str | None) -> Any:
    made = [module.AclCreationResult(code, message) for _ in asked.creations]
    return module.CreateAclsResponse(results=made)


def _acls_deleted(module: Any, asked: Any, code: int, message: str | None) -> Any:
    made = [module.DeleteAclsFilterResult(code, message) for _ in asked.filters]
    return module.DeleteAclsResponse(filter_results=made)


def _offsets_committed(module: Any, asked: Any, code: int, message: str | None) -> Any:
    del message
    name = asked.NAME.removesuffix("Request") + "Response"
    of_topic, of_partition = (getattr(module, f"{name}{part}") for part in ("Topic", "Partition"))
    made = []
    for each in asked.topics:
        topic = of_topic(each.name)
        if "topic_id" in of_topic.__slots__:
            topic.topic_id = each.topic_id
        topic.partitions = [of_partition(p.partition_index, code) for p in each.partitions]
        made.append(topic)
    return getattr(module, name)(topics=made)


def _offsets_fetched(module: Any, asked: Any, code: int, message: str | None) -> Any:
    del message
    groups = [module.OffsetFetchResponseGroup(each.group_id, [], code) for each in asked.groups]
    return module.OffsetFetchResponse(error_code=0 if groups else code, groups=groups)


def _partitions_described(module: Any, asked: Any, code: int, message: str | None) -> Any:
    del message
    made = [module.DescribeTopicPartitionsResponseTopic(code, each.name) for each in asked.topics]
    return module.DescribeTopicPartitionsResponse(topics=made)


def _partitions_added(module: Any, asked: Any, code: int, message: str | None) -> Any:
    del message

    def topics(added: Iterable[Any]) -> list[Any]:
        of_partition = module.AddPartitionsToTxnPartitionResult
        return [
            module.AddPartitionsToTxnTopicResult(
                each.name, [of_partition(number, code) for number in each.partitions]
            )
            for each in added
        ]

    return module.AddPartitionsToTxnResponse(
        results_by_transaction=[
            module.AddPartitionsToTxnResult(each.transactional_id, topics(each.topics))
            for each in asked.transactions
        ],
        results_by_topic_v3_and_below=topics(asked.v3_and_below_topics),
    )


_BUILDERS: Final[dict[ApiKey, Build]] = {
    ApiKey.PRODUCE: _produced,
    ApiKey.CREATE_ACLS: _acls_created,
    ApiKey.CREATE_TOPICS: _topics_created,
    ApiKey.DELETE_ACLS: _acls_deleted,
    ApiKey.DELETE_TOPICS: _topics_deleted,
    ApiKey.ALTER_CONFIGS: _configs_altered,
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _configs_altered,
    ApiKey.CREATE_PARTITIONS: _partitions_created,
    ApiKey.ELECT_LEADERS: _leaders_elected,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _reassigned,
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _reassignments,
    ApiKey.ALTER_CLIENT_QUOTAS: _quotas_altered,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _users_altered,
    ApiKey.OFFSET_FETCH: _offsets_fetched,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: _partitions_described,
    ApiKey.ADD_PARTITIONS_TO_TXN: _partitions_added,
    ApiKey.OFFSET_COMMIT: _offsets_committed,
    ApiKey.TXN_OFFSET_COMMIT: _offsets_committed,
    ApiKey.DESCRIBE_QUORUM: _one_code,
    ApiKey.UNREGISTER_BROKER: _one_code,
    ApiKey.UPDATE_FEATURES: _one_code,
}
