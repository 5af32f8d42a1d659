"""The partitions of this broker, and the requests that wait for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NoReturn, Protocol

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.ports import ReadyList
from fencepost_broker.replication.leader import LeaderState
from fencepost_broker.storage.log import PartitionLog

TRAFFIC: Final = (
    "records_in", "bytes_in", "bytes_out", "batches_in", "batches_refused", "reads",
    "reads_refused",
)  # fmt: skip
"""What a partition counts of its traffic."""
_NO_ERROR: Final = ErrorCode.NONE
_UNCHECKED: Final = -1


def raise_it(error: Exception) -> NoReturn:
    """Raise an exception; the event loop calls this and logs a bug that harms no other request."""
    raise error


class Waiter(Protocol):
    """A parked request that may continue when a partition's offsets move."""

    def partition_moved(self, partition: Partition) -> None:
        """Check again: records were appended, or the last stable offset moved."""

    def time_is_over(self) -> None:
        """Answer with what there is; the wait is over."""

    def failed(self, error: Exception) -> None:
        """Handle an exception of the other two methods, which is a bug; the wait is over."""


class Partition:
    """One partition: its log, its leader epoch, and the requests that wait for it."""

    __slots__ = (
        "_first_offset",
        "_has_moved",
        "_records_before",
        "batches_in",
        "batches_refused",
        "bytes_in",
        "bytes_out",
        "is_here",
        "is_plain",
        "leader_epoch",
        "leads",
        "log",
        "number",
        "reads",
        "reads_refused",
        "ready",
        "replication",
        "topic",
        "waiters",
    )

    def __init__(
        self,
        topic: str,
        number: int,
        log: PartitionLog,
        leader_epoch: int = 0,
        ready: ReadyList | None = None,
        *,
        is_here: bool = True,
    ) -> None:
        self.topic = topic
        self.number = number
        self.log = log
        self.leader_epoch = leader_epoch
        self.ready = ready or ReadyList()
        """The list through which waiters are woken."""
        self.is_here = is_here
        """Whether this broker has a replica of it; otherwise the log is an empty placeholder."""
        self.waiters: list[Waiter] = []
        self.leads = True
        self.is_plain = True
        """Whether this broker leads it and is its only replica; the hot path checks only this."""
        self.replication: LeaderState | None = None
        """The state of its followers, if this broker leads it and it has any."""
        self.bytes_in = 0
        """The bytes that clients have produced since the broker got this partition."""
        self.bytes_out = 0
        """The bytes that clients have fetched."""
        self.batches_in = 0
        """The batches that clients have produced."""
        self.batches_refused = 0
        self.reads = 0
        """The parts of Fetch answers that had records."""
        self.reads_refused = 0
        self._records_before = 0
        """The records appended while this broker led it before."""
        self._first_offset = log.log_end_offset
        self._has_moved = False
        """Whether it is in the ready list."""

    @property
    def records_in(self) -> int:
        """The number of records, including markers, appended while this broker led it."""
        if not self.leads:
            return self._records_before
        return self._records_before + self.log.log_end_offset - self._first_offset

    def epoch_error(self, believed: int) -> ErrorCode:
        """Return the error for the leader epoch in a client's request (KIP-320)."""
        if believed in (_UNCHECKED, self.leader_epoch):
            return _NO_ERROR if self.leads else ErrorCode.NOT_LEADER_OR_FOLLOWER
        if not self.is_here:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if believed < self.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH

    @property
    def is_offline(self) -> bool:
        """Whether its log could not be opened or created, so that it only looks empty."""
        log = self.log
        return log.failure is not None and not log.log_end_offset

    def use_log(self, log: PartitionLog) -> None:
        """Exchange the log; what was counted stays."""
        self._records_before = self.records_in
        self._first_offset = log.log_end_offset
        self.log = log

    def lead(self, replication: LeaderState | None) -> None:
        """Become its leader, with or without followers."""
        if not self.leads:
            self._first_offset = self.log.log_end_offset
            self.leads = True
        self.replication = replication
        self.is_plain = replication is None
        self.log.follows_log_end = self.is_plain

    def follow(self) -> None:
        """Stop leading it and answer the waiting requests; it may have no leader now."""
        self._records_before = self.records_in
        self.leads = self.is_plain = False
        self.replication = None
        self.log.follows_log_end = False
        self.release_waiting()

    def appended(self, now_ms: int) -> None:
        """Handle an append: advance the high watermark if possible and wake the waiters."""
        if self.replication is not None:
            self.replication.advance(now_ms)
        self.moved()

    def moved(self) -> None:
        """Wake the waiting requests after the current request."""
        if self.waiters and not self._has_moved:
            self._has_moved = True
            self.ready.add(self._wake)

    def _wake(self) -> None:
        self._has_moved = False
        for waiter in self.waiters.copy():
            try:
                waiter.partition_moved(self)
            except Exception as error:  # noqa: BLE001 (a bug costs this waiter alone)
                waiter.failed(error)

    def release_waiting(self, which: Callable[[Waiter], bool] | None = None) -> None:
        """Answer waiting requests with what there is: all, or those that ``which`` says."""
        for waiter in self.waiters.copy():
            if which is not None and not which(waiter):
                continue
            try:
                waiter.time_is_over()
            except Exception as error:  # noqa: BLE001 (as above)
                waiter.failed(error)
                if waiter in self.waiters:
                    self.waiters.remove(waiter)


