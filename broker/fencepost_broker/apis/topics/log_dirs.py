"""DescribeLogDirs and AlterReplicaLogDirs: the data directory and its partitions.

Behaviour: a broker has one directory. DescribeLogDirs lists it with the sizes of the requested
partitions (null means all); unknown ones are left out. Moving a replica to this directory succeeds;
any other one is LOG_DIR_NOT_FOUND. The metadata log is not listed. After a failed sync the
directory has the error KAFKA_STORAGE_ERROR; its partitions are still listed, because the other ones
are served.

Version notes: 4 has the size of the volume and its free space (KIP-827).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from fencepost_protocol.generated.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import StorageError

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_USAGE_FROM: Final = 4


def describe_log_dirs(
    context: BrokerContext, request: Request, message: DescribeLogDirsRequest
) -> Answer:
    """Answer DescribeLogDirs, versions 1 to 5."""
    disk = context.replicas.log_manager.disk
    result = DescribeLogDirsResult(log_dir=disk.name)
    try:
        if request.version >= _USAGE_FROM:
            result.total_bytes, result.usable_bytes = disk.usage()
        result.topics = [
            DescribeLogDirsTopic(
                name,
                [
                    DescribeLogDirsPartition(partition.number, partition.log.size_in_bytes, 0)
                    for partition in partitions
                ],
            )
            for name, partitions in _asked(context, message.topics)
        ]
        if any(log.failure is not None for log in context.replicas.log_manager.logs.values()):
            result.error_code = ErrorCode.KAFKA_STORAGE_ERROR
    except StorageError:
        result = DescribeLogDirsResult(ErrorCode.KAFKA_STORAGE_ERROR, disk.name)
    return DescribeLogDirsResponse(results=[result])


def _asked(
    context: BrokerContext, topics: list[DescribableLogDirTopic] | None
) -> Iterator[tuple[str, list[Partition]]]:
    if topics is None:
        for topic in context.replicas.table.by_name.values():
            yield topic.name, topic.partitions
        return
    wanted: dict[str, set[int]] = {}
    for each in topics:
        wanted.setdefault(each.topic, set()).update(each.partitions)
    for name, numbers in wanted.items():
        found = context.replicas.table.by_name.get(name)
        if found is None:
            continue
        partitions = [each for each in found.partitions if each.number in numbers]
        if partitions:
            yield name, partitions


def alter_replica_log_dirs(
    context: BrokerContext, _request: Request, message: AlterReplicaLogDirsRequest
) -> Answer:
    """Answer AlterReplicaLogDirs, versions 1 and 2."""
    here = context.replicas.log_manager.disk.name
    paths: dict[str, dict[int, str]] = {}
    for directory in message.dirs:
        for topic in directory.topics:
            for number in topic.partitions:  # as in Kafka, the last directory counts
                paths.setdefault(topic.name, {})[number] = directory.path
    find = context.replicas.table.find
    results = []
    for name, by_number in paths.items():
        answers = []
        for number, path in by_number.items():
            code = ErrorCode.NONE
            if path != here:
                code = ErrorCode.LOG_DIR_NOT_FOUND
            elif find(name, number) is None:
                code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            answers.append(AlterReplicaLogDirPartitionResult(number, code))
        results.append(AlterReplicaLogDirTopicResult(name, answers))
    return AlterReplicaLogDirsResponse(results=results)
