"""Racks of partitions and members (KIP-881): who is near to what.

Reading from a replica in the same rack is cheaper. Racks matter only if they can make a difference:
a member's rack has a replica, and the partitions do not all have replicas in the same racks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from fencepost_client.consumer.group_members import Member
from fencepost_client.types import TopicPartition

Racks: TypeAlias = Mapping[str, Sequence[frozenset[str]]]
"""Topic -> for each of its partitions, the racks of its replicas."""


def racks_matter(members: Iterable[Member], racks: Iterable[frozenset[str]]) -> bool:
    """Whether members can be nearer to some of these partitions than to others."""
    of_members = {member.rack for member in members if member.rack is not None}
    each = list(racks)
    all_racks = frozenset[str]().union(*each)
    return not of_members.isdisjoint(all_racks) and any(some != all_racks for some in each)


def is_near(member: Member, where: TopicPartition, racks: Racks) -> bool:
    """Whether a replica is in the member's rack; a member without a rack is near to all."""
    return member.rack is None or member.rack in racks[where.topic][where.partition]
