"""Beside another client, aiokafka: what one writes the other reads, and they share a group."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from fencepost_client import (
    Admin,
    Consumer,
    ConsumerRecord,
    NewTopic,
    Producer,
    TopicPartition,
)
from fencepost_client.config.settings import CompressionName

from tests.sdk.harness.consumer import LONG_MS

pytestmark = pytest.mark.asyncio


@pytest.fixture
def partitions(topic: str) -> list[TopicPartition]:
    return [TopicPartition(topic, number) for number in range(4)]


async def create(bootstrap: str, topic: str) -> None:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, 4, 1)])


@pytest.mark.parametrize("codec", ["none", "gzip"])
async def test_keys_have_the_same_partitions_and_records_are_the_same(
    bootstrap: str, topic: str, codec: CompressionName, partitions: list[TopicPartition]
) -> None:
    await create(bootstrap, topic)
    theirs = AIOKafkaProducer(
        bootstrap_servers=bootstrap, compression_type=None if codec == "none" else codec
    )
    await theirs.start()
    try:
        async with Producer(bootstrap, compression=codec) as ours:
            for number in range(20):
                key, headers = b"key-%d" % number, [("h", b"%d" % number)]
                a = await theirs.send_and_wait(topic, b"theirs", key, headers=headers)
                b = await ours.send_and_wait(topic, b"ours", key=key, headers=headers)
                assert a.partition == b.partition
    finally:
        await theirs.stop()
    reader = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    await reader.start()
    found: list[ConsumerRecord] = []
    try:
        async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign(partitions)
            while len(found) < 40:
                found += await consumer.getmany(timeout_ms=1000)
        from aiokafka import TopicPartition as Theirs

        reader.assign([Theirs(*where) for where in partitions])
        read = [await reader.getone() for _ in range(40)]
    finally:
        await reader.stop()
    assert sorted(
        (r.partition, r.offset, r.timestamp_ms, r.key, r.value, tuple(r.headers)) for r in found
    ) == sorted(
        (r.partition, r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in read
    )


async def test_a_mixed_group_shares_its_partitions(
    bootstrap: str, topic: str, partitions: list[TopicPartition]
) -> None:
    await create(bootstrap, topic)
    theirs = AIOKafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=topic,
        partition_assignment_strategy=(RangePartitionAssignor,),
        heartbeat_interval_ms=50,
    )
    async with Consumer(bootstrap, group_id=topic, heartbeat_interval_ms=50) as ours:
        ours.subscribe([topic])
        await ours.block_on_rebalance(LONG_MS)
        assert ours.assignment() == set(partitions)
        starts = asyncio.create_task(theirs.start())
        try:
            while len(ours.assignment()) != 2:
                await ours.getmany(timeout_ms=20)
            await starts
            shared = {TopicPartition(*where) for where in theirs.assignment()}
            assert shared | ours.assignment() == set(partitions)
            assert len(shared) == 2
        finally:
            stops = asyncio.create_task(theirs.stop())
            while not stops.done():
                await ours.getmany(timeout_ms=20)
            await stops
        while len(ours.assignment()) != 4:
            await ours.getmany(timeout_ms=20)
