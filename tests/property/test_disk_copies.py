"""Copies of a memory disk: what is written to one of them is never seen in another."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import CHUNK_SIZE, MemoryBudget, SpillFile
from fencepost_broker.storage.log import StorageError
from hypothesis import given, settings
from hypothesis import strategies as st

PATHS = ["a", "b"]
SIZES = st.one_of(st.integers(1, 600), st.sampled_from([CHUNK_SIZE - 7, 2 * CHUNK_SIZE]))


@dataclass
class Copy:
    """A disk and what must be in it."""

    disk: MemoryDisk
    expected: dict[str, bytes] = field(default_factory=dict)

    def check(self) -> None:
        found = {path: bytes(file.pread(0, file.size())) for path, file in self.disk.walk()}
        assert {path: data for path, data in found.items() if data} == self.expected

    def change(self, path: str, data: bytes) -> None:
        if data:
            self.expected[path] = data
        else:
            self.expected.pop(path, None)

    def act(self, action: str, path: str, size: int, letter: int) -> None:
        before, file = self.expected.get(path, b""), self.disk.open(path)
        data = bytes([letter]) * size
        if action == "append":
            file.pwrite(len(before), data)
            self.change(path, before + data)
        elif action == "overwrite":
            at = size % (len(before) + 1)
            file.pwrite(at, data[:100])
            self.change(path, before[:at] + data[:100] + before[at + len(data[:100]) :])
        elif action == "truncate":
            keep = size % (len(before) + 1)
            file.truncate(keep)
            self.change(path, before[:keep])
        elif action == "write":
            self.disk.write(path, data, durable=True)
            self.change(path, data)
        else:
            self.disk.remove(path)
            self.change(path, b"")


ACTIONS = st.tuples(
    st.integers(0, 3),
    st.sampled_from(["append", "append", "overwrite", "truncate", "write", "remove", "copy"]),
    st.sampled_from(PATHS),
    SIZES,
    st.integers(1, 255),
)


def carry_out(actions: list[tuple[int, str, str, int, int]], budget: MemoryBudget) -> None:
    copies = [Copy(MemoryDisk(budget))]
    for number, action, path, size, letter in actions:
        chosen = copies[number % len(copies)]
        if action == "copy":
            copies.append(Copy(chosen.disk.copy(), chosen.expected.copy()))
            if len(copies) > 4:
                copies.pop(0).disk.discard()
        else:
            chosen.act(action, path, size, letter)
        assert budget.used_bytes <= budget.limit_bytes
        for each in copies:
            each.check()
    for each in copies:
        each.disk.discard()


@settings(max_examples=60, deadline=None)
@given(st.lists(ACTIONS, max_size=20), st.sampled_from([0, 3 * CHUNK_SIZE, 1 << 30]))
def test_copies_are_independent(actions: list[tuple[int, str, str, int, int]], limit: int) -> None:
    spill = SpillFile()
    budget = MemoryBudget(limit, spill)
    carry_out(actions, budget)
    assert (budget.used_bytes, spill.size) == (0, 0), "all room was given back"


def test_chunks_are_shared_until_they_are_written_to() -> None:
    budget = MemoryBudget(1 << 30)
    disk = MemoryDisk(budget)
    disk.open("a").pwrite(0, bytes(2 * CHUNK_SIZE + 100))
    before = budget.used_bytes
    copies = [disk.copy() for _ in range(100)]
    assert budget.used_bytes == before
    copies[0].open("a").pwrite(2 * CHUNK_SIZE + 100, b"x")
    assert budget.used_bytes == before + CHUNK_SIZE, "its last chunk, and no other"
    disk.remove("a")
    assert budget.used_bytes == before + CHUNK_SIZE
    copies[0].open("a").pwrite(0, b"x")
    for each in copies[1:]:
        each.discard()
    assert budget.used_bytes == 3 * CHUNK_SIZE


def test_a_copy_that_does_not_fit_changes_nothing() -> None:
    budget = MemoryBudget(1500)
    disk = MemoryDisk(budget)
    disk.open("a").pwrite(0, bytes(600))
    copied = disk.copy()
    with pytest.raises(StorageError, match="budget"):
        copied.open("a").pwrite(600, b"x")
    assert copied.read("a") == disk.read("a") == bytes(600)


def test_a_copy_for_another_budget_shares_nothing() -> None:
    budget, other = MemoryBudget(1 << 20), MemoryBudget(1 << 20)
    disk = MemoryDisk(budget)
    disk.make_folder("f")
    disk.open("f/a").pwrite(0, b"hello")
    copied = disk.copy(other)
    disk.discard()
    assert budget.used_bytes == 0
    assert copied.read("f/a") == b"hello"
    assert [each.name for each in copied.list_folder("f")] == ["a"]
