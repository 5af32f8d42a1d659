"""The assignor of streams groups: every task once, evenly, and as little moved as possible."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from fencepost_broker.coordinator.group.streams.assignor import assign
from fencepost_broker.coordinator.group.streams.members import Target, Task


def check(
    found: Mapping[str, Target],
    processes: Mapping[str, str],
    tasks: Mapping[str, int],
    stateful: set[str],
    standbys: int,
) -> None:
    wanted = {Task(name, number) for name, count in tasks.items() for number in range(count)}
    active = [task for each in found.values() for task in each.active]
    assert sorted(active) == sorted(wanted), "each task is active once"
    sizes = [len(each.active) for each in found.values()]
    assert max(sizes) - min(sizes) <= 1
    places: dict[Task, list[str]] = {}
    for member_id, each in found.items():
        for task in each.active | each.standby:
            places.setdefault(task, []).append(processes[member_id])
    for task in wanted:
        assert len(places[task]) == len(set(places[task])), "a process has a task once"
        copies = min(standbys, len(set(processes.values())) - 1)
        assert len(places[task]) == 1 + (copies if task.subtopology in stateful else 0)


@pytest.mark.parametrize("seed", range(40))
def test_any_group(seed: int) -> None:
    chance = random.Random(seed)
    processes: dict[str, str] = {}
    found: dict[str, Target] = {}
    for _ in range(6):
        for number in range(chance.randint(0, 3)):
            processes[f"m{chance.randint(0, 9)}-{number}"] = f"p{chance.randint(0, 3)}"
        for gone in chance.sample(sorted(processes), len(processes) // 3):
            del processes[gone]
        if not processes:
            continue
        tasks = {str(each): chance.randint(0, 6) for each in range(3)}
        stateful = {each for each in tasks if chance.random() < 0.5}
        standbys = chance.randint(0, 2)
        found = assign(processes, found, tasks, stateful, standbys)
        check(found, processes, tasks, stateful, standbys)
        assert assign(processes, found, tasks, stateful, standbys).keys() == found.keys()


def moved(before: Mapping[str, Target], after: Mapping[str, Target]) -> int:
    return sum(len(each.active - before.get(name, Target()).active) for name, each in after.items())


def test_as_little_moves_as_possible() -> None:
    tasks = {"0": 12}
    processes = {"a": "p", "b": "q", "c": "r"}
    before = assign(processes, {}, tasks, (), 0)
    assert assign(processes, before, tasks, (), 0) == before
    assert moved(before, assign({**processes, "d": "s"}, before, tasks, (), 0)) == 3
    del processes["c"]
    assert moved(before, assign(processes, before, tasks, (), 0)) == 4


def test_a_copy_becomes_the_task() -> None:
    processes = {"a": "p", "b": "q", "c": "r"}
    before = assign(processes, {}, {"0": 6}, {"0"}, 1)
    lost = before["c"].active
    del processes["c"]
    after = assign(processes, before, {"0": 6}, {"0"}, 1)
    assert all(
        task in before[name].standby for name in processes for task in after[name].active & lost
    )
    assert assign({}, before, {"0": 6}, (), 0) == {}
