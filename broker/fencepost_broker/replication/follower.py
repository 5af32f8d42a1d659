"""Following: what a broker asks the leader of its replicas for, and what it makes of the answers.

One fetcher for each broker that leads something here, with one request under way at a time and a
fetch session (KIP-227) over all partitions. A follower says with each fetch which epoch its last
batch is of; where its log is not the leader's, the leader answers with where that epoch ended
there, and the follower cuts its log off before it takes anything (KIP-595's way of KIP-101). An
answer is for the log as it was when it was asked: what has another leader or end by then is passed
over.
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

from fencepost_broker.storage.log import AppendResult
from fencepost_broker.storage.log.results import EpochEnd

VERSION_MIN: Final = 15
"""Followers say which incarnation they are since then (KIP-903)."""
FIRST_BACKOFF_MS: Final = 10
"""Before the second attempt; twice as long before each further one, up to the setting's time."""
FULL_MS: Final = 1000
"""So often all is looked at: a log's start moves by itself."""


class Log(Protocol):
    """What is asked of a replica's log."""

    log_start_offset: int
    log_end_offset: int
    high_watermark: int

    @property
    def latest_epoch(self) -> int:
        """Of its last batch; -1 when it is empty."""

    def offset_for_leader_epoch(self, epoch: int) -> EpochEnd:
        """Where an epoch ends here."""

    def append_as_follower(
        self, records: memoryview, leader_epoch: int, now_ms: int
    ) -> AppendResult:
        """Append batches as they are."""

    def truncate_to(self, offset: int, now_ms: int) -> None:
        """Cut off what is at an offset and behind it."""

    def restart_at(self, offset: int, now_ms: int) -> None:
        """Begin anew, empty, at an offset."""

    def delete_records(self, offset: int) -> object:
        """Let the log start at an offset."""

    def set_high_watermark(self, offset: int) -> bool:
        """Set it, within the log; says whether it or the last stable offset moved."""


@dataclass(slots=True, eq=False)
class Followed:
    """A replica of this broker, in one epoch of its leader."""

    where: TopicPartition
    topic_id: bytes
    log: Log
    leader_epoch: int
    not_before_ms: int = 0
    """After an error it is left out until then."""
    failures: int = 0
    """How often in a row: a leader that has not heard of its leadership yet will have soon."""
    is_out_of_range: bool = False
    """The leader has nothing at its end: it has to be asked where its log begins and ends."""


class Limits(NamedTuple):
    """How a follower fetches, by Kafka's ``replica.fetch.*``."""

    max_wait_ms: int = 500
    min_bytes: int = 1
    response_max_bytes: int = 10 << 20
    partition_max_bytes: int = 1 << 20
    backoff_ms: int = 1000


class Asked(NamedTuple):
    """A replica as it was when it was asked for."""

    followed: Followed
    end_offset: int


