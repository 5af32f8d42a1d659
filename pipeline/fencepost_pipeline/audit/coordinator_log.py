"""Transactions, read back from ``__transaction_state``.

A coordinator writes the whole state of a transactional id at every step: Empty, Ongoing (again for
every partition that is added), PrepareCommit or PrepareAbort with all partitions, CompleteX. A
transaction is the run from the first Ongoing to the CompleteX. Under transaction version 2, and
whenever the coordinator fences a producer, PrepareX already has the epoch above the one that
wrote, and the markers carry that one; at the last epoch the producer id changes after CompleteX.

The log is compacted, so older transactions may be gone. If records are missing, the history is
known only from the time after them: ``History.known_from``. The latest state of every id always
remains, so open transactions are always known.

All steps of an id are in one partition of the log. So a partition's history is made by itself, on a
cluster by a task, and :func:`join` puts them together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from fencepost_pipeline.audit.batch_headers import NONE, Bools, Ints
from fencepost_pipeline.audit.coordinator_steps import (
    State,
    StepReader,
    Steps,
    UnreadableStep,
    Where,
)

T = TypeVar("T")
TOPIC: Final = "__transaction_state"
ALWAYS: Final = -1
"""``known_from`` of a log of which nothing is missing."""


class Transactions(NamedTuple):
    """The columns of transactions in coordinators' logs; NONE is what is not known."""

    name: Ints
    """The transactional id, as its place in ``History.names``."""
    producer_id: Ints
    producer_epoch: Ints
    timeout_ms: Ints
    log_partition: Ints
    begin_offset: Ints
    """Where the coordinator's log has it first."""
    begin_time: Ints
    places: Ints
    """Its partitions, as the place of their set in ``History.places``."""
    prepare_time: Ints
    prepare_offset: Ints
    marker_epoch: Ints
    committed: Ints
    """1 or 0 when a PrepareX is written: from here on the outcome stands. NONE before."""
    complete_time: Ints
    complete_committed: Ints
    """1 or 0 when every marker was acknowledged."""


def no_transactions(count: int = 0) -> Transactions:
    """So many, of which nothing is known."""
    return Transactions(*np.full((len(Transactions._fields), count), NONE, np.int64))


@dataclass(slots=True)
class History:
    """All transactions of all coordinators' logs, in the order in which each began."""

    transactions: Transactions = field(default_factory=no_transactions)
    names: list[str] = field(default_factory=list)
    places: list[frozenset[Where]] = field(default_factory=list)
    known_from: int = ALWAYS
    """The log time before which transactions may have been forgotten."""
    last_time: int = -1
    """The latest time that a coordinator's clock gave."""
    owners: dict[int, set[str]] = field(default_factory=dict)
    """By producer id, the transactional ids that had it."""
    first_seen: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By producer id, partition and offset of the coordinators' log where it is first."""
    partitions: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        """How many transactions there are."""
        return len(self.transactions.name)

    def name_of(self, number: int) -> str:
        """The transactional id of a transaction."""
        return self.names[int(self.transactions.name[number])]

    def places_of(self, number: int) -> frozenset[Where]:
        """The partitions of a transaction."""
        return self.places[int(self.transactions.places[number])]


def read_history(
    partition: int, batches: Iterable[pa.RecordBatch], unreadable: list[UnreadableStep]
) -> History:
    """Make transactions of a partition of the log, from rows of the table ``records``."""
    reader = StepReader()
    steps = reader.read(batches, unreadable)
    history = History(names=list(reader.names), partitions={partition})
    history.last_time = int(steps.time.max(initial=-1))
    _note_owners(history, partition, steps)
    order = np.argsort(steps.name, kind="stable")
    steps = Steps(*(column[order] for column in steps))
    begins, inside = _runs(steps)
    first = np.flatnonzero(begins)
    found = _begun(steps, first, partition)
    _follow(found, steps, inside, np.cumsum(begins) - 1)
    history.places = _add_places(found.places, steps, inside, np.cumsum(begins) - 1, reader.places)
    began = np.argsort(order[first])
    history.transactions = Transactions(*(column[began] for column in found))
    return history


def _runs(steps: Steps) -> tuple[Bools, Bools]:
    """Which steps begin a transaction, and which belong to one; steps are in order of names.

    What a step means depends on the one before: a transaction is undecided after Ongoing and
    decided after PrepareX, and after all others there is none.
    """
    state = steps.state
    before = np.concatenate(([State.EMPTY], state[:-1]))[: len(state)]
    before[np.diff(steps.name, prepend=-1) != 0] = State.EMPTY
    undecided = before == State.ONGOING
    runs = undecided | _is_prepare(before)
    ongoing = state == State.ONGOING
    begins = (ongoing & ~undecided) | (_is_prepare(state) & ~runs)
    inside = begins | (runs & (state >= State.ONGOING))
    return begins, inside


