"""CreatePartitions: more partitions for topics."""

from __future__ import annotations

from collections import Counter

from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.controller.context import Context, Refusal, given_twice, too_many_records
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.model import Topic


def create_partitions(
    context: Context, request: CreatePartitionsRequest
) -> Decision[CreatePartitionsResponse]:
    """Decide a CreatePartitions request, topic by topic."""
    times = Counter(topic.name for topic in request.topics)
    results: dict[str, CreatePartitionsTopicResult] = {}
    records: list[MetadataRecord] = []
    for topic in request.topics:
        if topic.name in results:
            continue
        result = results[topic.name] = CreatePartitionsTopicResult(topic.name)
        try:
            if times[topic.name] > 1:
                raise given_twice(f"topic {topic.name}")
            records += _added(context, topic, len(records))
        except Refusal as refusal:
            result.error_code, result.error_message = refusal.code, refusal.message
    response = CreatePartitionsResponse(results=list(results.values()))
    return Decision(response, () if request.validate_only else tuple(records))


def _added(
    context: Context, asked: CreatePartitionsTopic, records_before: int
) -> list[MetadataRecord]:
    """Return the records of one topic's new partitions."""
    topic = context.image.topics.by_name.get(asked.name)
    if topic is None:  # as in Kafka, the code says it all
        raise Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
    has = len(topic.partitions)
    more = asked.count - has
    if more <= 0:
        raise Refusal(
            ErrorCode.INVALID_PARTITIONS,
            f"topic {asked.name} has {has} partitions, and partitions can only be added: ask for "
            f"more than that, not for {asked.count}",
        )
    most = context.settings.records_per_request_max
    if records_before + more > most:  # Kafka has no better answer than UNKNOWN_SERVER_ERROR
        raise too_many_records(most)
    if asked.assignments is not None and len(asked.assignments) != more:
        raise Refusal(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"new partitions: {more}, assignments: {len(asked.assignments)}; assign every new "
            "partition, or none",
        )
    context.charge(more)
    if asked.assignments is None:
        factor = len(topic.partitions[0].replicas)
        placed = context.place(more, factor)
    else:
        placed = _manual(context, topic, asked.assignments)
    return [
        context.new_partition(topic.topic_id, has + number, replicas, isr)
        for number, (replicas, isr) in enumerate(placed)
    ]


def _manual(
    context: Context, topic: Topic, assignments: list[CreatePartitionsAssignment]
) -> list[tuple[list[int], list[int]]]:
    factor = len(topic.partitions[0].replicas)
    placed = []
    for number, assignment in enumerate(assignments, len(topic.partitions)):
        replicas = list(assignment.broker_ids)
        context.check_manual(number, replicas, factor)
        placed.append((replicas, context.manual_isr(replicas, number)))
    return placed
