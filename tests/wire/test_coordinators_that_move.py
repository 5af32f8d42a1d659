"""A coordinator's broker dies: another one goes on with all that anybody was told."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

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
}
PASSING = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}


async def coordinator(cluster: Cluster, key: str, kind: int) -> int:
    """Who coordinates, as soon as somebody does."""
    while True:
        answer = await cluster.brokers[0].ask(FindCoordinatorRequest(key, kind), 2)
        if not answer.error_code and answer.node_id in {e.node.node_id for e in cluster.brokers}:
            return int(answer.node_id)


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
