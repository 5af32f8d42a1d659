"""A clock that stands still, runs on or is set back, as clients see it."""

from __future__ import annotations

import asyncio

import pytest
from aiokafka import AIOKafkaConsumer
from fencepost_broker import Broker, StateClock
from fencepost_client import Producer

from tests.support.broker import Client
from tests.wire.transaction_harness import Producer as RawProducer
from tests.wire.transaction_harness import stable_offset, state_of, until_state

pytestmark = pytest.mark.asyncio
BEGIN_MS = 1_700_000_000_000


def set_clock() -> StateClock:
    """A clock that a test moves, so that nothing depends on the machine's load."""
    return StateClock(manual=True, at_ms=BEGIN_MS)


async def test_a_transaction_does_not_time_out_while_the_clock_is_paused() -> None:
    async with Broker(topics={"t": 1}) as broker, Client(broker.bootstrap) as client:
        producer = RawProducer(client)
        broker.clock.pause()
        await producer.start(timeout_ms=1)
        await producer.send()
        await asyncio.to_thread(lambda: None)
        assert await state_of(client) == "Ongoing"
        await producer.send()
        assert await state_of(client) == "Ongoing"
        broker.clock.resume()
        await until_state(client, "CompleteAbort")


async def test_maintenance_goes_on_when_a_manual_clock_runs() -> None:
    clock = StateClock(manual=True)
    async with Broker(topics={"t": 1}, clock=clock) as broker, Client(broker.bootstrap) as client:
        producer = RawProducer(client)
        await producer.start(timeout_ms=50)
        await producer.send()
        clock.resume()
        await until_state(client, "CompleteAbort")


async def test_timestamps_of_the_broker_go_back_with_its_clock() -> None:
    clock = set_clock()
    topic = "t:1:message.timestamp.type=LogAppendTime"
    async with Broker(topics=[topic], clock=clock) as broker:
        async with Producer(broker.bootstrap) as producer:
            before = await producer.send_and_wait("t", b"before")
            clock.jump(seconds=-5)
            after = await producer.send_and_wait("t", b"after")
        assert (before.timestamp_ms, after.timestamp_ms) == (BEGIN_MS, BEGIN_MS - 5000)
        async with AIOKafkaConsumer(
            "t", bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest"
        ) as consumer:
            found = [await consumer.getone() for _ in range(2)]
        assert [(each.value, each.timestamp) for each in found] == [
            (b"before", BEGIN_MS),
            (b"after", BEGIN_MS - 5000),
        ]


async def test_transactions_commit_whenever_the_clock_is_set_back() -> None:
    clock = set_clock()
    async with (
        Broker(topics=["t:1:message.timestamp.type=LogAppendTime"], clock=clock) as broker,
        Client(broker.bootstrap) as client,
        Producer(broker.bootstrap, transactional_id="a") as producer,
    ):
        for number in range(3):
            async with producer.transaction() as transaction:
                await (await transaction.send("t", b"%d" % number))
                clock.jump(hours=-1)
                await (await transaction.send("t", b"%d" % number))
            await until_state(client, "CompleteCommit")
        assert await stable_offset(client) == 9


async def test_a_transaction_times_out_by_the_clock() -> None:
    """Its timeout begins at the time of its start, which is in the log, as in Apache Kafka."""
    clock = set_clock()
    async with Broker(topics={"t": 1}, clock=clock) as broker, Client(broker.bootstrap) as client:
        producer = RawProducer(client)
        await producer.start(timeout_ms=60_000)
        await producer.send()
        clock.jump(hours=-1)
        clock.advance(ms=3_659_999)
        assert await state_of(client) == "Ongoing"
        clock.advance(ms=1)
        await until_state(client, "CompleteAbort")
        await producer.initialize(own=True)
        await producer.send()
        clock.jump(hours=1)
        await until_state(client, "CompleteAbort")


async def test_an_id_that_was_used_before_the_clock_was_set_back_expires() -> None:
    clock = set_clock()
    async with Broker(topics={"t": 1}, clock=clock) as broker, Client(broker.bootstrap) as client:
        producer = RawProducer(client)
        await producer.start()
        clock.jump(hours=-1)
        await producer.start()
        clock.advance(days=6, hours=23)
        assert await state_of(client) == "Empty"
        clock.advance(hours=2)
        assert await state_of(client) == ""
