"""The replica manager: it applies metadata changes to this broker's partitions and logs."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol

from fencepost_broker.config import internal_topics
from fencepost_broker.metadata.dynamic_config import DynamicConfig
from fencepost_broker.metadata.image import model
from fencepost_broker.metadata.image.changes import (
    BrokerChanged,
    Changes,
    PartitionChanged,
    TopicCreated,
    TopicDeleted,
)
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.log.metadata_log import METADATA_TOPIC
from fencepost_broker.metadata.publishing import MetadataPublisher
from fencepost_broker.ports import Clock, ReadyList
from fencepost_broker.replication.offline_partitions import OfflinePartitions
from fencepost_broker.replication.partition import Partition, PartitionTable, Topic
from fencepost_broker.replication.quotas import ReplicationQuotas
from fencepost_broker.replication.replicated_partitions import ReplicatedPartitions
from fencepost_broker.storage.flush_scheduler import FlushScheduler
from fencepost_broker.storage.log import StorageError
from fencepost_broker.storage.log.manager import LogManager


class Coordinators(Protocol):
    """The coordinators of this broker, one for each coordinator partition that it leads."""

    def begin_to_lead(self, partition: Partition) -> None:
        """Start a coordinator for a partition of a coordinator's topic that this broker leads."""

    def stop_leading(self, topic: str, number: int) -> None:
        """Unload a coordinator: another broker leads the partition, or it was deleted."""


