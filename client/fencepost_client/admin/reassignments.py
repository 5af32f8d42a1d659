"""Moving replicas to other brokers (KIP-455)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

from fencepost_client.admin.fan_out import (
    ItemRequest,
    ItemResult,
    ask_at,
    by_topic,
    gather,
    require,
)
from fencepost_client.errors import admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import Ask, Controller, Procedure, retry
from fencepost_client.types import TopicPartition

_FACTOR_FROM: Final = 1


class Reassignment(NamedTuple):
    """A reassignment of a partition: its current replicas, those added and those removed."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


def alter_partition_reassignments(
    targets: Mapping[TopicPartition, Sequence[int] | None],
    backoff: Backoff,
    timeout_ms: int,
    *,
    allow_replication_factor_change: bool,
) -> Procedure[dict[TopicPartition, None]]:
    """Move replicas to these brokers, the preferred leader first; ``None`` cancels a move."""

    def build(version: int, some: Sequence[TopicPartition]) -> AlterPartitionReassignmentsRequest:
        topics = [
            ReassignableTopic(
                name,
                [
                    ReassignablePartition(number, None if brokers is None else list(brokers))
                    for number in numbers
                    for brokers in (targets[TopicPartition(name, number)],)
                ],
            )
            for name, numbers in by_topic(some).items()
        ]
        request = AlterPartitionReassignmentsRequest(timeout_ms, topics=topics)
        if not allow_replication_factor_change:
            require(version, _FACTOR_FROM, "refusing a change of the replication factor")
            request.allow_replication_factor_change = False
        return request

    def read(
        answer: Any, some: Sequence[TopicPartition]
    ) -> Iterable[ItemResult[TopicPartition, None]]:
        if answer.error_code:
            for where in some:
                yield ItemResult(where, answer.error_code, answer.error_message, None)
            return
        for topic in answer.responses:
            for part in topic.partitions:
                where = TopicPartition(topic.name, part.partition_index)
                yield ItemResult(where, part.error_code, part.error_message, None)

    key = ApiKey.ALTER_PARTITION_REASSIGNMENTS
    question = ItemRequest("moving replicas of", key, build, read)
    return gather(question, targets, ask_at(Controller()), backoff)


def list_partition_reassignments(
    partitions: Iterable[TopicPartition] | None, backoff: Backoff, timeout_ms: int
) -> Procedure[dict[TopicPartition, Reassignment]]:
    """List reassignments, of these partitions or of all."""
    wanted = None if partitions is None else by_topic(dict.fromkeys(partitions))

    def build(_: int) -> ListPartitionReassignmentsRequest:
        topics = None
        if wanted is not None:
            topics = [ListPartitionReassignmentsTopics(*each) for each in wanted.items()]
        return ListPartitionReassignmentsRequest(timeout_ms, topics)

    ask = Ask(Controller(), ApiKey.LIST_PARTITION_REASSIGNMENTS, build)
    answer = yield from retry(ask, lambda answer: answer.error_code, backoff)
    if answer.error_code:
        raise admin_error(answer.error_code, answer.error_message, state="listing reassignments")
    return {
        TopicPartition(topic.name, part.partition_index): Reassignment(
            tuple(part.replicas), tuple(part.adding_replicas), tuple(part.removing_replicas)
        )
        for topic in answer.topics
        for part in topic.partitions
    }
