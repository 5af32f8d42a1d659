"""The state and interfaces that decisions about transactions read."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost_protocol.generated.transaction_log import TransactionLogKey, TransactionLogValue

from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.coordinator.transaction.model import NO_ID, Transaction
from fencepost_broker.coordinator.transaction.ports import Cluster, ProducerIds, TransactionSettings
from fencepost_broker.coordinator.transaction.timers import Timers


@dataclass(slots=True)
class Context:
    """The transactional ids of one partition, their timers, and the caller's interfaces."""

    cluster: Cluster
    producer_ids: ProducerIds
    settings: TransactionSettings
    coordinator_epoch: int
    """The partition's leader epoch; it fences markers of older coordinators."""
    transactions: dict[str, Transaction] = field(default_factory=dict)
    timers: Timers = field(init=False)

    def __post_init__(self) -> None:
        self.timers = Timers(self.transactions, self.settings.id_expiration_ms)

    def record(self, transactional_id: str, value: TransactionLogValue) -> LogRecord:
        """Return a log record in the version of the finalized feature level.

        Version 0 has no fields for KIP-890. An id that is changing its producer id needs them and
        gets version 1 in any case.
        """
        version = 1
        if not self.cluster.transaction_version() and value.next_producer_id == NO_ID:
            version = 0
            value.previous_producer_id = NO_ID
            value.client_transaction_version = 0
        return LogRecord(TransactionLogKey(transactional_id), value, version)
