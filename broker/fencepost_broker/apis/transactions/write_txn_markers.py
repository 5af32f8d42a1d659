"""WriteTxnMarkers: end transactions in partitions, for a coordinator or an administrator.

Behaviour: a marker is appended even if no transaction is open, and again if the request is
repeated, as in Apache Kafka. In a partition of ``__consumer_offsets`` the marker commits or drops
the transaction's offsets. The answer waits until followers have the markers, as with acks all, and
for the flush if one is due (``fsync=always``).

Version notes: 2 has the transaction version by which the transaction ends (KIP-1228): with 2 the
marker's epoch must be above the one of the records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

from fencepost_broker.apis.controller.brokers_only import may_ask
from fencepost_broker.apis.produce.appending import not_on_disk
from fencepost_broker.apis.produce.flush_waits import AnswerAfterFlush
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.steps import AFTER, BEFORE, marker_step
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import AppendResult

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.apis.loopback import Loopback
    from fencepost_broker.coordinator.runtime.marker_sender import Outcomes
    from fencepost_broker.coordinator.transaction.commands import SendMarkers

_OWN_VERSION: Final = 2


class _Marker(Protocol):
    """What a marker says, in a request or in an end that this broker coordinates."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    transaction_version: int


class _Unsafe(NamedTuple):
    """A marker that is appended, and has to be replicated or flushed before the answer."""

    partition: Partition
    appended: AppendResult
    is_unflushed: bool


def write_txn_markers(
    context: BrokerContext, request: Request, message: WriteTxnMarkersRequest
) -> Answer | None:
    """Answer WriteTxnMarkers, versions 1 and 2; ``None`` if the answer has to wait."""

    def answer(errors: Iterable[ErrorCode]) -> WriteTxnMarkersResponse:
        response = _response(message, iter(errors))
        context.metrics.note_errors(response)
        return response

    if not may_ask(context, request):
        return answer(repeat(ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    now_ms = context.clock.now_ms()
    unsafe: list[_Unsafe] = []
    written = [
        _write(context, marker, topic.name, number, now_ms, unsafe, marker.transaction_result)
        for marker in message.markers
        for topic in marker.topics
        for number in topic.partition_indexes
    ]
    return _when_safe(context, request, unsafe, lambda: answer(each.error for each in written))


def _response(
    message: WriteTxnMarkersRequest, errors: Iterator[ErrorCode]
) -> WriteTxnMarkersResponse:
    """Build a response from the errors of all partitions, in the order of the request."""
    return WriteTxnMarkersResponse(
        [
            WritableTxnMarkerResult(
                marker.producer_id,
                [
                    WritableTxnMarkerTopicResult(
                        topic.name,
                        [
                            WritableTxnMarkerPartitionResult(number, next(errors))
                            for number in topic.partition_indexes
                        ],
                    )
                    for topic in marker.topics
                ],
            )
            for marker in message.markers
        ]
    )


class OwnMarkers:
    """Writes the markers of this broker's coordinators to the partitions that it leads itself."""

    def __init__(self, context: BrokerContext, loopback: Loopback) -> None:
        self._context = context
        self._loopback = loopback

    def write(
        self,
        send: SendMarkers,
        partitions: Iterable[tuple[str, int]],
        then: Callable[[Outcomes], None],
    ) -> None:
        """Write markers of an end; ``then`` is called with their outcomes, at once or later.

        It is called when they are replicated and flushed, as a request is answered.
        """
        context = self._context
        now_ms = context.clock.now_ms()
        unsafe: list[_Unsafe] = []
        committed = send.is_commit
        written = [
            (topic, number, _write(context, send, topic, number, now_ms, unsafe, committed).error)
            for topic, number in partitions
        ]
        if unsafe:
            self._tell_when_safe(written, unsafe, then)
        else:
            then(written)

    def _tell_when_safe(
        self, written: Outcomes, unsafe: list[_Unsafe], then: Callable[[Outcomes], None]
    ) -> None:
        def outcomes() -> Any:
            late = {(at.topic, at.number): appended.error for at, appended, _ in unsafe}
            return [
                (topic, number, late.get((topic, number), error))
                for topic, number, error in written
            ]

        request = self._loopback.waiting(WriteTxnMarkersRequest(), _OWN_VERSION, then)
        answer = _when_safe(self._context, request, unsafe, outcomes)
        if answer is not None:
            request.release(answer)


def _when_safe(
    context: BrokerContext,
    request: Request,
    unsafe: list[_Unsafe],
    answer: Callable[[], Answer],
) -> Answer | None:
    """Answer once the markers are replicated and then flushed; ``None`` if that takes time."""

    def flush_and_answer() -> Answer | None:
        left = [
            (each.partition.log, each.appended)
            for each in unsafe
            if each.is_unflushed and not each.appended.error
        ]
        if not left:
            return answer()
        AnswerAfterFlush(request, left, not_on_disk, answer).wait(context.replicas.flushes)
        return None

    def go_on() -> None:
        told = flush_and_answer()
        if told is not None:
            request.release(told)

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


def _write(
    context: BrokerContext,
    marker: _Marker,
    name: str,
    number: int,
    now_ms: int,
    unsafe: list[_Unsafe],
    committed: bool,
) -> AppendResult:
    """Append a marker, and add it to ``unsafe`` if it has to be replicated or flushed first."""
    topic = context.replicas.table.by_name.get(name)
    if topic is None or not 0 <= number < len(topic.partitions):
        return AppendResult(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    partition = topic.partitions[number]
    if not partition.is_plain:
        if not partition.is_here:
            return AppendResult(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if not partition.leads:
            return AppendResult(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if partition.replication is not None and partition.replication.has_too_few:
            return AppendResult(ErrorCode.NOT_ENOUGH_REPLICAS)
    coordinators = context.coordinators
    of_groups = topic.is_internal and name == RecordFamily.GROUPS
    if of_groups and not coordinators.runtime.takes_markers(number):
        # Its machine must apply markers; retry later.
        return AppendResult(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    log = partition.log
    on_step = coordinators.on_step
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
        return appended
    if on_step is not None:
        on_step(marker_step(name, number, AFTER))
    listener = coordinators.listener
    if listener is not None:
        listener.marker_written(
            name,
            number,
            appended.base_offset,
            marker.producer_id,
            marker.producer_epoch,
            committed=committed,
        )
    # The marker is in the log now, even if its flush fails.
    is_unflushed = log.log_end_offset >= log.flush_at_offset
    if is_unflushed or not partition.is_plain:
        unsafe.append(_Unsafe(partition, appended, is_unflushed))
    if of_groups:
        coordinators.runtime.end_transaction(number, marker.producer_id, committed=committed)
    if partition.waiters or not partition.is_plain:
        partition.appended(now_ms)
    return appended
