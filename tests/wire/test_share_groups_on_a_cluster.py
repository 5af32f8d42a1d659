"""A share group while brokers are killed: its leader, its coordinators."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from fencepost_broker import Cluster
from fencepost_client import Admin, ConfigResource, Producer, ResourceKind, ShareConsumer

from tests.support.waiting import asked_until

QUICK = {
    "min.insync.replicas": 2,
    "default.replication.factor": 3,
    "offsets.topic.replication.factor": 3,
    "share.coordinator.state.topic.replication.factor": 3,
    "group.share.min.heartbeat.interval.ms": 100,
    "group.share.heartbeat.interval.ms": 100,
    "group.share.assignment.interval.ms": 0,
    "group.share.min.record.lock.duration.ms": 1000,
}


async def until_in_sync(cluster: Cluster) -> None:
    """Until all three brokers have the partition's records."""
    async with Admin(cluster.bootstrap) as admin:

        async def is_so() -> bool:
            described = await admin.describe_topics(["t"])
            return len(described["t"].partitions[0].in_sync_replicas) == 3

        await asked_until(is_so)


@pytest.mark.asyncio
async def test_nothing_is_lost_and_what_is_acknowledged_is_not_given_again() -> None:
    async with Cluster(topics={"t": 1}, settings=QUICK) as cluster:
        await until_in_sync(cluster)
        async with Admin(cluster.bootstrap) as admin:
            group = {"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": "1000"}
            await admin.alter_configs({ConfigResource(ResourceKind.GROUP, "g"): group})
        wanted = {b"%d" % number for number in range(60)}
        async with Producer(cluster.bootstrap, acks="all") as producer:
            for value in sorted(wanted):
                await producer.send("t", value)
            await producer.flush()
        done: set[bytes | None] = set()
        given: Counter[bytes | None] = Counter()
        async with ShareConsumer(
            cluster.bootstrap,
            group_id="g",
            share_acknowledgement_mode="explicit",
            share_acquire_mode="record_limit",
            max_poll_records=5,
        ) as consumer:
            consumer.subscribe(["t"])
            broker_id = 0
            async with asyncio.timeout(100):
                while done != wanted:
                    records = await consumer.getmany(timeout_ms=1000)
                    for record in records:
                        assert record.value not in done, record
                        given[record.value] += 1
                        consumer.acknowledge(record)
                    if not await consumer.commit():
                        done |= {record.value for record in records}
                    if records and len(done) >= 15 * (broker_id + 1) and broker_id < 3:
                        broker_id += 1
                        await cluster.kill(broker_id)
                        await cluster.start_broker(broker_id)
                        await until_in_sync(cluster)
    assert set(given) == wanted
