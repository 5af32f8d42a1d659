"""WriteTxnMarkers: a coordinator, or an administrator, ends transactions in partitions.

Behaviour: a marker is appended even where nothing is open, and again when it is asked for again,
as in Apache Kafka. In a partition of committed offsets the marker makes those of the transaction
count, or drops them. Where markers have to be on disk (``fsync=always``), the answer waits for it.

Version notes: 2 says by which transaction version the transaction ends (KIP-1228): at 2 its epoch
must be above the one of the records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

from fencepost_broker.apis.flush_waits import AnswerBehindFlush
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.coordinators.records import RecordFamily
from fencepost_broker.log import PartitionLog, StorageError

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker


def write_txn_markers(broker: Broker, request: Request) -> Pieces | None:
    """Answer WriteTxnMarkers, versions 1 and 2; ``None`` when that has to wait for the disk."""
    message = request.message(WriteTxnMarkersRequest)
    now_ms = broker.now_ms()
    results = []
    failed = False
    to_flush: list[PartitionLog] = []
    unflushed: list[tuple[PartitionLog, WritableTxnMarkerPartitionResult]] = []
    for marker in message.markers:
        topics = []
        for topic in marker.topics:
            partitions = []
            for number in topic.partition_indexes:
                error = _write(broker, marker, topic.name, number, now_ms, to_flush)
                if error:
                    failed = True
                result = WritableTxnMarkerPartitionResult(number, error)
                partitions.append(result)
                if to_flush:
                    unflushed.append((to_flush.pop(), result))
            topics.append(WritableTxnMarkerTopicResult(topic.name, partitions))
        results.append(WritableTxnMarkerResult(marker.producer_id, topics))
    response = WriteTxnMarkersResponse(results)
    if unflushed:
        AnswerBehindFlush(request, unflushed, _not_on_disk, lambda: request.answer(response)).wait(
            broker.flushes
        )
        return None
    return request.answer(response) if failed else request.answer_fine(response)


def _not_on_disk(result: WritableTxnMarkerPartitionResult, error: StorageError) -> None:
    del error  # its text has no place in the response
    result.error_code = ErrorCode.KAFKA_STORAGE_ERROR


def _write(
    broker: Broker,
    marker: WritableTxnMarker,
    name: str,
    number: int,
    now_ms: int,
    to_flush: list[PartitionLog],
) -> ErrorCode:
    """Append a marker; its log goes to ``to_flush`` if it is not there before it is on disk."""
    topic = broker.table.by_name.get(name)
    partition = None if topic is None else topic.partition(number)
    if topic is None or partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not partition.leads:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    of_groups = topic.is_internal and name == RecordFamily.GROUPS.value
    if of_groups and not broker.coordination.takes_markers(number):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER  # its machine would not hear of it: again, later
    committed = marker.transaction_result
    result = partition.log.append_marker(
        marker.producer_id,
        marker.producer_epoch,
        committed=committed,
        coordinator_epoch=marker.coordinator_epoch,
        leader_epoch=partition.leader_epoch,
        now_ms=now_ms,
        transaction_version=marker.transaction_version,
    )
    if result.error:
        return result.error
    # It is in the log now, whatever the disk says of it next.
    is_unflushed = partition.log.log_end_offset >= partition.log.flush_at_offset
    if is_unflushed:
        to_flush.append(partition.log)
    if of_groups:
        broker.coordination.end_transaction(
            number, marker.producer_id, committed=committed, is_unflushed=is_unflushed
        )
    partition.appended(now_ms)
    return ErrorCode.NONE
