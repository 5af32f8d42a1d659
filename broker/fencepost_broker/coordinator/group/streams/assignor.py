"""The assignor of streams groups, ``sticky``: tasks stay where they are, as far as that is even.

Processes have members (threads). Active tasks are spread over members evenly, standby tasks over
other processes than those that have the task already. A task goes first to a member that had it,
then to one that had a copy of its state, then to one of a process that had either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fencepost_broker.coordinator.group.streams.members import Target, Task


@dataclass(slots=True)
class _Load:
    """A member, and what it has been given."""

    member_id: str
    process_id: str
    before: Target
    active: set[Task] = field(default_factory=set)
    standby: set[Task] = field(default_factory=set)

    @property
    def size(self) -> int:
        return len(self.active) + len(self.standby)


def assign(
    processes: Mapping[str, str],
    before: Mapping[str, Target],
    tasks: Mapping[str, int],
    stateful: Iterable[str],
    standbys: int,
) -> dict[str, Target]:
    """Assign tasks to members; ``processes`` are their processes by member id."""
    loads = [
        _Load(member_id, process_id, before.get(member_id, Target()))
        for member_id, process_id in sorted(processes.items())
    ]
    if not loads:
        return {}
    # As an own assignor would see them: partition by partition, so that subtopologies mix.
    wanted = sorted(
        (Task(name, number) for name, count in tasks.items() for number in range(count)),
        key=lambda task: (task.partition, task.subtopology),
    )
    _spread_active(loads, wanted)
    copied = set(stateful)
    for task in wanted:
        if standbys and task.subtopology in copied:
            _copy(loads, task, standbys)
    return {
        each.member_id: Target(frozenset(each.active), frozenset(each.standby)) for each in loads
    }


def _spread_active(loads: Sequence[_Load], wanted: Sequence[Task]) -> None:
    least, more = divmod(len(wanted), len(loads))
    left = dict.fromkeys(wanted)
    has_more = 0

    def has_room(load: _Load) -> bool:
        return len(load.active) < least or (len(load.active) == least and has_more < more)

    def give(load: _Load, task: Task) -> None:
        nonlocal has_more
        if len(load.active) == least:
            has_more += 1
        load.active.add(task)
        del left[task]

    for load in loads:  # an even share of what each had stays; the surplus is settled below
        for task in sorted(load.before.active & left.keys())[:least]:
            give(load, task)
    for is_active in (True, False):
        for task in list(left):
            for load in loads:
                had = load.before.active if is_active else load.before.standby
                if task in had and has_room(load):
                    give(load, task)
                    break
    had_by_process: dict[str, set[Task]] = {}
    for load in loads:
        known = had_by_process.setdefault(load.process_id, set())
        known |= load.before.active | load.before.standby
    for task in list(left):
        near = [each for each in loads if task in had_by_process[each.process_id]]
        give(_smallest([each for each in near if has_room(each)] or loads), task)


def _copy(loads: Sequence[_Load], task: Task, standbys: int) -> None:
    """Give copies of a task to other processes, first to those that had it."""
    taken = {each.process_id for each in loads if task in each.active}
    for _ in range(standbys):
        free = [each for each in loads if each.process_id not in taken]
        if not free:
            return
        knowing = [
            each for each in free if task in each.before.standby or task in each.before.active
        ]
        load = _smallest(knowing or free)
        if knowing and load.size > _smallest(free).size + 1:
            load = _smallest(free)  # what is known is not worth an uneven load
        load.standby.add(task)
        taken.add(load.process_id)


def _smallest(loads: Sequence[_Load]) -> _Load:
    return min(loads, key=lambda load: (load.size, len(load.active), load.member_id))
