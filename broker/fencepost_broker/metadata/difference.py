"""What differs between two images: for a broker that has missed more than the log keeps."""

from __future__ import annotations

from collections.abc import Iterator

from fencepost_broker.metadata.changes import (
    Change,
    Changes,
    PartitionChanged,
    TopicCreated,
    TopicDeleted,
)
from fencepost_broker.metadata.image import MetadataImage


def become(image: MetadataImage, later: MetadataImage) -> Changes:
    """Let an image be as a later one is; gives what changed by that, topics that are gone first."""
    changes = tuple(differences(image, later))
    image.__dict__.update(later.__dict__)
    return changes


def differences(before: MetadataImage, after: MetadataImage) -> Iterator[Change]:
    """What leads from one image to the other, as records would have told it."""
    for topic_id, topic in before.topics_by_id.items():
        if topic_id not in after.topics_by_id:
            yield TopicDeleted(topic_id, topic.name, tuple(topic.in_order()))
    yield from before.configs.differences(after.configs)
    for topic_id, topic in after.topics_by_id.items():
        known = before.topics_by_id.get(topic_id)
        if known is None:
            yield TopicCreated(topic_id, topic.name)
        for partition in topic.in_order():
            was = None if known is None else known.partitions.get(partition.partition_id)
            if was != partition:
                yield PartitionChanged(topic_id, topic.name, was, partition)
    yield from before.cluster.differences(after.cluster)
    yield from before.features.differences(after.features)
    yield from before.producer_ids.differences(after.producer_ids)
    yield from before.client_quotas.differences(after.client_quotas)
    yield from before.scram.differences(after.scram)
    yield from before.acls.differences(after.acls)
