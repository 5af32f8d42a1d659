"""WriteTxnMarkers: end transactions in partitions, for a coordinator or an administrator.

Behaviour: a marker is appended even if no transaction is open, and again if the request is
repeated, as in Apache Kafka. In a partition of ``__consumer_offsets`` the marker commits or drops
the transaction's offsets. The answer waits until followers have the markers, as with acks all, and
for the flush if one is due (``fsync=always``).

Version notes: 2 has the transaction version by which the transaction ends (KIP-1228): with 2 the
marker's epoch must be above the one of the records.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

from fencepost_broker.apis.controller.brokers_only import may_ask
from fencepost_broker.apis.produce.flush_waits import AnswerAfterFlush
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.steps import AFTER, BEFORE, marker_step
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import AppendResult, StorageError

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


class _Unsafe(NamedTuple):
    """A marker that is appended, and has to be replicated or flushed before the answer."""

    partition: Partition
    appended: AppendResult
    result: WritableTxnMarkerPartitionResult
    is_unflushed: bool


def write_txn_markers(
    context: BrokerContext, request: Request, message: WriteTxnMarkersRequest
) -> Answer | None:
    """Answer WriteTxnMarkers, versions 1 and 2; ``None`` if the answer has to wait."""
    if not may_ask(context, request):
        refusal = _refused(message)
        context.metrics.note_errors(refusal)
        return refusal
    now_ms = context.clock.now_ms()
    results = []
    failed = False
    unsafe: list[_Unsafe] = []
    for marker in message.markers:
        topics = []
        for topic in marker.topics:
            partitions = []
            for number in topic.partition_indexes:
                result = WritableTxnMarkerPartitionResult(number)
                result.error_code = _write(context, marker, topic.name, result, now_ms, unsafe)
                if result.error_code:
                    failed = True
                partitions.append(result)
            topics.append(WritableTxnMarkerTopicResult(topic.name, partitions))
        results.append(WritableTxnMarkerResult(marker.producer_id, topics))
    response = WriteTxnMarkersResponse(results)
    if unsafe:
        return _answer_safely(context, request, response, unsafe)
    if failed:
        context.metrics.note_errors(response)
    return response


def _refused(message: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    """Refuse all markers: the client has no right to write them."""
    code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return WriteTxnMarkersResponse(
        [
            WritableTxnMarkerResult(
                marker.producer_id,
                [
                    WritableTxnMarkerTopicResult(
                        topic.name,
                        [
                            WritableTxnMarkerPartitionResult(number, code)
                            for number in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in message.markers
        ]
    )


def _answer_safely(
    context: BrokerContext,
    request: Request,
    response: WriteTxnMarkersResponse,
    unsafe: list[_Unsafe],
) -> Answer | None:
    """Answer once the markers are replicated and then flushed; ``None`` if that takes time."""

    def counted() -> WriteTxnMarkersResponse:
        context.metrics.note_errors(response)
        return response

    def flush_and_answer() -> Answer | None:
        for each in unsafe:
            each.result.error_code = each.appended.error
        left = [
            (each.partition.log, each.result)
            for each in unsafe
            if each.is_unflushed and not each.appended.error
        ]
        if not left:
            return counted()
        AnswerAfterFlush(request, left, _not_on_disk, counted).wait(context.replicas.flushes)
        return None

    def go_on() -> None:
        answer = flush_and_answer()
        if answer is not None:
            request.release(answer)

    replicated = [each for each in unsafe if not each.partition.is_plain]
    if not replicated:
        return flush_and_answer()
    from fencepost_broker.apis.produce.delayed_produce import DelayedProduce, settle

    unreplicated = settle(
        (each.partition, each.appended, each.partition.leader_epoch) for each in replicated
    )
    if not unreplicated:
        return flush_and_answer()
    DelayedProduce(request, unreplicated, go_on).begin(
        context, context.config.settings.request_timeout_ms
    )
    return None


def _not_on_disk(result: WritableTxnMarkerPartitionResult, error: StorageError) -> None:
    del error  # the response has no field for its text
    result.error_code = ErrorCode.KAFKA_STORAGE_ERROR


def _write(
    context: BrokerContext,
    marker: WritableTxnMarker,
    name: str,
    result: WritableTxnMarkerPartitionResult,
    now_ms: int,
    unsafe: list[_Unsafe],
) -> ErrorCode:
    """Append a marker, and add it to ``unsafe`` if it has to be replicated or flushed first."""
    number = result.partition_index
    topic = context.replicas.table.by_name.get(name)
    partition = None if topic is None else topic.partition(number)
    if topic is None or partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if not partition.is_plain:
        if not partition.is_here:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if not partition.leads:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if partition.replication is not None and partition.replication.has_too_few:
            return ErrorCode.NOT_ENOUGH_REPLICAS
    of_groups = topic.is_internal and name == RecordFamily.GROUPS.value
    if of_groups and not context.coordinators.runtime.takes_markers(number):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER  # its machine must apply markers; retry later
    committed = marker.transaction_result
    log = partition.log
    on_step = context.coordinators.on_step
    if on_step is not None:
        on_step(marker_step(name, number, BEFORE))
    appended = log.append_marker(
        marker.producer_id,
        marker.producer_epoch,
        committed=committed,
        coordinator_epoch=marker.coordinator_epoch,
        leader_epoch=partition.leader_epoch,
        now_ms=now_ms,
        transaction_version=marker.transaction_version,
    )
    if appended.error:
        return appended.error
    if on_step is not None:
        on_step(marker_step(name, number, AFTER))
    listener = context.coordinators.listener
    if listener is not None:
        listener.marker_written(name, number, appended.base_offset, marker)
    # The marker is in the log now, even if its flush fails.
    is_unflushed = log.log_end_offset >= log.flush_at_offset
    if is_unflushed or not partition.is_plain:
        unsafe.append(_Unsafe(partition, appended, result, is_unflushed))
    if of_groups:
        context.coordinators.runtime.end_transaction(
            number, marker.producer_id, committed=committed
        )
    partition.appended(now_ms)
    return ErrorCode.NONE
