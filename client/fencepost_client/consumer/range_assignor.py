"""Assignment by ranges, as Kafka's RangeAssignor does it, with racks (KIP-881).

Each topic is shared out by itself: its members get equally many partitions, and the first ones one
more if some are left over. If racks matter, members first get partitions near to them; topics with
the same members and as many partitions are then treated together, so that a member gets the same
numbers of all (for joins). Partitions without a member near to them, and those left over, are given
out in runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from fencepost_client.consumer.group_members import Assignment, Member, by_rank
from fencepost_client.consumer.racks import Racks, is_near, racks_matter
from fencepost_client.types import TopicPartition


def assign_range(
    members: Iterable[Member], partition_counts: Mapping[str, int], racks: Racks
) -> Assignment:
    """Give each member of a topic a range of its partitions."""
    ranked = by_rank(members)
    topics = [
        _Topic(topic, count, readers, racks)
        for topic, count in sorted(partition_counts.items())
        if count and (readers := [member for member in ranked if topic in member.topics])
    ]
    if any(topic.racks_matter for topic in topics):
        _assign_near(topics)
    for topic in topics:
        topic.assign_runs(lambda _member, _where: True)
    return {
        member.member_id: sorted(
            where for topic in topics for where in topic.assigned.get(member.member_id, ())
        )
        for member in ranked
    }


def _assign_near(topics: Sequence[_Topic]) -> None:
    alike: dict[tuple[tuple[str, ...], int], list[_Topic]] = {}
    for topic in topics:
        if topic.racks:
            key = tuple(member.member_id for member in topic.members), topic.count
            alike.setdefault(key, []).append(topic)
    for (_, count), together in alike.items():
        if len(together) > 1:
            _assign_numbers(together, count)
        elif together[0].racks_matter:
            together[0].assign_runs(together[0].is_near)


def _assign_numbers(topics: Sequence[_Topic], count: int) -> None:
    """Give a member the same number of all topics, if it is near to all of these partitions."""
    left = list(topics[0].members)
    for number in range(count):
        for member in left:
            if all(
                topic.room(member) and topic.is_near(member, TopicPartition(topic.name, number))
                for topic in topics
            ):
                for topic in topics:
                    topic.assign(member, [TopicPartition(topic.name, number)])
                if not any(topic.room(member) for topic in topics):
                    left.remove(member)
                break


class _Topic:
    """A topic while it is shared out."""

    def __init__(self, name: str, count: int, members: Sequence[Member], racks: Racks) -> None:
        self.name = name
        self.count = count
        self.members = members
        self._all_racks = racks
        of_partitions = racks.get(name, ())
        self.racks = of_partitions if any(member.rack for member in members) else ()
        self.racks_matter = racks_matter(members, self.racks)
        self._each, self._left_over = divmod(count, len(members))
        self._free = dict.fromkeys(TopicPartition(name, number) for number in range(count))
        self.assigned: dict[str, list[TopicPartition]] = {each.member_id: [] for each in members}

    def is_near(self, member: Member, where: TopicPartition) -> bool:
        """Whether a member is near to a partition."""
        return is_near(member, where, self._all_racks)

    def room(self, member: Member) -> int:
        """Return how many more partitions a member may get."""
        most = self._each + (self._left_over > 0)
        return max(0, most - len(self.assigned[member.member_id]))

    def assign(self, member: Member, partitions: Iterable[TopicPartition]) -> None:
        """Give partitions to a member."""
        own = self.assigned[member.member_id]
        for where in partitions:
            del self._free[where]
            own.append(where)
        self._left_over -= len(own) > self._each

    def assign_runs(self, may_have: Callable[[Member, TopicPartition], bool]) -> None:
        """Give each member the first ones that are left, as many as it may have."""
        for member in self.members:
            some = [where for where in self._free if may_have(member, where)]
            if room := some[: self.room(member)]:
                self.assign(member, room)
