"""``fencepost_broker.Cluster``: brokers of one program, which can be killed one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fencepost_broker import Broker, Cluster
from fencepost_client import Admin, Consumer, Producer, TopicPartition
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.support.broker import Client
from tests.support.waiting import asked_until

T = TopicPartition("t", 0)


async def described(cluster: Cluster, broker_id: int) -> Any:
    """The partition, as a broker sees it."""
    async with Client(cluster.brokers[broker_id].bootstrap) as client:
        request = MetadataRequest([MetadataRequestTopic(name="t")])
        return (await client.ask(request, 12)).topics[0].partitions[0]


async def until_in_sync(cluster: Cluster, *ids: int) -> None:
    async def is_so() -> bool:
        return set((await described(cluster, ids[0])).isr_nodes) == set(ids)

    await asked_until(is_so)


@pytest.mark.asyncio
async def test_acknowledged_records_survive_a_killed_leader() -> None:
    async with Cluster(topics={"t": 1}, settings={"min.insync.replicas": 2}) as cluster:
        await until_in_sync(cluster, 1, 2, 3)
        leader = int((await described(cluster, 1)).leader_id)
        others = [each for each in (1, 2, 3) if each != leader]
        async with Producer(cluster.bootstrap, acks="all") as producer:
            await (await producer.send("t", b"one"))
            await cluster.kill(leader)
            assert sorted(cluster.brokers) == others
            await (await producer.send("t", b"two"))
        await until_in_sync(cluster, *others)
        await cluster.start_broker(leader)
        await until_in_sync(cluster, 1, 2, 3)
        async with Consumer(cluster.bootstrap) as consumer:
            consumer.assign([T])
            consumer.seek_to_beginning(T)
            found: list[bytes | None] = []
            while len(found) < 2:
                found += [each.value for each in await consumer.getmany(timeout_ms=1000)]
        assert found == [b"one", b"two"]


@pytest.mark.asyncio
async def test_a_broker_that_was_stopped_keeps_its_records() -> None:
    async with Cluster(brokers=1, topics={"t": 1}) as cluster:
        before = cluster.bootstrap
        async with Producer(cluster.bootstrap) as producer:
            await (await producer.send("t", b"one"))
        await cluster.stop_broker(1)
        await cluster.start_broker(1)
        assert cluster.bootstrap == before
        async with Admin(cluster.bootstrap) as admin:
            assert (await admin.list_offsets({T: -1}))[T].offset == 1


@pytest.mark.asyncio
async def test_what_is_refused(tmp_path: Path) -> None:
    for count in (0, 100):  # 100 is the controller's id
        with pytest.raises(ValueError, match="a cluster has 1 to 99"):
            Cluster(brokers=count)
    cluster = Cluster(brokers=1)
    with pytest.raises(RuntimeError, match="no addresses yet"):
        _ = cluster.bootstrap
    async with cluster:
        with pytest.raises(ValueError, match="no broker 2: ids are 1 to 1"):
            await cluster.kill(2)
        with pytest.raises(RuntimeError, match="already running"):
            await cluster.start_broker(1)
        await cluster.kill(1)
        with pytest.raises(RuntimeError, match="not running"):
            await cluster.stop_broker(1)
    async with Broker(data_dir=tmp_path) as on_disk:
        with pytest.raises(RuntimeError, match="only a broker in memory"):
            await on_disk.kill()
