"""What every decision about a transaction reads."""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost_protocol.generated.transaction_log import TransactionLogValue

from fencepost_broker.coordinator.records import LogRecord
from fencepost_broker.coordinator.transaction.model import Transaction, log_record
from fencepost_broker.coordinator.transaction.ports import Cluster, ProducerIds, TransactionSettings
from fencepost_broker.coordinator.transaction.timers import Timers


@dataclass(slots=True)
class Context:
    """One partition's transactional ids, and what is handed in."""

    cluster: Cluster
    producer_ids: ProducerIds
    settings: TransactionSettings
    coordinator_epoch: int
    """Leader epoch of this partition: markers of an older coordinator are fenced by it."""
    transactions: dict[str, Transaction] = field(default_factory=dict)
    timers: Timers = field(init=False)

    def __post_init__(self) -> None:
        self.timers = Timers(self.transactions, self.settings.id_expiration_ms)

    def record(self, transactional_id: str, value: TransactionLogValue) -> LogRecord:
        """A step's record."""
        return log_record(transactional_id, value, self.cluster.transaction_version())
