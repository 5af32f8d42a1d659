"""Members of share groups, and the states of the groups' share partitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from fencepost_broker.coordinator.group.consumer.member import Partitions


@dataclass(frozen=True, slots=True)
class ShareMember:
    """A member: what it said about itself, and what it has."""

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: tuple[str, ...] = ()
    member_epoch: int = 0
    previous_member_epoch: int = -1
    assigned: Partitions = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicState:
    """The partitions of a topic in one stage of their state."""

    name: str
    numbers: frozenset[int] = frozenset()


Stage: TypeAlias = Mapping[bytes, TopicState]
"""By topic id."""


@dataclass(frozen=True, slots=True)
class PartitionStates:
    """How far the state of the group's share partitions has got with the share coordinators."""

    initializing: Stage = field(default_factory=dict)
    initialized: Stage = field(default_factory=dict)
    deleting: Stage = field(default_factory=dict)
    """Topics whose state is being deleted; their partitions do not matter."""

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self.initializing or self.initialized or self.deleting)
