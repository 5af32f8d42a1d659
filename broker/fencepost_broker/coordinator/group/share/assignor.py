"""The assignor ``simple`` of share groups.

If all members subscribe to the same topics, their partitions are one pool; otherwise each topic is
a pool of its own. In a pool each partition has equally many members, just enough that every member
gets one, and the members' numbers of partitions differ by one at most. Within these numbers members
keep what they had.
"""

from __future__ import annotations

import heapq
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
    room = [ends[at + 1] - ends[at] for at in range(len(members))]
    holders = dict.fromkeys(places, 0)
    kept = {
        member: _keep(had.get(member, _NOTHING), room[at], holders, sharing)
        for at, member in enumerate(members)
    }
    needy = [(len(mine) - room[at], at) for at, mine in enumerate(kept.values())]
    needy = [each for each in needy if each[0]]
    heapq.heapify(needy)
    for place in places:
        for _ in range(sharing - holders[place]):
            _fill(place, members, kept, needy)
    return kept


def _keep(had: Partitions, room: int, holders: dict[Place, int], sharing: int) -> set[Place]:
    """Return the places that a member keeps, as far as there is room, and count it there."""
    mine: set[Place] = set()
    for topic in sorted(had):
        for number in sorted(had[topic]):
            place = topic, number
            if len(mine) < room and holders.get(place, sharing) < sharing:
                mine.add(place)
                holders[place] += 1
    return mine


def _fill(
    place: Place,
    members: list[str],
    kept: Mapping[str, set[Place]],
    needy: list[tuple[int, int]],
) -> None:
    """Give a place one more member: the one with the most room, or one that gives a place away.

    ``needy`` is a heap of the members with room, with what they lack as a negative number.
    """
    passed = []
    while needy and place in kept[members[needy[0][1]]]:
        passed.append(heapq.heappop(needy))
    if needy:
        lacks, at = heapq.heappop(needy)
        taker = members[at]
    else:
        # All members with room have this place: one takes a place of a member that takes this one.
        lacks, at = min(passed, key=lambda each: each[1])
        passed.remove((lacks, at))
        first = members[at]
        taker = next(each for each in members if place not in kept[each])
        given = min(kept[taker] - kept[first])
        kept[taker].remove(given)
        kept[first].add(given)
    if lacks < -1:
        passed.append((lacks + 1, at))
    for each in passed:
        heapq.heappush(needy, each)
    kept[taker].add(place)
