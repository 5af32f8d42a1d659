"""Partitions whose log could not be created, for example because the disk was full.

The partition is in the metadata log by then, so it exists. It answers with KAFKA_STORAGE_ERROR
until its directory can be created, which is retried every second.
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
    """Creates the logs of partitions and retries those that failed."""

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
        """Called when a retry has created a partition's log, with the topic's id."""
        self._waiting: dict[PartitionName, _Waiting] = {}
        self._again_ms = 0

    def make(
        self, topic: str, topic_id: bytes, number: int, leader_epoch: int, now_ms: int
    ) -> Partition:
        """Return a partition with its log, or with one that refuses all requests until a retry."""
        log, error = self._log(topic, topic_id, number, now_ms)
        partition = Partition(topic, number, log, leader_epoch, self._ready)
        if error is not None:
            self._wait(partition, topic_id, error, now_ms)
        return partition

    def make_elsewhere(self, topic: str, number: int, leader_epoch: int, now_ms: int) -> Partition:
        """Return a partition without a replica in this broker; its log is a placeholder."""
        log = self._empty(topic, number, now_ms)
        return Partition(topic, number, log, leader_epoch, self._ready, is_here=False)

    def place(self, partition: Partition, topic_id: bytes, now_ms: int) -> None:
        """Create the log of a partition that had no replica in this broker."""
        log, error = self._log(partition.topic, topic_id, partition.number, now_ms)
        partition.use_log(log)
        partition.is_here = True
        if error is not None:
            self._wait(partition, topic_id, error, now_ms)

    def place_elsewhere(self, partition: Partition, now_ms: int) -> None:
        """Replace the log by a placeholder: this broker no longer has a replica."""
        partition.use_log(self._empty(partition.topic, partition.number, now_ms))
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
        if log.config is not config:  # the log was opened before the topic's settings were known
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
            text = f"{name} cannot be created; retrying, also for any other partitions: {error}"
            self._manager.tell("partition-not-made", text, unexpected=True)
        self._waiting[name] = _Waiting(partition, topic_id)
        self._again_ms = now_ms + _AGAIN_MS

    def forget(self, topic: str, number: int) -> None:
        """Stop retrying for a deleted partition."""
        self._waiting.pop(PartitionName(topic, number), None)

    def jumped(self, by_ms: int) -> None:
        """Retry as soon as before, now that the clock was set."""
        self._again_ms += by_ms

    def try_again(self, now_ms: int) -> int | None:
        """Retry; return the time of the next retry, or ``None`` if all logs exist."""
        if self._waiting and now_ms >= self._again_ms:
            self._again_ms = now_ms + _AGAIN_MS
            for name, (partition, topic_id) in list(self._waiting.items()):
                config = self._configured(name.topic)
                try:
                    log = self._manager.create(*name, topic_id, config, now_ms)
                except CorruptFileError:
                    continue  # a corrupt log stays offline until the next start
                except StorageError:
                    break
                partition.use_log(log)
                del self._waiting[name]
                self._made(partition, topic_id)
            else:
                self._manager.tell("partitions-made", "partitions can be created again")
        return self._again_ms if self._waiting else None
