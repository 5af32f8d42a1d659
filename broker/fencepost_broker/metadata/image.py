"""The metadata image: what the records of the metadata log say, taken together.

``MetadataImage.apply`` is the only mutation. It returns what changed, one entry for each thing, so
that a broker can open and close its logs without comparing images:

    for change in image.apply(record, offset): ...

Tuples that are handed out stay as they are; ``Topic`` and the dictionaries are live.

Between a BeginTransactionRecord and its EndTransactionRecord records are held back: they are
applied together at the end, or dropped at an AbortTransactionRecord (KIP-868).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.primitives import uuid_text

from fencepost_broker.metadata.acls_image import AclsImage
from fencepost_broker.metadata.changes import (
    Change,
    Changes,
    PartitionChanged,
    TopicCreated,
    TopicDeleted,
)
from fencepost_broker.metadata.client_quotas_image import ClientQuotasImage
from fencepost_broker.metadata.cluster_image import ClusterImage
from fencepost_broker.metadata.configurations_image import ConfigurationsImage
from fencepost_broker.metadata.features_image import FeaturesImage
from fencepost_broker.metadata.model import (
    UNASSIGNED_DIRECTORY,
    FeatureRange,
    InconsistentMetadataError,
    Partition,
    Topic,
)
from fencepost_broker.metadata.names import metric_name
from fencepost_broker.metadata.producer_ids_image import ProducerIdsImage
from fencepost_broker.metadata.scram_image import ScramImage

if TYPE_CHECKING:  # a record's module is imported by whoever decodes or makes one
    from fencepost_protocol.generated.clear_elr_record import ClearElrRecord
    from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord
    from fencepost_protocol.generated.partition_record import PartitionRecord
    from fencepost_protocol.generated.register_broker_record import (
        BrokerFeature,
    )
    from fencepost_protocol.generated.register_controller_record import RegisterControllerRecord
    from fencepost_protocol.generated.remove_topic_record import RemoveTopicRecord
    from fencepost_protocol.generated.topic_record import TopicRecord

NO_OFFSET: Final = -1
NO_LEADER_CHANGE: Final = -2


class MetadataImage:
    """State of the cluster as of ``last_offset``."""

    def __init__(self) -> None:
        self.last_offset = NO_OFFSET
        """Offset of the last applied record (or control record)."""
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[bytes, Topic] = {}
        self._names_by_metric: dict[str, list[str]] = {}
        self.cluster = ClusterImage()
        self.configs = ConfigurationsImage()
        self.features = FeaturesImage()
        self.producer_ids = ProducerIdsImage()
        self.controllers: dict[int, RegisterControllerRecord] = {}
        self.client_quotas = ClientQuotasImage()
        self.scram = ScramImage()
        self.acls = AclsImage()
        self._held_back: list[Message] | None = None

    # -- looking up -----------------------------------------------------------------------------

    @property
    def next_offset(self) -> int:
        """Where the next record will be written."""
        return self.last_offset + 1

    @property
    def is_empty(self) -> bool:
        """Whether no record has said anything yet: a log without even a feature level."""
        return not self.features.levels and not self.cluster.brokers and not self.topics

    @property
    def in_transaction(self) -> bool:
        """Whether records are held back until a transaction's end."""
        return self._held_back is not None

    def partition(self, topic: str, partition_id: int) -> Partition | None:
        """A partition by its topic's name."""
        found = self.topics.get(topic)
        return None if found is None else found.partitions.get(partition_id)

    def colliding_topic(self, name: str) -> str | None:
        """Another topic whose name is the same once '.' is read as '_', the first by name."""
        others = self._names_by_metric.get(metric_name(name))
        return min(others, default=None) if others else None

    def partition_count(self) -> int:
        """How many partitions all topics have together."""
        return sum(len(topic.partitions) for topic in self.topics.values())

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same state; at which offset does not matter."""
        if not isinstance(other, MetadataImage):
            return NotImplemented
        return self._state() == other._state()

    __hash__ = None  # type: ignore[assignment]  # it changes

    def _state(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["last_offset"], state["_names_by_metric"]
        return state

    # -- changing -------------------------------------------------------------------------------

    def skip(self, offset: int) -> None:
        """Notes a record that says nothing about the cluster: a control record of the log."""
        self.last_offset = offset

    def apply(self, record: Message, offset: int) -> Changes:
        """Takes in the record at this offset; the answer is what is different now.

        Raises ``InconsistentMetadataError`` for one that cannot follow; the image is then as it
        was, unless the record ended a transaction.
        """
        if offset <= self.last_offset:
            raise InconsistentMetadataError(
                f"{record.NAME} at offset {offset} comes after offset {self.last_offset}"
            )
        try:
            changes = self._take_in(record)
        except InconsistentMetadataError as error:
            raise InconsistentMetadataError(f"{record.NAME} at offset {offset}: {error}") from None
        self.last_offset = offset
        return changes

    def _take_in(self, record: Message) -> Changes:
        handler = _HANDLERS.get(record.NAME)
        if handler is None:
            raise InconsistentMetadataError("no record of the metadata log that we know")
        if self._held_back is None or record.NAME in _TRANSACTION_ENDS:
            return handler(self, record)
        if record.NAME == "BeginTransactionRecord":
            raise InconsistentMetadataError("the transaction before it has no end")
        self._held_back.append(record)
        return ()

    def _topic(self, topic_id: bytes) -> Topic:
        topic = self.topics_by_id.get(topic_id)
        if topic is None:
            raise InconsistentMetadataError(f"there is no topic {uuid_text(topic_id)}")
        return topic

    def _put_partition(self, topic: Topic, partition: Partition) -> Changes:
        before = topic.partitions.get(partition.partition_id)
        topic.partitions[partition.partition_id] = partition
        return (PartitionChanged(topic.topic_id, topic.name, before, partition),)

    # Topics and partitions.

    def _apply_topic(self, record: TopicRecord) -> Changes:
        if record.name in self.topics:
            raise InconsistentMetadataError(f"topic {record.name} exists already")
        if record.topic_id in self.topics_by_id:
            raise InconsistentMetadataError(f"topic id {uuid_text(record.topic_id)} is taken")
        topic = Topic(record.name, record.topic_id)
        self.topics[record.name] = self.topics_by_id[record.topic_id] = topic
        if "." in record.name or "_" in record.name:
            self._names_by_metric.setdefault(metric_name(record.name), []).append(record.name)
        return (TopicCreated(record.topic_id, record.name),)

    def _apply_partition(self, record: PartitionRecord) -> Changes:
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
        return self._put_partition(topic, partition)

    def _apply_partition_change(self, record: PartitionChangeRecord) -> Changes:
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
        return self._put_partition(topic, partition)

    def _apply_remove_topic(self, record: RemoveTopicRecord) -> Changes:
        topic = self._topic(record.topic_id)
        del self.topics[topic.name], self.topics_by_id[topic.topic_id]
        self.configs.remove_topic(topic.name)
        metric = metric_name(topic.name)
        if (names := self._names_by_metric.get(metric)) is not None:
            names.remove(topic.name)
            if not names:
                del self._names_by_metric[metric]
        return (TopicDeleted(topic.topic_id, topic.name, tuple(topic.in_order())),)

    def _apply_clear_elr(self, record: ClearElrRecord) -> Changes:
        if record.topic_name and record.topic_name not in self.topics:
            raise InconsistentMetadataError(f"there is no topic {record.topic_name}")
        names = [record.topic_name] if record.topic_name else sorted(self.topics)
        changes: list[Change] = []
        for topic in map(self.topics.__getitem__, names):
            for before in topic.in_order():
                # Where nobody is in sync nothing was committed since: who has all has it still.
                if before.isr and (before.eligible_leader_replicas or before.last_known_elr):
                    after = before._replace(
                        partition_epoch=before.partition_epoch + 1,
                        eligible_leader_replicas=(),
                        last_known_elr=(),
                    )
                    changes += self._put_partition(topic, after)
        return tuple(changes)

    # Settings, features, producer ids.

    # Brokers and controllers.

    # What is kept as it came, for those who will read it.

    # Transactions of the log itself.

    def _apply_no_op(self, _record: Message) -> Changes:
        return ()

    def _apply_begin(self, _record: Message) -> Changes:
        self._held_back = []
        return ()

    def _apply_end(self, _record: Message) -> Changes:
        records = self._end_transaction()
        changes: list[Change] = []
        for record in records:
            changes += _HANDLERS[record.NAME](self, record)
        return tuple(changes)

    def _apply_abort(self, _record: Message) -> Changes:
        self._end_transaction()
        return ()

    def _end_transaction(self) -> list[Message]:
        records = self._held_back
        if records is None:
            raise InconsistentMetadataError("no transaction was begun")
        self._held_back = None
        return records


def _feature_range(feature: BrokerFeature) -> FeatureRange:
    return FeatureRange(feature.name, feature.min_supported_version, feature.max_supported_version)


def _given(values: list[int] | None, otherwise: tuple[int, ...]) -> tuple[int, ...]:
    return otherwise if values is None else tuple(values)


def _directories(
    given: list[bytes] | None, replicas: tuple[int, ...], before: Partition | None
) -> tuple[bytes, ...]:
    """One directory a replica: as given, else the one it had, else none yet."""
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


_TRANSACTION_ENDS: Final = frozenset({"EndTransactionRecord", "AbortTransactionRecord"})

_HANDLERS: Final[dict[str, Callable[[MetadataImage, Any], Changes]]] = {
    "AbortTransactionRecord": MetadataImage._apply_abort,
    "AccessControlEntryRecord": lambda image, record: image.acls.add(record),
    "BeginTransactionRecord": MetadataImage._apply_begin,
    "BrokerRegistrationChangeRecord": lambda image, record: image.cluster.change_broker(record),
    "ClearElrRecord": MetadataImage._apply_clear_elr,
    "ClientQuotaRecord": lambda image, record: image.client_quotas.apply(record),
    "ConfigRecord": lambda image, record: image.configs.apply(record),
    "EndTransactionRecord": MetadataImage._apply_end,
    "FeatureLevelRecord": lambda image, record: image.features.apply(record),
    "FenceBrokerRecord": lambda image, record: image.cluster.fence_broker(record),
    "NoOpRecord": MetadataImage._apply_no_op,
    "PartitionChangeRecord": MetadataImage._apply_partition_change,
    "PartitionRecord": MetadataImage._apply_partition,
    "ProducerIdsRecord": lambda image, record: image.producer_ids.apply(record),
    "RegisterBrokerRecord": lambda image, record: image.cluster.register_broker(record),
    "RegisterControllerRecord": lambda image, record: image.cluster.register_controller(record),
    "RemoveAccessControlEntryRecord": lambda image, record: image.acls.remove(record),
    "RemoveTopicRecord": MetadataImage._apply_remove_topic,
    "RemoveUserScramCredentialRecord": lambda image, record: image.scram.remove(record),
    "TopicRecord": MetadataImage._apply_topic,
    "UnfenceBrokerRecord": lambda image, record: image.cluster.unfence_broker(record),
    "UnregisterBrokerRecord": lambda image, record: image.cluster.unregister_broker(record),
    "UserScramCredentialRecord": lambda image, record: image.scram.set(record),
}