class ReplicaManager(MetadataPublisher):
    """Opens, closes, leads and follows the partitions that this broker has replicas of."""

    def __init__(
        self,
        node_id: int,
        image: MetadataImage,
        config: DynamicConfig,
        clock: Clock,
        ready: ReadyList,
        table: PartitionTable,
        log_manager: LogManager,
        flushes: FlushScheduler,
        replicated: ReplicatedPartitions,
        quotas: ReplicationQuotas,
        coordinators: Coordinators,
    ) -> None:
        self._node_id = node_id
        self._image = image
        self._config = config
        self._now_ms = clock.now_ms
        self.log_manager = log_manager
        self.flushes = flushes
        self.replicated = replicated
        self.quotas = quotas
        self._coordinators = coordinators
        self.table = table
        self._offline = OfflinePartitions(log_manager, config.of_topic, ready, self._made)
        self._is_open = False
        self._deleted: set[bytes] = set()
        """Topics whose deletion was read from the metadata log before ``open``."""

    def open(self) -> None:
        """Open the partitions of the current metadata; later changes are applied one by one.

        Logs of deleted topics are deleted. Earlier changes are not applied again: a topic's log
        must not be replaced because of an earlier topic with the same name.
        """
        for (name, number), log in list(self.log_manager.logs.items()):
            if log.topic_id in self._deleted:
                self.log_manager.delete(name, number, self._now_ms())
            elif not self._is_known(name, number, log.topic_id):
                topic = self._image.topics.by_name.get(name)
                partition = None if topic is None else topic.partitions.get(number)
                if topic and partition and list(partition.replicas) == [self._node_id]:
                    # No other broker has the records.
                    self.log_manager.refuse(name, number, topic.topic_id)
                    continue
                # Keep the records: a new topic with this name must not replace them.
                self.log_manager.set_aside(name, number)
        for topic in self._image.topics.by_name.values():
            internal = internal_topics.is_internal(topic.name)
            self.table.add(Topic(topic.name, topic.topic_id, is_internal=internal))
            for partition in topic.in_order():
                self._place(PartitionChanged(topic.topic_id, topic.name, None, partition))
        self._deleted.clear()
        self._is_open = True

    def _is_known(self, name: str, number: int, topic_id: bytes | None) -> bool:
        if name == METADATA_TOPIC:
            return True
        topics = self._image.topics
        # After a crash the file with the topic id may be missing.
        topic = topics.by_name.get(name) if topic_id is None else topics.by_id.get(topic_id)
        partition = None if topic is None else topic.partitions.get(number)
        # A partition that is not in the metadata yet counts as known: it has not moved away.
        return topic is not None and (partition is None or self._node_id in partition.replicas)

    def try_again(self, now_ms: int) -> int | None:
        """Retry to create missing logs; return the time of the next retry, ``None`` for none."""
        return self._offline.try_again(now_ms)

    def jumped(self, by_ms: int) -> None:
        """Retry as soon as before, now that the clock was set."""
        self._offline.jumped(by_ms)

    # -- changes -------------------------------------------------------------------------------

    def prepare(self, topic: str, topic_id: bytes, number: int) -> None:
        """Create the log of a partition that is about to be created, unless it exists."""
        if self._is_open and self.log_manager.get(topic, number) is None:
            config = self._config.of_topic(topic)
            with suppress(StorageError):  # the creation itself tries again and logs the error
                self.log_manager.create(topic, number, topic_id, config, self._now_ms())

    def on_changes(self, changes: Changes) -> None:
        """Apply the changes of one record of the metadata log."""
        if not self._is_open:
            self._deleted.update(
                each.topic_id for each in changes if isinstance(each, TopicDeleted)
            )
            return
        for change in changes:
            if isinstance(change, TopicCreated):
                internal = internal_topics.is_internal(change.name)
                self.table.add(Topic(change.name, change.topic_id, is_internal=internal))
            elif isinstance(change, PartitionChanged):
                self._place(change)
            elif isinstance(change, TopicDeleted):
                self._forget(change)
            elif isinstance(change, BrokerChanged) and not _is_up(change):
                self.replicated.broker_down()

    def _place(self, change: PartitionChanged) -> None:
        """Apply a new partition, or a change of its leader or replicas."""
        topic = self.table.by_id[change.topic_id]
        number = change.after.partition_id
        epoch = change.after.leader_epoch
        is_here = self._node_id in change.after.replicas
        leads = change.after.leader == self._node_id
        if not leads:
            self._coordinators.stop_leading(topic.name, number)
        if number < len(topic.partitions):
            partition = topic.partitions[number]
            is_as_before = partition.leader_epoch == epoch
            partition.leader_epoch = epoch
            if partition.is_here != is_here:
                self._move(partition, topic.topic_id, change.after, is_here=is_here)
        else:
            is_as_before = False
            partition = self._make(change, is_here=is_here)
            topic.partitions.append(partition)
            if is_here:
                self._begin_with_log(partition, change.after)
        self.replicated.changed(partition, change.topic_id, change.after)
        if leads:
            partition.log.begin_leader_epoch(epoch)
            if topic.is_internal and not is_as_before:
                self._coordinators.begin_to_lead(partition)

    def _begin_with_log(self, partition: Partition, after: model.Partition) -> None:
        """Set the high watermark to what is known to be replicated.

        Later records may be missing on other replicas and be truncated under another leader.
        """
        log = partition.log
        log.follows_log_end = partition.is_plain
        known = log.log_end_offset
        if len(after.replicas) > 1:
            known = self.log_manager.checkpointed_high_watermark(partition.topic, partition.number)
        log.set_high_watermark(known)

    def _made(self, partition: Partition, topic_id: bytes) -> None:
        """Begin to lead or follow a partition whose log was created by a retry."""
        after = self._image.topics.by_id[topic_id].partitions[partition.number]
        self._begin_with_log(partition, after)
        self.replicated.renew(partition, topic_id, after)
        if after.leader == self._node_id:
            partition.log.begin_leader_epoch(after.leader_epoch)

    def _make(self, change: PartitionChanged, *, is_here: bool) -> Partition:
        number, epoch = change.after.partition_id, change.after.leader_epoch
        now_ms = self._now_ms()
        if not is_here:
            return self._offline.make_elsewhere(change.name, number, epoch, now_ms)
        return self._offline.make(change.name, change.topic_id, number, epoch, now_ms)

    def _move(
        self, partition: Partition, topic_id: bytes, after: model.Partition, *, is_here: bool
    ) -> None:
        """Create this broker's replica of a partition, or delete it."""
        now_ms = self._now_ms()
        if is_here:
            self._offline.place(partition, topic_id, now_ms)
            self._begin_with_log(partition, after)
            return
        self.replicated.forget(partition)
        self._delete(partition.topic, partition.number)
        self._offline.place_elsewhere(partition, now_ms)

    def _forget(self, change: TopicDeleted) -> None:
        topic = self.table.by_id[change.topic_id]
        for partition in topic.partitions:
            self.replicated.forget(partition)
            self._coordinators.stop_leading(topic.name, partition.number)
            self._delete(topic.name, partition.number)
        self.table.remove(topic)

    def _delete(self, topic: str, number: int) -> None:
        self._offline.forget(topic, number)
        try:
            self.log_manager.delete(topic, number, self._now_ms())
        except StorageError as error:
            # The next start, or a new topic with the same name, tries again.
            self.log_manager.tell("storage-error", str(error), unexpected=True)


def _is_up(change: BrokerChanged) -> bool:
    return change.after is not None and change.after.is_active
