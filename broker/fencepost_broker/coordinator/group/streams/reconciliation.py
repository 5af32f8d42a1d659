"""Reconciliation: the steps of a member from its current tasks to those of the assignment.

A task is active in one process at a time, and a process has a task once, active or as a copy. So a
member first gives up the tasks that it loses and confirms that. Then it gets the free ones and the
epoch of the assignment, and later those that others have yet to release.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from fencepost_broker.coordinator.group.streams.group import StreamsGroup
from fencepost_broker.coordinator.group.streams.members import (
    MemberState,
    StreamsMember,
    Target,
    Task,
    Tasks,
)


@dataclass(frozen=True, slots=True)
class Reported:
    """The tasks that a member says that it has."""

    active: Tasks
    standby: Tasks


def reconciled(
    group: StreamsGroup, member: StreamsMember, epoch: int, target: Target, owned: Reported | None
) -> StreamsMember:
    """Return the member after its next step, or unchanged if no step is possible."""
    if member.has_reconciled(epoch):
        return member
    if member.state is MemberState.UNREVOKED and _still_has(
        owned, member.revoking_active, member.revoking_standby
    ):
        return member
    kept_active = {each: since for each, since in member.active.items() if each in target.active}
    kept_standby = member.standby & target.standby
    lost_active = {each: at for each, at in member.active.items() if each not in target.active}
    lost_standby = member.standby - target.standby
    if (lost_active or lost_standby) and _still_has(owned, lost_active, lost_standby):
        return replace(
            member,
            state=MemberState.UNREVOKED,
            previous_member_epoch=member.member_epoch,
            active=kept_active,
            standby=kept_standby,
            revoking_active=lost_active,
            revoking_standby=lost_standby,
        )
    process_id = member.process_id
    held = _Held(group.members.values())
    free_active = {
        each
        for each in target.active - kept_active.keys()
        if held.active_in(each) is None and process_id not in held.copied_in(each)
    }
    free_standby = {
        each
        for each in target.standby - kept_standby
        if held.active_in(each) != process_id and process_id not in held.copied_in(each)
    }
    active = {**kept_active, **dict.fromkeys(free_active, epoch)}
    standby = kept_standby | free_standby
    has_all = active.keys() == target.active and standby == target.standby
    return replace(
        member,
        state=MemberState.STABLE if has_all else MemberState.UNRELEASED,
        previous_member_epoch=member.member_epoch,
        member_epoch=epoch,
        active=active,
        standby=standby,
        revoking_active={},
        revoking_standby=frozenset(),
    )


class _Held:
    """The tasks of all members, with those that they had to give up when this request came."""

    def __init__(self, members: Iterable[StreamsMember]) -> None:
        self._active: dict[Task, str] = {}
        self._copies: dict[Task, set[str]] = {}
        for each in members:
            self._active |= dict.fromkeys((*each.active, *each.revoking_active), each.process_id)
            for task in each.standby | each.revoking_standby:
                self._copies.setdefault(task, set()).add(each.process_id)

    def active_in(self, task: Task) -> str | None:
        return self._active.get(task)

    def copied_in(self, task: Task) -> set[str]:
        return self._copies.get(task, set())


def _still_has(owned: Reported | None, active: Iterable[Task], standby: Iterable[Task]) -> bool:
    if owned is None:
        return True
    return not owned.active.isdisjoint(active) or not owned.standby.isdisjoint(standby)
