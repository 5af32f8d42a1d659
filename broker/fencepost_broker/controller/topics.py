"""Creating topics: what is refused, in which order, and what is written.

Order of the checks, as Kafka 4.3 answers them: a name given twice and the
metadata log's own name; the size of the whole request; the name; whether it exists; its settings;
assignments, replication factor, number of partitions; whether there are brokers for it.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from fencepost_protocol.generated.config_record import ConfigRecord
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.topic_record import TopicRecord
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.controller.context import (
    TOO_MANY_PARTITIONS,
    TOO_MANY_RECORDS,
    Context,
    Refusal,
)
from fencepost_broker.controller.model import ResourceType
from fencepost_broker.controller.names import name_problem
from fencepost_broker.machine import Decision, MetadataRecord

METADATA_TOPIC: Final = "__cluster_metadata"
USE_DEFAULT: Final = -1


def create_topics(context: Context, request: CreateTopicsRequest) -> Decision[CreateTopicsResponse]:
    """Decides a CreateTopics request; the answer has a result for each name, in request order."""
    results: dict[str, CreatableTopicResult] = {}
    wanted: list[CreatableTopic] = []
    refused: list[CreatableTopicResult] = []
    times = Counter(topic.name for topic in request.topics)
    for topic in request.topics:
        if topic.name in results:
            continue
        if times[topic.name] > 1:
            result = _refused(topic.name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            refused.append(result)
        elif topic.name == METADATA_TOPIC:
            message = f"Creation of internal topic {METADATA_TOPIC} is prohibited."
            result = _refused(topic.name, ErrorCode.INVALID_REQUEST, message)
            refused.append(result)
        else:
            wanted.append(topic)
            continue
        results[topic.name] = result
    answers, records = _create(context, wanted)
    response = CreateTopicsResponse(topics=[*answers, *refused])
    return Decision(response, () if request.validate_only else tuple(records))


def _create(
    context: Context, wanted: list[CreatableTopic]
) -> tuple[list[CreatableTopicResult], list[MetadataRecord]]:
    most = context.settings.records_per_request_max
    if sum(_partitions_asked(context, topic) for topic in wanted) > most:
        return _all_refused(wanted, TOO_MANY_PARTITIONS), []
    results = []
    records: list[MetadataRecord] = []
    for topic in wanted:
        try:
            made = _create_one(context, topic)
        except Refusal as refusal:
            results.append(_refused(topic.name, refusal.code, refusal.message))
            continue
        records += made
        if len(records) > most:
            return _all_refused(wanted, TOO_MANY_RECORDS), []
        results.append(_created(context, topic, made))
    return results, records


def _partitions_asked(context: Context, topic: CreatableTopic) -> int:
    if topic.assignments:
        return len(topic.assignments)
    if topic.num_partitions == USE_DEFAULT:
        return context.settings.num_partitions
    return max(topic.num_partitions, 0)


def _create_one(context: Context, topic: CreatableTopic) -> list[MetadataRecord]:
    problem = name_problem(topic.name)
    if problem is not None:
        raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if topic.name in context.image.topics:
        message = f"Topic '{topic.name}' already exists."
        raise Refusal(ErrorCode.TOPIC_ALREADY_EXISTS, message)
    other = context.image.colliding_topic(topic.name)
    if other is not None:
        message = f"Topic '{topic.name}' collides with existing topic: {other}"
        raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    configs = _checked_configs(context, topic)
    replicas = _manual(context, topic) if topic.assignments else _placed(context, topic)
    topic_id = context.new_topic_id()
    records = [MetadataRecord(TopicRecord(topic.name, topic_id), 0)]
    for name, value in configs.items():
        config = ConfigRecord(ResourceType.TOPIC, topic.name, name, value)
        records.append(MetadataRecord(config, 0))
    for number, (holders, isr) in enumerate(replicas):
        records.append(context.new_partition(topic_id, number, holders, isr))
    return records


def _checked_configs(context: Context, topic: CreatableTopic) -> dict[str, str]:
    empty = [config.name for config in topic.configs if config.value is None]
    if empty:
        message = f"Null value not supported for topic configs: {','.join(empty)}"
        raise Refusal(ErrorCode.INVALID_CONFIG, message)
    configs = {each.name: each.value for each in topic.configs if each.value is not None}
    problem = context.rules.topic_refusal(configs) if configs else None
    if problem is not None:
        raise Refusal(ErrorCode.INVALID_CONFIG, problem)
    return configs


def _manual(context: Context, topic: CreatableTopic) -> list[tuple[list[int], list[int]]]:
    for value, what in (
        (topic.replication_factor, "replication factor"),
        (topic.num_partitions, "numPartitions"),
    ):
        if value != USE_DEFAULT:
            message = f"A manual partition assignment was specified, but {what} was not set to -1."
            raise Refusal(ErrorCode.INVALID_REQUEST, message)
    wrong = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    found: dict[int, tuple[list[int], list[int]]] = {}
    factor: int | None = None
    for assignment in topic.assignments:
        number = assignment.partition_index
        if number in found:
            message = f"Found multiple manual partition assignments for partition {number}"
            raise Refusal(wrong, message)
        holders = list(assignment.broker_ids)
        context.check_manual(holders, factor)
        factor = len(holders)
        found[number] = (holders, context.manual_isr(holders, number))
    if any(number not in found for number in range(len(found))):
        message = "partitions should be a consecutive 0-based integer sequence"
        raise Refusal(wrong, message)
    return [found[number] for number in range(len(found))]


def _placed(context: Context, topic: CreatableTopic) -> list[tuple[list[int], list[int]]]:
    factor = topic.replication_factor
    if factor < USE_DEFAULT or factor == 0:
        message = "Replication factor must be larger than 0, or -1 to use the default value."
        raise Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    count = topic.num_partitions
    if count < USE_DEFAULT or count == 0:
        message = "Number of partitions was set to an invalid non-positive value."
        raise Refusal(ErrorCode.INVALID_PARTITIONS, message)
    if factor == USE_DEFAULT:
        factor = context.settings.default_replication_factor
    if count == USE_DEFAULT:
        count = context.settings.num_partitions
    return context.place(count, factor)


def _created(
    context: Context, topic: CreatableTopic, records: list[MetadataRecord]
) -> CreatableTopicResult:
    configs: dict[str, str] = {}
    topic_id = ZERO_UUID
    partitions = []
    for record in records:
        match record.message:
            case TopicRecord() as message:
                topic_id = message.topic_id
            case ConfigRecord(name=name, value=str(value)):
                configs[name] = value
            case PartitionRecord() as partition:
                partitions.append(partition)
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=len(partitions),
        replication_factor=len(partitions[0].replicas),
        configs=context.describe_topic(configs),
    )


def _refused(name: str, code: ErrorCode, message: str | None) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=code, error_message=message)


def _all_refused(wanted: list[CreatableTopic], message: str) -> list[CreatableTopicResult]:
    return [_refused(topic.name, ErrorCode.POLICY_VIOLATION, message) for topic in wanted]
