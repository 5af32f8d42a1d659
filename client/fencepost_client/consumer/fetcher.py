"""``Fetcher``: which partitions to fetch from which broker, and which records to return.

At most one Fetch is under way to a node. It leaves out partitions that have enough fetched data,
which is the back-pressure. An answer counts for a partition only if it has the same ``era`` (there
was no seek meanwhile, and the partition is still assigned).

A read-committed consumer gets batches up to the last stable offset, and a list of aborted
transactions among them. The transactional batches of a producer are left out, from its first offset
in that list to its next ABORT marker. Markers are never returned; like batches that are left out,
they only move the position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.fetch import (
    AbortedTransaction,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from fencepost_protocol.generated.offset_for_leader_epoch import OffsetForLeaderEpochResponse
from fencepost_protocol.records.batch import (
    CONTROL_FLAG,
    TRANSACTIONAL_FLAG,
    split_raw,
    verify_crc,
)
from fencepost_protocol.records.control import ControlType, read_control_record

from fencepost_client.consumer.fetch_session import (
    BY_ID_FROM,
    NO_ID,
    SESSION_ERRORS,
    FetchSession,
    Wanted,
)
from fencepost_client.consumer.positions import UNKNOWN, FetchedBatch, Position
from fencepost_client.consumer.record_batch import unreadable
from fencepost_client.consumer.truncation import ASK_THE_LEADER_AGAIN, EpochCheck, truncated
from fencepost_client.errors import (
    KafkaError,
    MalformedAnswerError,
    RetriableError,
    UnsupportedVersionError,
    consumer_error,
)
from fencepost_client.metadata.cluster import Cluster
from fencepost_client.requests.backoff import Backoff, Chance
from fencepost_client.types import TopicPartition

_SESSION_ERRORS_AT_ONCE: Final = 1
"""So many in a row are answered without a pause."""


@dataclass(slots=True)
class FetchSettings:
    """By Kafka's names: fetch.min.bytes and so on."""

    min_bytes: int = 1
    max_bytes: int = 50 << 20
    max_wait_ms: int = 500
    partition_max_bytes: int = 1 << 20
    read_committed: bool = False
    reset_to: int | None = -1
    """The reset policy for positions that are not in the log; ``None`` raises an error."""
    retry_backoff_ms: int = 100
    rack_id: str = ""
    """The rack of this consumer, so that the leader can name a nearer replica (KIP-392)."""
    replica_max_age_ms: int = 300_000
    """How long such a replica is used before the leader is asked again."""


@dataclass(slots=True)
class Fetch:
    """A Fetch request, with the positions at that time."""

    node_id: int
    partitions: dict[TopicPartition, tuple[Position, int]]
    names: dict[bytes, str] = field(default_factory=dict)
    """Of topics by their ids, if they were asked for by ids."""


