"""The transaction coordinator."""

from fencepost_broker.coordinator.transaction.machine import TransactionCoordinator
from fencepost_broker.coordinator.transaction.ports import Cluster, ProducerIds, TransactionSettings

__all__ = ["Cluster", "ProducerIds", "TransactionCoordinator", "TransactionSettings"]
