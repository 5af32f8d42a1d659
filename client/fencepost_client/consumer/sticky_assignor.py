"""Sticky assignment (KIP-54): as even as possible, with as few moves as possible.

1. Who owns what: of two that claim a partition, the one with the later generation (KIP-792); two of
   the same generation both lose it, for one of them must be wrong.
2. What nobody keeps goes to whoever has least.
3. While there is a way by which a member passes one partition on, through others if need be, so
   that one with at least two less than the first gets one, that is done: the shortest way first.

Where all members read the same topics there is a direct rule for 1 to 3: those that hold most keep
one more than others if there are some left over.

If racks matter (KIP-881), a member keeps no partition that has a replica in another member's rack
but none in its own, and free partitions go to members in their racks first. Where members read
different topics, racks only decide between members that have equally many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import TypeAlias

from fencepost_client.consumer.group_members import Assignment, Member, by_rank
from fencepost_client.consumer.racks import Racks, is_near, racks_matter
from fencepost_client.types import TopicPartition

Held: TypeAlias = dict[str, dict[TopicPartition, None]]
"""Member id -> its partitions, in order."""
Near: TypeAlias = dict[TopicPartition, dict[str, None]]
"""Partition -> ids of the members near to it."""


def assign_sticky(
    members: Iterable[Member], partition_counts: Mapping[str, int], racks: Racks
) -> Assignment:
    """Assign partitions evenly, and let each member keep as many as possible."""
    ranked = by_rank(members)
    held, free = _kept(ranked, partition_counts)
    near = _near(ranked, partition_counts, racks)
    if len({frozenset(member.topics) for member in ranked}) == 1:
        _share_among_equals(ranked, held, free, near)
    else:
        readers = {
            topic: [member.member_id for member in ranked if topic in member.topics]
            for topic in partition_counts
        }
        _hand_out(held, free, readers, near)
        _level(held, readers)
    return {member_id: sorted(partitions) for member_id, partitions in held.items()}


def assign_cooperative_sticky(
    members: Iterable[Member], partition_counts: Mapping[str, int], racks: Racks
) -> Assignment:
    """Sticky, but a partition moves only after its owner has given it up (KIP-429).

    The owner joins again when it has, and the next assignment gives it to the new one.
    """
    ranked = by_rank(members)
    target = assign_sticky(ranked, partition_counts, racks)
    to_give_up = {
        partition
        for member in ranked
        for partition in set(member.owned.partitions).difference(target[member.member_id])
    }
    assignment: Assignment = {}
    for member in ranked:
        not_yet = to_give_up.difference(member.owned.partitions)
        told = target[member.member_id]
        assignment[member.member_id] = [where for where in told if where not in not_yet]
    return assignment


def _kept(
    members: Sequence[Member], partition_counts: Mapping[str, int]
) -> tuple[Held, list[TopicPartition]]:
    """What each could keep, and what is nobody's."""
    claims: dict[TopicPartition, tuple[int, str | None]] = {}
    for member in members:
        topics = set(member.topics)
        generation_id = member.owned.generation_id
        for where in dict.fromkeys(member.owned.partitions):
            if where.topic not in topics:
                continue
            best, _ = claims.get(where, (generation_id - 1, None))
            if generation_id > best:
                claims[where] = (generation_id, member.member_id)
            elif generation_id == best:
                claims[where] = (generation_id, None)
    held: Held = {member.member_id: {} for member in members}
    free = []
    read = {topic for member in members for topic in member.topics}
    for topic, count in sorted(partition_counts.items()):
        for where in (TopicPartition(topic, number) for number in range(count)):
            _, owner = claims.get(where, (0, None))
            if owner is not None:
                held[owner][where] = None
            elif topic in read:
                free.append(where)
    return held, free


