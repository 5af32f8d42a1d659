"""The coordinator's state of one transactional id."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from operator import is_
from typing import Any, Final

from fencepost_protocol.generated.transaction_log import (
    PartitionsSchema,
    TransactionLogValue,
)

from fencepost_broker.coordinator.transaction.commands import SendMarkers
from fencepost_broker.coordinator.transaction.states import (
    FOLLOWERS,
    PREPARED,
    State,
    logged_state,
)

NO_ID: Final = -1
NO_EPOCH: Final = -1
NO_TIME: Final = -1
EPOCH_MAX: Final = (1 << 15) - 1
LAST_EPOCH: Final = EPOCH_MAX - 1
"""The last epoch that a producer gets; the one above it serves only to fence this one."""
NEVER_MS: Final = (1 << 31) - 1
"""The timeout of a transaction that does not time out (two-phase commit, KIP-939)."""
_EPOCH_BUMP: Final = 2
_EMPTY: Final = State.EMPTY

Partitions = dict[str, dict[int, None]]
NO_PARTITIONS: Final[Partitions] = {}
_NOTHING: Final = TransactionLogValue(
    NO_ID, NO_ID, NO_ID, NO_EPOCH, NO_EPOCH, 0, State.DEAD, None, NO_TIME, NO_TIME, 0
)
"""What an id has before its first record."""


class Transaction:
    """A transactional id: its last record, the state derived from it, and what is not logged."""

    __slots__ = (
        "client_epoch",
        "client_id",
        "has_expiry_entry",
        "is_kept",
        "last_epoch",
        "logged",
        "parked",
        "partitions",
        "sending",
        "state",
        "transactional_id",
    )

    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id
        self.logged = _NOTHING
        """The last record, which is never changed."""
        self.is_kept = False
        """Whether a producer has taken over the open transaction without aborting it (KIP-939)."""
        self.client_id = NO_ID
        self.client_epoch = NO_EPOCH
        """The producer that may act now. Its id and epoch are those of the transaction's records,
        too, unless it is kept: then they are the next ones."""
        self.state = State.DEAD
        self.partitions: Partitions = NO_PARTITIONS
        """Never changed in place: each record replaces it."""
        self.last_epoch = NO_EPOCH
        """The epoch before this one, if its owner asked for the bump: a second request with it is
        a retry (KIP-360). It is lost at a restart, as in Kafka."""
        self.sending: SendMarkers | None = None
        """In PrepareX: the markers that are being sent."""
        self.parked: tuple[Any, ...] = ()
        """Commands that wait for these markers, in order."""
        self.has_expiry_entry = False
        """Whether the machine's timers have an entry for the id's expiry."""

    @property
    def is_prepared(self) -> bool:
        """Whether the outcome is decided and markers are outstanding."""
        return self.state in PREPARED

    @property
    def is_exhausted(self) -> bool:
        """Whether the producer id has no further epoch for a producer."""
        return self.client_epoch >= LAST_EPOCH

    def durable(self) -> tuple[object, ...]:
        """Return the fields that a replay of the log restores."""
        logged = self.logged
        return (
            self.transactional_id,
            logged.producer_id,
            logged.previous_producer_id,
            logged.next_producer_id,
            logged.next_producer_epoch,
            logged.producer_epoch,
            logged.transaction_timeout_ms,
            self.state,
            {topic: tuple(numbers) for topic, numbers in self.partitions.items()},
            logged.transaction_start_timestamp_ms,
            logged.transaction_last_update_timestamp_ms,
            logged.client_transaction_version,
        )

    def next_value(self, state: State, now_ms: int) -> TransactionLogValue:
        """Return the record of a transition; the caller fills in the rest.

        The previous id is that of the producer: a repeated EndTxn has it.
        """
        assert FOLLOWERS[self.state] >> state & 1, f"{self.state.name} -> {state.name}"
        logged = self.logged
        return TransactionLogValue(
            logged.producer_id,
            self.client_id,
            NO_ID,
            logged.producer_epoch,
            NO_EPOCH,
            logged.transaction_timeout_ms,
            state,
            None,
            now_ms,
            logged.transaction_start_timestamp_ms,
            logged.client_transaction_version,
        )

    def take(self, value: TransactionLogValue) -> None:
        """Take over a record."""
        state = logged_state(value.transaction_status)
        client_id = value.producer_id
        epoch = value.producer_epoch
        next_epoch = value.next_producer_epoch
        self.is_kept = is_kept = next_epoch != NO_EPOCH
        if is_kept:
            client_id, epoch = value.next_producer_id, next_epoch
        if state is _EMPTY:
            self.last_epoch = NO_EPOCH  # EpochAskedFor sets it if the request had the old epoch
        elif epoch == self.client_epoch + 1 and client_id == self.client_id:
            # From version 2 on, a producer may continue after its end or fence; before, it may not.
            bumps = value.client_transaction_version >= _EPOCH_BUMP
            self.last_epoch = self.client_epoch if bumps else NO_EPOCH
        self.client_id = client_id
        self.client_epoch = epoch
        self.state = state
        listed = value.transaction_partitions
        known = self.logged.transaction_partitions
        if not listed:
            self.partitions = NO_PARTITIONS
        elif listed is not known:
            if known and len(known) < len(listed) and all(map(is_, known, listed)):
                partitions, added = self.partitions.copy(), listed[len(known) :]
            else:
                partitions, added = {}, listed
            for each in added:
                partitions[each.topic] = dict.fromkeys(each.partition_ids)
            self.partitions = partitions
        self.logged = value
        self.sending = None
        self.parked = ()


def listed(transaction: Transaction, partitions: Partitions) -> list[PartitionsSchema]:
    """Return partitions in the form of the record.

    What they begin with is taken from the transaction's last record, so that adding topics one by
    one costs what is added.
    """
    known, before = transaction.logged.transaction_partitions or [], transaction.partitions
    if before is partitions:
        return known
    added: Iterable[tuple[str, dict[int, None]]] = partitions.items()
    if known:
        is_more = len(known) == len(before) <= len(partitions)
        if is_more and all(map(is_, before.values(), partitions.values())):
            added = islice(added, len(known), None)
        else:
            known = []
    return known + [PartitionsSchema(topic, list(numbers)) for topic, numbers in added]
