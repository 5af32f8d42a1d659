"""Batches as columns, from real brokers."""

from __future__ import annotations

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    Consumer,
    ConsumerRecord,
    KafkaError,
    Producer,
    RecordBatch,
    TopicPartition,
)
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import renew_crc
from fencepost_protocol.records.writer import build_batch

from tests.sdk.test_consumer import LONG_MS, create, numbers, produce, read
from tests.support.broker import PRODUCE_VERSION, Client

pytestmark = pytest.mark.asyncio


async def read_batches(consumer: Consumer, count: int) -> list[bytes | None]:
    """So many values; waits for them."""
    found: list[bytes | None] = []
    while len(found) < count:
        for batch in await consumer.fetch_batches(timeout_ms=LONG_MS):
            found += batch.values.to_list()
    return found


async def test_everything_is_in_the_columns(bootstrap: str, topic: str) -> None:
    (where,) = await create(bootstrap, topic)
    async with Producer(bootstrap, compression="lz4") as producer:
        for number in range(200):
            headers = [("n", b"%d" % number)] if number % 7 == 0 else ()
            key = b"k" * (number % 3) if number % 5 else None
            await producer.send(topic, b"%d" % number, key=key, headers=headers)
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([where])
        batches: list[RecordBatch] = []
        while sum(map(len, batches)) < 200:
            batches += await consumer.fetch_batches(timeout_ms=LONG_MS)
        found = [record for batch in batches for record in batch.to_records()]
        assert await consumer.position(where) == 200
        consumer.seek(where, 0)
        expected: list[ConsumerRecord] = []
        while len(expected) < 200:
            expected += await consumer.getmany(timeout_ms=LONG_MS)
    assert [record._replace(headers=list(record.headers)) for record in found] == [
        record._replace(headers=list(record.headers)) for record in expected
    ]


async def test_no_batch_of_what_was_aborted_is_seen(bootstrap: str, topic: str) -> None:
    (where,) = await create(bootstrap, topic)
    async with (
        Producer(bootstrap, transactional_id=topic) as producer,
        Consumer(
            bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
        ) as consumer,
    ):
        consumer.assign([where])
        for value in numbers(0, 6):
            if int(value) % 2:
                async with producer.transaction() as transaction:
                    await transaction.send(topic, value)
            else:
                producer.begin()
                await producer.send(topic, value)
                await producer.flush()
                await producer.abort()
        assert await read_batches(consumer, 3) == [b"1", b"3", b"5"]
        assert await consumer.fetch_batches() == []


async def test_batches_of_a_group_are_committed(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    for start in (0, 10):
        await produce(bootstrap, topic, *numbers(start, start + 10))
        async with Consumer(bootstrap, group_id=topic, auto_offset_reset="earliest") as consumer:
            consumer.subscribe([topic])
            assert await read_batches(consumer, 10) == numbers(start, start + 10)


async def test_what_async_for_has_not_given_yet_comes_as_a_batch(topic: str) -> None:
    async with Broker(topics={"t": 1}) as broker:
        await produce(broker.bootstrap, "t", *numbers(0, 10))
        async with Consumer(broker.bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign([TopicPartition("t", 0)])
            async for record in consumer:
                if record.value == b"3":
                    break
            assert await read_batches(consumer, 6) == numbers(4, 10)


@pytest.mark.parametrize("way", ["getmany", "async for", "fetch_batches"])
async def test_a_poisoned_batch_is_told_by_every_way_to_read(way: str) -> None:
    """The broker believes large batches: their records are ours to find wrong."""
    poisoned = build_batch(None, [b"x" * 20] * 50, 1000)
    poisoned[-22] ^= 0x40  # the length of the last value
    renew_crc(poisoned)
    async with Broker(topics={"t": 1}) as broker:
        await produce(broker.bootstrap, "t", b"before")
        async with Client(broker.bootstrap) as client:
            data = TopicProduceData("t", partition_data=[PartitionProduceData(0, bytes(poisoned))])
            answer = await client.ask(ProduceRequest(None, -1, 5000, [data]), PRODUCE_VERSION)
            assert not answer.responses[0].partition_responses[0].error_code
        await produce(broker.bootstrap, "t", b"after")
        where = TopicPartition("t", 0)
        async with Consumer(broker.bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign([where])

            async def one() -> bytes | None:
                if way == "getmany":
                    return (await read(consumer, 1))[0]
                if way == "fetch_batches":
                    return (await read_batches(consumer, 1))[0]
                return (await anext(aiter(consumer))).value

            assert await one() == b"before"
            for _ in range(2):
                with pytest.raises(KafkaError, match=r"t-0 .* offset 1 .* seek to 51") as caught:
                    await one()
                assert caught.value.code == ErrorCode.CORRUPT_MESSAGE
            consumer.seek(where, 51)
            assert await one() == b"after"
