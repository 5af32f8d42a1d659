"""Batches as columns, from real brokers."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    Consumer,
    ConsumerRecord,
    EncodedBatch,
    KafkaError,
    Producer,
    RecordBatch,
    TopicPartition,
)
from fencepost_client.consumer.positions import FetchedBatch, Position
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.batch import renew_crc
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from tests.sdk.harness.consumer import LONG_MS, create, numbers, produce, read
from tests.support.broker import PRODUCE_VERSION, Client
from tests.support.waiting import asked_until, until

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


async def test_what_async_for_has_not_given_yet_comes_as_a_batch(
    bootstrap: str, topic: str
) -> None:
    partitions = await create(bootstrap, topic)
    await produce(bootstrap, topic, *numbers(0, 10))
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign(partitions)
        async for record in consumer:
            if record.value == b"3":
                break
        assert await read_batches(consumer, 6) == numbers(4, 10)


@pytest.mark.parametrize("way", ["getmany", "async for", "fetch_batches"])
@pytest.mark.ours_alone("Apache Kafka refuses the batch that is to be read")
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


@pytest.mark.parametrize("way", ["getmany", "fetch_batches", "fetch_encoded"])
async def test_what_was_damaged_on_its_way_is_fetched_again(
    monkeypatch: pytest.MonkeyPatch, bootstrap: str, topic: str, way: str
) -> None:
    (where,) = await create(bootstrap, topic)
    await produce(bootstrap, topic, *numbers(0, 3))
    add = Position.add
    damaged: list[bytearray] = []

    def add_damaged(position: Position, batch: FetchedBatch) -> None:
        if not damaged and batch.records is not None:
            data = bytearray(batch.records)
            data[-1] ^= 1
            batch.records = memoryview(data)
            damaged.append(data)
        add(position, batch)

    monkeypatch.setattr(Position, "add", add_damaged)
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([where])
        take = getattr(consumer, way)
        with pytest.raises(KafkaError, match=r"offset 0 .* cannot be read") as caught:
            await take(timeout_ms=LONG_MS)
        assert caught.value.code == ErrorCode.CORRUPT_MESSAGE
        assert await take(timeout_ms=LONG_MS)
        assert damaged


async def test_an_error_that_came_while_the_application_was_busy_is_followed_by_a_fetch(
    bootstrap: str, topic: str
) -> None:
    (where,) = await create(bootstrap, topic)
    async with Consumer(bootstrap, auto_offset_reset="none") as consumer:
        consumer.assign([where])
        consumer.seek(where, 10)
        for _ in range(2):  # the second question goes after the Fetch, on the same connection
            await consumer.end_offsets([where])
        for _ in range(2):
            with pytest.raises(KafkaError) as caught:
                await consumer.getmany(timeout_ms=LONG_MS)
            assert caught.value.code == ErrorCode.OFFSET_OUT_OF_RANGE


async def test_encoded_batches_are_those_of_the_log(bootstrap: str, topic: str) -> None:
    (where,) = await create(bootstrap, topic)
    await produce(bootstrap, topic, *numbers(0, 20))
    async with Consumer(bootstrap) as consumer:
        consumer.assign([where])
        consumer.seek(where, 5)
        found: list[EncodedBatch] = []
        while consumer.positions()[where] < 20:
            found += await consumer.fetch_encoded(timeout_ms=LONG_MS)
        assert {batch.where for batch in found} == {where}
        assert found[0].from_offset == 5
        values = [
            bytes(record.value or b"")
            for batch in found
            for record in iter_records(batch.data)
            if record.offset >= batch.from_offset
        ]
        assert values == numbers(5, 20)


async def test_encoded_batches_are_taken_up_to_some_bytes(bootstrap: str, topic: str) -> None:
    (where,) = await create(bootstrap, topic)
    for value in numbers(0, 5):
        await produce(bootstrap, topic, value)
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([where])
        while not await consumer.fetch_encoded(timeout_ms=LONG_MS, max_bytes=1):
            pass
        assert consumer.positions()[where] == 1


async def test_waiting_ends_behind_what_is_never_handed_out(bootstrap: str, topic: str) -> None:
    """Markers and aborted records move the position only: nobody has to wait for more."""
    (where,) = await create(bootstrap, topic)
    async with Producer(bootstrap, transactional_id=topic) as producer:
        producer.begin()
        await producer.send(topic, b"never seen")
        await producer.flush()
        await producer.abort()
    async with Consumer(
        bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign([where])
        end = 2

        async def is_marked() -> bool:  # an abort is answered before its marker is written
            return await consumer.end_offsets([where]) == {where: end}

        await asked_until(is_marked)
        for _ in range(2):  # the second time it is there already
            waiting = asyncio.create_task(
                consumer.fetch_encoded(timeout_ms=LONG_MS, until={where: end})
            )
            try:
                await until(lambda: consumer.positions() == {where: end})
                for _ in range(10):
                    await asyncio.sleep(0)
                assert waiting.done()
                assert await waiting == []
            finally:
                waiting.cancel()
