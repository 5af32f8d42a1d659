"""The two assignors of consumer groups; both handle each partition only a few times.

    uniform   as even as possible; members keep their partitions where they can
    range     a range of neighbouring partitions per topic, members in the same order everywhere

Only subscribers get partitions of a topic, and each partition has at most one owner.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, TypeAlias

from fencepost_broker.coordinator.group.consumer.target_assignment import (
    UNASSIGNED,
    TargetAssignment,
)

Spread: TypeAlias = dict[str, dict[bytes, set[int]]]
"""By member and topic id: partition numbers."""


@dataclass(slots=True)
class Subscriber:
    """A member, with the data that an assignor needs."""

    member_id: str
    instance_id: str | None
    topic_ids: frozenset[bytes]
    had: Mapping[bytes, frozenset[int]]
    """Its partitions in the last assignment."""


def spread_uniformly(subscribers: Sequence[Subscriber], counts: Mapping[bytes, int]) -> Spread:
    """Assign evenly; ``counts`` has the number of partitions of each subscribed topic."""
    spread: Spread = {each.member_id: {} for each in subscribers}
    if not subscribers:
        return spread
    same = all(each.topic_ids == subscribers[0].topic_ids for each in subscribers)
    total = sum(counts[each] for each in subscribers[0].topic_ids if each in counts)
    # If all subscriptions are the same, each member's share is known in advance.
    most = divmod(total, len(subscribers)) if same else None
    loads, free = _keep(subscribers, counts, spread, most)
    by_topic: dict[bytes, list[str]] = {}
    for each in subscribers:
        for topic_id in each.topic_ids:
            by_topic.setdefault(topic_id, []).append(each.member_id)
    # Topics with few subscribers come first; later ones can balance the loads.
    for topic_id in sorted(free, key=lambda each: (len(by_topic[each]), each)):
        _hand_out(topic_id, free[topic_id], by_topic[topic_id], spread, loads)
    if not same:
        for _ in range(_ROUNDS_MAX):
            moves = [_even_out(each, by_topic[each], spread, loads) for each in by_topic]
            if not any(moves):
                break
    return spread


_ROUNDS_MAX: Final = 16
"""The limit of rounds with unequal subscriptions, where a move in one topic may unbalance another;
in practice a few rounds are enough."""


def _keep(
    subscribers: Sequence[Subscriber],
    counts: Mapping[bytes, int],
    spread: Spread,
    most: tuple[int, int] | None,
) -> tuple[dict[str, int], dict[bytes, list[int]]]:
    """Keep the members' partitions up to their share; return the loads and the free partitions."""
    loads: dict[str, int] = {}
    taken: dict[bytes, set[int]] = {}
    extra = most[1] if most is not None else 0
    for each in subscribers:
        room = most[0] if most is not None else None
        has_extra = False
        load = 0
        for topic_id, numbers in each.had.items():
            if topic_id not in each.topic_ids or topic_id not in counts or not numbers:
                continue
            of_others = taken.setdefault(topic_id, set())
            is_right = max(numbers) < counts[topic_id] and of_others.isdisjoint(numbers)
            if is_right and (room is None or load + len(numbers) <= room):
                spread[each.member_id][topic_id] = set(numbers)
                of_others |= numbers
                load += len(numbers)
                continue
            for number in sorted(numbers):
                if number >= counts[topic_id] or number in of_others:
                    continue
                if load == room:
                    if has_extra or not extra:
                        break
                    extra -= 1
                    room += 1
                    has_extra = True
                spread[each.member_id].setdefault(topic_id, set()).add(number)
                of_others.add(number)
                load += 1
        loads[each.member_id] = load
    wanted = {topic_id for each in subscribers for topic_id in each.topic_ids}
    free = {
        topic_id: [number for number in range(count) if number not in taken.get(topic_id, ())]
        for topic_id, count in counts.items()
        if topic_id in wanted
    }
    return loads, free


