"""The partitions that this broker leads, as its handlers see them, and who waits for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, Protocol

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.ports import ReadyList
from fencepost_broker.replication.leader import LeaderState
from fencepost_broker.storage.log import PartitionLog

_UNCHECKED: Final = -1


def raise_it(error: Exception) -> NoReturn:
    """For the loop to call, which tells of it: a bug of ours that costs nobody else anything."""
    raise error


class Waiter(Protocol):
    """A parked request that may go on when a partition's offsets move."""

    def partition_moved(self, partition: Partition) -> None:
        """Something was appended there, or the last stable offset moved."""

    def time_is_over(self) -> None:
        """It has waited long enough: it has to take what there is."""

    def failed(self, error: Exception) -> None:
        """One of both raised this, a bug of ours: it waits no longer, and nobody else minds."""


@dataclass(slots=True, eq=False)
class Partition:
    """One partition: its log, its epoch, and the fetches that wait for more of it."""

    topic: str
    number: int
    log: PartitionLog
    leader_epoch: int = 0
    ready: ReadyList = field(default_factory=ReadyList)
    """Where waiters are woken from."""
    waiters: list[Waiter] = field(default_factory=list)
    is_plain: bool = True
    """This broker leads it and is its only replica: the hot path asks for nothing more."""
    leads: bool = True
    is_here: bool = True
    """This broker has a replica of it; else its log is empty and nobody's."""
    replication: LeaderState | None = None
    """What is known of its followers, where this broker leads and there are any."""
    bytes_in: int = 0
    """What clients produced, since the broker has this partition."""
    bytes_out: int = 0
    """What they fetched."""
    _first_offset: int = field(init=False)
    _has_moved: bool = False
    """It is in the ready list."""

    def __post_init__(self) -> None:
        self._first_offset = self.log.log_end_offset

    @property
    def records_in(self) -> int:
        """How many records were appended since the broker has it, markers among them."""
        return self.log.log_end_offset - self._first_offset

    def epoch_error(self, believed: int) -> ErrorCode:
        """What is wrong with the leader epoch that a client believes in (KIP-320)."""
        if believed in (_UNCHECKED, self.leader_epoch):
            return ErrorCode.NONE if self.leads else ErrorCode.NOT_LEADER_OR_FOLLOWER
        if not self.is_here:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if believed < self.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH

    def lead(self, replication: LeaderState | None) -> None:
        """Lead it from now on, alone or with followers."""
        self.leads = True
        self.replication = replication
        self.is_plain = replication is None
        self.log.follows_log_end = self.is_plain

    def follow(self) -> None:
        """Another broker leads it, or nobody: whoever waits here hears of it."""
        self.leads = self.is_plain = False
        self.replication = None
        self.log.follows_log_end = False
        self.release_waiting()

    def appended(self, now_ms: int) -> None:
        """Something was appended here: show it, if nobody else has to have it first."""
        if self.replication is not None:
            self.replication.advance(now_ms)
        self.moved()

    def moved(self) -> None:
        """Wake the requests that wait here, once the current one is done."""
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

    def release_waiting(self) -> None:
        """Have all requests that wait here answered with what there is."""
        for waiter in self.waiters.copy():
            try:
                waiter.time_is_over()
            except Exception as error:  # noqa: BLE001 (as above)
                waiter.failed(error)
                if waiter in self.waiters:
                    self.waiters.remove(waiter)


@dataclass(slots=True, eq=False)
class Topic:
    """A topic with its partitions by number."""

    name: str
    topic_id: bytes
    is_internal: bool = False
    partitions: list[Partition] = field(default_factory=list)

    def partition(self, number: int) -> Partition | None:
        """The partition with this number, which a client made up and may be anything."""
        return self.partitions[number] if 0 <= number < len(self.partitions) else None


class PartitionTable:
    """Topics by name and by id; the one look-up of the data path."""

    def __init__(self) -> None:
        self.by_name: dict[str, Topic] = {}
        self.by_id: dict[bytes, Topic] = {}

    def find(self, topic: str, number: int) -> Partition | None:
        """A partition by its topic's name; the handlers of the hot path look for themselves."""
        found = self.by_name.get(topic)
        return None if found is None else found.partition(number)

    def add(self, topic: Topic) -> None:
        """A topic came into being."""
        self.by_name[topic.name] = topic
        self.by_id[topic.topic_id] = topic

    def remove(self, topic: Topic) -> None:
        """A topic is gone: whoever waits for it is let go and finds out."""
        del self.by_name[topic.name]
        del self.by_id[topic.topic_id]
        for partition in topic.partitions:
            partition.release_waiting()


def topics_snapshot(table: PartitionTable) -> dict[str, Any]:
    """What is known of each topic: sizes now, and what went in and out since the broker started."""
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
