"""The assignor ``simple`` of share groups.

If all members subscribe to the same topics, their partitions are one pool; otherwise each topic is
a pool of its own. In a pool each partition has equally many members, just enough that every member
gets one, and the members' numbers of partitions differ by one at most. Within these numbers members
keep what they had.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeAlias

from fencepost_broker.coordinator.group.consumer.member import Partitions

Place: TypeAlias = tuple[bytes, int]
"""A topic id and the number of a partition."""
_NOTHING: Final[Partitions] = {}


def assign(
    topics_of: Mapping[str, Collection[bytes]],
    had: Mapping[str, Partitions],
    partitions: Mapping[bytes, Iterable[int]],
) -> dict[str, Partitions]:
    """Return the partitions of each member.

    ``topics_of`` has each member's topics, ``had`` its last assignment, and ``partitions`` the
    partitions that may be assigned.
    """
    wanted = {member: frozenset(topics) for member, topics in topics_of.items()}
    found: dict[str, dict[bytes, set[int]]] = {member: {} for member in sorted(wanted)}
    topics = sorted({topic for each in wanted.values() for topic in each} & partitions.keys())
    pools = [topics] if len(set(wanted.values())) == 1 else [[topic] for topic in topics]
    for pool in pools:
        members = [member for member in found if pool and pool[0] in wanted[member]]
        places = [(topic, number) for topic in pool for number in sorted(partitions[topic])]
        if members and places:
            for member, mine in _spread(members, had, places).items():
                for topic, number in sorted(mine):
                    found[member].setdefault(topic, set()).add(number)
    return {
        member: {topic: frozenset(numbers) for topic, numbers in by_topic.items()}
        for member, by_topic in found.items()
    }


def _spread(
    members: list[str], had: Mapping[str, Partitions], places: list[Place]
) -> dict[str, set[Place]]:
    """Spread one pool; each place gets equally many members, and members as equally many places."""
    sharing = -(-len(members) // len(places))
    total = sharing * len(places)
    ends = [-(-total * each // len(members)) for each in range(len(members) + 1)]
    room = {member: ends[at + 1] - ends[at] for at, member in enumerate(members)}
    holders: dict[Place, set[str]] = {place: set() for place in places}
    kept: dict[str, set[Place]] = {}
    for member in members:
        mine = kept[member] = set()
        before = had.get(member, _NOTHING)
        for place in places:
            if len(mine) == room[member]:
                break
            topic, number = place
            if number in before.get(topic, ()) and len(holders[place]) < sharing:
                mine.add(place)
                holders[place].add(member)
    for place in places:
        while len(holders[place]) < sharing:
            _fill(place, room, kept, holders)
    return kept


def _fill(
    place: Place,
    room: Mapping[str, int],
    kept: Mapping[str, set[Place]],
    holders: Mapping[Place, set[str]],
) -> None:
    """Give a place one more member: the one with the most room, or one that gives a place away."""
    needy = [each for each in kept if len(kept[each]) < room[each]]
    free = [each for each in needy if place not in kept[each]]
    if free:
        taker = max(free, key=lambda each: room[each] - len(kept[each]))
    else:
        # All members with room have this place: one takes a place of a member that takes this one.
        taker = next(each for each in kept if place not in kept[each])
        given = min(kept[taker] - kept[needy[0]])
        kept[taker].remove(given)
        kept[needy[0]].add(given)
        holders[given].remove(taker)
        holders[given].add(needy[0])
    kept[taker].add(place)
    holders[place].add(taker)
