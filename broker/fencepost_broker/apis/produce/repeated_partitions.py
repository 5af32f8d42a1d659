"""Produce requests that name a partition twice, or a topic without partitions.

Kafka puts the batches of a request into a map by partition. So the last batch of a partition is
appended, the answer has each partition once, and it leaves out topics without partitions.
"""

from __future__ import annotations

from collections.abc import Sequence

from fencepost_protocol.generated.produce import PartitionProduceData, TopicProduceData


def each_once(topics: Sequence[TopicProduceData]) -> list[TopicProduceData]:
    """Return each partition once, with its last batch."""
    found: dict[tuple[str, bytes], dict[int, PartitionProduceData]] = {}
    for data in topics:
        if data.partition_data:
            of_topic = found.setdefault((data.name, data.topic_id), {})
            for entry in data.partition_data:
                of_topic[entry.index] = entry
    return [
        TopicProduceData(name, topic_id, list(of_topic.values()))
        for (name, topic_id), of_topic in found.items()
    ]