class Topic:
    """A topic with its partitions by number."""

    __slots__ = ("is_internal", "name", "partitions", "topic_id")

    def __init__(self, name: str, topic_id: bytes, *, is_internal: bool = False) -> None:
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions: list[Partition] = []

    def sum_of(self, field: str) -> int:
        """Return the sum of what its partitions have counted in a field, one of ``TRAFFIC``."""
        return sum(getattr(each, field) for each in self.partitions)

    def partition(self, number: int) -> Partition | None:
        """Return the partition with a number from a client; ``None`` if it does not exist."""
        return self.partitions[number] if 0 <= number < len(self.partitions) else None


class PartitionTable:
    """The topics of this broker, by name and by id."""

    def __init__(self) -> None:
        self.by_name: dict[str, Topic] = {}
        self.by_id: dict[bytes, Topic] = {}
        self._deleted: Counter[str] = Counter()
        """The traffic of topics that are no longer there."""

    def find(self, topic: str, number: int) -> Partition | None:
        """Return a partition by topic name; the hot path reads ``by_name`` directly."""
        found = self.by_name.get(topic)
        return None if found is None else found.partition(number)

    def add(self, topic: Topic) -> None:
        """Add a topic."""
        self.by_name[topic.name] = topic
        self.by_id[topic.topic_id] = topic

    def sum_of(self, field: str) -> int:
        """Return the sum over all topics, with those that were deleted."""
        return self._deleted[field] + sum(each.sum_of(field) for each in self.by_name.values())

    def remove(self, topic: Topic) -> None:
        """Remove a deleted topic and answer the requests that wait for it."""
        self._deleted.update({each: topic.sum_of(each) for each in TRAFFIC})
        del self.by_name[topic.name]
        del self.by_id[topic.topic_id]
        for partition in topic.partitions:
            partition.release_waiting()


def topics_snapshot(table: PartitionTable) -> dict[str, Any]:
    """Return statistics of each topic: current sizes, and traffic since the broker started."""
    return {
        name: {
            "partitions": len(topic.partitions),
            "log_bytes": sum(each.log.size_in_bytes for each in topic.partitions),
            "records_in": sum(each.records_in for each in topic.partitions),
            "bytes_in": sum(each.bytes_in for each in topic.partitions),
            "bytes_out": sum(each.bytes_out for each in topic.partitions),
            "flushes": sum(each.log.flushes for each in topic.partitions),
            "parked_fetches": sum(len(each.waiters) for each in topic.partitions),
        }
        for name, topic in sorted(table.by_name.items())
    }
