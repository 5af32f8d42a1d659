"""CreateTopics: checks and records.

Order of the checks, as in Kafka 4.3: a name given twice and the metadata log's own name; the size
of the whole request; the name; whether it exists; its settings; assignments, replication factor,
number of partitions; whether there are brokers for it; the client's quota.
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
    NAMES_TOLD,
    Context,
    Refusal,
    given_twice,
    invalid_request,
    too_many_records,
)
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.model import ResourceType
from fencepost_broker.metadata.names import METADATA_TOPIC, name_problem

USE_DEFAULT: Final = -1


def create_topics(context: Context, request: CreateTopicsRequest) -> Decision[CreateTopicsResponse]:
    """Decide a CreateTopics request; the answer has a result for each name, in request order."""
    refused: dict[str, CreatableTopicResult] = {}
    wanted: list[CreatableTopic] = []
    times = Counter(topic.name for topic in request.topics)
    for topic in request.topics:
        if topic.name in refused:
            continue
        if times[topic.name] > 1:
            refusal = given_twice(f"topic {topic.name}")
        elif topic.name == METADATA_TOPIC:
            refusal = invalid_request(f"{METADATA_TOPIC} is the controller's own topic")
        else:
            wanted.append(topic)
            continue
        refused[topic.name] = _refused(topic.name, refusal)
    answers, records = _create(context, wanted)
    response = CreateTopicsResponse(topics=[*answers, *refused.values()])
    return Decision(response, () if request.validate_only else tuple(records))


def _create(
    context: Context, wanted: list[CreatableTopic]
) -> tuple[list[CreatableTopicResult], list[MetadataRecord]]:
    most = context.settings.records_per_request_max
    asked = sum(_partitions_asked(context, topic) for topic in wanted)
    if asked > most:
        message = f"a request may create {most} partitions, and this one asks for {asked}: split it"
        return _all_refused(wanted, Refusal(ErrorCode.POLICY_VIOLATION, message)), []
    results = []
    records: list[MetadataRecord] = []
    for topic in wanted:
        try:
            made = _create_one(context, topic)
        except Refusal as refusal:
            results.append(_refused(topic.name, refusal))
            continue
        records += made
        if len(records) > most:
            return _all_refused(wanted, too_many_records(most)), []
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
    if topic.name in context.image.topics.by_name:
        message = f"topic {topic.name} exists already"
        raise Refusal(ErrorCode.TOPIC_ALREADY_EXISTS, message)
    other = context.image.topics.colliding(topic.name)
    if other is not None:
        message = (
            f"topic {other} exists, and metrics, which replace '.' by '_', could not distinguish"
            " the two: choose another name"
        )
        raise Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    configs = _checked_configs(context, topic)
    replicas = _manual(context, topic) if topic.assignments else _placed(context, topic)
    context.charge(len(replicas))
    topic_id = context.new_topic_id()
    records = [MetadataRecord(TopicRecord(topic.name, topic_id), 0)]
    records += context.setting_records(ResourceType.TOPIC, topic.name, configs)
    for number, (holders, isr) in enumerate(replicas):
        records.append(context.new_partition(topic_id, number, holders, isr))
    return records


def _checked_configs(context: Context, topic: CreatableTopic) -> dict[str, str]:
    records_max = context.settings.records_per_request_max
    given = topic.configs[:records_max]
    empty = [config.name for config in given if config.value is None]
    if empty:
        message = (
            f"{', '.join(empty[:NAMES_TOLD])}: a setting needs a value: set it or leave it out"
        )
        raise Refusal(ErrorCode.INVALID_CONFIG, message)
    configs = {each.name: each.value for each in given if each.value is not None}
    problem = context.rules.topic_refusal(configs) if configs else None
    if problem is not None:
        raise Refusal(ErrorCode.INVALID_CONFIG, problem)
    if len(topic.configs) > records_max:
        raise too_many_records(records_max)
    return configs


def _manual(context: Context, topic: CreatableTopic) -> list[tuple[list[int], list[int]]]:
    for value, what in (
        (topic.replication_factor, "replication factor"),
        (topic.num_partitions, "number of partitions"),
    ):
        if value != USE_DEFAULT:
            raise invalid_request(f"assignments determine the {what}: it must be -1, not {value}")
    wrong = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    found: dict[int, tuple[list[int], list[int]]] = {}
    factor: int | None = None
    for assignment in topic.assignments:
        number = assignment.partition_index
        if number in found:
            raise Refusal(wrong, f"partition {number} has two assignments: give it one")
        holders = list(assignment.broker_ids)
        context.check_manual(number, holders, factor)
        factor = len(holders)
        found[number] = (holders, context.manual_isr(holders, number))
    missing = next((number for number in range(len(found)) if number not in found), None)
    if missing is not None:
        message = (
            f"partition {missing} has no assignment: with {len(found)} of them, partitions are "
            f"numbered 0 to {len(found) - 1}"
        )
        raise Refusal(wrong, message)
    return [found[number] for number in range(len(found))]


def _placed(context: Context, topic: CreatableTopic) -> list[tuple[list[int], list[int]]]:
    factor = topic.replication_factor
    if factor < USE_DEFAULT or factor == 0:
        message = (
            f"the replication factor must be -1 (the broker's default) or at least 1, not {factor}"
        )
        raise Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    count = topic.num_partitions
    if count < USE_DEFAULT or count == 0:
        message = (
            f"the number of partitions must be -1 (the broker's default) or at least 1, not {count}"
        )
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


def _refused(name: str, refusal: Refusal) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=refusal.code, error_message=refusal.message)


def _all_refused(wanted: list[CreatableTopic], refusal: Refusal) -> list[CreatableTopicResult]:
    return [_refused(topic.name, refusal) for topic in wanted]
