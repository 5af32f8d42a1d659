"""What the metadata means for this broker: which logs it has, leads, and follows."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Protocol

from fencepost_broker.config import internal_topics
from fencepost_broker.metadata import model
from fencepost_broker.metadata.changes import (
    BrokerChanged,
    Changes,
    ConfigChanged,
    PartitionChanged,
    TopicCreated,
    TopicDeleted,
)
from fencepost_broker.metadata.image import MetadataImage
from fencepost_broker.metadata.log import METADATA_TOPIC
from fencepost_broker.metadata.model import ResourceType
from fencepost_broker.replication.offline_partitions import OfflinePartitions
from fencepost_broker.replication.partition import Partition, PartitionTable, Topic
from fencepost_broker.replication.replicated_partitions import ReplicatedPartitions
from fencepost_broker.storage.log import LogConfig, StorageError
from fencepost_broker.storage.log.manager import LogManager


class Coordinators(Protocol):
    """The coordinators of this broker, as far as changes of topics are news to them."""

    def topics_changed(self, changed: list[str], deleted: list[str], *, new: bool) -> None:
        """Topics were created, deleted, or have more partitions."""

    def begin_to_lead(self, partition: Partition) -> None:
        """Coordinate from now on what lives in a partition that this broker leads."""

    def stop_leading(self, topic: str, number: int) -> None:
        """Another broker leads, or the partition is gone."""


class Host(Protocol):
    """What is used of the node."""

    node_id: int
    image: MetadataImage
    table: PartitionTable
    manager: LogManager
    replicas: ReplicatedPartitions

    @property
    def begun_coordination(self) -> Coordinators | None:
        """The coordinators, if this broker ever had any."""

    @property
    def coordination(self) -> Coordinators:
        """The coordinators, which a broker has from when they are first needed."""

    def now_ms(self) -> int:
        """State time."""

    def configured(self, topic: str) -> LogConfig:
        """What the logs of a topic go by."""

    def topic_settings_changed(self, topic: str) -> None:
        """Its logs go by others from now on."""

    def forget_topic_settings(self, topic: str) -> None:
        """It is gone."""

    def use_settings(self) -> None:
        """The settings of this broker are others."""


class ReplicaManager:
    """Opens, closes, leads and follows the partitions that this broker has replicas of."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._unmade = OfflinePartitions(host.manager, host.configured, self._made)

    def open(self, deleted: AbstractSet[bytes]) -> None:
        """Begin with the topics that there are, and remove what is left of those ``deleted``.

        Their history is not carried out again: the log of a topic must not give way to an earlier
        one that had its name.
        """
        host = self._host
        for (name, number), log in list(host.manager.logs.items()):
            if log.topic_id in deleted:
                host.manager.delete(name, number, host.now_ms())
            elif not self._is_known(name, number, log.topic_id):
                topic = host.image.topics.by_name.get(name)
                partition = None if topic is None else topic.partitions.get(number)
                if topic and partition and list(partition.replicas) == [host.node_id]:
                    host.manager.refuse(name, number, topic.topic_id)  # no other broker has records
                    continue
                # A topic of this name that is created now must not take its records away.
                host.manager.set_aside(name, number)
        for topic in host.image.topics.by_name.values():
            internal = internal_topics.is_internal(topic.name)
            host.table.add(Topic(topic.name, topic.topic_id, internal))
            for partition in topic.in_order():
                self._place(PartitionChanged(topic.topic_id, topic.name, None, partition))

    def _is_known(self, name: str, number: int, topic_id: bytes | None) -> bool:
        if name == METADATA_TOPIC:
            return True
        topics = self._host.image.topics
        # A crash may have taken the file with the id.
        topic = topics.by_name.get(name) if topic_id is None else topics.by_id.get(topic_id)
        partition = None if topic is None else topic.partitions.get(number)
        # A partition that there is not yet is none that has moved away.
        return topic is not None and (partition is None or self._host.node_id in partition.replicas)

    def try_again(self, now_ms: int) -> int | None:
        """Make what there was no room for; gives when to come again, ``None`` if all is made."""
        return self._unmade.try_again(now_ms)

    # -- changes -------------------------------------------------------------------------------

    def prepare(self, topic: str, topic_id: bytes, number: int) -> None:
        """Make a log for a partition that is about to come, unless one is in its place."""
        host = self._host
        if host.manager.get(topic, number) is None:
            with suppress(StorageError):  # it is tried again when it is needed, and told of then
                host.manager.create(topic, number, topic_id, host.configured(topic), host.now_ms())

    def carry_out(self, changes: Changes) -> None:
        """Do what one record of the metadata log changed."""
        host = self._host
        for change in changes:
            if isinstance(change, TopicCreated):
                internal = internal_topics.is_internal(change.name)
                host.table.add(Topic(change.name, change.topic_id, internal))
            elif isinstance(change, PartitionChanged):
                self._place(change)
            elif isinstance(change, TopicDeleted):
                self._forget(change)
            elif isinstance(change, BrokerChanged):
                if change.after is None or not change.after.is_active:
                    host.replicas.broker_down()
            elif isinstance(change, ConfigChanged):
                if change.resource_type == ResourceType.TOPIC:
                    host.topic_settings_changed(change.resource_name)
                elif change.resource_type == ResourceType.BROKER:
                    host.use_settings()

    def tell_groups(self, changes: Changes) -> None:
        """Groups read topics: tell them what became of these."""
        coordination = self._host.begun_coordination
        if coordination is None:
            return
        created = [each.name for each in changes if isinstance(each, TopicCreated)]
        deleted = [each.name for each in changes if isinstance(each, TopicDeleted)]
        changed = dict.fromkeys(each.name for each in changes if isinstance(each, PartitionChanged))
        if changed or deleted:
            coordination.topics_changed(list(changed), deleted, new=bool(created))

    def _place(self, change: PartitionChanged) -> None:
        """A partition is new here, or is led or held differently."""
        host = self._host
        topic = host.table.by_id[change.topic_id]
        number = change.after.partition_id
        epoch = change.after.leader_epoch
        is_here = host.node_id in change.after.replicas
        leads = change.after.leader == host.node_id
        if not leads and host.begun_coordination is not None:
            # First: whoever waits here, and comes again at once, finds no coordinator any more.
            host.begun_coordination.stop_leading(topic.name, number)
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
        host.replicas.changed(partition, change.topic_id, change.after)
        if leads:
            partition.log.begin_leader_epoch(epoch)
            if topic.is_internal and not is_as_before:
                host.coordination.begin_to_lead(partition)

    def _begin_with_log(self, partition: Partition, after: model.Partition) -> None:
        """Show what was replicated.

        What a log has beyond that may be nobody else's, and go when another broker leads.
        """
        log = partition.log
        log.follows_log_end = partition.is_plain
        known = log.log_end_offset
        if len(after.replicas) > 1:
            manager = self._host.manager
            known = manager.checkpointed_high_watermark(partition.topic, partition.number)
        log.set_high_watermark(known)

    def _made(self, partition: Partition, topic_id: bytes) -> None:
        """Its log could not be had when it began to be led or followed; now it can."""
        host = self._host
        after = host.image.topics.by_id[topic_id].partitions[partition.number]
        self._begin_with_log(partition, after)
        host.replicas.renew(partition, topic_id, after)
        if after.leader == host.node_id:
            partition.log.begin_leader_epoch(after.leader_epoch)

    def _make(self, change: PartitionChanged, *, is_here: bool) -> Partition:
        number, epoch = change.after.partition_id, change.after.leader_epoch
        now_ms = self._host.now_ms()
        if not is_here:
            return self._unmade.make_elsewhere(change.name, number, epoch, now_ms)
        return self._unmade.make(change.name, change.topic_id, number, epoch, now_ms)

    def _move(
        self, partition: Partition, topic_id: bytes, after: model.Partition, *, is_here: bool
    ) -> None:
        """Take a replica here, or give up the one that is here."""
        now_ms = self._host.now_ms()
        if is_here:
            self._unmade.place(partition, topic_id, now_ms)
            self._begin_with_log(partition, after)
            return
        self._host.replicas.forget(partition)
        self._delete(partition.topic, partition.number)
        self._unmade.place_elsewhere(partition, now_ms)

    def _forget(self, change: TopicDeleted) -> None:
        host = self._host
        topic = host.table.by_id[change.topic_id]
        for partition in topic.partitions:
            host.replicas.forget(partition)
            if host.begun_coordination is not None:
                host.begun_coordination.stop_leading(topic.name, partition.number)
            self._delete(topic.name, partition.number)
        host.table.remove(topic)
        host.forget_topic_settings(topic.name)

    def _delete(self, topic: str, number: int) -> None:
        self._unmade.forget(topic, number)
        manager = self._host.manager
        try:
            manager.delete(topic, number, self._host.now_ms())
        except StorageError as error:
            # The next start, or a topic of the same name, tries again.
            manager.tell("storage-error", str(error), unexpected=True)
