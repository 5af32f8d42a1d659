"""Partitions that exist, and for which the disk had no room when they were created.

The decision is in the metadata log by then, so it is kept: such a partition answers with
KAFKA_STORAGE_ERROR until its folder can be made, which is tried again now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from fencepost_broker.log import LogConfig, PartitionLog, StorageError
from fencepost_broker.log.manager import LogManager
from fencepost_broker.log.names import PartitionName
from fencepost_broker.partitions import Partition

_AGAIN_MS: Final = 1000


class _Waiting(NamedTuple):
    partition: Partition
    topic_id: bytes


class UnmadePartitions:
    """Makes logs, and those that cannot be made when they can."""

    def __init__(self, manager: LogManager, configured: Callable[[str], LogConfig]) -> None:
        self._manager = manager
        self._configured = configured
        self._waiting: dict[PartitionName, _Waiting] = {}
        self._again_ms = 0

    def make(
        self, topic: str, topic_id: bytes, number: int, leader_epoch: int, now_ms: int
    ) -> Partition:
        """The partition, with its log or with one that refuses everything for the time being."""
        config = self._configured(topic)
        try:
            log = self._manager.create(topic, number, topic_id, config, now_ms)
        except StorageError as error:
            name = PartitionName(topic, number)
            log = PartitionLog(self._manager.disk, str(name), config, now_ms)
            log.failure = error
            partition = Partition(topic, number, log, leader_epoch)
            if not self._waiting:
                text = f"{name} waits for the disk, and others may, too: {error}"
                self._manager.tell("partition-not-made", text, unexpected=True)
            self._waiting[name] = _Waiting(partition, topic_id)
            self._again_ms = now_ms + _AGAIN_MS
            return partition
        if log.config is not config:  # it was opened before the topic's settings were known
            log.configure(config)
        return Partition(topic, number, log, leader_epoch)

    def forget(self, topic: str, number: int) -> None:
        """The partition is gone."""
        self._waiting.pop(PartitionName(topic, number), None)

    def try_again(self, now_ms: int) -> int | None:
        """Make what can be made by now; gives when to come again, ``None`` if all are made."""
        if self._waiting and now_ms >= self._again_ms:
            self._again_ms = now_ms + _AGAIN_MS
            for name, (partition, topic_id) in list(self._waiting.items()):
                config = self._configured(name.topic)
                try:
                    log = self._manager.create(*name, topic_id, config, now_ms)
                except StorageError:
                    break
                partition.log = log
                del self._waiting[name]
            else:
                self._manager.tell("partitions-made", "the disk takes new partitions again")
        return self._again_ms if self._waiting else None
