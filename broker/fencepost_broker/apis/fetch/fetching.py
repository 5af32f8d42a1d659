"""Carrying out a Fetch request: finding its partitions, reading them, and waiting for records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_response_pieces
from fencepost_protocol.generated.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
)
from fencepost_protocol.primitives import PIECE_BYTES_MIN, Buffer

from fencepost_broker.apis.fetch.sessions import Opened
from fencepost_broker.apis.leader_hints import MOVED, addresses_of, leader_of
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.replication.partition import Partition, Topic
from fencepost_broker.replication.replicated_partitions import Replica
from fencepost_broker.security.authorizer.acls import Operation
from fencepost_broker.security.authorizer.authorizer import Rights
from fencepost_broker.storage.log import PartitionLog, ReadResult, UpperBound

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.ports import Timer

BY_ID_FROM: Final = 13
_NO_ERROR: Final = ErrorCode.NONE
_NOT_LEADER: Final = ErrorCode.NOT_LEADER_OR_FOLLOWER
_HIGH_WATERMARK: Final = UpperBound.HIGH_WATERMARK
_FROM_FOLLOWERS_FROM: Final = 11
_LEADERS_FROM: Final = 16
_BY_RACK: Final = "RackAwareReplicaSelector"
_UNCHECKED_EPOCH: Final = -1
_READ_COMMITTED: Final = 1


class Wanted(NamedTuple):
    """One partition of a Fetch request, and the broker's partition or the error."""

    topic: FetchTopic
    entry: FetchPartition
    partition: Partition | None
    error: ErrorCode


