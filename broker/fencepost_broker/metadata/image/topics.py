"""The topics and partitions of the metadata image."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fencepost_protocol.primitives import uuid_text

from fencepost_broker.metadata.image.changes import (
    Change,
    Changes,
    PartitionChanged,
    TopicCreated,
    TopicDeleted,
)
from fencepost_broker.metadata.image.model import (
    UNASSIGNED_DIRECTORY,
    InconsistentMetadataError,
    Partition,
    Topic,
)
from fencepost_broker.metadata.names import metric_name

if TYPE_CHECKING:
    from fencepost_protocol.generated.clear_elr_record import ClearElrRecord
    from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord
    from fencepost_protocol.generated.partition_record import PartitionRecord
    from fencepost_protocol.generated.remove_topic_record import RemoveTopicRecord
    from fencepost_protocol.generated.topic_record import TopicRecord

NO_LEADER_CHANGE: Final = -2


class TopicsImage:
    """All topics. ``Topic`` and the dictionaries are live, partitions are exchanged."""

    __slots__ = ("_names_by_metric", "by_id", "by_name")

    def __init__(self) -> None:
        self.by_name: dict[str, Topic] = {}
        self.by_id: dict[bytes, Topic] = {}
        self._names_by_metric: dict[str, list[str]] = {}

    # -- looking up -----------------------------------------------------------------------------

    def partition(self, topic: str, partition_id: int) -> Partition | None:
        """Return a partition by its topic's name."""
        found = self.by_name.get(topic)
        return None if found is None else found.partitions.get(partition_id)

    def colliding(self, name: str) -> str | None:
        """Return the first topic, by name, that has the same name once '.' is read as '_'."""
        others = self._names_by_metric.get(metric_name(name))
        return min(others, default=None) if others else None

    # -- applying records -----------------------------------------------------------------------

    def create_topic(self, record: TopicRecord) -> Changes:
        """Apply a record that creates a topic without partitions."""
        if record.name in self.by_name:
            raise InconsistentMetadataError(f"topic {record.name} exists already")
        if record.topic_id in self.by_id:
            raise InconsistentMetadataError(f"topic id {uuid_text(record.topic_id)} is taken")
        topic = Topic(record.name, record.topic_id, {})
        self.by_name[record.name] = self.by_id[record.topic_id] = topic
        if "." in record.name or "_" in record.name:
            self._names_by_metric.setdefault(metric_name(record.name), []).append(record.name)
        return (TopicCreated(record.topic_id, record.name),)

    def put_partition(self, record: PartitionRecord) -> Changes:
        """Apply a record that describes a partition as a whole."""
        topic = self._topic(record.topic_id)
        replicas = tuple(record.replicas)
        partition = Partition(
            partition_id=record.partition_id,
            replicas=replicas,
            isr=tuple(record.isr),
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
            directories=_directories(record.directories, replicas, None),
            removing_replicas=tuple(record.removing_replicas),
            adding_replicas=tuple(record.adding_replicas),
            leader_recovery_state=record.leader_recovery_state,
            eligible_leader_replicas=tuple(record.eligible_leader_replicas or ()),
            last_known_elr=tuple(record.last_known_elr or ()),
        )
        return (_exchange(topic, partition),)

    def change_partition(self, record: PartitionChangeRecord) -> Changes:
        """Apply a record that changes parts of a partition."""
        topic = self._topic(record.topic_id)
        before = topic.partitions.get(record.partition_id)
        if before is None:
            raise InconsistentMetadataError(
                f"there is no partition {topic.name}-{record.partition_id}"
            )
        given = record.leader != NO_LEADER_CHANGE
        replicas = _given(record.replicas, before.replicas)
        recovery = record.leader_recovery_state
        partition = Partition(
            partition_id=before.partition_id,
            replicas=replicas,
            isr=_given(record.isr, before.isr),
            leader=record.leader if given else before.leader,
            leader_epoch=before.leader_epoch + given,
            partition_epoch=before.partition_epoch + 1,
            directories=_directories(record.directories, replicas, before),
            removing_replicas=_given(record.removing_replicas, before.removing_replicas),
            adding_replicas=_given(record.adding_replicas, before.adding_replicas),
            leader_recovery_state=before.leader_recovery_state if recovery < 0 else recovery,
            eligible_leader_replicas=_given(
                record.eligible_leader_replicas, before.eligible_leader_replicas
            ),
            last_known_elr=_given(record.last_known_elr, before.last_known_elr),
        )
        return (_exchange(topic, partition),)

    def remove_topic(self, record: RemoveTopicRecord) -> TopicDeleted:
        """Apply a record that deletes a topic with its partitions."""
        topic = self._topic(record.topic_id)
        del self.by_name[topic.name], self.by_id[topic.topic_id]
        metric = metric_name(topic.name)
        if (names := self._names_by_metric.get(metric)) is not None:
            names.remove(topic.name)
            if not names:
                del self._names_by_metric[metric]
        return _deleted(topic)

    def clear_elr(self, record: ClearElrRecord) -> Changes:
        """Apply a record that forgets eligible leaders, of one topic or of all (KIP-966)."""
        if record.topic_name and record.topic_name not in self.by_name:
            raise InconsistentMetadataError(f"there is no topic {record.topic_name}")
        names = [record.topic_name] if record.topic_name else sorted(self.by_name)
        changes: list[Change] = []
        for topic in map(self.by_name.__getitem__, names):
            for before in topic.in_order():
                # A partition without any replica in sync keeps them: nothing was committed since.
                if before.isr and (before.eligible_leader_replicas or before.last_known_elr):
                    after = before._replace(
                        partition_epoch=before.partition_epoch + 1,
                        eligible_leader_replicas=(),
                        last_known_elr=(),
                    )
                    changes.append(_exchange(topic, after))
        return tuple(changes)

    def _topic(self, topic_id: bytes) -> Topic:
        topic = self.by_id.get(topic_id)
        if topic is None:
            raise InconsistentMetadataError(f"there is no topic {uuid_text(topic_id)}")
        return topic

    # -- comparing ------------------------------------------------------------------------------

    def deletions(self, later: TopicsImage) -> Iterator[Change]:
        """Yield the topics that a later image does not have any more."""
        for topic_id, topic in self.by_id.items():
            if topic_id not in later.by_id:
                yield _deleted(topic)

    def additions(self, later: TopicsImage) -> Iterator[Change]:
        """Yield the topics that a later image has in addition, and partitions that differ."""
        for topic_id, topic in later.by_id.items():
            known = self.by_id.get(topic_id)
            if known is None:
                yield TopicCreated(topic_id, topic.name)
            for partition in topic.in_order():
                was = None if known is None else known.partitions.get(partition.partition_id)
                if was != partition:
                    yield PartitionChanged(topic_id, topic.name, was, partition)


def _exchange(topic: Topic, partition: Partition) -> PartitionChanged:
    before = topic.partitions.get(partition.partition_id)
    topic.partitions[partition.partition_id] = partition
    return PartitionChanged(topic.topic_id, topic.name, before, partition)


def _deleted(topic: Topic) -> TopicDeleted:
    return TopicDeleted(topic.topic_id, topic.name, tuple(topic.in_order()))


def _given(values: list[int] | None, otherwise: tuple[int, ...]) -> tuple[int, ...]:
    return otherwise if values is None else tuple(values)


def _directories(
    given: list[bytes] | None, replicas: tuple[int, ...], before: Partition | None
) -> tuple[bytes, ...]:
    """Return one directory for each replica: as given, else the one it had, else none yet."""
    if given:
        if len(given) != len(replicas):
            raise InconsistentMetadataError(
                f"{len(given)} directories for {len(replicas)} replicas"
            )
        return tuple(given)
    if before is None:
        return (UNASSIGNED_DIRECTORY,) * len(replicas)
    if before.replicas == replicas:
        return before.directories
    known = dict(zip(before.replicas, before.directories, strict=True))
    return tuple(known.get(replica, UNASSIGNED_DIRECTORY) for replica in replicas)
