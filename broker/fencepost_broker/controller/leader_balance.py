"""Periodic elections: leadership moves without a request.

Leadership goes back to the preferred replica (the first one) once it is in sync again, because a
broker that was away leads nothing when it returns (``leader.imbalance.check.interval.seconds``).
And a partition without a leader, whose topic has been allowed unclean elections since, gets one
(``unclean.leader.election.interval.ms``).

The partitions follow from the image. The times of checks are soft state: an interval after a
partition first needed an election, and after each check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from fencepost_broker.controller.context import Context
from fencepost_broker.controller.partition_change import (
    Election,
    change_to,
    says_something,
    target_of,
    unclean_allowed,
)
from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.image.changes import Change, PartitionChanged, TopicDeleted
from fencepost_broker.metadata.image.model import NO_LEADER, Partition, Topic
from fencepost_broker.metadata.log.records import PARTITION_VERSION

ELECTIONS_MAX: Final = 1000
"""Elections in one check; others wait for the next one."""


class ElectionsChecked(NamedTuple):
    """Soft state: partitions were checked."""

    at_ms: int
    why: str


class Elections:
    """Partitions that need an election for one reason."""

    def __init__(
        self,
        why: str,
        interval_ms: int | None,
        want: Callable[[Partition], bool],
        may: Callable[[Context, Topic], bool],
        election: Election,
    ) -> None:
        """``may`` tells whether a topic's partitions may have an election of this kind."""
        self.why = why
        self._want = want
        self._may = may
        self._election = election
        self._interval_ms = interval_ms
        """``None``: there are no such elections."""
        self._wanting: set[tuple[bytes, int]] = set()
        self._due_ms: int | None = None

    def note(self, changes: Iterable[Change]) -> None:
        """Apply the changes of a record."""
        for change in changes:
            if isinstance(change, PartitionChanged):
                where = change.topic_id, change.after.partition_id
                if self._want(change.after):
                    self._wanting.add(where)
                else:
                    self._wanting.discard(where)
            elif isinstance(change, TopicDeleted):
                for partition in change.partitions:
                    self._wanting.discard((change.topic_id, partition.partition_id))

    def start_waiting(self, now_ms: int) -> None:
        """Note the time: if a partition needs an election, the next check is an interval later."""
        if not self._wanting or self._interval_ms is None:
            self._due_ms = None
        elif self._due_ms is None:
            self._due_ms = now_ms + self._interval_ms

    def checked(self, check: ElectionsChecked) -> None:
        """Note a check."""
        self._due_ms = None
        self.start_waiting(check.at_ms)

    def jumped(self, by_ms: int) -> None:
        """Wait as long as before, now that the clock was set."""
        if self._due_ms is not None:
            self._due_ms += by_ms

    @property
    def due_ms(self) -> int | None:
        """When to check, or ``None``."""
        return self._due_ms if self._wanting else None

    def elections(self, context: Context) -> Iterator[MetadataRecord]:
        """Return the elections that are possible now."""
        count = 0
        for topic_id, number in sorted(self._wanting):
            topic = context.image.topics.by_id[topic_id]
            if not self._may(context, topic):
                continue
            before = topic.partitions[number]
            change = change_to(context, topic, before, target_of(before), election=self._election)
            if says_something(change):
                yield MetadataRecord(change, PARTITION_VERSION)
                count += 1
                if count == ELECTIONS_MAX:
                    return


def preferred_elections(interval_ms: int | None) -> Elections:
    """Elections of the preferred replica, once it is up and in sync."""
    return Elections("preferred", interval_ms, _is_elsewhere, _any_topic, Election.PREFERRED)


def _is_elsewhere(partition: Partition) -> bool:
    return partition.leader not in (NO_LEADER, partition.replicas[0])


def _any_topic(context: Context, topic: Topic) -> bool:
    del context, topic
    return True


def unclean_elections(interval_ms: int) -> Elections:
    """Elections without an in-sync replica, for topics that prefer losing records to waiting."""
    return Elections("unclean", interval_ms, _has_no_leader, unclean_allowed, Election.UNCLEAN)


def _has_no_leader(partition: Partition) -> bool:
    return partition.leader == NO_LEADER
