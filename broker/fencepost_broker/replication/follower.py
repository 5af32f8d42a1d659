"""Followers: the Fetch requests of a broker for its replicas, and the handling of the responses.

There is one fetcher for each leading broker, with one request in flight and a fetch session
(KIP-227) over all partitions. Each Fetch has the epoch of the follower's last batch. If the logs
diverge, the leader answers with the end of that epoch in its own log, and the follower truncates
its log before it appends anything (KIP-101, in the form of KIP-595). A response applies to the log
as it was at the request; a partition with a new leader or another end by then is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from fencepost_client.consumer.fetch_session import FetchSession, Wanted
from fencepost_client.types import TopicPartition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import (
    FetchRequest,
    FetchResponse,
    PartitionData,
    ReplicaState,
)

from fencepost_broker.config.values.units import LONG_MAX
from fencepost_broker.replication.quotas import ReplicationQuota
from fencepost_broker.storage.log import AppendResult, LogConfig
from fencepost_broker.storage.log.results import EpochEnd

VERSION_MIN: Final = 15
"""From this version on, followers send their broker epoch (KIP-903)."""
FIRST_BACKOFF_MS: Final = 10
"""The delay before the second attempt; it doubles for each further one, up to the setting."""
FULL_MS: Final = 1000
"""The interval of full requests; they report log starts, which move without a fetch."""


class Quotas(Protocol):
    """The quotas of replication."""

    @property
    def follower(self) -> ReplicationQuota | None:
        """That of followers, if there is a limit."""


class Log(Protocol):
    """The interface of a replica's log."""

    @property
    def config(self) -> LogConfig:
        """The current settings."""

    log_start_offset: int
    log_end_offset: int
    high_watermark: int

    @property
    def latest_epoch(self) -> int:
        """The epoch of the last batch; -1 for an empty log."""

    def offset_for_leader_epoch(self, epoch: int) -> EpochEnd:
        """Return the end of an epoch in this log."""

    def append_as_follower(
        self, records: memoryview, leader_epoch: int, now_ms: int
    ) -> AppendResult:
        """Append batches from the leader unchanged."""

    def truncate_to(self, offset: int, now_ms: int) -> None:
        """Remove the records from an offset on."""

    def restart_at(self, offset: int, now_ms: int) -> None:
        """Remove all records and continue at an offset."""

    def delete_records(self, offset: int) -> object:
        """Move the start of the log to an offset."""

    def set_high_watermark(self, offset: int) -> bool:
        """Set it, within the log; return whether it or the last stable offset moved."""


@dataclass(slots=True, eq=False)
class Followed:
    """A replica in this broker that follows a leader, in one leader epoch."""

    where: TopicPartition
    topic_id: bytes
    log: Log
    leader_epoch: int
    not_before_ms: int = 0
    """After an error, the time from which it is fetched again."""
    failures: int = 0
    """The number of errors in a row; a new leader may not know yet that it leads."""
    is_out_of_range: bool = False
    """Whether the leader has no records at this log's end, and must be asked for its offsets."""
    leader_high_watermark: int = LONG_MAX
    """The leader's high watermark in its last answer."""

    @property
    def is_in_sync(self) -> bool:
        """Whether it had all of the leader's replicated records at the last answer."""
        return self.log.log_end_offset >= self.leader_high_watermark


class Limits(NamedTuple):
    """The limits of a follower's fetches, from Kafka's ``replica.fetch.*`` settings."""

    max_wait_ms: int = 500
    min_bytes: int = 1
    response_max_bytes: int = 10 << 20
    partition_max_bytes: int = 1 << 20
    backoff_ms: int = 1000


class Asked(NamedTuple):
    """A replica, with its end at the time of the request."""

    followed: Followed
    end_offset: int


