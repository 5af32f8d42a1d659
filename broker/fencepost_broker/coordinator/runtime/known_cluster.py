"""The cluster as a transaction's coordinator asks about it, by what this broker knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from fencepost_broker.metadata.image import MetadataImage
from fencepost_broker.replication.partition import PartitionTable


class Host(Protocol):
    """What is used of the node."""

    image: MetadataImage
    table: PartitionTable


class KnownCluster:
    """``coordinators.transactions.ports.Cluster`` over this broker."""

    __slots__ = ("_host", "_offsets_partition_of")

    def __init__(self, host: Host, offsets_partition_of: Callable[[str], int]) -> None:
        self._host = host
        self._offsets_partition_of = offsets_partition_of

    def has_partition(self, topic: str, partition: int) -> bool:
        """Whether there is such a partition."""
        found = self._host.table.by_name.get(topic)
        return found is not None and 0 <= partition < len(found.partitions)

    def leader_of(self, topic: str, partition: int) -> int | None:
        """The broker that leads it; ``None`` when none does."""
        found = self._host.image.topics.partition(topic, partition)
        return None if found is None or found.leader < 0 else found.leader

    def holds_transaction(
        self, topic: str, partition: int, producer_id: int, producer_epoch: int
    ) -> bool:
        """Whether this producer has a transaction open there, as far as this broker can see."""
        if not self.has_partition(topic, partition):
            return False
        log = self._host.table.by_name[topic].partitions[partition].log
        return log.has_ongoing_transaction(producer_id, producer_epoch)

    def offsets_partition_of(self, group_id: str) -> int:
        """The partition of ``__consumer_offsets`` that a group's offsets go to."""
        return self._offsets_partition_of(group_id)

    def transaction_version(self) -> int:
        """The finalized ``transaction.version``."""
        return self._host.image.features.levels.get("transaction.version", 0)
