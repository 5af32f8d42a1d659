"""Transactions, read back from ``__transaction_state``.

A coordinator writes the whole state of a transactional id at every step: Empty, Ongoing (again for
every partition that is added), PrepareCommit or PrepareAbort with all partitions, CompleteX. A
transaction is the run from the first Ongoing to the CompleteX. Under transaction version 2, and
whenever the coordinator fences a producer, PrepareX already has the epoch above the one that
wrote, and the markers carry that one; at the last epoch the producer id changes after CompleteX.

The log is compacted, so older transactions may be gone. If records are missing, the history is
known only from the time after them: ``History.known_from``. The latest state of every id always
remains, so open transactions are always known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.transaction_log import TransactionLogKey, TransactionLogValue

TOPIC: Final = "__transaction_state"
ALWAYS: Final = -1
"""``known_from`` of a log of which nothing is missing."""


class State(IntEnum):
    """The status byte of the log."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    EXPIRED = -1
    """A tombstone: the id was forgotten."""


class Step(NamedTuple):
    """One record of the log."""

    partition: int
    offset: int
    time: int
    transactional_id: str
    state: State
    producer_id: int = -1
    producer_epoch: int = -1
    timeout_ms: int = -1
    start_time: int = -1
    client_version: int = 0
    partitions: frozenset[tuple[str, int]] = frozenset()


class UnreadableStepError(Exception):
    """A record is not a transaction state."""

    def __init__(self, partition: int, offset: int, why: str) -> None:
        super().__init__(why)
        self.partition = partition
        self.offset = offset


@dataclass(slots=True)
class Transaction:
    """A transaction in the coordinator's log."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    log_partition: int
    begin_offset: int
    """Where the coordinator's log has it first."""
    begin_time: int
    partitions: frozenset[tuple[str, int]] = frozenset()
    prepare_time: int = -1
    prepare_offset: int = -1
    marker_epoch: int = -1
    committed: bool | None = None
    """None while nothing is decided."""
    complete_time: int = -1
    complete_committed: bool | None = None
    client_version: int = 0

    @property
    def is_decided(self) -> bool:
        """Whether a PrepareX is written: from here on the outcome stands."""
        return self.committed is not None

    @property
    def is_complete(self) -> bool:
        """Whether every marker was acknowledged."""
        return self.complete_committed is not None


@dataclass(slots=True)
class History:
    """All transactions of all coordinators' logs, in the order in which each began."""

    transactions: list[Transaction] = field(default_factory=list)
    known_from: int = ALWAYS
    """The log time before which transactions may have been forgotten."""
    last_time: int = -1
    """The latest time that a coordinator's clock gave."""
    owners: dict[int, set[str]] = field(default_factory=dict)
    """By producer id, the transactional ids that had it."""
    first_seen: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By producer id, partition and offset of the coordinators' log where it is first."""
    partitions: set[int] = field(default_factory=set)

    @property
    def is_gapless(self) -> bool:
        """Whether no partition of the log is missing in between: then probably all are here."""
        return self.partitions == set(range(len(self.partitions)))


def step_of(
    partition: int, offset: int, time: int, key: bytes | None, value: bytes | None
) -> Step | None:
    """One record of the log; None for one of a kind that a later Kafka may write."""
    try:
        if key is None or int.from_bytes(key[:2], "big") != 0:
            return None
        name = _name_of(key)
        if value is None:
            return Step(partition, offset, time, name, State.EXPIRED)
        version = int.from_bytes(value[:2], "big", signed=True)
        message = TransactionLogValue.decode(memoryview(value), version, 2)[0]
        state = State(message.transaction_status)
    except (RemoteProtocolError, ValueError) as error:
        raise UnreadableStepError(partition, offset, str(error)) from error
    return Step(
        partition,
        offset,
        time,
        name,
        state,
        message.producer_id,
        message.producer_epoch,
        message.transaction_timeout_ms,
        message.transaction_start_timestamp_ms,
        message.client_transaction_version,
        frozenset(
            (topic.topic, number)
            for topic in message.transaction_partitions or ()
            for number in topic.partition_ids
        ),
    )


@lru_cache(maxsize=1 << 16)
def _name_of(key: bytes) -> str:
    """A transactional id, which comes again with each of its transactions' steps."""
    return TransactionLogKey.decode(memoryview(key), 0, 2)[0].transactional_id


def read_history(steps: Iterable[Step]) -> History:
    """Make transactions of the records of one or more of the log's partitions, each in order."""
    history = History()
    running: dict[str, Transaction] = {}
    for step in steps:
        history.last_time = max(history.last_time, step.time)
        if step.producer_id >= 0:
            history.owners.setdefault(step.producer_id, set()).add(step.transactional_id)
            history.first_seen.setdefault(step.producer_id, (step.partition, step.offset))
        history.transactions += _follow(running, step)
    return history


def _follow(running: dict[str, Transaction], step: Step) -> Iterator[Transaction]:
    """Take one step; gives the transaction that begins with it, if one does."""
    current = running.get(step.transactional_id)
    if step.state in {State.EMPTY, State.EXPIRED}:
        running.pop(step.transactional_id, None)
        return
    begins = current is None or current.is_complete
    if step.state is State.ONGOING and current is not None and current.is_decided:
        begins = True
    if begins:
        if step.state in {State.COMPLETE_COMMIT, State.COMPLETE_ABORT}:
            return  # the rest was compacted away
        current = _begun(step)
        running[step.transactional_id] = current
        yield current
    assert current is not None
    if step.state is State.ONGOING:
        current.partitions = step.partitions
    elif step.state in {State.PREPARE_COMMIT, State.PREPARE_ABORT}:
        current.partitions |= step.partitions
        current.prepare_time, current.prepare_offset = step.time, step.offset
        current.marker_epoch = step.producer_epoch
        current.committed = step.state is State.PREPARE_COMMIT
        current.client_version = max(current.client_version, step.client_version)
    else:
        current.complete_time = step.time
        current.complete_committed = step.state is State.COMPLETE_COMMIT


def _begun(step: Step) -> Transaction:
    epoch = step.producer_epoch
    if step.state is not State.ONGOING:
        epoch -= 1  # begun and ended in one record: an abort of nothing, or the rest is compacted
    return Transaction(
        step.transactional_id,
        step.producer_id,
        epoch,
        step.timeout_ms,
        step.partition,
        step.offset,
        step.start_time if step.start_time >= 0 else step.time,
        step.partitions,
        client_version=step.client_version,
    )
