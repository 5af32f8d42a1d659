"""Replicas that move between brokers of a cluster, under what is written to them (KIP-455)."""

from __future__ import annotations

import pytest
from fencepost_client import Admin, Reassignment, TopicPartition
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)

from tests.support.cluster import Cluster, running_cluster
from tests.support.two_brokers import contents
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio


async def place(cluster: Cluster, *replicas: int) -> None:
    """A topic t of one partition, there."""
    wanted = CreatableTopic("t", -1, -1, [CreatableReplicaAssignment(0, list(replicas))])
    answer = await cluster.brokers[0].ask(CreateTopicsRequest([wanted]), 7)
    assert not answer.topics[0].error_code
    await until(lambda: all("t" in each.node.image.topics.by_name for each in cluster.brokers))


async def reassign(cluster: Cluster, *replicas: int) -> None:
    moves = [ReassignableTopic("t", [ReassignablePartition(0, list(replicas))])]
    request = AlterPartitionReassignmentsRequest(topics=moves)
    answer = await cluster.brokers[0].ask(request, 1)
    assert not answer.responses[0].partitions[0].error_code


async def test_data_moves_to_other_brokers_while_more_is_written() -> None:
    async with running_cluster(3) as cluster:
        await place(cluster, 1)
        await cluster.broker(1).produce("t", 0, b"before")
        await reassign(cluster, 2, 3)
        await cluster.broker(1).produce("t", 0, b"meanwhile")
        decided = cluster.controller.image.topics.by_name["t"].partitions
        await until(lambda: decided[0].replicas == (2, 3))
        assert decided[0].leader == 2
        nodes = [cluster.broker(each).node for each in (1, 2, 3)]
        await until(
            lambda: all(n.image.topics.by_name["t"].partitions[0].leader == 2 for n in nodes)
        )
        await cluster.broker(2).produce("t", 0, b"after")
        listed = await cluster.broker(3).ask(ListPartitionReassignmentsRequest(), 0)
        assert listed.topics == []
        found = [node.table.find("t", 0) for node in nodes]
        there = [each.log for each in found[1:] if each is not None]
        await until(lambda: contents(there[0]) == contents(there[1]))
        assert [each.high_watermark for each in there] == [3, 3]
        assert not any(each.follows_log_end for each in there), "it is the leader who says"
        assert ("t", 0) not in nodes[0].manager.logs


async def test_a_target_that_is_away_is_waited_for() -> None:
    async with running_cluster(2) as cluster:
        await place(cluster, 1)
        await cluster.broker(1).produce("t", 0, b"before")
        await cluster.stop(2)
        await reassign(cluster, 1, 2)
        moving = {TopicPartition("t", 0): Reassignment((1, 2), (2,), ())}
        async with Admin(f"127.0.0.1:{cluster.broker(1).port}") as admin:
            assert await admin.list_partition_reassignments() == moving
            assert await admin.list_partition_reassignments(moving) == moving
            await admin.alter_partition_reassignments(dict.fromkeys(moving))
            assert await admin.list_partition_reassignments() == {}
            await admin.alter_partition_reassignments(dict.fromkeys(moving, (1, 2)))
        await cluster.broker(1).produce("t", 0, b"meanwhile")
        listed = await cluster.broker(1).ask(ListPartitionReassignmentsRequest(), 0)
        (under_way,) = listed.topics[0].partitions
        assert under_way.adding_replicas == [2]
        await cluster.start_broker(2)
        decided = cluster.controller.image.topics.by_name["t"].partitions
        await until(lambda: decided[0].isr == (1, 2))
        assert decided[0].adding_replicas == ()


async def test_leadership_goes_back_to_a_broker_that_is_back() -> None:
    async with running_cluster(2, leader_imbalance_check_interval_seconds=1) as cluster:
        await place(cluster, 2, 1)
        await cluster.stop(2)
        decided = cluster.controller.image.topics.by_name["t"].partitions
        assert decided[0].leader == 1
        await cluster.broker(1).produce("t", 0, b"meanwhile")
        await cluster.start_broker(2)
        partition = cluster.broker(2).node.table.by_name["t"].partitions[0]
        await until(lambda: partition.leads)
        assert decided[0].leader == 2
        assert await cluster.broker(2).produce("t", 0, b"after") == 1
