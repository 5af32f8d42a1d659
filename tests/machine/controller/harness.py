"""Partitions of a controller's image, and requests about them."""

from __future__ import annotations

from collections.abc import Sequence

from fencepost_broker.metadata.image.model import Partition
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)

from tests.machine.controller.cluster import Cluster, code_of, told


def place(cluster: Cluster, *assignments: list[int], topic: str = "t", **configs: str) -> None:
    """A topic whose partitions are where they are put."""
    items = [CreatableTopicConfig(name.replace("_", "."), configs[name]) for name in configs]
    wanted = [CreatableReplicaAssignment(*item) for item in enumerate(assignments)]
    (result,) = cluster.create(CreatableTopic(topic, -1, -1, wanted, items))
    assert told(result) == ("NONE", None)


def partition(cluster: Cluster, number: int = 0, topic: str = "t") -> Partition:
    found = cluster.image.topics.partition(topic, number)
    assert found is not None
    return found


def led(cluster: Cluster, number: int = 0, topic: str = "t") -> tuple[int, int, tuple[int, ...]]:
    found = partition(cluster, number, topic)
    return found.leader, found.leader_epoch, found.isr


def reassign(cluster: Cluster, to: Sequence[int] | None, *, may_resize: bool = True) -> str:
    asked = ReassignablePartition(0, None if to is None else list(to))
    request = AlterPartitionReassignmentsRequest(
        1000, may_resize, [ReassignableTopic("t", [asked])]
    )
    response = cluster.ask(request)
    assert code_of(response) == "NONE"
    return code_of(response.responses[0].partitions[0])
