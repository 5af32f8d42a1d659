"""A member of a consumer group: its subscription, and its progress towards its assignment.

STABLE       it has all partitions that the assignment of its epoch gives it
UNREVOKED    it has to revoke partitions and has not confirmed that
UNRELEASED   it has the partitions that were free; other members have yet to release the rest
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
    """A member's state, with its number in the record."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2
    UNKNOWN = 127


@dataclass(slots=True)
class ClassicMetadata:
    """The data of a member that uses the classic protocol (while its group migrates)."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


@dataclass(slots=True)
class ConsumerMember:
    """One member; every change replaces the object."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topics: tuple[str, ...] = ()
    """The names of the subscribed topics, sorted."""
    pattern: str = ""
    """The regular expression of the subscription."""
    assignor: str | None = None
    classic: ClassicMetadata | None = None
    member_epoch: int = 0
    previous_member_epoch: int = -1
    state: MemberState = MemberState.STABLE
    assigned: Owned = field(default_factory=dict)
    revoking: Owned = field(default_factory=dict)

    def has_reconciled(self, target_epoch: int) -> bool:
        """Whether it has all partitions that the assignment of this epoch gives it."""
        return self.state is MemberState.STABLE and self.member_epoch == target_epoch

    def has_same_partitions(self, other: ConsumerMember) -> bool:
        """Whether both are assigned the same partitions."""
        if self.assigned is other.assigned:
            return True
        return {each: set(numbers) for each, numbers in self.assigned.items()} == {
            each: set(numbers) for each, numbers in other.assigned.items()
        }
