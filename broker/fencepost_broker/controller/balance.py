"""Leadership goes back to the preferred replica, the first one, once it is in sync again.

A broker that was away leads nothing when it is back. All that is known here follows from the image;
when it is looked at is soft state: an interval (``leader.imbalance.check.interval.seconds``) after
somebody else began to lead, and after each look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord

from fencepost_broker.controller.changes import Change, PartitionChanged, TopicDeleted
from fencepost_broker.controller.context import PARTITION_VERSION, Context
from fencepost_broker.controller.model import NO_LEADER, Partition
from fencepost_broker.machine import MetadataRecord

ELECTIONS_MAX: Final = 1000
"""At one look; the rest has to wait for the next."""


class Looked(NamedTuple):
    """Soft state: leaders were looked at."""

    at_ms: int


class Balance:
    """The partitions whose leader is not the preferred one."""

    def __init__(self, interval_ms: int | None) -> None:
        self._interval_ms = interval_ms
        """``None``: leadership stays where it is."""
        self._elsewhere: set[tuple[bytes, int]] = set()
        self._due_ms: int | None = None

    def note(self, changes: Iterable[Change]) -> None:
        """Take in what a record changed."""
        for change in changes:
            if isinstance(change, PartitionChanged):
                where = change.topic_id, change.after.partition_id
                if _is_elsewhere(change.after):
                    self._elsewhere.add(where)
                else:
                    self._elsewhere.discard(where)
            elif isinstance(change, TopicDeleted):
                for partition in change.partitions:
                    self._elsewhere.discard((change.topic_id, partition.partition_id))

    def time_is(self, now_ms: int) -> None:
        """Somebody was heard of: begin to wait for the next look, if there will be anything."""
        if not self._elsewhere or self._interval_ms is None:
            self._due_ms = None
        elif self._due_ms is None:
            self._due_ms = now_ms + self._interval_ms

    def looked(self, looked: Looked) -> None:
        """There was a look."""
        self._due_ms = None
        self.time_is(looked.at_ms)

    @property
    def due_ms(self) -> int | None:
        """When to look."""
        return self._due_ms if self._elsewhere else None

    def elections(self, context: Context) -> Iterator[MetadataRecord]:
        """Those that can be: the preferred replica is up, and in sync."""
        count = 0
        for topic_id, number in sorted(self._elsewhere):
            partition = context.image.topics_by_id[topic_id].partitions[number]
            preferred = partition.replicas[0]
            if preferred in partition.isr and context.active([preferred]):
                change = PartitionChangeRecord(number, topic_id, leader=preferred)
                yield MetadataRecord(change, PARTITION_VERSION)
                count += 1
                if count == ELECTIONS_MAX:
                    return


def _is_elsewhere(partition: Partition) -> bool:
    return partition.leader not in (NO_LEADER, partition.replicas[0])
