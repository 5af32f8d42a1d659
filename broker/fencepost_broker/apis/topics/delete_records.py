"""DeleteRecords: raise the start offsets of logs.

Behaviour: -1 means the high watermark. An offset before the log's start changes nothing and is no
error; the answer has the log start offset. A coordinator's topic is refused with
INVALID_TOPIC_EXCEPTION, a topic whose only cleanup policy is compaction with POLICY_VIOLATION. If a
partition is repeated, its last offset applies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.replication.partition import Topic
from fencepost_broker.storage.log import StorageError

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_UNKNOWN: Final = -1


def delete_records(
    context: BrokerContext, _request: Request, message: DeleteRecordsRequest
) -> Answer:
    """Answer DeleteRecords, versions 0 to 2."""
    asked: dict[str, dict[int, DeleteRecordsPartition]] = {}
    for named in message.topics:
        for entry in named.partitions:
            asked.setdefault(named.name, {})[entry.partition_index] = entry
    topics = []
    for name, entries in asked.items():
        topic = context.replicas.table.by_name.get(name)
        results = [_delete(topic, entry) for entry in entries.values()]
        topics.append(DeleteRecordsTopicResult(name, results))
    return DeleteRecordsResponse(topics=topics)


def _delete(topic: Topic | None, entry: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
    number = entry.partition_index
    partition = None if topic is None else topic.partition(number)
    if topic is None or partition is None:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return DeleteRecordsPartitionResult(number, _UNKNOWN, error)
    log = partition.log
    if topic.is_internal:
        error = ErrorCode.INVALID_TOPIC_EXCEPTION
    elif log.config.compact and not log.config.delete:
        error = ErrorCode.POLICY_VIOLATION
    else:
        try:
            error = log.delete_records(entry.offset)
        except StorageError:
            error = ErrorCode.KAFKA_STORAGE_ERROR
    return DeleteRecordsPartitionResult(number, _UNKNOWN if error else log.log_start_offset, error)
