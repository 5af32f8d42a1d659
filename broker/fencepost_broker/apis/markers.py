"""WriteTxnMarkers: a coordinator, or an administrator, ends transactions in partitions.

Behaviour: a marker is appended even where nothing is open, and again when it is asked for again,
as in Apache Kafka. In a partition of committed offsets the marker makes those of the transaction
count, or drops them.

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

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.coordinators.records import RecordFamily
from fencepost_broker.flushes import flush_here
from fencepost_broker.log import StorageError

if TYPE_CHECKING:
    from fencepost_broker.apis.registry import Broker


def write_txn_markers(broker: Broker, request: Request) -> Pieces:
    """Answer WriteTxnMarkers, versions 1 and 2."""
    message, _ = WriteTxnMarkersRequest.decode(request.frame, request.version, request.body)
    now_ms = broker.now_ms()
    results = [
        WritableTxnMarkerResult(
            marker.producer_id,
            [
                WritableTxnMarkerTopicResult(
                    topic.name,
                    [
                        WritableTxnMarkerPartitionResult(
                            number, _write(broker, marker, topic.name, number, now_ms)
                        )
                        for number in topic.partition_indexes
                    ],
                )
                for topic in marker.topics
            ],
        )
        for marker in message.markers
    ]
    return request.answer(WriteTxnMarkersResponse(results))


def _write(
    broker: Broker, marker: WritableTxnMarker, name: str, number: int, now_ms: int
) -> ErrorCode:
    topic = broker.table.by_name.get(name)
    partition = None if topic is None else topic.partition(number)
    if topic is None or partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
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
    if partition.log.log_end_offset >= partition.log.flush_at_offset:
        try:
            flush_here(partition.log, now_ms)
        except StorageError:
            return ErrorCode.KAFKA_STORAGE_ERROR
    if of_groups:
        broker.coordination.end_transaction(number, marker.producer_id, committed=committed)
    partition.moved()
    return ErrorCode.NONE
