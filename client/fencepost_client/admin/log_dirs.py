"""Log directories of brokers: describing them, and moving replicas between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from fencepost_protocol.generated.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.admin.fan_out import ItemRequest, ItemResult, by_topic, gather
from fencepost_client.admin.routing import at_brokers
from fencepost_client.errors import KafkaError, admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import Procedure
from fencepost_client.types import TopicPartition

_STAYS: Final = frozenset(
    {
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)


class TopicPartitionReplica(NamedTuple):
    """A replica of a partition on a broker."""

    topic: str
    partition: int
    broker_id: int

    def __str__(self) -> str:
        """As messages name it."""
        return f"{self.topic}-{self.partition} of broker {self.broker_id}"


@dataclass(frozen=True, slots=True)
class ReplicaLog:
    """A log in a directory; with ``is_future`` it is a copy that will replace another one."""

    size_bytes: int
    offset_lag: int
    is_future: bool


@dataclass(frozen=True, slots=True)
class LogDirDescription:
    """A log directory; unknown sizes of the disk are ``None``."""

    path: str
    error: KafkaError | None
    """The error, if the broker cannot use it."""
    replicas: Mapping[TopicPartition, ReplicaLog]
    total_bytes: int | None
    usable_bytes: int | None
    is_cordoned: bool


def describe_log_dirs(
    broker_ids: Iterable[int], partitions: Iterable[TopicPartition] | None, backoff: Backoff
) -> Procedure[dict[int, dict[str, LogDirDescription]]]:
    """Describe the log directories of brokers by path, with these partitions or all."""
    topics = None
    if partitions is not None:
        wanted = by_topic(partitions).items()
        topics = [DescribableLogDirTopic(topic, numbers) for topic, numbers in wanted]

    def build(_: int, __: object) -> DescribeLogDirsRequest:
        return DescribeLogDirsRequest(topics)

    def read(
        answer: Any, asked: Sequence[int]
    ) -> Iterable[ItemResult[int, dict[str, LogDirDescription]]]:
        found = {told.log_dir: _description(told) for told in answer.results}
        yield ItemResult(asked[0], answer.error_code, None, found)

    doing = "describing the log directories of broker"
    question = ItemRequest(doing, ApiKey.DESCRIBE_LOG_DIRS, build, read)
    return gather(question, broker_ids, at_brokers(lambda broker_id: broker_id), backoff)


def _description(told: Any) -> LogDirDescription:
    state = f"describing {told.log_dir!r}"
    return LogDirDescription(
        told.log_dir,
        admin_error(told.error_code, state=state) if told.error_code else None,
        {
            TopicPartition(topic.name, part.partition_index): ReplicaLog(
                part.partition_size, part.offset_lag, part.is_future_key
            )
            for topic in told.topics
            for part in topic.partitions
        },
        None if told.total_bytes < 0 else told.total_bytes,
        None if told.usable_bytes < 0 else told.usable_bytes,
        told.is_cordoned,
    )


def alter_replica_log_dirs(
    paths: Mapping[TopicPartitionReplica, str], backoff: Backoff
) -> Procedure[dict[TopicPartitionReplica, None]]:
    """Move replicas to other log directories of their brokers; the copy ends later."""

    def build(_: int, replicas: Sequence[TopicPartitionReplica]) -> AlterReplicaLogDirsRequest:
        dirs: dict[str, list[tuple[str, int]]] = {}
        for replica in replicas:
            dirs.setdefault(paths[replica], []).append(replica[:2])
        return AlterReplicaLogDirsRequest(
            [
                AlterReplicaLogDir(
                    path,
                    [
                        AlterReplicaLogDirTopic(topic, numbers)
                        for topic, numbers in by_topic(parts).items()
                    ],
                )
                for path, parts in dirs.items()
            ]
        )

    def read(
        answer: Any, asked: Sequence[TopicPartitionReplica]
    ) -> Iterable[ItemResult[TopicPartitionReplica, None]]:
        broker_id = asked[0].broker_id
        for topic in answer.results:
            for part in topic.partitions:
                replica = TopicPartitionReplica(topic.topic_name, part.partition_index, broker_id)
                yield ItemResult(replica, part.error_code, None, None)

    question = ItemRequest("moving", ApiKey.ALTER_REPLICA_LOG_DIRS, build, read, _STAYS)
    return gather(question, paths, at_brokers(lambda replica: replica.broker_id), backoff)