def spread_difference(
    target: TargetAssignment, joining: Sequence[str], counts: Mapping[bytes, int]
) -> Spread | None:
    """Assign as ``spread_uniformly``, at the cost of what changes and not of what is there.

    All members have to subscribe to these topics, and to no others. The result has the members
    for whom something changes, and perhaps others. It is ``None`` if the assignment so far has
    partitions that do not exist, that two members have, or that a member has that is gone.
    """
    free = {each: set(range(count)) for each, count in counts.items()}
    for topic_id, owners in target.owners.items():
        free.get(topic_id, set()).difference_update(owners)
    total = sum(counts.values())
    owned = sum(map(len, target.owners.values()))
    loads = sorted(target.by_load.items())
    unassigned = [each for _, each in target.by_load.get(UNASSIGNED, ())]
    if (
        owned + sum(map(len, free.values())) != total
        or owned != sum(load * len(members) for load, members in loads if load > 0)
        or len(target.by_member) + len(unassigned) != len(target.places)
    ):
        return None
    share, extra = divmod(total, len(target.places) + len(joining))
    above = [(load, members) for load, members in loads if load > share]
    # Each gives up what it has above its share but one; those that joined last give up that, too.
    room = {each: share + 1 for load, members in above if load > share + 1 for _, each in members}
    too_many = max(0, sum(len(members) for _, members in above) - extra)
    last = chain.from_iterable(members[-too_many:] for _, members in above)
    room |= {each: share for _, each in heapq.nlargest(too_many, last)}
    spread: Spread = {each: {} for each in (*room, *unassigned, *joining)}
    for member_id in room:
        _give_up(target.of(member_id), room[member_id], spread[member_id], free)
    # Members with the smallest loads get what is free: no more of them than there are partitions.
    others = (each for _, members in loads for _, each in members if each not in spread)
    for member_id in list(islice(others, sum(map(len, free.values())))):
        spread[member_id] = {each: set(had) for each, had in target.of(member_id).items()}
    places = {each: target.places[each] for each in spread if each in target.places}
    places |= {each: target.next_place + number for number, each in enumerate(joining)}
    in_order = sorted(spread, key=places.__getitem__)
    new_loads = {each: sum(map(len, spread[each].values())) for each in in_order}
    for topic_id in sorted(free):
        _hand_out(topic_id, sorted(free[topic_id]), in_order, spread, new_loads)
    return {each: spread[each] for each in in_order}


def _give_up(
    had: Mapping[bytes, frozenset[int]],
    room: int,
    kept: dict[bytes, set[int]],
    free: dict[bytes, set[int]],
) -> None:
    """Keep as many of a member's partitions as it has room for; the rest is free."""
    for topic_id, numbers in had.items():
        stay = set(sorted(numbers)[:room])
        room -= len(stay)
        if stay:
            kept[topic_id] = stay
        free[topic_id] |= numbers - stay


def _hand_out(
    topic_id: bytes,
    numbers: Sequence[int],
    members: Sequence[str],
    spread: Spread,
    loads: dict[str, int],
) -> None:
    if not numbers:
        return
    heap = [(loads[each], place, each) for place, each in enumerate(members)]
    heapq.heapify(heap)
    for number in numbers:
        load, place, member_id = heap[0]
        spread[member_id].setdefault(topic_id, set()).add(number)
        loads[member_id] = load + 1
        heapq.heapreplace(heap, (load + 1, place, member_id))


def _even_out(
    topic_id: bytes, members: Sequence[str], spread: Spread, loads: dict[str, int]
) -> bool:
    """Move partitions of one topic to members with smaller loads; return whether any moved."""
    light = [(loads[each], place, each) for place, each in enumerate(members)]
    heapq.heapify(light)
    heavy = [
        (-loads[each], place, each)
        for place, each in enumerate(members)
        if spread[each].get(topic_id)
    ]
    heapq.heapify(heavy)
    moved = False
    while heavy and light:
        load, place, giver = heavy[0]
        if -load != loads[giver] or not spread[giver].get(topic_id):
            heapq.heappop(heavy)
            if spread[giver].get(topic_id):
                heapq.heappush(heavy, (-loads[giver], place, giver))
            continue
        least, place, taker = light[0]
        if least != loads[taker]:
            heapq.heapreplace(light, (loads[taker], place, taker))
            continue
        if loads[giver] - least <= 1:
            break
        number = max(spread[giver][topic_id])
        spread[giver][topic_id].discard(number)
        if not spread[giver][topic_id]:
            del spread[giver][topic_id]
        spread[taker].setdefault(topic_id, set()).add(number)
        loads[giver] -= 1
        loads[taker] += 1
        moved = True
    return moved


def spread_in_ranges(subscribers: Sequence[Subscriber], counts: Mapping[bytes, int]) -> Spread:
    """Assign ranges: of five partitions and two members, the first member gets 0, 1 and 2."""
    spread: Spread = {each.member_id: {} for each in subscribers}
    # Static members come first, in the order of their instance ids, which survive a restart.
    ordered = sorted(
        subscribers,
        key=lambda each: (each.instance_id is None, each.instance_id or each.member_id),
    )
    by_topic: dict[bytes, list[str]] = {}
    for each in ordered:
        for topic_id in each.topic_ids:
            by_topic.setdefault(topic_id, []).append(each.member_id)
    for topic_id, members in by_topic.items():
        size, larger = divmod(counts.get(topic_id, 0), len(members))
        first = 0
        for place, member_id in enumerate(members):
            behind = first + size + (place < larger)
            if behind > first:
                spread[member_id][topic_id] = set(range(first, behind))
            first = behind
    return spread


ASSIGNORS: Final[Mapping[str, Callable[[Sequence[Subscriber], Mapping[bytes, int]], Spread]]] = {
    "uniform": spread_uniformly,
    "range": spread_in_ranges,
}
