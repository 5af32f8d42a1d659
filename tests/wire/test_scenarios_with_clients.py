"""Clients of others in scenarios, each with the same steps: aiokafka and librdkafka."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as OfAiokafka
from aiokafka.errors import KafkaError
from fencepost_broker import Broker
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_broker.server.scenarios.hanging_transaction import hang
from fencepost_broker.server.scenarios.places import broker_for
from fencepost_broker.server.scenarios.refused_clients import QUOTA, set_quota, take_right_away
from fencepost_broker.server.scenarios.scenario import play
from fencepost_broker.server.scenarios.wire import Connection, TransactionalProducer

from tests.wire.other_producers import CLIENTS, Aiokafka, Client, Librdkafka
from tests.wire.scenario_harness import READ_S, READERS

# These are about clients, which have threads of their own: one loop will do.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])


async def error_of(*steps: Callable[[], Awaitable[None]]) -> str:
    """The name of the error with which the first step fails, or an empty text."""
    try:
        for each in steps:
            await each()
    except KafkaError as error:
        return type(error).__name__
    except confluent_kafka.KafkaException as error:
        return str(error.args[0].name())
    return ""


def of(aiokafka: str, librdkafka: str) -> pytest.MarkDecorator:
    """The same steps for both, with the error that each has."""
    return pytest.mark.parametrize(
        ("client", "error"), [(Aiokafka, aiokafka), (Librdkafka, librdkafka)]
    )


# -- transactions ----------------------------------------------------------------------------------


@of("ProducerFenced", "_FENCED")
async def test_a_commit_after_the_time_out(client: Client, error: str) -> None:
    async with (
        broker_for(SCENARIOS["commit-after-time-out"]) as broker,
        client(broker.bootstrap, transactional_id="payments") as producer,
    ):
        await producer.begin()
        await producer.send()
        broker.clock.advance(minutes=2)
        assert await error_of(producer.commit) == error


@of("KafkaError", "_PURGE_QUEUE")
async def test_a_transaction_after_a_pause_of_eight_days(client: Client, error: str) -> None:
    async with (
        broker_for(SCENARIOS["expired-transactional-id"]) as broker,
        client(broker.bootstrap, transactional_id="payments") as producer,
    ):
        await producer.begin()
        await producer.send()
        await producer.commit()
        broker.clock.advance(days=8)
        assert await error_of(producer.begin, producer.send, producer.commit) == error


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", ["empty-transaction", "empty-transaction-version-2"])
async def test_an_empty_transaction_is_committed_without_end_txn(name: str, client: Client) -> None:
    async with (
        broker_for(SCENARIOS[name]) as broker,
        client(broker.bootstrap, transactional_id="payments") as producer,
    ):
        await producer.begin()
        await producer.commit()
        assert "EndTxn" not in broker.stats()["requests"]
        await producer.begin()
        await producer.send()
        await producer.commit()
        assert "EndTxn" in broker.stats()["requests"]


@pytest.mark.parametrize("client", CLIENTS)
async def test_concurrent_transactions_is_outlasted(client: Client) -> None:
    async with broker_for(SCENARIOS["self-fencing"]) as broker:
        busy = broker.faults.error("CONCURRENT_TRANSACTIONS", api="InitProducerId", times=2)
        async with client(broker.bootstrap, transactional_id="payments") as producer:
            assert busy.fired == 2
            await producer.begin()
            await producer.send()
            await producer.commit()


async def test_readers_stop_at_a_hanging_transaction() -> None:
    async with broker_for(SCENARIOS["hanging-transaction"]) as broker, Connection(broker) as one:
        await hang(broker, one, lambda _: None)
        end = await one.end_offset(committed=True)
        assert (end, await one.end_offset()) == (2, 4)
        for each in READERS:
            assert await each(broker.bootstrap, end, {}) == []


async def test_readers_wait_for_as_long_as_the_clock_was_set_back() -> None:
    async with (
        broker_for(SCENARIOS["clock-jumps-back"]) as broker,
        Connection(broker) as connection,
    ):
        transaction = TransactionalProducer(connection)
        await transaction.start()
        await transaction.send(b"first")
        broker.clock.jump(hours=-2)
        await connection.produce(b"second")
        for passed, expected in ({"hours": 1}, []), ({"hours": 1, "minutes": 2}, [b"second"]):
            broker.clock.advance(**passed)
            end = await connection.end_offset(committed=True)
            for each in READERS:
                assert await each(broker.bootstrap, end, {}) == expected


# -- offsets ---------------------------------------------------------------------------------------


async def tail_by_aiokafka(bootstrap: str, end: int) -> tuple[list[int], int]:
    partition, offsets = OfAiokafka("orders", 0), []
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, auto_offset_reset="earliest", isolation_level="read_committed"
    )
    await consumer.start()
    try:
        consumer.assign([partition])
        async with asyncio.timeout(READ_S):
            while await consumer.position(partition) < end:
                got = await consumer.getmany(timeout_ms=100)
                offsets += [each.offset for each in got.get(partition, [])]
        return offsets, await consumer.position(partition)
    finally:
        await consumer.stop()


async def tail_by_librdkafka(bootstrap: str, end: int) -> tuple[list[int], int]:
    def read() -> tuple[list[int], int]:
        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": bootstrap, "group.id": "tail", "enable.partition.eof": True,
                "isolation.level": "read_committed",
            }
        )  # fmt: skip
        offsets: list[int] = []
        try:
            consumer.assign([confluent_kafka.TopicPartition("orders", 0, 0)])
            while True:
                message = consumer.poll(READ_S)
                assert message is not None
                if message.error():
                    return offsets, message.offset()
                offsets.append(message.offset())
        finally:
            consumer.close()

    return await asyncio.to_thread(read)


@pytest.mark.parametrize("read", [tail_by_aiokafka, tail_by_librdkafka])
@pytest.mark.parametrize(
    ("name", "offsets", "end"),
    [
        ("gaps-by-compaction", [2, 3], 4),
        ("log-ends-in-a-marker", [0], 2),
        ("aborted-records-only", [], 6),
    ],
)
async def test_offsets_that_readers_see(
    name: str, offsets: list[int], end: int, read: Callable[[str, int], Awaitable[Any]]
) -> None:
    async with broker_for(SCENARIOS[name]) as broker:
        await play(SCENARIOS[name], broker)
        assert await read(broker.bootstrap, end) == (offsets, end)


# -- producers -------------------------------------------------------------------------------------


async def end_offset(broker: Broker) -> int:
    async with Connection(broker) as connection:
        return await connection.end_offset()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("name", "records"), [("duplicate-after-lost-answer", 2), ("no-duplicate-with-idempotence", 1)]
)
async def test_a_lost_answer_makes_a_duplicate(name: str, records: int, client: Client) -> None:
    async with broker_for(SCENARIOS[name]) as broker:
        lost = broker.faults.drop_answer(api="Produce", times=1)
        async with client(broker.bootstrap, enable_idempotence=records == 1) as producer:
            await producer.send()
        assert (lost.fired, await end_offset(broker)) == (1, records)


@of("OutOfOrderSequenceNumber", "OUT_OF_ORDER_SEQUENCE_NUMBER")
async def test_a_batch_is_missing(client: Client, error: str) -> None:
    async with broker_for(SCENARIOS["out-of-order-sequence"]) as broker:
        gap = broker.faults.error("OUT_OF_ORDER_SEQUENCE_NUMBER", api="Produce", skip=1, times=1)
        async with client(broker.bootstrap, enable_idempotence=True) as producer:
            await producer.send()
            assert await error_of(producer.send) == error
        assert gap.fired == 1


@of("MessageSizeTooLargeError", "MSG_SIZE_TOO_LARGE")
async def test_a_large_batch_is_refused(client: Client, error: str) -> None:
    async with (
        broker_for(SCENARIOS["large-batch-refused"]) as broker,
        client(broker.bootstrap) as producer,
    ):
        assert await error_of(lambda: producer.send(b"x" * 2_000)) == error


@of("TopicAuthorizationFailedError", "TOPIC_AUTHORIZATION_FAILED")
async def test_a_right_is_taken_away(client: Client, error: str) -> None:
    async with (
        broker_for(SCENARIOS["acl-taken-away"]) as broker,
        Connection(broker) as admin,
        client(broker.bootstrap) as producer,
    ):
        await producer.send()
        await take_right_away(admin)
        assert await error_of(producer.send) == error


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_client_with_a_quota_waits(client: Client) -> None:
    async with broker_for(SCENARIOS["throttled-client"]) as broker:
        await set_quota(broker, QUOTA)
        async with client(broker.bootstrap) as producer:
            await producer.send(b"x" * 15_000)
            late = asyncio.ensure_future(producer.send())
            assert await end_offset(broker) == 1
            assert not late.done()
            broker.clock.advance(seconds=6)
            await late
            assert await end_offset(broker) == 2
