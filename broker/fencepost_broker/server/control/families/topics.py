"""Topics and their partitions."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.primitives import uuid_text
from msgspec import Meta, Struct

from fencepost_broker.coordinator.runtime.explaining import Explaining
from fencepost_broker.observability.explained import ExplainedPartition
from fencepost_broker.server.control.cluster import Cluster
from fencepost_broker.server.control.in_cluster import any_broker
from fencepost_broker.server.control.problems import ProblemError, not_found
from fencepost_broker.server.control.routes import Asked, ControlContext, Route

_NAMED: Final = {
    ErrorCode.TOPIC_ALREADY_EXISTS: HTTPStatus.CONFLICT,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: HTTPStatus.NOT_FOUND,
}


class PartitionState(Struct, frozen=True):
    """A partition."""

    partition: int
    leader: Annotated[int, Meta(description="the id of its leader; -1: none")]
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


class TopicState(Struct, frozen=True):
    """A topic."""

    name: str
    topic_id: str
    partitions: list[PartitionState]


class Topics(Struct, frozen=True):
    """All topics."""

    topics: list[TopicState]


class NewTopic(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A topic to create."""

    name: str
    partitions: Annotated[int, Meta(description="-1: as num.partitions says")] = -1
    replication_factor: Annotated[
        int, Meta(description="-1: as default.replication.factor says")
    ] = -1
    configs: Annotated[dict[str, str], Meta(description="settings by Kafka's names")] = {}


class TopicName(Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a topic."""

    topic: str


class PartitionName(Struct, frozen=True, forbid_unknown_fields=True):
    """A partition of a topic."""

    topic: str
    partition: Annotated[int, Meta(ge=0)]


def list_topics(context: ControlContext) -> Topics:
    """Return all topics, sorted by name."""
    topics = context.process.server.image.topics.by_name
    return Topics([_state(topics[name]) for name in sorted(topics)])


def _state(topic: Any) -> TopicState:
    return TopicState(
        topic.name,
        uuid_text(topic.topic_id),
        [
            PartitionState(each.partition_id, each.leader, each.replicas, each.isr)
            for each in topic.in_order()
        ],
    )


async def create_topic(context: ControlContext, new: NewTopic) -> TopicState:
    """Create a topic, as CreateTopics does."""
    configs = [CreatableTopicConfig(name, value) for name, value in new.configs.items()]
    wanted = CreatableTopic(new.name, new.partitions, new.replication_factor, configs=configs)
    answer = await context.process.ask(CreateTopicsRequest(topics=[wanted]))
    _check(answer, lambda: answer.topics[0], "body, $.name")
    return _state(context.process.server.image.topics.by_name[new.name])


async def delete_topic(context: ControlContext, named: TopicName) -> None:
    """Delete a topic, as DeleteTopics does."""
    topics = context.process.server.image.topics.by_name
    if named.topic not in topics:
        raise not_found("topic", named.topic, topics, where="path, $.topic")
    answer = await context.process.ask(DeleteTopicsRequest([DeleteTopicState(named.topic)]))
    _check(answer, lambda: answer.responses[0], "path, $.topic")


def _check(answer: Any, result: Any, where: str) -> None:
    if answer is None:
        raise ProblemError(
            HTTPStatus.SERVICE_UNAVAILABLE, "the connection to the controller was lost"
        )
    code = ErrorCode(result().error_code)
    if code is not ErrorCode.NONE:
        status = _NAMED.get(code, HTTPStatus.UNPROCESSABLE_ENTITY)
        raise ProblemError(status, f"{code.name}: {result().error_message}", where=where)


def explain_partition(context: ControlContext, named: PartitionName) -> ExplainedPartition:
    """Explain how far readers of committed records can read, and which transaction blocks them."""
    topics = context.server.image.topics.by_name
    if named.topic not in topics:
        raise not_found("topic", named.topic, topics, where="path, $.topic")
    told = Explaining(context.coordinators).partition(named.topic, named.partition)
    if told is None:
        numbers = map(str, topics[named.topic].partitions)
        raise not_found("partition", str(named.partition), numbers, where="path, $.partition")
    return told


async def _explain_in_cluster(cluster: Cluster, route: Route, asked: Asked) -> ExplainedPartition:
    """Return what the leader says: it has the highest offsets.

    Which transaction holds the last stable offset, and whether it hangs, its coordinator knows.
    """
    answers = await cluster.try_all(cluster.running_brokers, route, asked)
    told = [each for each in answers.values() if not isinstance(each, ProblemError)]
    if not told:
        raise next(iter(answers.values()))
    leader: ExplainedPartition = max(
        told, key=lambda each: (each.high_watermark, each.last_stable_offset)
    )
    if leader.holder is None or not leader.holder.hangs:
        return leader
    first = leader.holder.producer_id, leader.holder.start_offset
    for each in told:
        at = each.holder
        if at is not None and not at.hangs and (at.producer_id, at.start_offset) == first:
            return replace(leader, holder=at)
    return leader


ROUTES: Final = (
    Route("GET", "/v1/topics", list_topics, "all topics", response=Topics, in_cluster=any_broker),
    Route(
        "POST",
        "/v1/topics",
        create_topic,
        "create a topic",
        request=NewTopic,
        response=TopicState,
        status=HTTPStatus.CREATED,
        in_cluster=any_broker,
        errors=(
            HTTPStatus.CONFLICT,
            HTTPStatus.UNPROCESSABLE_ENTITY,
            HTTPStatus.SERVICE_UNAVAILABLE,
        ),
    ),
    Route(
        "DELETE",
        "/v1/topics/{topic}",
        delete_topic,
        "delete a topic",
        request=TopicName,
        in_cluster=any_broker,
        errors=(
            HTTPStatus.NOT_FOUND,
            HTTPStatus.UNPROCESSABLE_ENTITY,
            HTTPStatus.SERVICE_UNAVAILABLE,
        ),
    ),
    Route(
        "GET",
        "/v1/topics/{topic}/partitions/{partition}",
        explain_partition,
        "how far readers of committed records can read, and which transaction blocks them",
        request=PartitionName,
        response=ExplainedPartition,
        in_cluster=_explain_in_cluster,
        errors=(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
    ),
)
