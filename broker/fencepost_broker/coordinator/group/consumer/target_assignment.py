"""The target assignment of a consumer group: the partitions that each member is to have.

Beside it stands what follows from it, so that an assignor need not look at all members and
partitions to find those for which something changes. Only replay changes any of this.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from fencepost_broker.coordinator.group.consumer.member import Partitions

Owners: TypeAlias = dict[bytes, dict[int, str]]
"""By topic id and partition: a member."""

UNASSIGNED: Final = -1
"""In place of a number of partitions: the member has no part in the assignment yet."""
_NOTHING: Final[Partitions] = {}


@dataclass(slots=True)
class TargetAssignment:
    """The partitions of each member, and who has how many."""

    by_member: dict[str, Partitions] = field(default_factory=dict)
    owners: Owners = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict, compare=False)
    """By member of the group: a number that grows in the order in which they joined. A compacted
    log has other numbers, and the order of the records that are left."""
    by_load: dict[int, list[tuple[int, str]]] = field(default_factory=dict, compare=False)
    """By number of partitions: the members of the group that have so many, by their places; with
    ``UNASSIGNED``, those that have joined since the last assignment."""

    def of(self, member_id: str) -> Partitions:
        """Return a member's partitions."""
        return self.by_member.get(member_id, _NOTHING)

    def join(self, member_id: str) -> None:
        """Add a new member of the group, after all others."""
        self.places[member_id] = self.next_place
        self._count(member_id)

    def leave(self, member_id: str) -> None:
        """Remove a member of the group."""
        self._discount(member_id)
        del self.places[member_id]

    def put(self, member_id: str, partitions: Partitions | None) -> None:
        """Change a member's partitions; with ``None`` it has no part in the assignment."""
        self._discount(member_id)
        release(self.owners, member_id, self.by_member.pop(member_id, _NOTHING))
        if partitions is not None:
            self.by_member[member_id] = partitions
            claim(self.owners, member_id, partitions)
        self._count(member_id)

    @property
    def next_place(self) -> int:
        """The place of the next member that joins."""
        return next(reversed(self.places.values()), -1) + 1

    def _count(self, member_id: str) -> None:
        """Note how many partitions a member of the group has."""
        place = self.places.get(member_id)
        if place is not None:
            insort(self.by_load.setdefault(self._load(member_id), []), (place, member_id))

    def _discount(self, member_id: str) -> None:
        place = self.places.get(member_id)
        if place is not None:
            load = self._load(member_id)
            members = self.by_load[load]
            del members[bisect_left(members, (place, member_id))]
            if not members:
                del self.by_load[load]

    def _load(self, member_id: str) -> int:
        partitions = self.by_member.get(member_id)
        return UNASSIGNED if partitions is None else sum(map(len, partitions.values()))


def claim(owners: Owners, member_id: str, partitions: Mapping[bytes, Iterable[int]]) -> None:
    """Make a member the owner of partitions."""
    for topic_id, numbers in partitions.items():
        owned = dict.fromkeys(numbers, member_id)
        if owned:
            owners.setdefault(topic_id, {}).update(owned)


def release(owners: Owners, member_id: str, partitions: Mapping[bytes, Iterable[int]]) -> None:
    """Take partitions from a member; one that has another owner already stays with that one."""
    for topic_id, numbers in partitions.items():
        of_topic = owners.get(topic_id, {})
        for number in numbers:
            if of_topic.get(number) == member_id:
                del of_topic[number]
        if not of_topic:
            owners.pop(topic_id, None)
