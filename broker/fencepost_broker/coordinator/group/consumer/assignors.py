"""Two ways to spread partitions over members, both of which touch each partition a few times.

    uniform   as evenly as can be, and a member keeps what it had
    range     each topic in runs of neighbours, the same members first in every topic

Nobody but a subscriber gets a partition, and each partition has one owner at most.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Spread: TypeAlias = dict[str, dict[bytes, set[int]]]
"""By member and topic id: partition numbers."""


@dataclass(slots=True)
class Subscriber:
    """A member as an assignor sees it."""

    member_id: str
    instance_id: str | None
    topic_ids: frozenset[bytes]
    had: Mapping[bytes, frozenset[int]]
    """What the last assignment gave it."""


def spread_uniformly(subscribers: Sequence[Subscriber], counts: Mapping[bytes, int]) -> Spread:
    """Evenly; ``counts`` are the partitions of every topic that somebody subscribes to."""
    spread: Spread = {each.member_id: {} for each in subscribers}
    if not subscribers:
        return spread
    same = all(each.topic_ids == subscribers[0].topic_ids for each in subscribers)
    total = sum(counts[each] for each in subscribers[0].topic_ids if each in counts)
    # With one subscription for all it is known beforehand how much is whose.
    most = divmod(total, len(subscribers)) if same else None
    loads, free = _keep(subscribers, counts, spread, most)
    by_topic: dict[bytes, list[str]] = {}
    for each in subscribers:
        for topic_id in each.topic_ids:
            by_topic.setdefault(topic_id, []).append(each.member_id)
    # Topics that few can take come first; later ones even it out.
    for topic_id in sorted(free, key=lambda each: (len(by_topic[each]), each)):
        _hand_out(topic_id, free[topic_id], by_topic[topic_id], spread, loads)
    if not same:
        for _ in range(_ROUNDS_MAX):
            moves = [_even_out(each, by_topic[each], spread, loads) for each in by_topic]
            if not any(moves):
                break
    return spread


_ROUNDS_MAX: Final = 16
"""Unequal subscriptions: what is moved in one topic may unbalance another; it has never taken more
than a few rounds."""


def _keep(
    subscribers: Sequence[Subscriber],
    counts: Mapping[bytes, int],
    spread: Spread,
    most: tuple[int, int] | None,
) -> tuple[dict[str, int], dict[bytes, list[int]]]:
    """Leaves members what they had, as far as that is not too much; gives loads and the rest."""
    loads: dict[str, int] = {}
    taken: dict[bytes, set[int]] = {}
    extra = most[1] if most is not None else 0
    for each in subscribers:
        room = most[0] if most is not None else None
        has_extra = False
        load = 0
        for topic_id, numbers in each.had.items():
            if topic_id not in each.topic_ids or topic_id not in counts:
                continue
            for number in sorted(numbers):
                if number >= counts[topic_id] or number in taken.get(topic_id, ()):
                    continue
                if load == room:
                    if has_extra or not extra:
                        break
                    extra -= 1
                    room += 1
                    has_extra = True
                spread[each.member_id].setdefault(topic_id, set()).add(number)
                taken.setdefault(topic_id, set()).add(number)
                load += 1
        loads[each.member_id] = load
    wanted = {topic_id for each in subscribers for topic_id in each.topic_ids}
    free = {
        topic_id: [number for number in range(count) if number not in taken.get(topic_id, ())]
        for topic_id, count in counts.items()
        if topic_id in wanted
    }
    return loads, free


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
    """Moves partitions of one topic to members that have less; says whether it did."""
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
    """Topic by topic: of five partitions and two members the first one gets 0, 1, 2."""
    spread: Spread = {each.member_id: {} for each in subscribers}
    # Static members first, by the names that they keep: a restart changes nothing.
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
