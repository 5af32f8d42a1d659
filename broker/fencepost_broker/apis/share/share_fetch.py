"""ShareFetch: records for a member of a share group, with acknowledgements on the way (KIP-932).

Version 2 brought the strict limit of records (KIP-1206) and the renewal of locks (KIP-1222).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.share_fetch import (
    AcquiredRecords,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)

from fencepost_broker.apis.groups.requests import has_feature
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.apis.share.requests import (
    SHARE_VERSION,
    Acknowledging,
    Leaders,
    find,
    refused_ids,
)
from fencepost_broker.apis.share.sessions import FINAL_EPOCH, FIRST_EPOCH, ShareSession
from fencepost_broker.replication.partition import Partition
from fencepost_broker.replication.share.fetched import bytes_of, fetched_batches
from fencepost_broker.replication.share.share_partition import AcquireLimits, AcquireMode
from fencepost_broker.replication.share.share_partitions import (
    LedSharePartition,
    SharePartitionKey,
)
from fencepost_broker.storage.log import UpperBound

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.ports import Timer

_MODES: Final = tuple(AcquireMode)
_READS_MAX: Final = 100
"""How often a partition is read for one request, if no record that was read may be given."""


def share_fetch(
    context: BrokerContext, request: Request, message: ShareFetchRequest
) -> Answer | None:
    """Answer ShareFetch, versions 1 and 2."""
    if not has_feature(context, SHARE_VERSION):
        return ShareFetchResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    wrong = refused_ids(message.group_id, message.member_id) or _refusal(message)
    if wrong is not None:
        return ShareFetchResponse(error_code=ErrorCode.INVALID_REQUEST, error_message=wrong)
    session = _session(context, request, message)
    if session is ErrorCode.SHARE_SESSION_LIMIT_REACHED and request.peer.may_park:
        full = ShareFetchResponse(error_code=session)  # not at once: the member tries again
        context.clock.call_later(max(message.max_wait_ms, 0), lambda: request.release(full))
        return None
    if isinstance(session, ErrorCode):
        return ShareFetchResponse(error_code=session)
    acknowledging = Acknowledging(context, request, session.member_id)
    for key, each in _partitions(message):
        if each.acknowledgement_batches:
            batches = each.acknowledgement_batches
            acknowledging.begin(key, batches, is_renew=message.is_renew_ack)
    fetching = ShareFetching(context, request, message, session, acknowledging)
    return fetching.begin()


def _refusal(message: ShareFetchRequest) -> str | None:
    if message.share_acquire_mode not in _MODES:
        return f"ShareAcquireMode {message.share_acquire_mode} is not known"
    limits = (message.max_bytes, message.min_bytes, message.max_records, message.max_wait_ms)
    if message.is_renew_ack and any(limits):
        return "MaxBytes, MinBytes, MaxRecords and MaxWaitMs are not 0 though IsRenewAck is true"
    return None


def _partitions(message: ShareFetchRequest) -> list[tuple[SharePartitionKey, Any]]:
    group_id = message.group_id
    assert group_id is not None
    return [
        (SharePartitionKey(group_id, topic.topic_id, each.partition_index), each)
        for topic in message.topics
        for each in topic.partitions
    ]


def _session(
    context: BrokerContext, request: Request, message: ShareFetchRequest
) -> ShareSession | ErrorCode:
    """Begin or continue the session of a request."""
    group_id, member_id = message.group_id, message.member_id
    assert group_id is not None
    assert member_id is not None
    partitions = _partitions(message)
    keys = [key for key, _ in partitions]
    if message.share_session_epoch == FIRST_EPOCH:
        if any(each.acknowledgement_batches for _, each in partitions):
            return ErrorCode.INVALID_REQUEST
        limit = context.config.settings.group_share_max_share_sessions
        client = request.peer.client
        return context.share_sessions.open(group_id, member_id, client, keys, limit)
    session = context.share_sessions.go_on(group_id, member_id, message.share_session_epoch)
    if isinstance(session, ShareSession):
        session.partitions.update(dict.fromkeys(keys))
        for topic in message.forgotten_topics_data:
            for number in topic.partitions:
                session.partitions.pop(SharePartitionKey(group_id, topic.topic_id, number), None)
    return session


class ShareFetching:
    """A ShareFetch request; while it waits, it is tried again whenever a partition changes."""

    def __init__(
        self,
        context: BrokerContext,
        request: Request,
        message: ShareFetchRequest,
        session: ShareSession,
        acknowledging: Acknowledging,
    ) -> None:
        self._context = context
        self._request = request
        self._session = session
        self._acknowledging = acknowledging
        self._is_final = message.share_session_epoch == FINAL_EPOCH
        self._is_first = message.share_session_epoch == FIRST_EPOCH
        self._fetches = not (self._is_final or message.is_renew_ack)
        self._max_wait_ms = message.max_wait_ms
        self._max_bytes = message.max_bytes
        self._min_bytes = min(message.min_bytes, message.max_bytes)
        self._wanted = AcquireLimits(
            message.max_records, AcquireMode(message.share_acquire_mode), max(message.batch_size, 1)
        )
        self._led: dict[SharePartitionKey, LedSharePartition] = {}
        self._answers: dict[SharePartitionKey, PartitionData] = {}
        self._waits_at: list[Partition] = []
        self._timer: Timer | None = None
        self._has_fetched = False

    def begin(self) -> ShareFetchResponse | None:
        """Return the response, or wait for records and for the acknowledgements."""
        if self._fetches:
            self._find()
            self._has_fetched = self._attempt() or self._max_wait_ms <= 0
        else:
            self._has_fetched = True
        if not self._has_fetched and self._request.peer.may_park:
            self._park()
        else:
            self._has_fetched = True
        if self._has_fetched and self._acknowledging.is_done:
            return self._response()
        self._acknowledging.when_done(self._release_if_done)
        return None

    def _find(self) -> None:
        """Find the partitions of the session, and begin to load their states."""
        for key in self._session.partitions:
            found = find(self._context, self._request, key)
            if found.error or found.partition is None:
                self._answers[key] = PartitionData(key.number, found.error)
            else:
                self._led[key] = self._context.shares.load(key, found.partition)

    # -- reading -------------------------------------------------------------------------------

    def _attempt(self) -> bool:
        """Acquire records; return whether there are any, or an error."""
        for key, led in list(self._led.items()):
            if led.error:
                self._fail(key, led.error)
        ready = [(key, led) for key, led in self._led.items() if led.state is not None]
        if self._min_bytes > 1 and not self._answers and not self._has_bytes(ready):
            return False
        left = self._wanted.max_records
        left_bytes = self._max_bytes
        has_any = False
        for key, led in ready:
            if left <= 0 or (left_bytes <= 0 and has_any):
                break
            data = self._acquire(key, led, left, left_bytes, first=not has_any)
            if data is None:
                continue
            has_any = True
            self._answers[key] = data
            left -= sum(each.last_offset - each.first_offset + 1 for each in data.acquired_records)
            left_bytes -= len(data.records or b"")
        return bool(self._answers) or not self._session.partitions

    def _has_bytes(self, ready: list[tuple[SharePartitionKey, LedSharePartition]]) -> bool:
        size = 0
        for _, led in ready:
            assert led.state is not None
            offset = led.state.next_fetch_offset()
            if offset is not None:
                size += led.partition.log.bytes_available(offset, _bound(led))
        return size >= self._min_bytes

    def _acquire(
        self, key: SharePartitionKey, led: LedSharePartition, left: int, left_bytes: int, *,
        first: bool,
    ) -> PartitionData | None:  # fmt: skip
        """Acquire records of one partition; ``None`` if there are none."""
        log, state = led.partition.log, led.state
        assert state is not None
        if log.log_start_offset > state.start_offset:
            state.move_start(log.log_start_offset)
        max_bytes = max(left_bytes // len(self._led), 1)
        for _ in range(_READS_MAX):
            offset = state.next_fetch_offset()
            if offset is None:
                return None
            read = log.read(offset, max_bytes, _bound(led), min_one_batch=first)
            if read.error:
                self._fail(key, read.error)
                return None
            if not read.pieces:
                return None
            records = read.pieces[0] if len(read.pieces) == 1 else b"".join(read.pieces)
            batches = fetched_batches(records, read.aborted)
            wanted = self._wanted._replace(max_records=left)
            member_id = self._session.member_id
            acquired = self._context.shares.acquire(led, member_id, offset, batches, wanted)
            if acquired:
                begin, end = bytes_of(batches, acquired)
                return PartitionData(
                    key.number,
                    records=memoryview(records)[begin:end],
                    acquired_records=[AcquiredRecords(*each) for each in acquired],
                )
            if state.next_fetch_offset() == offset:
                return None
        return None

    def _fail(self, key: SharePartitionKey, error: ErrorCode) -> None:
        self._led.pop(key, None)
        self._answers[key] = PartitionData(key.number, error)

    # -- waiting -------------------------------------------------------------------------------

    def _park(self) -> None:
        self._timer = self._context.clock.call_later(self._max_wait_ms, self.time_is_over)
        self._waits_at = [led.partition for led in self._led.values()]
        for partition in self._waits_at:
            partition.waiters.append(self)
        self._request.peer.on_loss(self._leave)

    def partition_moved(self, partition: Partition) -> None:
        """Try again, because a partition has changed; the partition calls this."""
        del partition
        if self._attempt():
            self._finish()

    def time_is_over(self) -> None:
        """Answer with what there is: the time is over, or the partition has moved."""
        self._min_bytes = 0
        for key in list(self._led):
            found = find(self._context, self._request, key)
            if found.error:
                self._fail(key, found.error)
        self._attempt()
        self._finish()

    def failed(self, error: Exception) -> None:
        """Close the connection: one of the two methods above raised an exception."""
        self._leave()
        self._request.peer.refuse_parked(self._request, error)

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for partition in self._waits_at:
            partition.waiters.remove(self)
        self._waits_at = []

    def _finish(self) -> None:
        self._leave()
        self._has_fetched = True
        self._release_if_done()

    def _release_if_done(self) -> None:
        if self._has_fetched and self._acknowledging.is_done:
            self._request.release(self._response())

    # -- answering -----------------------------------------------------------------------------

    def _response(self) -> ShareFetchResponse:
        context, session = self._context, self._session
        if self._is_final:
            context.share_sessions.end(session)
        lock_ms = context.shares.lock_ms(session.group_id)
        response = ShareFetchResponse(acquisition_lock_timeout_ms=lock_ms)
        answers = self._answers
        if self._is_first:
            answers = {k: answers.get(k) or PartitionData(k.number) for k in session.partitions}
        for key, error in self._acknowledging.results.items():
            data = answers.setdefault(key, PartitionData(key.number))
            data.acknowledge_error_code = error
        session.to_the_end([key for key, data in answers.items() if data.records])
        leaders = Leaders(context, self._request)
        topics: dict[bytes, ShareFetchableTopicResponse] = {}
        for key, data in answers.items():
            leaders.tell(data, key, data.error_code or data.acknowledge_error_code)
            topic = topics.get(key.topic_id)
            if topic is None:
                topic = topics[key.topic_id] = ShareFetchableTopicResponse(key.topic_id)
                response.responses.append(topic)
            topic.partitions.append(data)
        response.node_endpoints = leaders.endpoints(NodeEndpoint)
        return response


def _bound(led: LedSharePartition) -> UpperBound:
    return UpperBound.LAST_STABLE if led.settings.is_read_committed else UpperBound.HIGH_WATERMARK
