"""AlterPartition requests of leaders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fencepost_protocol.generated.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    BrokerState,
)

from tests.machine.controller.cluster import Cluster, code_of
from tests.machine.controller.harness import partition


def proposal(cluster: Cluster, *isr: int, **changes: Any) -> AlterPartitionRequest:
    """What the leader of t-0 asks for, unless something is changed about it."""
    now = partition(cluster)
    brokers = cluster.image.cluster.brokers
    asked = AlterPartitionRequestPartitionData(
        0,
        now.leader_epoch,
        [],
        [BrokerState(each, brokers[each].epoch if each in brokers else -1) for each in isr],
        0,
        now.partition_epoch,
    )
    topic = AlterPartitionRequestTopicData(
        cluster.image.topics.by_name["t"].topic_id, [replace(asked, **changes)]
    )
    return AlterPartitionRequest(now.leader, brokers[now.leader].epoch, [topic])


def ask(cluster: Cluster, request: AlterPartitionRequest) -> Any:
    response = cluster.ask(request)
    assert code_of(response) == "NONE"
    (topic,) = response.topics
    (answer,) = topic.partitions
    return answer
