"""Fetch and FetchSnapshot at the controller's port: brokers read the cluster's metadata log.

Behaviour: the only partition is ``__cluster_metadata-0``. It is read up to its end, since with one
voter all of it is committed. If a broker's offset is not in the log any more, the answer names the
snapshot to load first (KIP-630); if its log has diverged, the answer has the diverging epoch
(KIP-595). The request waits while there are no new records. Each broker's offset is remembered for
DescribeQuorum.

Version notes: Fetch 12 brought what KRaft needs, 13 topic ids, 17 the follower's directory. There
are no sessions, since there is only one partition.

Not done: several controllers (voters or followers); there is only one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import fetch as fetches
from fencepost_protocol.generated import fetch_snapshot as snapshots

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.controller.channel.local import Observer
from fencepost_broker.metadata.log.metadata_log import (
    LEADER_EPOCH,
    METADATA_TOPIC,
    METADATA_TOPIC_ID,
)
from fencepost_broker.metadata.log.snapshot_files import Snapshot
from fencepost_broker.storage.log import UpperBound

if TYPE_CHECKING:
    from fencepost_broker.apis.context import ControllerContext

_BY_ID_FROM: Final = 13
_REPLICA_STATE_FROM: Final = 15
_BYTES_MAX: Final = 8 << 20
_UNKNOWN: Final = -1


class _Waiting:
    """A Fetch that waits for the next decision."""

    __slots__ = ("_context", "_message", "_request", "_timer")

    def __init__(
        self, context: ControllerContext, request: Request, message: fetches.FetchRequest
    ) -> None:
        self._context = context
        self._request = request
        self._message = message
        self._timer: Any = context.clock.call_later(message.max_wait_ms, self.answer)
        context.controller.waiting[self] = None
        request.peer.on_loss(self._leave)

    def answer(self) -> None:
        """Answer: there are new records, or the time is over."""
        self._leave()
        self._request.release(_read(self._context, self._message))

    def _leave(self) -> None:
        self._timer.cancel()
        self._context.controller.waiting.pop(self, None)


def fetch_metadata(
    context: ControllerContext, request: Request, message: fetches.FetchRequest
) -> Answer | None:
    """Answer Fetch, versions 4 to 18, of the metadata log alone."""
    refusal = _refusal(context, request.version, message)
    if refusal:
        return fetches.FetchResponse(error_code=refusal)
    state = message.replica_state
    replica_id = message.replica_id if state is None else state.replica_id
    asked = message.topics[0].partitions[0]
    if replica_id >= 0:
        observers = context.controller.observers
        end = context.controller.log.end_offset
        observers.setdefault(replica_id, Observer()).fetched(
            asked.fetch_offset, end, context.clock.now_ms(), asked.replica_directory_id
        )
    answer = _read(context, message)
    told = answer.responses[0].partitions[0]
    is_news = told.records or told.error_code or told.snapshot_id or told.diverging_epoch
    if is_news or message.max_wait_ms <= 0 or not request.peer.may_park:
        return answer
    _Waiting(context, request, message)
    return None


def _refusal(context: ControllerContext, version: int, message: fetches.FetchRequest) -> ErrorCode:
    """Return the error of the request as a whole."""
    if message.cluster_id is not None and message.cluster_id != context.identity.cluster_id:
        return ErrorCode.INCONSISTENT_CLUSTER_ID
    if len(message.topics) != 1 or len(message.topics[0].partitions) != 1:
        return ErrorCode.INVALID_REQUEST
    topic = message.topics[0]
    is_named = topic.topic == METADATA_TOPIC
    is_it = topic.topic_id == METADATA_TOPIC_ID if version >= _BY_ID_FROM else is_named
    if not is_it or topic.partitions[0].partition:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE


def _read(context: ControllerContext, message: fetches.FetchRequest) -> fetches.FetchResponse:
    asked = message.topics[0].partitions[0]
    controller = context.controller
    log = controller.log.log
    told = fetches.PartitionData(
        0,
        _epoch_error(asked.current_leader_epoch),
        log.high_watermark,
        log.high_watermark,
        log.log_start_offset,
        current_leader=fetches.LeaderIdAndEpoch(context.identity.node_id, LEADER_EPOCH),
        aborted_transactions=None,
        records=b"",
    )
    response = fetches.FetchResponse(
        responses=[fetches.FetchableTopicResponse(METADATA_TOPIC, METADATA_TOPIC_ID, [told])]
    )
    if told.error_code:
        return response
    offset = asked.fetch_offset
    snapshot = controller.log.latest_snapshot
    if offset < log.log_start_offset and snapshot is not None:
        told.snapshot_id = fetches.SnapshotId(snapshot.end_offset, snapshot.epoch)
        return response
    if asked.last_fetched_epoch >= 0:
        diverging = log.diverging_epoch(offset, asked.last_fetched_epoch)
        if diverging is not None:
            told.diverging_epoch = fetches.EpochEndOffset(*diverging)
            return response
    size = min(message.max_bytes, asked.partition_max_bytes, _BYTES_MAX)
    result = log.read(offset, size, UpperBound.LOG_END, min_one_batch=True)
    told.error_code = result.error
    told.records = b"".join(result.pieces or ())
    return response


def _epoch_error(believed: int) -> ErrorCode:
    if believed in (_UNKNOWN, LEADER_EPOCH):
        return ErrorCode.NONE
    is_old = believed < LEADER_EPOCH
    return ErrorCode.FENCED_LEADER_EPOCH if is_old else ErrorCode.UNKNOWN_LEADER_EPOCH


def fetch_snapshot(
    context: ControllerContext, _request: Request, message: snapshots.FetchSnapshotRequest
) -> Answer:
    """Answer FetchSnapshot, versions 0 and 1."""
    if message.cluster_id is not None and message.cluster_id != context.identity.cluster_id:
        code = ErrorCode.INCONSISTENT_CLUSTER_ID
        return snapshots.FetchSnapshotResponse(error_code=code)
    response = snapshots.FetchSnapshotResponse()
    left = message.max_bytes
    for topic in message.topics:
        found = []
        for asked in topic.partitions:
            found.append(_piece(context, topic.name, asked, left))
            left -= len(found[-1].unaligned_records or b"")
        response.topics.append(snapshots.FetchSnapshotResponseTopicSnapshot(topic.name, found))
    return response


def _piece(
    context: ControllerContext,
    topic: str,
    asked: snapshots.FetchSnapshotRequestPartitionSnapshot,
    left: int,
) -> snapshots.FetchSnapshotResponsePartitionSnapshot:
    wanted = asked.snapshot_id
    told = snapshots.FetchSnapshotResponsePartitionSnapshot(
        asked.partition,
        _epoch_error(asked.current_leader_epoch),
        snapshots.FetchSnapshotResponseSnapshotId(wanted.end_offset, wanted.epoch),
        snapshots.LeaderIdAndEpoch(context.identity.node_id, LEADER_EPOCH),
        position=asked.position,
        unaligned_records=b"",
    )
    if told.error_code:
        return told
    if topic != METADATA_TOPIC or asked.partition:
        told.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return told
    data = context.controller.log.snapshot_bytes(Snapshot(wanted.end_offset, wanted.epoch, ""))
    if data is None:
        told.error_code = ErrorCode.SNAPSHOT_NOT_FOUND
    elif not 0 <= asked.position < len(data):
        told.error_code = ErrorCode.POSITION_OUT_OF_RANGE
    else:
        told.size = len(data)
        told.unaligned_records = data[asked.position : asked.position + max(left, 1)]
    return told
