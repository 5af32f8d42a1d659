"""The offsets of all groups of one partition: committed ones, and those of open transactions.

A transactional offset is pending until its transaction's marker is in the same log. A commit marker
makes it the committed offset, unless a later record has already committed one for that partition:
the order of records in the log decides, not the order of markers.

    store.put(...)             an OffsetCommit record, producer_id -1: committed at once
    store.put(...)             the same in a transactional batch: pending
    store.remove(...)          a tombstone: the committed offset and every pending one
    store.end_transaction(...) a marker: the producer's pending offsets are committed or dropped
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from fencepost_protocol.primitives import ZERO_UUID

NO_OFFSET = -1

Partition: TypeAlias = tuple[str, int]
"""Topic name and partition number."""


@dataclass(slots=True)
class CommittedOffset:
    """One committed or pending offset; it must not change once it is in the store."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int = -1
    """The expiry time of a commit with its own retention (OffsetCommit 2 to 4); otherwise -1."""
    topic_id: bytes = ZERO_UUID
    """Zero in records from before OffsetCommitValue version 4."""
    record_offset: int = -1
    """The record's offset in ``__consumer_offsets``."""


OffsetsByTopic: TypeAlias = dict[str, dict[int, CommittedOffset]]


@dataclass(slots=True)
class OffsetStore:
    """The committed and pending offsets, as a replay of records and markers leaves them."""

    _committed: dict[str, OffsetsByTopic] = field(default_factory=dict)
    _pending: dict[int, dict[str, dict[Partition, CommittedOffset]]] = field(default_factory=dict)
    """By producer and group. A group stays here until the transaction ends, even when its pending
    offsets have been deleted."""
    _producers: dict[str, dict[Partition, set[int]]] = field(default_factory=dict)
    """By group and partition: the producers with a pending offset."""
    _open: dict[str, set[int]] = field(default_factory=dict)
    """By group: the producers whose open transactions have committed to it."""

    # -- reading ---------------------------------------------------------------------------------

    def committed(self, group_id: str) -> OffsetsByTopic:
        """Return a group's committed offsets by topic and partition, for reading only."""
        return self._committed.get(group_id, {})

    def find(self, group_id: str, topic: str, partition: int) -> CommittedOffset | None:
        """Return the committed offset of one partition."""
        return self._committed.get(group_id, {}).get(topic, {}).get(partition)

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        """Whether an open transaction has an offset for this partition."""
        producers = self._producers.get(group_id)
        return producers is not None and (topic, partition) in producers

    def pending(self, group_id: str) -> Iterator[Partition]:
        """Return the partitions for which open transactions have an offset."""
        return iter(self._producers.get(group_id, ()))

    def pending_offsets(self, group_id: str) -> Iterator[tuple[Partition, int, int]]:
        """Return a partition, a producer id and an offset for each offset of a transaction."""
        for partition, producers in self._producers.get(group_id, {}).items():
            for producer_id in producers:
                yield partition, producer_id, self._pending[producer_id][group_id][partition].offset

    def has_open_transaction(self, group_id: str) -> bool:
        """Whether an open transaction has committed to the group."""
        return group_id in self._open

    def groups_with(self, topic: str) -> Iterator[tuple[str, set[int]]]:
        """Return the groups with committed or pending offsets for a topic, and the partitions."""
        for group_id in self._committed.keys() | self._producers.keys():
            found = set(self._committed.get(group_id, {}).get(topic, ()))
            pending = self._producers.get(group_id, ())
            found.update(number for name, number in pending if name == topic)
            if found:
                yield group_id, found

    # -- replay ----------------------------------------------------------------------------------

    def put(
        self, group_id: str, topic: str, partition: int, offset: CommittedOffset, producer_id: int
    ) -> None:
        """Apply an OffsetCommit record; ``producer_id`` is set for a transactional batch."""
        if producer_id < 0:
            by_topic = self._committed.setdefault(group_id, {})
            by_topic.setdefault(topic, {})[partition] = offset
            return
        key = (topic, partition)
        self._pending.setdefault(producer_id, {}).setdefault(group_id, {})[key] = offset
        self._producers.setdefault(group_id, {}).setdefault(key, set()).add(producer_id)
        self._open.setdefault(group_id, set()).add(producer_id)

    def remove(self, group_id: str, topic: str, partition: int) -> None:
        """Apply a tombstone."""
        by_topic = self._committed.get(group_id, {})
        by_partition = by_topic.get(topic, {})
        if by_partition.pop(partition, None) is not None:
            if not by_partition:
                del by_topic[topic]
            if not by_topic:
                del self._committed[group_id]
        key = (topic, partition)
        for producer_id in tuple(self._producers.get(group_id, {}).get(key, ())):
            del self._pending[producer_id][group_id][key]
            self._settle(producer_id, group_id, key)

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """Apply the marker of a producer's transaction."""
        for group_id, offsets in self._pending.pop(producer_id, {}).items():
            self._open[group_id].discard(producer_id)
            if not self._open[group_id]:
                del self._open[group_id]
            for key, offset in offsets.items():
                self._settle(producer_id, group_id, key)
                before = self.find(group_id, *key) if committed else offset
                if before is None or before.record_offset < offset.record_offset:
                    self.put(group_id, *key, offset, -1)

    def _settle(self, producer_id: int, group_id: str, key: Partition) -> None:
        """Note that a producer no longer has a pending offset for a partition."""
        by_partition = self._producers[group_id]
        by_partition[key].discard(producer_id)
        if not by_partition[key]:
            del by_partition[key]
        if not by_partition:
            del self._producers[group_id]
