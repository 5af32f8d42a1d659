"""The state of one share partition: from which offset on, and what became of its records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple, TypeAlias

UNKNOWN: Final = -1
"""A start offset, a count or an epoch that is not given."""


class Batch(NamedTuple):
    """A run of offsets whose records have the same state."""

    first_offset: int
    last_offset: int
    delivery_state: int
    delivery_count: int


Batches: TypeAlias = tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class ShareState:
    """What the records of a share partition say together."""

    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int
    batches: Batches
    updates: int
    """How many updates have followed the snapshot."""
    state_epoch_seen: int
    """The greatest state epoch so far; requests with an older one are fenced."""
    leader_epoch_seen: int
    """The same for leader epochs."""
    snapshot_offset: int
    """Where the snapshot is in the log; earlier records of the share partition are not needed."""
    created_ms: int
    """When a snapshot was written because something had changed."""
    written_ms: int
    """When the last snapshot was written, which may only have moved the state to the log's end."""


def batches_of(rows: Iterable[Any]) -> Batches:
    """Return the batches of a message or a record."""
    return tuple(
        Batch(row.first_offset, row.last_offset, row.delivery_state, row.delivery_count)
        for row in rows
    )


def combined(batches: Iterable[Batch], start_offset: int = UNKNOWN) -> Batches:
    """Return batches in order, without overlaps, and as few as possible.

    Where two overlap, the one that was delivered more often wins, and then the greater state.
    Offsets before the start offset are left out; the batches may come in any order.
    """
    kept = [each for each in batches if each.last_offset >= start_offset]
    edges = sorted(
        {max(each.first_offset, start_offset) for each in kept}
        | {each.last_offset + 1 for each in kept}
    )
    ordered = sorted(kept)
    found: list[Batch] = []
    open_: list[Batch] = []
    position = 0
    for first, end in pairwise(edges):
        while position < len(ordered) and ordered[position].first_offset <= first:
            open_.append(ordered[position])
            position += 1
        open_ = [each for each in open_ if each.last_offset >= first]
        if not open_:
            continue
        count, state = max((each.delivery_count, each.delivery_state) for each in open_)
        last = found[-1] if found else None
        if last is not None and last[1:] == (first - 1, state, count):
            found[-1] = Batch(last.first_offset, end - 1, state, count)
        else:
            found.append(Batch(first, end - 1, state, count))
    return tuple(found)
