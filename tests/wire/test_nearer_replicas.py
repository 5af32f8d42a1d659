"""Where records are read instead: a follower in one's rack (KIP-392), or who leads (KIP-951)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from fencepost_broker.config import Value
from fencepost_client import Consumer, TopicPartition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.sdk.harness.rebalances import poll_until
from tests.support.broker import RunningBroker
from tests.support.cluster import Cluster, running_cluster
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


@asynccontextmanager
async def racks(factor: int = 2, **settings: Value) -> AsyncIterator[tuple[Cluster, int, int]]:
    """Two brokers, each in a rack, with two records in t-0; who leads it, and who does not."""
    async with running_cluster(0, **settings) as cluster:
        for broker_id in (1, 2):
            await cluster.start_broker(broker_id, **{"broker.rack": f"r{broker_id}"})
        await cluster.create("t", 1, factor=factor)
        (leader,) = await cluster.leaders("t")
        await cluster.broker(leader).produce("t", 0, b"one", b"two")
        yield cluster, leader, 3 - leader


async def fetch(broker: RunningBroker, rack: str = "", offset: int = 0, version: int = 17) -> Any:
    """The whole answer to a consumer's Fetch of t-0."""
    topic_id = broker.server.image.topics.by_name["t"].topic_id
    asked = FetchTopic("t", topic_id, [FetchPartition(0, -1, offset, partition_max_bytes=1 << 20)])
    request = FetchRequest(
        max_wait_ms=60_000, min_bytes=1, max_bytes=1 << 20, session_epoch=-1, topics=[asked],
        rack_id=rack,
    )  # fmt: skip
    return await broker.ask(request, version)


async def fetched(broker: RunningBroker, rack: str = "", offset: int = 0) -> tuple[int, int, bool]:
    """What comes of it: error, whom to ask instead, and whether there are records."""
    answer = (await fetch(broker, rack, offset)).responses[0].partitions[0]
    return answer.error_code, answer.preferred_read_replica, bool(answer.records)


async def test_a_leader_sends_a_consumer_to_the_follower_in_its_rack() -> None:
    async with racks(replica_selector_class=SELECTOR) as (cluster, leader, follower):
        there, elsewhere = cluster.broker(leader), cluster.broker(follower)
        partition = elsewhere.server.table.find("t", 0)
        assert partition is not None
        await until(lambda: partition.log.high_watermark == 2)
        assert await fetched(there, f"r{follower}") == (0, follower, False)
        assert await fetched(there, f"r{follower}", 2) == (0, follower, False), "it waits there"
        assert await fetched(elsewhere, f"r{follower}") == (0, -1, True)
        assert await fetched(there, f"r{leader}") == (0, -1, True)
        assert await fetched(there, "r9") == (0, -1, True)
        assert await fetched(there) == (0, -1, True)
        beyond = ErrorCode.OFFSET_OUT_OF_RANGE
        assert await fetched(there, f"r{follower}", 9) == (beyond, -1, False)
        assert await fetched(elsewhere, f"r{follower}", 9) == (beyond, -1, False)


async def test_nobody_is_sent_anywhere_without_a_selector() -> None:
    async with racks() as (cluster, leader, follower):
        assert await fetched(cluster.broker(leader), f"r{follower}") == (0, -1, True)


async def test_a_consumer_reads_from_the_follower_in_its_rack() -> None:
    async with racks(replica_selector_class=SELECTOR) as (cluster, _, follower):
        elsewhere = cluster.broker(follower)
        async with Consumer(
            f"{elsewhere.host}:{elsewhere.port}",
            auto_offset_reset="earliest",
            client_rack=f"r{follower}",
        ) as consumer:
            consumer.assign([TopicPartition("t", 0)])
            values = []
            async for record in consumer:
                values.append(record.value)
                if len(values) == 2:
                    break
            assert values == [b"one", b"two"]
        partition = elsewhere.server.table.find("t", 0)
        assert partition is not None
        assert partition.bytes_out > 0
        assert not partition.leads


@pytest.mark.parametrize(("version", "named"), [(15, False), (16, True)])
async def test_a_refused_fetch_says_who_leads(version: int, named: bool) -> None:
    async with racks(factor=1) as (cluster, leader, other):
        answer = await fetch(cluster.broker(other), version=version)
        data = answer.responses[0].partitions[0]
        assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        found = [(each.node_id, each.port, each.rack) for each in answer.node_endpoints]
        if not named:
            assert (data.current_leader, found) == (None, [])
            return
        assert (data.current_leader.leader_id, data.current_leader.leader_epoch) == (leader, 0)
        assert found == [(leader, cluster.broker(leader).port, f"r{leader}")]


@pytest.mark.parametrize("version", [9, 10, 13])
async def test_a_refused_produce_says_who_leads(version: int) -> None:
    async with racks(factor=2) as (cluster, leader, other):
        follower = cluster.broker(other)
        topic_id = follower.server.image.topics.by_name["t"].topic_id
        records = bytes(build_batch(None, [b"x"], 1000))
        data = TopicProduceData("t", topic_id, [PartitionProduceData(0, records)])
        answer = await follower.ask(ProduceRequest(None, 1, 5000, [data]), version)
        told = answer.responses[0].partition_responses[0]
        assert told.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        found = [(each.node_id, each.port) for each in answer.node_endpoints]
        if version < 10:
            assert (told.current_leader, found) == (None, [])
            return
        assert (told.current_leader.leader_id, told.current_leader.leader_epoch) == (leader, 0)
        assert found == [(leader, cluster.broker(leader).port)]


async def test_members_of_a_group_get_partitions_of_their_racks() -> None:
    """By the client's own assignor (KIP-881); by name, the ranges would be the other way round."""
    async with racks(factor=1) as (cluster, _, _), AsyncExitStack() as stack:
        await cluster.create("u", 2)
        leaders = await cluster.leaders("u")
        bootstrap = cluster.broker(1).process.server.addresses[0].bootstrap
        members = {}
        for broker_id in (1, 2):
            consumer = Consumer(
                bootstrap, group_id="g", client_rack=f"r{broker_id}",
                partition_assignment_strategy=["range"],
                group_instance_id="ba"[leaders.index(broker_id)], heartbeat_interval_ms=200,
            )  # fmt: skip
            members[broker_id] = await stack.enter_async_context(consumer)
            consumer.subscribe(["u"])
        near = {broker_id: {TopicPartition("u", leaders.index(broker_id))} for broker_id in members}
        await poll_until(
            lambda: {name: each.assignment() for name, each in members.items()} == near,
            *members.values(),
        )
