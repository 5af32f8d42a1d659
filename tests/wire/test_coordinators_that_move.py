"""A coordinator's broker dies: another one goes on with all that anybody was told."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.read_share_group_state import (
    PartitionData,
    ReadShareGroupStateRequest,
    ReadStateData,
)
from fencepost_protocol.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from fencepost_protocol.primitives import uuid_text

from tests.support.cluster import Cluster, running_cluster
from tests.support.slow_coordinators import code_of, commit, committed, fetch_offsets
from tests.support.waiting import until

pytestmark = [pytest.mark.asyncio, pytest.mark.slow]
THREE = {
    "broker_session_timeout_ms": 1500,
    "offsets_topic_num_partitions": 1,
    "offsets_topic_replication_factor": 3,
    "transaction_state_log_num_partitions": 1,
    "transaction_state_log_replication_factor": 3,
    "transaction_state_log_min_isr": 2,
    "share_coordinator_state_topic_num_partitions": 1,
    "share_coordinator_state_topic_replication_factor": 3,
    "group_share_assignment_interval_ms": 0,
}
PASSING = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}


async def coordinator(cluster: Cluster, key: str, kind: int) -> int:
    """Who coordinates, as soon as somebody does."""
    while True:
        find = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
        (found,) = (await cluster.brokers[0].ask(find, 6)).coordinators
        if not found.error_code and found.node_id in {e.node_id for e in cluster.brokers}:
            return int(found.node_id)


async def ask(cluster: Cluster, key: str, kind: int, request: Message, version: int) -> Any:
    """Ask whoever coordinates, until it is answered."""
    while True:
        broker = cluster.broker(await coordinator(cluster, key, kind))
        answer = await broker.ask(request, version)
        if code_of(answer) not in PASSING:
            return answer


async def is_replicated(cluster: Cluster, topic: str) -> None:
    image = cluster.controller.image
    await until(
        lambda: (
            topic in image.topics.by_name
            and len(image.topics.by_name[topic].partitions[0].isr) == 3
        )
    )


async def test_committed_offsets_outlive_the_coordinator() -> None:
    async with running_cluster(3, **THREE) as cluster:
        await cluster.create("t", 1)
        assert code_of(await ask(cluster, "g", 0, commit(1), 8)) == 0
        await is_replicated(cluster, "__consumer_offsets")
        for offset in (2, 3, 4):
            assert code_of(await ask(cluster, "g", 0, commit(offset), 8)) == 0
        first = await coordinator(cluster, "g", 0)
        await cluster.die(first)
        assert committed(await ask(cluster, "g", 0, fetch_offsets(), 8)) == [(4, 0)]
        assert await coordinator(cluster, "g", 0) != first
        assert code_of(await ask(cluster, "g", 0, commit(5), 8)) == 0
        assert committed(await ask(cluster, "g", 0, fetch_offsets(), 8)) == [(5, 0)]


async def test_a_producer_keeps_its_id_when_the_coordinator_dies() -> None:
    async with running_cluster(3, **THREE) as cluster:
        begin = InitProducerIdRequest("x", 60_000)
        first = await ask(cluster, "x", 1, begin, 4)
        await is_replicated(cluster, "__transaction_state")
        second = await ask(cluster, "x", 1, begin, 4)
        await cluster.die(await coordinator(cluster, "x", 1))
        third = await ask(cluster, "x", 1, begin, 4)
        found = [(each.producer_id, each.producer_epoch) for each in (first, second, third)]
        assert found == [(first.producer_id, epoch) for epoch in (0, 1, 2)]


async def test_a_share_group_outlives_its_coordinator_and_that_of_its_state() -> None:
    async with running_cluster(3, **THREE) as cluster:
        await cluster.create("t", 2)
        topic_id = cluster.controller.image.topics.by_name["t"].topic_id
        state_key = f"g:{uuid_text(topic_id)}:1"
        read = ReadShareGroupStateRequest("g", [ReadStateData(topic_id, [PartitionData(1, 0)])])

        async def partitions_of_member() -> list[int]:
            """What the member has when it has joined, as soon as it has any."""
            join = ShareGroupHeartbeatRequest("g", "m", 0, None, ["t"])
            while True:
                answer = await ask(cluster, "g", 0, join, 1)
                assert not answer.error_code
                for topic in answer.assignment.topic_partitions:
                    return list(topic.partitions)

        async def state_epoch() -> int:
            while True:
                broker = cluster.broker(await coordinator(cluster, state_key, 2))
                (topic,) = (await broker.ask(read, 0)).results
                (row,) = topic.partitions
                if row.error_code not in PASSING:
                    assert not row.error_code
                    return int(row.state_epoch)

        assert await partitions_of_member() == [0, 1]
        begun_in = await state_epoch()
        for topic in ("__consumer_offsets", "__share_group_state"):
            await is_replicated(cluster, topic)
        await cluster.die(await coordinator(cluster, "g", 0))
        beat = ShareGroupHeartbeatRequest("g", "m", 3)
        answer = await ask(cluster, "g", 0, beat, 1)
        assert (answer.error_code, answer.member_epoch, answer.assignment) == (0, 3, None)
        assert await state_epoch() == begun_in


async def test_share_partitions_are_initialized_in_all_brokers() -> None:
    async with running_cluster(3, share_coordinator_state_topic_num_partitions=6) as cluster:
        await cluster.create("t", 9)
        topic_id = cluster.controller.image.topics.by_name["t"].topic_id
        join = ShareGroupHeartbeatRequest("g", "m", 0, None, ["t"])
        while not (await ask(cluster, "g", 0, join, 1)).assignment.topic_partitions:
            pass
        keys = [f"g:{uuid_text(topic_id)}:{number}" for number in range(9)]
        places = {await coordinator(cluster, key, 2) for key in keys}
        assert places == {each.node_id for each in cluster.brokers}