class Fetching:
    """A Fetch request; while it is parked, it is tried again whenever a partition changes."""

    __slots__ = (
        "bound",
        "context",
        "leaders",
        "max_bytes",
        "min_bytes",
        "opened",
        "rack",
        "replica",
        "request",
        "timer",
        "wanted",
    )

    def __init__(
        self, context: BrokerContext, request: Request, message: FetchRequest, opened: Opened,
        replica: Replica | None,
    ) -> None:  # fmt: skip
        self.context = context
        self.request = request
        self.opened = opened
        self.bound = _HIGH_WATERMARK
        if message.isolation_level == _READ_COMMITTED:
            self.bound = UpperBound.LAST_STABLE
        self.replica = replica
        if replica is not None:
            self.bound = UpperBound.LOG_END
        self.rack = _rack(context, request, message) if message.rack_id else ""
        self.leaders: dict[int, NodeEndpoint] = {}
        """The leaders of refused partitions, which consumers are told."""
        self.max_bytes = min(message.max_bytes, context.config.settings.fetch_max_bytes)
        self.min_bytes = min(message.min_bytes, self.max_bytes)
        look_up = self._look_up if context.access.authorizer is None else self._look_up_permitted
        self.wanted = [look_up(topic, entry) for topic, entry in opened.asked]
        self.timer: Timer | None = None

    def _look_up(self, named: FetchTopic, entry: FetchPartition) -> Wanted:
        topic: Topic | None
        if self.request.version >= BY_ID_FROM:
            topic = self.context.replicas.table.by_id.get(named.topic_id)
            if topic is None:
                return Wanted(named, entry, None, ErrorCode.UNKNOWN_TOPIC_ID)
        else:
            topic = self.context.replicas.table.by_name.get(named.topic)
            if topic is None:
                return Wanted(named, entry, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if not 0 <= entry.partition < len(topic.partitions):
            return Wanted(named, entry, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        partition = topic.partitions[entry.partition]
        error = partition.epoch_error(entry.current_leader_epoch)
        if (
            error is _NOT_LEADER
            and partition.is_here
            and self.replica is None
            and self.request.version >= _FROM_FOLLOWERS_FROM
        ):
            error = ErrorCode.NONE
        return Wanted(named, entry, partition, error)

    def _look_up_permitted(self, named: FetchTopic, entry: FetchPartition) -> Wanted:
        """Look a partition up if the consumer may read its topic; followers were checked before."""
        name, authorizer, peer = named.topic, self.context.access.authorizer, self.request.peer
        if self.replica is None and authorizer is not None:
            if self.request.version >= BY_ID_FROM:
                topic = self.context.replicas.table.by_id.get(named.topic_id)
                name = "" if topic is None else topic.name  # unknown topics need no rights
            rights = Rights(authorizer, peer.user, peer.client_host)
            if name and not rights.of_topic(Operation.READ, name):
                return Wanted(named, entry, None, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        return self._look_up(named, entry)

    # -- trying --------------------------------------------------------------------------------

    def attempt(self) -> FetchResponse | None:
        """Return the response if there are enough bytes or an error, else ``None``."""
        answers = []
        left = self.max_bytes
        size = 0
        failed = False
        for wanted in self.wanted:
            data = self._read(wanted, left, first=size == 0)
            failed = failed or is_final(data)
            got = len(data.records or b"")
            size += got
            left -= got
            if left < 0 < got:
                left = 0  # the first batch may exceed the request's limit
            answers.append((wanted.topic, data))
        if failed or size >= self.min_bytes or not self.opened.asked:
            if size:
                self._count_bytes(answers)
            response = self._respond(answers)
            if failed:
                self.context.metrics.note_errors(response)
                self._count_refused(answers)
            return response
        return None

    def whatever_there_is(self) -> FetchResponse:
        """Return a response with the bytes at hand, ignoring MinBytes."""
        self.min_bytes = 0
        response = self.attempt()
        assert response is not None
        return response

    def _count_bytes(self, answers: list[tuple[FetchTopic, PartitionData]]) -> None:
        for (_, _, partition, _), (_, data) in zip(self.wanted, answers, strict=True):
            if partition is not None and data.records:
                partition.bytes_out += len(data.records)
                partition.reads += 1

    def _count_refused(self, answers: list[tuple[FetchTopic, PartitionData]]) -> None:
        for (_, _, partition, _), (_, data) in zip(self.wanted, answers, strict=True):
            if partition is not None and data.error_code:
                partition.reads_refused += 1

    def _respond(self, answers: list[tuple[FetchTopic, PartitionData]]) -> FetchResponse:
        opened = self.opened
        if opened.session is not None:
            answers = opened.session.news(answers, everything=opened.is_first)
        response = FetchResponse(session_id=opened.session_id)
        if self.leaders:
            response.node_endpoints = [*self.leaders.values()]
        for topic, data in answers:
            add(response, topic, data)
        return response

    def _read(self, wanted: Wanted, left: int, *, first: bool) -> PartitionData:
        number = wanted.entry.partition
        if wanted.partition is None:
            return PartitionData(number, wanted.error, -1)
        if wanted.error:
            return self._refuse(wanted.partition, wanted.error)
        limit = min(wanted.entry.partition_max_bytes, left)
        cannot_be = limit < 0
        if cannot_be:
            limit, first = 0, True  # find out whether there is anything to read
        log = wanted.partition.log
        if log.failure is not None and wanted.partition.is_offline:  # (no call for healthy logs)
            return PartitionData(number, ErrorCode.KAFKA_STORAGE_ERROR, -1)
        if wanted.entry.last_fetched_epoch >= 0:
            told = _divergence(log, wanted.entry)
            if told is not None:
                return told
        if self.rack and wanted.partition.replication is not None:
            nearer = self._nearer(wanted.partition, wanted.entry.fetch_offset)
            if nearer is not None:
                return nearer
        result = log.read(wanted.entry.fetch_offset, limit, self.bound, min_one_batch=first)
        if result.error:
            return PartitionData(number, result.error, -1, aborted_transactions=None)
        if cannot_be and result.pieces:
            error = ErrorCode.UNKNOWN_SERVER_ERROR  # as in Kafka, and only if there are records
            return PartitionData(number, error, -1, aborted_transactions=None)
        if self.replica is not None and self.timer is None:  # it is noted once, when it arrives
            unheard = self.context.replicas.replicated.fetched(
                wanted.partition, self.replica, wanted.entry
            )
            if unheard:
                return self._refuse(wanted.partition, unheard)
        return PartitionData(
            number,
            _NO_ERROR,
            result.high_watermark,
            result.last_stable_offset,
            result.log_start_offset,
            aborted_transactions=None
            if result.aborted is None
            else [AbortedTransaction(*aborted) for aborted in result.aborted],
            records=_records(result),
        )

    def _refuse(self, partition: Partition, error: ErrorCode) -> PartitionData:
        """Return the error, with the partition's leader if the version has a field for it."""
        data = PartitionData(partition.number, error, -1, aborted_transactions=None)
        if error in MOVED and self.request.version >= _LEADERS_FROM:
            leader = leader_of(self.context, partition.topic, partition.number)
            if leader is not None:
                data.current_leader = LeaderIdAndEpoch(*leader)
                if self.replica is None and leader.leader_id not in self.leaders:
                    listener = self.request.peer.listener
                    for each in addresses_of(self.context, listener, (leader.leader_id,)):
                        self.leaders[leader.leader_id] = NodeEndpoint(*each)
        return data

    def _nearer(self, partition: Partition, offset: int) -> PartitionData | None:
        """Redirect a consumer to a follower in its rack, if one has the records (KIP-392)."""
        assert partition.replication is not None
        nearer = partition.replication.nearer(self.rack, offset, self.context.image.cluster.brokers)
        if nearer is None:
            return None
        log = partition.log
        return PartitionData(
            partition.number,
            ErrorCode.NONE,
            log.high_watermark,
            log.last_stable_offset,
            log.log_start_offset,
            aborted_transactions=None,
            preferred_read_replica=nearer,
            records=b"",
        )

    # -- waiting -------------------------------------------------------------------------------

    def park(self, max_wait_ms: int) -> None:
        """Wait for records, at most for ``max_wait_ms``."""
        replica = self.replica
        if replica is not None:
            unheard = self.context.replicas.replicated.unheard
            max_wait_ms = unheard.wait_ms(
                replica.broker_id, max_wait_ms, self.context.clock.now_ms()
            )
            unheard.park(replica.broker_id, self)
        self.timer = self.context.clock.call_later(max_wait_ms, self.time_is_over)
        for partition in self._partitions():
            partition.waiters.append(self)
        self.request.peer.on_loss(self._leave)

    def partition_moved(self, partition: Partition) -> None:
        """Try again, because a partition has changed; the partition calls this."""
        if len(self.wanted) == 1 or self._has_news(partition):
            self._try_again()

    def _has_news(self, partition: Partition) -> bool:
        """Whether this partition, the only one that changed, has records or an error."""
        for wanted in self.wanted:
            if wanted.partition is partition:
                data = self._read(wanted, self.max_bytes, first=True)
                if data.records or is_final(data):
                    return True
        return False

    def _try_again(self) -> None:
        response = self.attempt()
        if response is not None:
            self._release(response)

    def time_is_over(self) -> None:
        """Answer with the records at hand: the time is over, or the broker stops."""
        self._release(self.whatever_there_is())

    def failed(self, error: Exception) -> None:
        """Close the connection: one of the two methods above raised an exception."""
        if self.timer is not None:
            self._leave()
        self.request.peer.refuse_parked(self.request, error)

    def _leave(self) -> None:
        """Stop waiting, and remove this request from all partitions."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
        if self.replica is not None:
            self.context.replicas.replicated.unheard.unpark(self.replica.broker_id, self)
        for partition in self._partitions():
            partition.waiters.remove(self)

    def _partitions(self) -> Iterable[Partition]:
        """Return each partition of the request once."""
        return {wanted.partition: None for wanted in self.wanted if wanted.partition is not None}

    def _release(self, response: FetchResponse) -> None:
        self._leave()
        self.request.release(response)


def is_final(data: PartitionData) -> bool:
    """Whether this result is answered at once, without regard to MinBytes."""
    return (
        data.error_code != 0 or data.diverging_epoch is not None or data.preferred_read_replica >= 0
    )


def _rack(context: BrokerContext, request: Request, message: FetchRequest) -> str:
    """Return the consumer's rack if it may be redirected to a replica there, else ``""``."""
    selector = context.config.settings.replica_selector_class
    may_move = request.version >= _FROM_FOLLOWERS_FROM and replica_of(message) is None
    return message.rack_id if may_move and selector and selector.endswith(_BY_RACK) else ""


def replica_of(message: FetchRequest) -> Replica | None:
    """Return the fetching broker, or ``None`` if a consumer fetches."""
    state = message.replica_state
    if state is not None:
        return Replica(state.replica_id, state.replica_epoch) if state.replica_id >= 0 else None
    return Replica(message.replica_id, _UNCHECKED_EPOCH) if message.replica_id >= 0 else None


def encode_fetch(request: Request, response: FetchResponse) -> Pieces:
    """Encode a response, with its records as separate pieces."""
    pieces: list[Any] = [*encode_response_pieces(response, request.version, request.correlation_id)]
    for piece in pieces:
        if piece.__class__ is _Views:
            parts = ((each.views if isinstance(each, _Views) else (each,)) for each in pieces)
            return [part for views in parts for part in views]
    return pieces


class _Views:
    """Several views of records that pass for one buffer until they are sent.

    A read of 1 MB from memory nearly always crosses the end of a chunk. Joining the two views
    would double the cost of the fetch.
    """

    __slots__ = ("size", "views")

    def __init__(self, views: list[memoryview], size: int) -> None:
        self.views = views
        self.size = size

    def __len__(self) -> int:
        return self.size


def _divergence(log: PartitionLog, entry: FetchPartition) -> PartitionData | None:
    """Return where the fetcher's log diverges from this one (KIP-595), or ``None``."""
    offset = entry.fetch_offset
    diverging = log.diverging_epoch(offset, entry.last_fetched_epoch)
    if diverging is None:
        return None
    if diverging.epoch < 0 or offset < log.log_start_offset:
        error = ErrorCode.OFFSET_OUT_OF_RANGE
        return PartitionData(entry.partition, error, -1, aborted_transactions=None)
    return PartitionData(
        entry.partition,
        ErrorCode.NONE,
        log.high_watermark,
        log.last_stable_offset,
        log.log_start_offset,
        diverging_epoch=EpochEndOffset(*diverging),
        aborted_transactions=None,
        records=b"",
    )


def _records(result: ReadResult) -> Buffer:
    views = result.pieces
    if not views:
        return b""
    if len(views) == 1:
        return views[0]
    if result.size < PIECE_BYTES_MIN:
        return b"".join(views)
    return cast("Buffer", _Views(views, result.size))  # the encoder only needs its length


def add(response: FetchResponse, topic: FetchTopic, data: PartitionData) -> None:
    last = response.responses[-1] if response.responses else None
    if last is None or (last.topic, last.topic_id) != (topic.topic, topic.topic_id):
        last = FetchableTopicResponse(topic.topic, topic.topic_id)
        response.responses.append(last)
    last.partitions.append(data)
