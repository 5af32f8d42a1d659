"""What a Produce with acks all waits for: the followers' fetches, and none of their timers.

The timers are longer than the tests wait for anything.
"""

from __future__ import annotations

import asyncio
import struct
from contextlib import AbstractAsyncContextManager

import pytest
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import ANSWER_SECONDS
from tests.support.cluster import Cluster, running_cluster
from tests.support.up import PRODUCE_VERSION, produce_request
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

NEVER_MS = 3_600_000


async def create(cluster: Cluster, name: str, replicas: list[int]) -> None:
    """A topic of one partition with these replicas, the first of which leads."""
    assigned = [CreatableReplicaAssignment(0, replicas)]
    request = CreateTopicsRequest(topics=[CreatableTopic(name, -1, -1, assigned)])
    answer = await cluster.brokers[0].ask(request, 7)
    assert not answer.topics[0].error_code, answer.topics[0].error_message
    await until(lambda: all(name in each.node.table.by_name for each in cluster.brokers))


def running(count: int) -> AbstractAsyncContextManager[Cluster]:
    """A cluster in which nobody gets along by waiting until a time is over."""
    return running_cluster(
        count,
        replica_fetch_wait_max_ms=NEVER_MS,
        replica_fetch_backoff_ms=NEVER_MS,
        replica_socket_timeout_ms=2 * NEVER_MS,
        replica_lag_time_max_ms=2 * NEVER_MS,
    )


async def test_a_topic_that_is_new_to_followers_whose_fetches_wait() -> None:
    async with running(3) as cluster:
        for number in range(4):
            topic = f"t{number}"
            await create(cluster, topic, [1, 2, 3])
            await cluster.broker(1).produce(topic, 0, b"value")


async def test_a_leader_that_moves_to_another_and_back() -> None:
    async with running(3) as cluster:
        await create(cluster, "other", [2, 1, 3])  # fetches wait at the one who is to lead
        await create(cluster, "t", [1, 2, 3])
        await cluster.broker(1).produce("t", 0, b"first")
        await cluster.broker(2).produce("other", 0, b"first")
        for _ in range(2):
            await cluster.stop(1)
            await until(lambda: cluster.broker(2).node.table.by_name["t"].partitions[0].leads)
            await cluster.broker(2).produce("t", 0, b"meanwhile")
            await cluster.start_broker(1)
            topics = cluster.broker(2).node.image.topics.by_name
            await until(lambda: 1 in topics["t"].partitions[0].isr)  # noqa: B023 (awaited here)
            preferred = ElectLeadersRequest(0, [TopicPartitions("t", [0])], 5000)
            elected = await cluster.broker(2).ask(preferred, 2)
            assert not elected.replica_election_results[0].partition_result[0].error_code
            await until(lambda: cluster.broker(1).node.table.by_name["t"].partitions[0].leads)
            await cluster.broker(1).produce("t", 0, b"back")


async def test_what_is_appended_because_a_follower_has_told_how_far_it_has_come() -> None:
    """The answer to each Produce lets the next one of its connection in, within that very Fetch."""
    async with running(3) as cluster:
        await create(cluster, "t", [1, 2, 3])
        leader = cluster.broker(1)
        await leader.produce("t", 0, b"first")
        request = produce_request("t", bytes(build_batch(None, [b"more"], 1000)))
        frame = encode_request(request, PRODUCE_VERSION, 7, "test")
        reader, writer = await asyncio.open_connection(leader.host, leader.port)
        writer.write(bytes(frame) * 10)
        async with asyncio.timeout(ANSWER_SECONDS):
            for _ in range(10):
                (size,) = struct.unpack(">i", await reader.readexactly(4))
                await reader.readexactly(size)
        writer.close()
        await writer.wait_closed()
        assert leader.node.table.by_name["t"].partitions[0].log.high_watermark == 11
