"""A snapshot: the fewest records that lead an empty image to the state of another.

Their order depends on the state only, so that the same state gives the same bytes. Each topic is
followed by its partitions, and the level of ``metadata.version`` comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.config_record import ConfigRecord
from fencepost_protocol.generated.feature_level_record import FeatureLevelRecord
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord
from fencepost_protocol.generated.register_broker_record import (
    BrokerEndpoint,
    BrokerFeature,
    RegisterBrokerRecord,
)
from fencepost_protocol.generated.topic_record import TopicRecord

from fencepost_broker.metadata.decision import MetadataRecord
from fencepost_broker.metadata.features import METADATA_VERSION
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.image.model import Broker, Partition, ProducerIds
from fencepost_broker.metadata.log.records import PARTITION_VERSION, REGISTER_BROKER_VERSION


def snapshot_records(image: MetadataImage) -> Iterator[MetadataRecord]:
    """Yield the records of a snapshot of the image, which must not change meanwhile."""
    if image.in_transaction:
        raise ValueError("no snapshot within a transaction: half of it would be lost")
    for name in sorted(image.features.levels, key=lambda each: (each != METADATA_VERSION, each)):
        yield _plain(FeatureLevelRecord(name, image.features.levels[name]))
    for broker_id in sorted(image.cluster.brokers):
        yield MetadataRecord(
            _registration(image.cluster.brokers[broker_id]), REGISTER_BROKER_VERSION
        )
    for controller_id in sorted(image.cluster.controllers):
        yield _plain(image.cluster.controllers[controller_id])
    for name in sorted(image.topics.by_name):
        topic = image.topics.by_name[name]
        yield _plain(TopicRecord(topic.name, topic.topic_id))
        for partition in topic.in_order():
            yield MetadataRecord(_partition(topic.topic_id, partition), PARTITION_VERSION)
    for resource_type, resource_name in sorted(image.configs.by_resource):
        values = image.configs.by_resource[resource_type, resource_name]
        for name in sorted(values):
            yield _plain(ConfigRecord(resource_type, resource_name, name, values[name]))
    for quota in sorted(image.client_quotas.records, key=_quota_order):
        yield _plain(image.client_quotas.records[quota])
    if image.producer_ids.latest != ProducerIds():
        yield _plain(ProducerIdsRecord(*image.producer_ids.latest))
    for acl_id in sorted(image.acls.by_id):
        yield _plain(image.acls.by_id[acl_id])
    for credential in sorted(image.scram.credentials):
        yield _plain(image.scram.credentials[credential])
    for token_id in sorted(image.delegation_tokens.by_id):
        yield _plain(image.delegation_tokens.by_id[token_id])


def read_snapshot(records: Iterable[MetadataRecord], last_offset: int) -> MetadataImage:
    """Return the image that a snapshot holds; ``last_offset`` is the last offset it stands for."""
    image = MetadataImage()
    for number, record in enumerate(records):
        image.apply(record.message, number)
    image.last_offset = last_offset
    return image


def _plain(message: Message) -> MetadataRecord:
    return MetadataRecord(message, 0)


def _quota_order(key: tuple[tuple[tuple[str, str | None], ...], str]) -> Any:
    entity, name = key
    return [(kind, value is not None, value or "") for kind, value in entity], name


def _partition(topic_id: bytes, partition: Partition) -> PartitionRecord:
    return PartitionRecord(
        partition_id=partition.partition_id,
        topic_id=topic_id,
        replicas=list(partition.replicas),
        isr=list(partition.isr),
        removing_replicas=list(partition.removing_replicas),
        adding_replicas=list(partition.adding_replicas),
        leader=partition.leader,
        leader_recovery_state=partition.leader_recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=list(partition.directories),
        eligible_leader_replicas=list(partition.eligible_leader_replicas) or None,
        last_known_elr=list(partition.last_known_elr) or None,
    )


def _registration(broker: Broker) -> RegisterBrokerRecord:
    cordoned = broker.cordoned_log_dirs
    return RegisterBrokerRecord(
        broker_id=broker.broker_id,
        is_migrating_zk_broker=broker.is_migrating_zk_broker,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=[BrokerEndpoint(*endpoint) for endpoint in broker.endpoints],
        features=[BrokerFeature(*feature) for feature in broker.features],
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=list(broker.log_dirs),
        cordoned_log_dirs=None if cordoned is None else list(cordoned),
    )
