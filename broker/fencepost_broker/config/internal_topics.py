"""Internal topics of coordinators, and how the broker's settings create them."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.create_topics import CreatableTopic, CreatableTopicConfig

from fencepost_broker.config import Settings

OFFSETS_TOPIC: Final = "__consumer_offsets"
TRANSACTIONS_TOPIC: Final = "__transaction_state"
SHARE_TOPIC: Final = "__share_group_state"

INTERNAL_TOPICS: Final = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC, SHARE_TOPIC})


def is_internal(topic: str) -> bool:
    """Return whether a topic is a coordinator's: clients can read it, not write or create it."""
    return topic in INTERNAL_TOPICS


def by_itself(topic: str, settings: Settings) -> CreatableTopic:
    """Return the topic that the broker creates on demand."""
    if topic == OFFSETS_TOPIC:
        return _creatable(
            topic,
            settings.offsets_topic_num_partitions,
            settings.offsets_topic_replication_factor,
            {
                "cleanup.policy": "compact",
                "compression.type": "producer",
                "segment.bytes": settings.offsets_topic_segment_bytes,
            },
        )
    if topic == TRANSACTIONS_TOPIC:
        return _creatable(
            topic,
            settings.transaction_state_log_num_partitions,
            settings.transaction_state_log_replication_factor,
            {
                "cleanup.policy": "compact",
                "compression.type": "uncompressed",
                "min.insync.replicas": settings.transaction_state_log_min_isr,
                "segment.bytes": settings.transaction_state_log_segment_bytes,
                "unclean.leader.election.enable": "false",
            },
        )
    if topic == SHARE_TOPIC:
        return _creatable(
            topic,
            settings.share_coordinator_state_topic_num_partitions,
            settings.share_coordinator_state_topic_replication_factor,
            {
                "cleanup.policy": "delete",
                "compression.type": "producer",
                "min.insync.replicas": settings.share_coordinator_state_topic_min_isr,
                "retention.ms": -1,
                "segment.bytes": settings.share_coordinator_state_topic_segment_bytes,
            },
        )
    return CreatableTopic(topic, -1, -1)


def _creatable(
    topic: str, partitions: int, replicas: int, configs: dict[str, str | int]
) -> CreatableTopic:
    given = [CreatableTopicConfig(name, str(value)) for name, value in configs.items()]
    return CreatableTopic(topic, partitions, replicas, configs=given)
