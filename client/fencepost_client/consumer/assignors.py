"""Assignors: how the leader of a classic group assigns partitions.

=================== =============================================================================
range               each topic's partitions in runs, the first members get one more (the default)
roundrobin          all partitions in turn
sticky              even, and everybody keeps what it can (KIP-54)
cooperative-sticky  the same, and nobody stops to read what it keeps (KIP-429)
=================== =============================================================================

All but roundrobin prefer members in the rack of a replica (KIP-881).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Final

from fencepost_client.consumer.group_members import Assignment, Member, by_rank
from fencepost_client.consumer.group_protocol import (
    NOTHING,
    Holding,
    Subscription,
    read_cooperative_holding,
    read_sticky_user_data,
    write_cooperative_user_data,
    write_sticky_user_data,
)
from fencepost_client.consumer.racks import Racks
from fencepost_client.consumer.range_assignor import assign_range
from fencepost_client.consumer.sticky_assignor import assign_cooperative_sticky, assign_sticky
from fencepost_client.errors import ConfigError
from fencepost_client.types import TopicPartition


def assign_round_robin(
    members: Iterable[Member], partition_counts: Mapping[str, int], racks: Racks
) -> Assignment:
    """Deal partitions out one by one, as Kafka's RoundRobinAssignor does; racks do not matter."""
    del racks
    ranked = by_rank(members)
    assignment: Assignment = {member.member_id: [] for member in ranked}
    read = {topic for member in ranked for topic in member.topics}
    turns = cycle(ranked)
    for topic, count in sorted(partition_counts.items()):
        if topic not in read:
            continue
        for number in range(count):
            member = next(turns)
            while topic not in member.topics:
                member = next(turns)
            assignment[member.member_id].append(TopicPartition(topic, number))
    return assignment


@dataclass(frozen=True, slots=True)
class Assignor:
    """A way to share, and what members tell for it."""

    name: str
    assign: Callable[[Iterable[Member], Mapping[str, int], Racks], Assignment]
    user_data: Callable[[Holding], bytes | None] = lambda _: None
    """What a member adds to its subscription about what it was assigned last."""
    owned: Callable[[Subscription], Holding] = lambda _: NOTHING
    """What a member has, as the leader reads it."""
    is_cooperative: bool = False
    """Members keep what they own through a rebalance (KIP-429)."""


_ALL: Final = (
    Assignor("range", assign_range),
    Assignor("roundrobin", assign_round_robin),
    Assignor(
        "sticky",
        assign_sticky,
        user_data=write_sticky_user_data,
        # Its members give up everything before they join: only the user data knows.
        owned=lambda subscription: read_sticky_user_data(subscription.user_data),
    ),
    Assignor(
        "cooperative-sticky",
        assign_cooperative_sticky,
        user_data=write_cooperative_user_data,
        owned=read_cooperative_holding,
        is_cooperative=True,
    ),
)
ASSIGNORS: Final[dict[str, Assignor]] = {assignor.name: assignor for assignor in _ALL}


def assignors_of(names: Sequence[str]) -> tuple[Assignor, ...]:
    """Assignors by name; Kafka's Java class names mean the same."""
    found = []
    for name in names:
        assignor = ASSIGNORS.get(_JAVA_CLASSES.get(name, name))
        if assignor is None:
            raise ConfigError(
                f"{name!r:.300} is not an assignor; the assignors are {', '.join(ASSIGNORS)}"
            )
        found.append(assignor)
    if not found:
        raise ConfigError(f"no assignor is given; the assignors are {', '.join(ASSIGNORS)}")
    return tuple(found)


_JAVA_CLASSES: Final = {
    f"org.apache.kafka.clients.consumer.{name}": assignor
    for name, assignor in (
        ("RangeAssignor", "range"),
        ("RoundRobinAssignor", "roundrobin"),
        ("StickyAssignor", "sticky"),
        ("CooperativeStickyAssignor", "cooperative-sticky"),
    )
}
