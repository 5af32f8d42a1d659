"""Partitions that exist, and for which the disk had no room when they were created.

The decision is in the metadata log by then, so it is kept: such a partition answers with
KAFKA_STORAGE_ERROR until its folder can be made, which is tried again now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from fencepost_broker.ports import ReadyList
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import CorruptFileError, LogConfig, PartitionLog, StorageError
from fencepost_broker.storage.log.manager import LogManager
from fencepost_broker.storage.log.names import PartitionName

_AGAIN_MS: Final = 1000


class _Waiting(NamedTuple):
    partition: Partition
    topic_id: bytes


class OfflinePartitions:
    """Makes logs, and those that cannot be made when they can."""

    def __init__(
        self,
        manager: LogManager,
        configured: Callable[[str], LogConfig],
        ready: ReadyList,
        made: Callable[[Partition, bytes], None],
    ) -> None:
        self._manager = manager
        self._configured = configured
        self._ready = ready
        self._made = made
        """Told of a partition that has its log at last, and of the topic's id."""
        self._waiting: dict[PartitionName, _Waiting] = {}
        self._again_ms = 0

    def make(
        self, topic: str, topic_id: bytes, number: int, leader_epoch: int, now_ms: int
    ) -> Partition:
        """The partition, with its log or with one that refuses everything for the time being."""
        log, error = self._log(topic, topic_id, number, now_ms)
        partition = Partition(topic, number, log, leader_epoch, self._ready)
        if error is not None:
            self._wait(partition, topic_id, error, now_ms)
        return partition

    def make_elsewhere(self, topic: str, number: int, leader_epoch: int, now_ms: int) -> Partition:
        """A partition of which this broker has no replica: its log is nobody's."""
        log = self._empty(topic, number, now_ms)
        return Partition(topic, number, log, leader_epoch, self._ready, is_here=False)

    def place(self, partition: Partition, topic_id: bytes, now_ms: int) -> None:
        """Give a partition that was elsewhere a log here."""
        log, error = self._log(partition.topic, topic_id, partition.number, now_ms)
        partition.log, partition.is_here = log, True
        if error is not None:
            self._wait(partition, topic_id, error, now_ms)

    def place_elsewhere(self, partition: Partition, now_ms: int) -> None:
        """Its replica here is gone."""
        partition.log = self._empty(partition.topic, partition.number, now_ms)
        partition.is_here = False

    def _log(
        self, topic: str, topic_id: bytes, number: int, now_ms: int
    ) -> tuple[PartitionLog, StorageError | None]:
        config = self._configured(topic)
        try:
            log = self._manager.create(topic, number, topic_id, config, now_ms)
        except StorageError as error:
            log = self._empty(topic, number, now_ms)
            log.failure = error
            return log, error
        if log.config is not config:  # it was opened before the topic's settings were known
            log.configure(config)
        return log, None

    def _empty(self, topic: str, number: int, now_ms: int) -> PartitionLog:
        name = PartitionName(topic, number)
        return PartitionLog(self._manager.disk, str(name), self._configured(topic), now_ms)

    def _wait(
        self, partition: Partition, topic_id: bytes, error: StorageError, now_ms: int
    ) -> None:
        name = PartitionName(partition.topic, partition.number)
        if not self._waiting:
            text = f"{name} cannot be created, and is tried again (others may wait, too): {error}"
            self._manager.tell("partition-not-made", text, unexpected=True)
        self._waiting[name] = _Waiting(partition, topic_id)
        self._again_ms = now_ms + _AGAIN_MS

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
                except CorruptFileError:
                    continue  # it is refused until the next start
                except StorageError:
                    break
                partition.log = log
                del self._waiting[name]
                self._made(partition, topic_id)
            else:
                self._manager.tell("partitions-made", "partitions can be created on the disk again")
        return self._again_ms if self._waiting else None
