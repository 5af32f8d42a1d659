"""The coordinator's state of one transactional id."""

from __future__ import annotations

from itertools import islice
from operator import is_
from typing import Any, Final

from fencepost_protocol.generated.transaction_log import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)

from fencepost_broker.coordinator.records import LogRecord
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

Partitions = dict[str, dict[int, None]]
NO_PARTITIONS: Final[Partitions] = {}


class Transaction:
    """A transactional id: the fields of its last record, then those that are not in the log."""

    __slots__ = (
        "client_epoch",
        "client_id",
        "client_version",
        "has_expiry_entry",
        "is_kept",
        "last_epoch",
        "listed",
        "next_producer_epoch",
        "next_producer_id",
        "parked",
        "partitions",
        "previous_producer_id",
        "producer_epoch",
        "producer_id",
        "sending",
        "started_ms",
        "state",
        "timeout_ms",
        "transactional_id",
        "updated_ms",
    )

    def __init__(self, transactional_id: str) -> None:
        self.transactional_id = transactional_id
        self.producer_id = NO_ID
        self.previous_producer_id = NO_ID
        self.next_producer_id = NO_ID
        self.next_producer_epoch = NO_EPOCH
        self.producer_epoch = NO_EPOCH
        self.is_kept = False
        """Whether a producer has taken over the open transaction without aborting it (KIP-939)."""
        self.client_id = NO_ID
        self.client_epoch = NO_EPOCH
        """The producer that may act now. Its id and epoch are those of the transaction's records,
        too, unless it is kept: then they are the next ones."""
        self.timeout_ms = 0
        self.state = State.DEAD
        self.partitions: Partitions = NO_PARTITIONS
        """Never changed in place: each record replaces it."""
        self.listed: list[PartitionsSchema] | None = None
        """The same as the record has it."""
        self.started_ms = NO_TIME
        self.updated_ms = NO_TIME
        self.client_version = 0
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
        return (
            self.transactional_id,
            self.producer_id,
            self.previous_producer_id,
            self.next_producer_id,
            self.next_producer_epoch,
            self.producer_epoch,
            self.timeout_ms,
            self.state,
            {topic: tuple(numbers) for topic, numbers in self.partitions.items()},
            self.started_ms,
            self.updated_ms,
            self.client_version,
        )

    def next_value(self, state: State, now_ms: int) -> TransactionLogValue:
        """Return the record of a transition; the caller fills in the rest.

        The previous id is that of the producer: a repeated EndTxn has it.
        """
        assert FOLLOWERS[self.state] >> state & 1, f"{self.state.name} -> {state.name}"
        return TransactionLogValue(
            self.producer_id,
            self.client_id,
            NO_ID,
            self.producer_epoch,
            NO_EPOCH,
            self.timeout_ms,
            state,
            None,
            now_ms,
            self.started_ms,
            self.client_version,
        )

    def take(self, value: TransactionLogValue) -> None:
        """Take over the fields of a record."""
        state = logged_state(value.transaction_status)
        client_id, epoch = value.producer_id, value.producer_epoch
        self.producer_id, self.producer_epoch = client_id, epoch
        self.previous_producer_id = value.previous_producer_id
        self.next_producer_id = value.next_producer_id
        self.next_producer_epoch = value.next_producer_epoch
        self.is_kept = value.next_producer_epoch != NO_EPOCH
        if self.is_kept:
            client_id, epoch = value.next_producer_id, value.next_producer_epoch
        if state is State.EMPTY:
            self.last_epoch = NO_EPOCH  # EpochAskedFor sets it if the request had the old epoch
        elif epoch == self.client_epoch + 1 and client_id == self.client_id:
            # From version 2 on, a producer may continue after its end or fence; before, it may not.
            bumps = value.client_transaction_version >= _EPOCH_BUMP
            self.last_epoch = self.client_epoch if bumps else NO_EPOCH
        self.client_id, self.client_epoch = client_id, epoch
        self.timeout_ms = value.transaction_timeout_ms
        self.state = state
        listed = value.transaction_partitions
        if not listed:
            self.partitions = NO_PARTITIONS
        elif listed is not self.listed:
            known = self.listed
            if known and len(known) < len(listed) and all(map(is_, known, listed)):
                partitions, added = self.partitions.copy(), listed[len(known) :]
            else:
                partitions, added = {}, listed
            for each in added:
                partitions[each.topic] = dict.fromkeys(each.partition_ids)
            self.partitions = partitions
        self.listed = listed
        self.started_ms = value.transaction_start_timestamp_ms
        self.updated_ms = value.transaction_last_update_timestamp_ms
        self.client_version = value.client_transaction_version
        self.sending = None
        self.parked = ()


def listed(transaction: Transaction, partitions: Partitions) -> list[PartitionsSchema]:
    """Return partitions in the form of the record.

    What they begin with is taken from the transaction's last record, so that adding topics one by
    one costs what is added.
    """
    known, before = transaction.listed or [], transaction.partitions
    if before is partitions:
        return known
    added = iter(partitions.items())
    is_more = known and len(known) == len(before) <= len(partitions)
    if is_more and all(map(is_, before.values(), partitions.values())):
        added = islice(added, len(known), None)
    else:
        known = []
    return known + [PartitionsSchema(topic, list(numbers)) for topic, numbers in added]


def log_record(
    transactional_id: str, value: TransactionLogValue, transaction_version: int
) -> LogRecord:
    """Return a record for ``__transaction_state`` in the version that the feature level allows.

    Version 0 has no fields for KIP-890. An id that is changing its producer id needs them and
    gets version 1 in any case.
    """
    if not transaction_version and value.next_producer_id == NO_ID:
        value.previous_producer_id = NO_ID
        value.client_transaction_version = 0
        return LogRecord(TransactionLogKey(transactional_id), value, 0)
    return LogRecord(TransactionLogKey(transactional_id), value, 1)
