"""Members of streams groups: what they have told, and their progress towards their tasks.

STABLE       it has all tasks that the assignment of its epoch gives it
UNREVOKED    it has to give up tasks and has not confirmed that
UNRELEASED   it has the tasks that were free; other members have yet to release the rest
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias


class MemberState(IntEnum):
    """A member's state, with its number in the record."""

    STABLE = 1
    UNREVOKED = 2
    UNRELEASED = 3


class Task(NamedTuple):
    """A subtopology and a partition."""

    subtopology: str
    partition: int


Tasks: TypeAlias = frozenset[Task]
Active: TypeAlias = Mapping[Task, int]
"""Active tasks, each with the epoch in which the member got it."""


@dataclass(frozen=True, slots=True)
class Target:
    """The tasks that an assignment gives to a member."""

    active: Tasks = frozenset()
    standby: Tasks = frozenset()


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a process answers queries of its state."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class StreamsMember:
    """One member; every change replaces the object."""

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = 0
    process_id: str = ""
    endpoint: Endpoint | None = None
    tags: tuple[tuple[str, str], ...] = ()
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: MemberState = MemberState.STABLE
    active: Active = field(default_factory=dict)
    standby: Tasks = frozenset()
    revoking_active: Active = field(default_factory=dict)
    revoking_standby: Tasks = frozenset()

    def has_reconciled(self, target_epoch: int) -> bool:
        """Whether it has all tasks that the assignment of this epoch gives it."""
        return self.state is MemberState.STABLE and self.member_epoch == target_epoch

    def has_same_tasks(self, other: StreamsMember) -> bool:
        """Whether both have the same tasks."""
        return self.active.keys() == other.active.keys() and self.standby == other.standby


def tasks_of(rows: Iterable[Any] | None) -> Tasks:
    """Return the tasks of a message or record."""
    return frozenset(
        Task(row.subtopology_id, number) for row in rows or () for number in row.partitions
    )


def by_subtopology(tasks: Iterable[Task]) -> Iterator[tuple[str, list[int]]]:
    """Yield each subtopology with its partitions, in order."""
    found: dict[str, list[int]] = {}
    for task in sorted(tasks):
        found.setdefault(task.subtopology, []).append(task.partition)
    yield from found.items()
