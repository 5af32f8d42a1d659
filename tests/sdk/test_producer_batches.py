"""Batches against real brokers: too large, as columns, to a topic that was made anew."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    Admin,
    ConfigError,
    NewTopic,
    Producer,
    RecordTooLargeError,
    TopicPartition,
    UnknownTopicOrPartitionError,
)

from tests.sdk.harness.producer import create, read
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio


async def create_small(bootstrap: str, topic: str) -> None:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, configs={"max.message.bytes": "1000"})])


async def test_a_batch_that_the_topic_does_not_take_is_split(bootstrap: str, topic: str) -> None:
    await create_small(bootstrap, topic)
    values = [b"%0100d" % number for number in range(100)]
    async with Producer(bootstrap) as producer:
        deliveries = await producer.send_many(topic, values, partition=0)
        await producer.send(topic, b"behind")
        offsets = [(await delivery).offset for delivery in deliveries]
    assert offsets == list(range(100))
    assert await read(bootstrap, topic) == [*values, b"behind"]


async def test_in_a_transaction_too(bootstrap: str, topic: str) -> None:
    await create_small(bootstrap, topic)
    values = [b"%0100d" % number for number in range(30)]
    async with Producer(bootstrap, transactional_id=topic) as producer:
        async with producer.transaction() as transaction:
            for value in values:
                await transaction.send(topic, value)
        assert await read(bootstrap, topic) == [*values, "COMMIT"]


async def test_one_record_that_is_too_large_is_told_of(bootstrap: str, topic: str) -> None:
    await create_small(bootstrap, topic)
    async with Producer(bootstrap) as producer:
        deliveries = await producer.send_many(topic, [b"a", bytes(2000), b"b"], partition=0)
        with pytest.raises(RecordTooLargeError):
            await deliveries
        await deliveries[0]
        with pytest.raises(RecordTooLargeError):
            await deliveries[1]
        await deliveries[2]
        await producer.send_and_wait(topic, b"c")
    assert await read(bootstrap, topic) == [b"a", b"b", b"c"]


async def test_columns(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic, 2)
    values = [b"%03d" % number if number % 7 else None for number in range(300)]
    keys = [b"k%d" % number if number % 3 else None for number in range(300)]
    async with Producer(bootstrap, batch_size=400) as producer:
        deliveries = await producer.send_many(
            topic, values, keys=keys, partition=1, timestamp_ms=1_700_000_000_000
        )
        await deliveries
        assert len(deliveries) == 300
        found = [await delivery for delivery in deliveries]
        assert [each.offset for each in found] == list(range(300))
        assert {each.timestamp_ms for each in found} == {1_700_000_000_000}
        assert (await deliveries[-1]).offset == 299
        assert [(await each).offset for each in deliveries[5:8]] == [5, 6, 7]
        with pytest.raises(IndexError):
            deliveries[300]
        # Keys that decide: each where its hash says, as with `send`.
        keyed = await producer.send_many(topic, [b"1", b"2"], keys=[b"a", b"b"])
        one_by_one = [await producer.send(topic, b"", key=key) for key in (b"a", b"b")]
        assert [(await each).partition for each in keyed] == [
            (await each).partition for each in one_by_one
        ]
        assert not await producer.send_many(topic, [])
        with pytest.raises(ConfigError, match="1 keys"):
            await producer.send_many(topic, [b"1", b"2"], keys=[b"a"])
        with pytest.raises(UnknownTopicOrPartitionError):
            await producer.send_many(topic, [b"1"], partition=9)
    assert (await read(bootstrap, topic, 1))[:300] == values


async def test_columns_wait_for_memory_and_can_be_cancelled(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap, batch_size=200, buffer_memory=400) as producer:
        values = [b"%050d" % number for number in range(200)]
        sending = asyncio.ensure_future(producer.send_many(topic, values, partition=0))
        await until(lambda: producer._accumulator.reserved_bytes > 0)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await producer.flush()
        found = await read(bootstrap, topic)
        assert found == values[: len(found)]
        assert len(found) < len(values)
        await producer.send_many(topic, values, partition=0)
        await producer.flush()
        assert await read(bootstrap, topic) == found + values


@pytest.mark.ours_alone("KIP-609: Apache Kafka does not have it")
async def test_columns_of_a_transaction_stay_among_what_is_registered() -> None:
    async with (
        Broker(topics={"t": 3}) as broker,
        Producer(broker.bootstrap, transactional_id="x", batch_size=200) as producer,
    ):
        async with producer.transaction(partitions=[TopicPartition("t", 2)]) as transaction:
            await transaction.send_many("t", [b"%050d" % number for number in range(20)])
            with pytest.raises(UnknownTopicOrPartitionError, match="t-1"):
                await transaction.send_many("t", [b""], partition=1)
        assert len(await read(broker.bootstrap, "t", 2)) == 21


async def test_a_topic_that_is_made_anew_goes_by_another_id(bootstrap: str, topic: str) -> None:
    """Produce v13 names the topic by its id, which the producer learns again."""
    await create(bootstrap, topic)
    async with Producer(bootstrap) as producer, Admin(bootstrap) as admin:
        await producer.send_and_wait(topic, b"old")
        await admin.delete_topics([topic])
        await create(bootstrap, topic)
        await producer.send_and_wait(topic, b"new")
    assert await read(bootstrap, topic) == [b"new"]
