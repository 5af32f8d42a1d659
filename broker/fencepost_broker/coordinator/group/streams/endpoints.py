"""Which partitions' state each endpoint has, for queries of the application's state."""

from __future__ import annotations

from collections.abc import Iterable

from fencepost_protocol.generated.streams_group_heartbeat import (
    EndpointToPartitions,
    StreamsGroupHeartbeatResponseEndpoint,
    TopicPartition,
)

from fencepost_broker.coordinator.group.ports import Topics
from fencepost_broker.coordinator.group.streams.members import StreamsMember, Task, by_subtopology
from fencepost_broker.coordinator.group.streams.topology import Configured, Topology


def endpoints_of(
    members: Iterable[StreamsMember],
    topology: Topology | None,
    configured: Configured,
    topics: Topics,
) -> list[EndpointToPartitions]:
    """Return the partitions of source topics of each member with an endpoint."""
    sources: dict[str, dict[str, int]] = {}
    for each in () if topology is None else topology.subtopologies:
        counts = {name: topics.partition_count(name) for name in each.sources}
        names = (topic.name for topic in each.repartitions)
        sources[each.name] = counts | {name: configured.partitions.get(name, 0) for name in names}

    def partitions(tasks: Iterable[Task]) -> list[TopicPartition]:
        found: dict[str, set[int]] = {}
        for subtopology, numbers in by_subtopology(tasks):
            for name, count in sources.get(subtopology, {}).items():
                found.setdefault(name, set()).update(each for each in numbers if each < count)
        return [TopicPartition(name, sorted(numbers)) for name, numbers in sorted(found.items())]

    return [
        EndpointToPartitions(
            StreamsGroupHeartbeatResponseEndpoint(each.endpoint.host, each.endpoint.port),
            partitions(each.active),
            partitions(each.standby),
        )
        for each in members
        if each.endpoint is not None
    ]