class Fetcher:
    """Fetches records of all assigned partitions ahead of the application."""

    def __init__(self, settings: FetchSettings, chance: Chance) -> None:
        self.positions: dict[TopicPartition, Position] = {}
        self.wants_metadata = False
        self.wake_at_ms: int | None = None
        self._settings = settings
        self._chance = chance
        self._busy: set[int] = set()
        self._checking: set[int] = set()
        self._sessions: dict[int, FetchSession] = {}
        self._turn = 0

    # -- what is assigned ----------------------------------------------------------------------

    def assign(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        """Set the assignment and keep existing positions; returns the new partitions."""
        wanted = dict.fromkeys(partitions)
        for where in set(self.positions) - set(wanted):
            self.positions.pop(where).seek(UNKNOWN)
        new = [where for where in wanted if where not in self.positions]
        for where in new:
            self.positions[where] = Position(where)
        return new

    # -- asking --------------------------------------------------------------------------------

    def requests(
        self, now_ms: int, cluster: Cluster, is_ready: Callable[[int], bool]
    ) -> tuple[list[Fetch], list[EpochCheck]]:
        """The requests that can be sent now."""
        self.wake_at_ms = None
        fetches: dict[int, Fetch] = {}
        checks: dict[int, EpochCheck] = {}
        for where, position in self.positions.items():
            if not self._may_fetch(position, now_ms):
                continue
            node_id = cluster.leader(*where)
            if node_id is None:
                self.wants_metadata = True
                continue
            position.is_of(cluster.topic_id(where.topic))
            epoch = cluster.leader_epoch(*where)
            if position.must_be_checked(epoch):
                if node_id not in self._checking and is_ready(node_id):
                    check = checks.setdefault(node_id, EpochCheck(node_id, {}, {}))
                    check.partitions[where] = (position, position.era)
                    check.leader_epochs[where] = epoch
                continue
            if position.replica != UNKNOWN:
                replica = _replica(position, cluster, now_ms)
                node_id = node_id if replica is None else replica
            if node_id not in self._busy and is_ready(node_id):
                fetch = fetches.setdefault(node_id, Fetch(node_id, {}))
                fetch.partitions[where] = (position, position.era)
        self._busy |= fetches.keys()
        self._checking |= checks.keys()
        return list(fetches.values()), list(checks.values())

    def _may_fetch(self, position: Position, now_ms: int) -> bool:
        if position.fetch_offset == UNKNOWN or position.is_paused or position.error is not None:
            return False
        if position.has_all():
            return False
        if position.ahead_bytes >= self._settings.partition_max_bytes:
            return False
        if now_ms < position.retry_at_ms:
            if self.wake_at_ms is None or position.retry_at_ms < self.wake_at_ms:
                self.wake_at_ms = position.retry_at_ms
            return False
        return True

    def version_max(self, fetch: Fetch, cluster: Cluster) -> int | None:
        """The newest version that can ask for these: by ids only if all topics have one."""
        for where in fetch.partitions:
            if cluster.topic_id(where.topic) == NO_ID:
                return BY_ID_FROM - 1
        return None

    def request(self, fetch: Fetch, cluster: Cluster, version: int) -> FetchRequest:
        """The request; partitions take turns in being the first, which an answer always serves."""
        settings = self._settings
        self._turn += 1
        turn = self._turn % len(fetch.partitions)
        asked = list(fetch.partitions.items())
        wanted: dict[TopicPartition, Wanted] = {}
        for where, (position, _) in asked[turn:] + asked[:turn]:
            topic_id = cluster.topic_id(where.topic)
            wanted[where] = Wanted(
                topic_id,
                position.fetch_offset,
                position.fetch_bytes(settings.partition_max_bytes),
                cluster.leader_epoch(*where),
                position.fetch_epoch,
            )
            if version >= BY_ID_FROM:
                fetch.names[topic_id] = where.topic
        request = FetchRequest(
            max_wait_ms=settings.max_wait_ms,
            min_bytes=settings.min_bytes,
            max_bytes=settings.max_bytes,
            isolation_level=int(settings.read_committed),
            rack_id=settings.rack_id,
        )
        session = self._sessions.setdefault(fetch.node_id, FetchSession())
        session.fill(request, wanted, version)
        return request

    def end_sessions(self) -> dict[int, FetchRequest]:
        """What to tell each node at the end, or it would keep a session that nobody uses."""
        ended = {node_id: session.end() for node_id, session in self._sessions.items()}
        return {node_id: request for node_id, request in ended.items() if request is not None}

    def is_busy(self, node_id: int) -> bool:
        """Whether a Fetch is under way there, which may wait for records."""
        return node_id in self._busy

    # -- answers -------------------------------------------------------------------------------

    def answered(self, now_ms: int, fetch: Fetch, response: FetchResponse) -> None:
        """Take an answer."""
        self._busy.discard(fetch.node_id)
        found: dict[TopicPartition, PartitionData] = {}
        for topic in response.responses:
            name = fetch.names.get(topic.topic_id, "") if fetch.names else topic.topic
            for data in topic.partitions:
                found[TopicPartition(name, data.partition_index)] = data
        session = self._sessions[fetch.node_id]
        if not session.answered(response, set(found)):
            self._refused(now_ms, fetch, session, response.error_code)
            return
        for where, data in found.items():
            asked = fetch.partitions.get(where)
            if asked is not None and asked[0].era == asked[1]:
                self._take(now_ms, fetch.node_id, asked[0], data)

    def _refused(self, now_ms: int, fetch: Fetch, session: FetchSession, code: int) -> None:
        if code in SESSION_ERRORS and session.errors <= _SESSION_ERRORS_AT_ONCE:
            return
        for position, era in fetch.partitions.values():
            if position.era != era:
                continue
            if code in RETRIABLE:
                self.wants_metadata = True
                self._try_later(now_ms, position)
            else:
                position.error = consumer_error(code, state=f"fetching from node {fetch.node_id}")

    def checked(
        self, now_ms: int, check: EpochCheck, response: OffsetForLeaderEpochResponse
    ) -> None:
        """Take what a leader says of an epoch's end."""
        self._checking.discard(check.node_id)
        for position in check.answered(response, self._settings.reset_to):
            self.wants_metadata = True
            self._try_later(now_ms, position)

    def failed(self, now_ms: int, fetch: Fetch | EpochCheck, error: KafkaError) -> None:
        """Take the error of a request without an answer."""
        if isinstance(fetch, Fetch):
            self._busy.discard(fetch.node_id)
            if fetch.node_id in self._sessions:
                self._sessions[fetch.node_id].restart()
        else:
            self._checking.discard(fetch.node_id)
            if isinstance(error, UnsupportedVersionError):
                # A broker from before KIP-320 cannot be asked: what it has is believed.
                for where, (position, _) in fetch.partitions.items():
                    position.checked_epoch = fetch.leader_epochs[where]
                return
        self.wants_metadata = True
        for position, era in fetch.partitions.values():
            if position.replica == fetch.node_id:
                position.replica = UNKNOWN
            if position.era == era:
                if isinstance(error, RetriableError) and not isinstance(
                    error, MalformedAnswerError
                ):
                    self._try_later(now_ms, position)
                else:
                    position.error = error

    def _take(self, now_ms: int, node_id: int, position: Position, data: PartitionData) -> None:
        code = data.error_code
        if code and node_id == position.replica:
            # A replica may be behind, or none any more: what it says is asked of the leader.
            position.replica = UNKNOWN
            if code == ErrorCode.OFFSET_OUT_OF_RANGE:
                self._try_later(now_ms, position)
                return
        if code == ErrorCode.NONE:
            if data.preferred_read_replica not in (UNKNOWN, node_id):
                position.replica = data.preferred_read_replica
                position.replica_until_ms = now_ms + self._settings.replica_max_age_ms
            position.high_watermark = data.high_watermark
            position.last_stable_offset = data.last_stable_offset
            if data.diverging_epoch is not None:
                end = data.diverging_epoch
                truncated(position, end.epoch, end.end_offset, self._settings.reset_to)
                return
            try:
                self._keep(position, data)
            except RemoteProtocolError as error:
                position.error = unreadable(position.where, position.fetch_offset, None, error)
        elif code == ErrorCode.OFFSET_OUT_OF_RANGE and self._settings.reset_to is not None:
            position.seek_to_time(self._settings.reset_to)
        elif code in RETRIABLE or code in ASK_THE_LEADER_AGAIN:
            self.wants_metadata = True
            self._try_later(now_ms, position)
        else:
            where = f"{position.where.topic}-{position.where.partition}"
            position.error = consumer_error(
                code, state=f"fetching {where} from offset {position.fetch_offset}"
            )

    def _try_later(self, now_ms: int, position: Position) -> None:
        position.retry_at_ms = (
            now_ms + Backoff(self._chance, self._settings.retry_backoff_ms).next_ms()
        )

    def _keep(self, position: Position, data: PartitionData) -> None:
        """Add the batches after those that are there, without those that must not be seen.

        The CRC of a batch with records is checked when they are taken, so that the next Fetch is
        sent earlier.
        """
        aborted = sorted(
            data.aborted_transactions or (), key=lambda transaction: transaction.first_offset
        )
        under_abort: set[int] = set()
        begin = position.fetch_offset
        for header, batch in split_raw(data.records or b"", tolerate_partial=True):
            attributes, producer_id = header[5], header[9]
            last_offset = header[0] + header[6]
            if last_offset < position.fetch_offset:
                continue
            fetched = FetchedBatch(last_offset + 1, batch, header[2], header)
            if aborted:
                _begin_aborted(aborted, last_offset, under_abort)
            if attributes & CONTROL_FLAG:
                verify_crc(batch)
                fetched.records = None
                if read_control_record(batch).type is ControlType.ABORT:
                    under_abort.discard(producer_id)
            elif attributes & TRANSACTIONAL_FLAG and producer_id in under_abort:
                verify_crc(batch)
                fetched.records = None
            position.add(fetched)
        position.came(begin, len(data.records or b""))


def _replica(position: Position, cluster: Cluster, now_ms: int) -> int | None:
    """The node to read from instead of the leader, as long as there is reason to."""
    if now_ms < position.replica_until_ms and position.replica in cluster.nodes:
        return position.replica
    position.replica = UNKNOWN
    return None


def _begin_aborted(
    aborted: list[AbortedTransaction], last_offset: int, under_abort: set[int]
) -> None:
    """Producers whose aborted transaction begins at or before this offset."""
    while aborted and aborted[0].first_offset <= last_offset:
        under_abort.add(aborted.pop(0).producer_id)
