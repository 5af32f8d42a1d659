"""The records in flight of a share partition, as ranges of offsets without a hole between them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from operator import attrgetter
from typing import Final


class State(IntEnum):
    """The delivery state of a record, with the number that Kafka writes."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVED = 4


FINAL: Final = frozenset((State.ACKNOWLEDGED, State.ARCHIVED))
"""The states of records that are not delivered again."""


@dataclass(slots=True)
class InFlight:
    """Adjacent records with the same state."""

    first: int
    last: int
    state: State
    delivery_count: int = 0
    member: str = ""
    """The member that has acquired the records."""
    deadline_ms: int = 0
    """When the member's lock ends."""
    batch_size: int = 0
    """How many records were acquired together at first; fewer are left of them here."""
    outcome: State | None = None
    """The state that the member has asked for; the records have it once it is written."""
    is_unwritten: bool = False
    """Whether the state, or the outcome, has to be written."""
    is_in_write: bool = False
    """Whether the write under way holds the state, or the outcome."""

    @property
    def size(self) -> int:
        """The number of offsets."""
        return self.last - self.first + 1

    @property
    def is_available(self) -> bool:
        """Whether a member may acquire the records."""
        return self.state is State.AVAILABLE

    @property
    def is_locked(self) -> bool:
        """Whether a member has the records and has not acknowledged them."""
        return self.state is State.ACQUIRED and self.outcome is None

    @property
    def will_be(self) -> State:
        """The state after the next write."""
        return self.state if self.outcome is None else self.outcome

    def continues(self, before: InFlight) -> bool:
        """Whether it differs from the range before it in nothing that matters."""
        if self.state is not before.state or self.state is State.ACQUIRED:
            return False
        flags = (self.is_unwritten, self.is_in_write)
        if flags != (before.is_unwritten, before.is_in_write):
            return False
        is_over = self.state in FINAL and flags == (False, False)
        same = (self.delivery_count, self.batch_size) == (before.delivery_count, before.batch_size)
        return is_over or same


class InFlightRanges:
    """All ranges between the start offset and the end offset, in order."""

    __slots__ = ("_ranges", "end_offset", "start_offset")

    def __init__(self, start_offset: int) -> None:
        self.start_offset = start_offset
        self.end_offset = start_offset
        """The offset after the last record in flight."""
        self._ranges: list[InFlight] = []

    def __iter__(self) -> Iterator[InFlight]:
        return iter(self._ranges)

    def __len__(self) -> int:
        return len(self._ranges)

    def append(self, added: InFlight) -> None:
        """Add records after the last ones."""
        assert added.first == self.end_offset, "a hole between ranges"
        self._ranges.append(added)
        self.end_offset = added.last + 1

    def between(self, first: int, last: int) -> list[InFlight]:
        """Return the ranges that have offsets between two offsets, inclusively."""
        at = max(self._at(first), 0)
        found = []
        for each in self._ranges[at:]:
            if each.first > last:
                break
            if each.last >= first:
                found.append(each)
        return found

    def cut(self, first: int, last: int) -> list[InFlight]:
        """Split ranges at two offsets; return those that lie between them, inclusively."""
        self._split(first)
        self._split(last + 1)
        return self.between(first, last)

    def join(self, before: InFlight, added: InFlight) -> None:
        """Let a range take in the one that follows it."""
        at = self._at(added.first)
        assert self._ranges[at] is added
        del self._ranges[at]
        before.last = added.last

    def move_start(self, offset: int) -> None:
        """Forget everything before an offset."""
        if offset <= self.start_offset:
            return
        self._split(offset)
        del self._ranges[: self._at(offset - 1) + 1]
        self.start_offset = offset
        self.end_offset = max(self.end_offset, offset)

    def tidy(self) -> None:
        """Forget the first records that are not delivered again, and join equal neighbors."""
        kept: list[InFlight] = []
        for each in self._ranges:
            if not kept and each.state in FINAL and each.outcome is None:
                continue
            if kept and each.continues(kept[-1]):
                kept[-1].last = each.last
            else:
                kept.append(each)
        self._ranges = kept
        self.start_offset = kept[0].first if kept else self.end_offset

    def _at(self, offset: int) -> int:
        """Return the index of the last range that begins at an offset or before it."""
        return bisect_right(self._ranges, offset, key=attrgetter("first")) - 1

    def _split(self, offset: int) -> None:
        """Let a range begin at an offset, if the offset lies within one."""
        at = self._at(offset)
        if at < 0:
            return
        found = self._ranges[at]
        if found.first < offset <= found.last:
            self._ranges.insert(at + 1, replace(found, first=offset))
            found.last = offset - 1
