"""A member of a consumer group: what it asked for, and how far it has come.

STABLE       it has all that its epoch's assignment gives it
UNREVOKED    it has partitions that others shall get, and has not said yet that it let go
UNRELEASED   it has what is free; the rest is still with others
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, TypeAlias

LEFT: Final = -1
"""The epoch of a member that leaves, and of one that has no assignment yet."""
AWAY: Final = -2
"""The epoch of a static member that left and may come back."""

Partitions: TypeAlias = Mapping[bytes, frozenset[int]]
"""Partition numbers by topic id."""
Owned: TypeAlias = Mapping[bytes, Mapping[int, int]]
"""By topic id and partition: the epoch in which the member got it (KIP-1251)."""


class MemberState(IntEnum):
    """The states, by their numbers in the record."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


@dataclass(slots=True)
class ClassicMetadata:
    """What a member that speaks the classic protocol has told (while a group migrates)."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


@dataclass(slots=True)
class ConsumerMember:
    """One member; exchanged for another object when anything about it changes."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topics: tuple[str, ...] = ()
    """Subscribed by name, sorted."""
    pattern: str = ""
    """Subscribed by a regular expression."""
    assignor: str | None = None
    classic: ClassicMetadata | None = None
    member_epoch: int = 0
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: Owned = field(default_factory=dict)
    revoking: Owned = field(default_factory=dict)

    def has_reconciled(self, target_epoch: int) -> bool:
        """Whether it has all that the assignment of this epoch gives it."""
        return self.state is MemberState.STABLE and self.member_epoch == target_epoch

    def has_same_partitions(self, other: ConsumerMember) -> bool:
        """Whether the other one has been told the same partitions."""
        if self.assigned is other.assigned:
            return True
        return {each: set(numbers) for each, numbers in self.assigned.items()} == {
            each: set(numbers) for each, numbers in other.assigned.items()
        }