class LeaderFetcher:
    """The replicas of this broker that follow one leader."""

    def __init__(self, broker_id: int, limits: Limits, quotas: Quotas) -> None:
        self._broker_id = broker_id
        self._limits = limits
        self._quotas = quotas
        self._followed: dict[TopicPartition, Followed] = {}
        self._names: dict[bytes, str] = {}
        self._session = FetchSession()
        self._asked: dict[TopicPartition, Asked] = {}
        self._changed: dict[TopicPartition, None] = {}
        """Partitions that may differ from their state in the fetch session."""
        self._full_at_ms = 0
        self._is_answered = False
        """Whether the leader has answered since the last failure."""

    def __len__(self) -> int:
        return len(self._followed)

    def follow(self, followed: Followed) -> None:
        """Fetch a replica from now on; it replaces an earlier one of the same partition."""
        self._followed[followed.where] = followed
        self._changed[followed.where] = None
        self._names[followed.topic_id] = followed.where.topic

    def forget(self, where: TopicPartition) -> None:
        """Stop fetching a partition; a response in flight is ignored for it."""
        self._followed.pop(where, None)
        self._changed[where] = None

    # -- asking ---------------------------------------------------------------------------------

    def request(self, version: int, broker_epoch: int, wire_ms: int) -> FetchRequest | None:
        """Return the next Fetch request, or ``None`` if no partition can be fetched now."""
        if self._quotas.follower is not None:
            self._throttle(self._quotas.follower, wire_ms)
        session = self._session
        is_full = not session.goes_on or wire_ms >= self._full_at_ms
        if is_full:
            self._asked.clear()
        # A partition in back-off must not wait for new records of the others. The first request
        # may name thousands of partitions and does not wait; a long poll of them is slow.
        limits = self._limits
        wait_ms = limits.max_wait_ms if self._is_answered else 0
        wanted: dict[TopicPartition, Wanted] = {}
        gone: list[TopicPartition] = []
        put_off: dict[TopicPartition, None] = {}
        for where in self._followed if is_full else self._changed:
            each = self._followed.get(where)
            if each is not None and not each.is_out_of_range:
                if each.not_before_ms <= wire_ms:
                    log = each.log
                    end_offset = log.log_end_offset
                    self._asked[where] = Asked(each, end_offset)
                    wanted[where] = Wanted(
                        each.topic_id,
                        end_offset,
                        limits.partition_max_bytes,
                        each.leader_epoch,
                        log.latest_epoch,
                        log.log_start_offset,
                    )
                    continue
                wait_ms = min(wait_ms, each.not_before_ms - wire_ms)
                put_off[where] = None
            self._asked.pop(where, None)
            gone.append(where)
        self._changed = put_off
        if not self._asked:
            self._full_at_ms = wire_ms  # the next request tells the leader what was removed
            return None
        request = FetchRequest(
            replica_state=ReplicaState(self._broker_id, broker_epoch),
            max_wait_ms=wait_ms,
            min_bytes=limits.min_bytes,
            max_bytes=limits.response_max_bytes,
        )
        if is_full:
            self._full_at_ms = wire_ms + FULL_MS
            session.fill(request, wanted, version)
        else:
            session.fill_changes(request, wanted, gone, version)
        return request

    def _throttle(self, quota: ReplicationQuota, wire_ms: int) -> None:
        """Leave out throttled replicas that are not in sync while the quota is exceeded."""
        if not quota.is_exceeded():
            return
        for where, each in self._followed.items():
            if (
                each.not_before_ms <= wire_ms
                and not each.is_in_sync
                and quota.throttles(each.log.config, where.partition)
            ):
                each.not_before_ms = wire_ms + self._limits.backoff_ms
                self._changed[where] = None

    def next_ms(self) -> int | None:
        """Return the earliest time of a fetch; ``None`` without partitions."""
        return min((each.not_before_ms for each in self._followed.values()), default=None)

    # -- answers --------------------------------------------------------------------------------

    def answered(self, response: FetchResponse, wire_ms: int, now_ms: int) -> list[Followed]:
        """Apply a response; return the replicas whose high watermark moved.

        ``wire_ms`` is the time for back-offs, ``now_ms`` (state time) the time for the logs.
        """
        self._is_answered = True
        parts = [
            (TopicPartition(self._names.get(topic.topic_id, ""), data.partition_index), data)
            for topic in response.responses
            for data in topic.partitions
        ]
        if not self._session.answered(response, {where for where, _ in parts}):
            return []
        moved = []
        for where, data in parts:
            self._changed[where] = None
            asked = self._asked.get(where)
            if asked is None:
                continue
            each = asked.followed
            if self._followed.get(where) is not each or each.log.log_end_offset != asked.end_offset:
                continue
            if self._take(each, data, wire_ms, now_ms):
                moved.append(each)
        if self._quotas.follower is not None:
            self._count(self._quotas.follower, parts)
        return moved

    def _count(
        self, quota: ReplicationQuota, parts: list[tuple[TopicPartition, PartitionData]]
    ) -> None:
        for where, data in parts:
            each = self._followed.get(where)
            if (
                each is not None
                and data.records
                and quota.throttles(each.log.config, where.partition)
            ):
                quota.count(len(data.records))

    def failed(self) -> None:
        """Handle a request without a response: the state of the session is unknown now."""
        self._is_answered = False
        self._session.restart()

    def _take(self, each: Followed, data: PartitionData, wire_ms: int, now_ms: int) -> bool:
        log = each.log
        code = data.error_code
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            each.is_out_of_range = True
            return False
        if code:
            self._put_off(each, wire_ms)
            return False
        diverging = data.diverging_epoch
        if diverging is not None and diverging.end_offset >= 0:
            log.truncate_to(_common_end(log, diverging.epoch, diverging.end_offset), now_ms)
            return False
        if data.records:
            result = log.append_as_follower(memoryview(data.records), each.leader_epoch, now_ms)
            if result.error:
                self._put_off(each, wire_ms)
                return False
        each.failures = 0
        each.leader_high_watermark = high_watermark = data.high_watermark
        moved = log.set_high_watermark(high_watermark)
        if log.log_start_offset < data.log_start_offset <= log.high_watermark:
            log.delete_records(data.log_start_offset)
        return moved

    def _put_off(self, each: Followed, wire_ms: int) -> None:
        each.not_before_ms = wire_ms + growing_backoff_ms(each.failures, self._limits.backoff_ms)
        each.failures += 1

    # -- logs that do not overlap with the leader's -----------------------------------------------

    def out_of_range(self, wire_ms: int) -> list[Followed]:
        """Return the replicas for which the leader must be asked for its start and end offset."""
        return [
            each
            for each in self._followed.values()
            if each.is_out_of_range and each.not_before_ms <= wire_ms
        ]

    def not_located(self, each: Followed, wire_ms: int) -> None:
        """Retry later: the leader has not answered with its start and end offset."""
        self._put_off(each, wire_ms)

    def located(self, each: Followed, start: int, end: int, now_ms: int) -> None:
        """Adjust a replica to the leader's log, which goes from ``start`` to ``end``.

        A replica that is longer has records of an earlier leader and truncates them. A replica that
        ends before ``start`` drops all its records and restarts there.
        """
        if self._followed.get(each.where) is not each:
            return
        each.is_out_of_range = False
        self._changed[each.where] = None
        log = each.log
        if log.log_end_offset > end:
            log.truncate_to(end, now_ms)
        elif log.log_end_offset < start:
            log.restart_at(start, now_ms)


def growing_backoff_ms(failures: int, backoff_ms: int) -> int:
    """Return the delay after an error that followed this number of errors in a row."""
    return min(FIRST_BACKOFF_MS << min(failures, 20), backoff_ms)


def _common_end(log: Log, epoch: int, end_offset: int) -> int:
    """Return the offset up to which a log may equal its leader's.

    In the leader's log ``epoch`` ends at ``end_offset``. A log without that epoch is truncated to
    the end of the epoch before it; the leader answers to that at the next fetch.
    """
    here = log.offset_for_leader_epoch(epoch)
    if here.end_offset < 0:
        return min(end_offset, log.log_end_offset)
    if here.epoch == epoch:
        return min(end_offset, here.end_offset, log.log_end_offset)
    return min(here.end_offset, log.log_end_offset)