class LeaderFetcher:
    """All that this broker follows of one leader."""

    def __init__(self, broker_id: int, limits: Limits) -> None:
        self._broker_id = broker_id
        self._limits = limits
        self._followed: dict[TopicPartition, Followed] = {}
        self._names: dict[bytes, str] = {}
        self._session = FetchSession()
        self._asked: dict[TopicPartition, Asked] = {}
        self._changed: dict[TopicPartition, None] = {}
        """What may have to be asked for differently: a session remembers the others."""
        self._full_at_ms = 0
        self._is_answered = False
        """The leader has answered since there was trouble last."""

    def __len__(self) -> int:
        return len(self._followed)

    def follow(self, followed: Followed) -> None:
        """Follow a replica from now on, in place of what was followed of that partition."""
        self._followed[followed.where] = followed
        self._changed[followed.where] = None
        self._names[followed.topic_id] = followed.where.topic

    def forget(self, where: TopicPartition) -> None:
        """Somebody else leads it, or nobody; an answer that is under way is passed over."""
        self._followed.pop(where, None)
        self._changed[where] = None

    # -- asking ---------------------------------------------------------------------------------

    def request(self, version: int, broker_epoch: int, wire_ms: int) -> FetchRequest | None:
        """What to ask for, if there is anything that may be asked for now."""
        session = self._session
        is_full = not session.goes_on or wire_ms >= self._full_at_ms
        if is_full:
            self._asked.clear()
        # What is left out now shall not wait for news of the others. The first request may name
        # thousands, with which a leader is slow to see what moves: the next one waits.
        wait_ms = self._limits.max_wait_ms if self._is_answered else 0
        wanted: dict[TopicPartition, Wanted] = {}
        gone: list[TopicPartition] = []
        put_off: dict[TopicPartition, None] = {}
        for where in self._followed if is_full else self._changed:
            each = self._followed.get(where)
            if each is not None and not each.is_out_of_range:
                if each.not_before_ms <= wire_ms:
                    self._asked[where] = Asked(each, each.log.log_end_offset)
                    wanted[where] = self._wanted(each)
                    continue
                wait_ms = min(wait_ms, each.not_before_ms - wire_ms)
                put_off[where] = None
            self._asked.pop(where, None)
            gone.append(where)
        self._changed = put_off
        if not self._asked:
            self._full_at_ms = wire_ms  # what is gone is to be told with the next request
            return None
        limits = self._limits
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

    def _wanted(self, each: Followed) -> Wanted:
        log = each.log
        return Wanted(
            each.topic_id,
            log.log_end_offset,
            self._limits.partition_max_bytes,
            each.leader_epoch,
            log.latest_epoch,
            log.log_start_offset,
        )

    def next_ms(self) -> int | None:
        """When something may be asked for that may not now; None: there is nothing."""
        return min((each.not_before_ms for each in self._followed.values()), default=None)

    # -- answers --------------------------------------------------------------------------------

    def answered(self, response: FetchResponse, wire_ms: int, now_ms: int) -> list[Followed]:
        """Take in what the leader sent; gives those whose high watermark moved.

        ``wire_ms`` is for what is asked again later, ``now_ms`` (state time) for the logs.
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
        return moved

    def failed(self) -> None:
        """The answer will not come: the leader does not know what we know of the session."""
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
        moved = log.set_high_watermark(min(data.high_watermark, log.log_end_offset))
        if log.log_start_offset < data.log_start_offset <= log.high_watermark:
            log.delete_records(data.log_start_offset)
        return moved

    def _put_off(self, each: Followed, wire_ms: int) -> None:
        each.not_before_ms = wire_ms + growing_backoff_ms(each.failures, self._limits.backoff_ms)
        each.failures += 1

    # -- logs that have nothing in common with the leader's any more ------------------------------

    def out_of_range(self, wire_ms: int) -> list[Followed]:
        """Those of which the leader has to be asked where its log begins and ends, by now."""
        return [
            each
            for each in self._followed.values()
            if each.is_out_of_range and each.not_before_ms <= wire_ms
        ]

    def not_located(self, each: Followed, wire_ms: int) -> None:
        """The leader does not tell where its log begins and ends: it is asked later."""
        self._put_off(each, wire_ms)

    def located(self, each: Followed, start: int, end: int, now_ms: int) -> None:
        """The leader's log goes from ``start`` to ``end``.

        Whoever is ahead of it was led by one who had more, and cuts that off; whoever is behind its
        start has nothing that is still there, and begins anew.
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
    """How long to wait after so many failures in a row before the last one."""
    return min(FIRST_BACKOFF_MS << min(failures, 20), backoff_ms)


def _common_end(log: Log, epoch: int, end_offset: int) -> int:
    """Up to where a log is its leader's, which ended ``epoch`` at ``end_offset``.

    A log that does not know the epoch goes back to the end of the one before it; the next fetch
    says so, and the leader answers to that.
    """
    here = log.offset_for_leader_epoch(epoch)
    if here.end_offset < 0:
        return min(end_offset, log.log_end_offset)
    if here.epoch == epoch:
        return min(end_offset, here.end_offset, log.log_end_offset)
    return min(here.end_offset, log.log_end_offset)
