"""Partitions, leaders and features for the transaction coordinators, from this broker's state."""

from __future__ import annotations

from collections.abc import Callable

from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.replication.partition import PartitionTable


class KnownCluster:
    """Implements ``coordinator.transaction.ports.Cluster`` with the image and the partitions."""

    __slots__ = ("_image", "_offsets_partition_of", "_table")

    def __init__(
        self,
        image: MetadataImage,
        table: PartitionTable,
        offsets_partition_of: Callable[[str], int],
    ) -> None:
        self._image = image
        self._table = table
        self._offsets_partition_of = offsets_partition_of

    def has_partition(self, topic: str, partition: int) -> bool:
        """Whether the partition exists."""
        found = self._table.by_name.get(topic)
        return found is not None and 0 <= partition < len(found.partitions)

    def leader_of(self, topic: str, partition: int) -> int | None:
        """Return the leader of a partition; ``None`` without one."""
        found = self._image.topics.partition(topic, partition)
        return None if found is None or found.leader < 0 else found.leader

    def holds_transaction(
        self, topic: str, partition: int, producer_id: int, producer_epoch: int
    ) -> bool:
        """Whether the producer has an open transaction in the log, if this broker has a replica."""
        if not self.has_partition(topic, partition):
            return False
        log = self._table.by_name[topic].partitions[partition].log
        return log.has_ongoing_transaction(producer_id, producer_epoch)

    def offsets_partition_of(self, group_id: str) -> int:
        """Return the partition of ``__consumer_offsets`` that holds a group's offsets."""
        return self._offsets_partition_of(group_id)

    def transaction_version(self) -> int:
        """Return the finalized ``transaction.version``."""
        return self._image.features.levels.get("transaction.version", 0)
