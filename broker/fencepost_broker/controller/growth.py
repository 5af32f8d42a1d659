"""Adding partitions to topics: CreatePartitions."""

from __future__ import annotations

from collections import Counter

from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.controller.context import TOO_MANY_RECORDS, Context, Refusal
from fencepost_broker.controller.model import Topic
from fencepost_broker.machine import Decision, MetadataRecord


def create_partitions(
    context: Context, request: CreatePartitionsRequest
) -> Decision[CreatePartitionsResponse]:
    """Decides a CreatePartitions request, topic by topic."""
    times = Counter(topic.name for topic in request.topics)
    results: dict[str, CreatePartitionsTopicResult] = {}
    records: list[MetadataRecord] = []
    for topic in request.topics:
        if topic.name in results:
            continue
        result = results[topic.name] = CreatePartitionsTopicResult(topic.name)
        try:
            room = context.settings.records_per_request_max - len(records)
            records += _added(context, topic, times[topic.name], room)
        except Refusal as refusal:
            result.error_code, result.error_message = refusal.code, refusal.message
    response = CreatePartitionsResponse(results=list(results.values()))
    return Decision(response, () if request.validate_only else tuple(records))


def _added(
    context: Context, asked: CreatePartitionsTopic, times: int, room: int
) -> list[MetadataRecord]:
    if times > 1:
        raise Refusal(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    topic = context.image.topics.get(asked.name)
    if topic is None:
        raise Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
    has = len(topic.partitions)
    more = asked.count - has
    if more == 0:
        message = f"Topic already has {has} partition(s)."
        raise Refusal(ErrorCode.INVALID_PARTITIONS, message)
    if more < 0:
        message = (
            f"The topic {asked.name} currently has {has} partition(s); {asked.count} would not "
            "be an increase."
        )
        raise Refusal(ErrorCode.INVALID_PARTITIONS, message)
    if more > room:  # Kafka has no better answer to so many than UNKNOWN_SERVER_ERROR
        raise Refusal(ErrorCode.POLICY_VIOLATION, TOO_MANY_RECORDS)
    if asked.assignments is None:
        factor = len(topic.partitions[0].replicas)
        placed = context.place(more, factor)
    else:
        placed = _manual(context, topic, asked, more)
    return [
        context.new_partition(topic.topic_id, has + number, replicas, isr)
        for number, (replicas, isr) in enumerate(placed)
    ]


def _manual(
    context: Context, topic: Topic, asked: CreatePartitionsTopic, more: int
) -> list[tuple[list[int], list[int]]]:
    assignments = asked.assignments or []
    if len(assignments) != more:
        raise Refusal(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {more} additional partition(s), but only {len(assignments)} "
            "assignment(s) were specified.",
        )
    factor = len(topic.partitions[0].replicas)
    placed = []
    for number, assignment in enumerate(assignments):
        replicas = list(assignment.broker_ids)
        context.check_manual(replicas, factor)
        placed.append((replicas, context.manual_isr(replicas, len(topic.partitions) + number)))
    return placed