def _near(members: Sequence[Member], partition_counts: Mapping[str, int], racks: Racks) -> Near:
    """Which members are near to which partitions; nothing if racks do not matter."""
    partitions = [
        TopicPartition(topic, number)
        for topic, count in partition_counts.items()
        if topic in racks
        for number in range(count)
    ]
    if not racks_matter(members, (racks[topic][number] for topic, number in partitions)):
        return {}
    return {
        where: {
            member.member_id: None
            for member in members
            if member.rack is not None and is_near(member, where, racks)
        }
        for where in partitions
    }


def _share_among_equals(
    members: Sequence[Member], held: Held, free: list[TopicPartition], near: Near
) -> None:
    for member_id in [member.member_id for member in members if member.rack is not None]:
        for where in [each for each in held[member_id] if member_id not in near.get(each, ())]:
            if near.get(where):
                del held[member_id][where]
                free.append(where)
    each, left_over = divmod(len(free) + sum(map(len, held.values())), len(held))
    for place, member_id in enumerate(sorted(held, key=lambda name: -len(held[name]))):
        for where in list(held[member_id])[each + (place < left_over) :]:
            del held[member_id][where]
            free.append(where)
    # Those with few members near to them first: the others have more to choose from.
    for where in sorted(free, key=lambda where: (len(near.get(where, ())), where)):
        most = each + (sum(len(own) > each for own in held.values()) < left_over)
        room = [member_id for member_id in near.get(where, ()) if len(held[member_id]) < most]
        if room:
            held[min(room, key=lambda member_id: len(held[member_id]))][where] = None
            free.remove(where)
    by_size = sorted(held, key=lambda name: -len(held[name]))
    quotas = {name: each + (place < left_over) for place, name in enumerate(by_size)}
    turns = cycle(held)
    for where in sorted(free):
        member_id = next(turns)
        while len(held[member_id]) == quotas[member_id]:
            member_id = next(turns)
        held[member_id][where] = None


def _hand_out(
    held: Held, free: list[TopicPartition], readers: Mapping[str, Sequence[str]], near: Near
) -> None:
    # Those with few readers first: the others can make up for what they bring about.
    for where in sorted(free, key=lambda where: (len(readers[where.topic]), where)):
        close = near.get(where, ())
        least = min(
            readers[where.topic],
            key=lambda member_id: (len(held[member_id]), member_id not in close),
        )
        held[least][where] = None


def _level(held: Held, readers: Mapping[str, Sequence[str]]) -> None:
    had = {member_id: set(partitions) for member_id, partitions in held.items()}
    givers = deque(sorted(held, key=lambda member_id: -len(held[member_id])))
    while givers:
        way = _way_to_less(held, readers, givers[0])
        if not way:
            givers.popleft()
            continue
        for giver, topic, taker in way:
            of_topic = [where for where in held[giver] if where.topic == topic]
            new = [where for where in of_topic if where not in had[giver]]
            moved = (new or of_topic)[-1]
            del held[giver][moved]
            held[taker][moved] = None
        givers = deque(sorted(held, key=lambda member_id: -len(held[member_id])))


def _way_to_less(
    held: Held, readers: Mapping[str, Sequence[str]], first: str
) -> list[tuple[str, str, str]]:
    """The shortest way to a member with two less at least: who gives what topic's to whom."""
    enough = len(held[first]) - 2
    came_by: dict[str, tuple[str, str]] = {}
    seen_topics: set[str] = set()
    queue = deque([first])
    while queue:
        giver = queue.popleft()
        for topic in dict.fromkeys(where.topic for where in held[giver]):
            if topic in seen_topics:
                continue
            seen_topics.add(topic)
            for taker in readers[topic]:
                if taker == first or taker in came_by:
                    continue
                came_by[taker] = (giver, topic)
                if len(held[taker]) <= enough:
                    return _steps(came_by, first, taker)
                queue.append(taker)
    return []


def _steps(
    came_by: Mapping[str, tuple[str, str]], first: str, last: str
) -> list[tuple[str, str, str]]:
    steps = []
    taker = last
    while taker != first:
        giver, topic = came_by[taker]
        steps.append((giver, topic, taker))
        taker = giver
    return steps
