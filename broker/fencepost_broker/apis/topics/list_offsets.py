"""ListOffsets: find the offset of a time or of a special position.

Behaviour: -1 is the high watermark, or the last stable offset with isolation level 1; -2 and -4
the log's start; -3 the record with the largest timestamp; -5 and -6 belong to tiered storage, which
does not exist here: the answer is -1 with NONE. If no record is as late as a time, the answer is
-1, -1 with NONE. A repeated partition is answered once, with INVALID_REQUEST. While a new leader's
high watermark may be lower than the previous leader's, consumers that ask for the end, or for later
times, get OFFSET_NOT_AVAILABLE, below version 5 LEADER_NOT_AVAILABLE (KIP-207).

Version notes: -3 needs version 7, -4 version 8, -5 version 9, -6 version 11; below, and for any
other negative number, UNSUPPORTED_VERSION per partition, whether it exists or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import FoundOffset, StorageError, UpperBound

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

READ_COMMITTED: Final = 1
LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6
NO_EPOCH: Final = -1
_LEADER_EPOCH_FROM: Final = 4
_NOT_AVAILABLE_FROM: Final = 5
_NEVER: Final = 1 << 15
_SINCE_VERSION: Final = {
    LATEST: 0,
    EARLIEST: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}


def list_offsets(context: BrokerContext, request: Request, message: ListOffsetsRequest) -> Answer:
    """Answer ListOffsets, versions 1 to 11."""
    committed = message.isolation_level == READ_COMMITTED
    bound = UpperBound.LAST_STABLE if committed else UpperBound.HIGH_WATERMARK
    if message.isolation_level not in (0, READ_COMMITTED):
        return _refuse_all(message)
    asked: dict[str, dict[int, ListOffsetsPartition | None]] = {}
    for named in message.topics:
        for entry in named.partitions:
            number = entry.partition_index
            entries = asked.setdefault(named.name, {})
            entries[number] = None if number in entries else entry
    topics = []
    for name, entries in asked.items():
        found = [
            ListOffsetsPartitionResponse(number, ErrorCode.INVALID_REQUEST)
            if once is None
            else _one(
                context.replicas.table.find(name, number),
                once,
                bound,
                request.version,
                message.replica_id,
            )
            for number, once in entries.items()
        ]
        topics.append(ListOffsetsTopicResponse(name, found))
    return ListOffsetsResponse(topics=topics)


def _refuse_all(message: ListOffsetsRequest) -> ListOffsetsResponse:
    """Refuse an unknown isolation level with an error for each partition, as Kafka does."""
    error = ErrorCode.UNKNOWN_SERVER_ERROR
    topics = [
        ListOffsetsTopicResponse(
            topic.name,
            [
                ListOffsetsPartitionResponse(each.partition_index, error)
                for each in topic.partitions
            ],
        )
        for topic in message.topics
    ]
    return ListOffsetsResponse(topics=topics)


def _one(
    partition: Partition | None,
    entry: ListOffsetsPartition,
    bound: UpperBound,
    version: int,
    replica_id: int,
) -> ListOffsetsPartitionResponse:
    number = entry.partition_index
    if entry.timestamp < 0 and version < _SINCE_VERSION.get(entry.timestamp, _NEVER):
        return ListOffsetsPartitionResponse(number, ErrorCode.UNSUPPORTED_VERSION)
    if partition is None:
        return ListOffsetsPartitionResponse(number, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    error = partition.epoch_error(entry.current_leader_epoch)
    if error:
        return ListOffsetsPartitionResponse(number, error)
    if partition.is_offline:
        return ListOffsetsPartitionResponse(number, ErrorCode.KAFKA_STORAGE_ERROR)
    replication = partition.replication
    shows_less = False
    if replication is not None:
        if replica_id in replication.followers:
            bound = UpperBound.LOG_END  # followers read up to the log's end
        else:
            shows_less = replication.may_show_less
    try:
        found = _find(partition, entry.timestamp, bound)
    except StorageError:
        return ListOffsetsPartitionResponse(number, ErrorCode.KAFKA_STORAGE_ERROR)
    if shows_less and (entry.timestamp == LATEST or (found is None and _is_looked_up(entry))):
        is_known = version >= _NOT_AVAILABLE_FROM
        return ListOffsetsPartitionResponse(
            number, ErrorCode.OFFSET_NOT_AVAILABLE if is_known else ErrorCode.LEADER_NOT_AVAILABLE
        )
    if found is None:
        return ListOffsetsPartitionResponse(number, ErrorCode.NONE)
    return ListOffsetsPartitionResponse(
        number,
        ErrorCode.NONE,
        found.timestamp_ms,
        found.offset,
        found.leader_epoch if version >= _LEADER_EPOCH_FROM else NO_EPOCH,
    )


def _is_looked_up(entry: ListOffsetsPartition) -> bool:
    """Whether the request needs a lookup of a record, by time or by largest timestamp."""
    return entry.timestamp == MAX_TIMESTAMP or entry.timestamp >= 0


def _find(partition: Partition, timestamp: int, bound: UpperBound) -> FoundOffset | None:
    log = partition.log
    if timestamp == LATEST:
        return log.latest_offset(bound)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        return log.earliest_offset()
    if timestamp < MAX_TIMESTAMP:
        return None
    found = (
        log.offset_of_max_timestamp()
        if timestamp == MAX_TIMESTAMP
        else log.offset_for_timestamp(timestamp)
    )
    if found is not None and found.offset >= log.bound_offset(bound):
        return None
    return found
