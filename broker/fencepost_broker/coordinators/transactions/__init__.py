"""The transaction coordinator."""

from fencepost_broker.coordinators.transactions.machine import TransactionCoordinator
from fencepost_broker.coordinators.transactions.ports import (
    Cluster,
    ProducerIds,
    TransactionSettings,
)

__all__ = ["Cluster", "ProducerIds", "TransactionCoordinator", "TransactionSettings"]