def _is_prepare(state: Ints) -> Bools:
    return np.asarray((state == State.PREPARE_COMMIT) | (state == State.PREPARE_ABORT))


def _begun(steps: Steps, first: Ints, partition: int) -> Transactions:
    """Transactions as their first step has them."""
    found = no_transactions(len(first))
    for name in ("name", "producer_id", "producer_epoch", "timeout_ms"):
        getattr(found, name)[:] = getattr(steps, name)[first]
    # Begun and ended in one record: an abort of nothing, or the rest is compacted.
    found.producer_epoch[:] -= steps.state[first] != State.ONGOING
    found.log_partition[:] = partition
    found.begin_offset[:] = steps.offset[first]
    start = steps.start_time[first]
    found.begin_time[:] = np.where(start >= 0, start, steps.time[first])
    return found


def _follow(found: Transactions, steps: Steps, inside: Bools, number: Ints) -> None:
    """Add how each was decided and completed. Of several equal steps, numpy keeps the last.

    A producer that keeps a transaction may change its timeout (KIP-939).
    """
    rows = np.flatnonzero(inside & (steps.state == State.ONGOING))
    found.timeout_ms[number[rows]] = steps.timeout_ms[rows]
    rows = np.flatnonzero(inside & _is_prepare(steps.state))
    of = number[rows]
    found.prepare_time[of] = steps.time[rows]
    found.prepare_offset[of] = steps.offset[rows]
    found.marker_epoch[of] = steps.producer_epoch[rows]
    found.committed[of] = steps.state[rows] == State.PREPARE_COMMIT
    rows = np.flatnonzero(inside & (steps.state >= State.COMPLETE_COMMIT))
    of = number[rows]
    found.complete_time[of] = steps.time[rows]
    found.complete_committed[of] = steps.state[rows] == State.COMPLETE_COMMIT


def _add_places(
    places: Ints, steps: Steps, inside: Bools, number: Ints, sets: Iterable[frozenset[Where]]
) -> list[frozenset[Where]]:
    """Add the partitions of the last Ongoing and of PrepareX, which are mostly the same."""
    known = list(sets)
    numbers = {each: i for i, each in enumerate(known)}
    places[:] = 0
    rows = np.flatnonzero(inside & (steps.state == State.ONGOING))
    places[number[rows]] = steps.places[rows]
    rows = np.flatnonzero(inside & _is_prepare(steps.state))
    of, prepared = number[rows], steps.places[rows]
    different = np.flatnonzero(places[of] != prepared)
    for i, added in zip(of[different].tolist(), prepared[different].tolist(), strict=True):
        union = known[places[i]] | known[added]
        places[i] = numbers.setdefault(union, len(known))
        if places[i] == len(known):
            known.append(union)
    return known


def _note_owners(history: History, partition: int, steps: Steps) -> None:
    given = np.flatnonzero(steps.producer_id >= 0)
    ids, first = np.unique(steps.producer_id[given], return_index=True)
    order = np.argsort(first)
    for producer_id, i in zip(ids[order].tolist(), given[first[order]].tolist(), strict=True):
        history.first_seen[producer_id] = partition, int(steps.offset[i])
        history.owners[producer_id] = set()
    count = max(len(history.names), 1)
    pairs = np.unique(np.searchsorted(ids, steps.producer_id[given]) * count + steps.name[given])
    for producer_id, name in zip(ids[pairs // count].tolist(), pairs % count, strict=True):
        history.owners[producer_id].add(history.names[name])


def join(histories: Iterable[History]) -> History:
    """Put the histories of the log's partitions together, in this order."""
    whole = History()
    names: dict[str, int] = {}
    places: dict[frozenset[Where], int] = {}
    found = [whole.transactions]
    for each in histories:
        columns = each.transactions
        name = _renumbered(columns.name, each.names, names)
        sets = _renumbered(columns.places, each.places, places)
        found.append(columns._replace(name=name, places=sets))
        whole.last_time = max(whole.last_time, each.last_time)
        whole.partitions |= each.partitions
        for producer_id, owners in each.owners.items():
            whole.owners.setdefault(producer_id, set()).update(owners)
            whole.first_seen.setdefault(producer_id, each.first_seen[producer_id])
    whole.transactions = Transactions(*map(np.concatenate, zip(*found, strict=True)))
    whole.names, whole.places = list(names), list(places)
    return whole


def _renumbered(numbers: Ints, own: list[T], common: dict[T, int]) -> Ints:
    """Numbers of things that stand in ``own`` as numbers of those in ``common``."""
    return np.array([common.setdefault(each, len(common)) for each in own], np.int64)[numbers]
