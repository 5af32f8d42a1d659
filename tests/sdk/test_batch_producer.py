"""Encoded batches, sent by several producers into one transaction that a third ends."""

from __future__ import annotations

import pytest
from fencepost_client import (
    AbortableTransactionError,
    Admin,
    BatchProducer,
    Consumer,
    KafkaError,
    NewTopic,
    OpenTransaction,
    Producer,
    RecordTooLargeError,
    TopicPartition,
    UnknownTopicOrPartitionError,
)
from fencepost_client.network.client_settings import ClientSettings
from fencepost_client.producer.shared_transaction import SharedTransactionManager
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.writer import build_batch

from tests.sdk.harness.network import client_of

pytestmark = pytest.mark.asyncio


def values(first: int, count: int = 10) -> list[bytes | None]:
    return [f"{number:06}".encode() for number in range(first, first + count)]


def encoded(first: int, count: int = 10, codec: Compression = Compression.NONE) -> bytearray:
    return build_batch(None, values(first, count), 1_000, transactional=True, codec=codec)


async def begin(settings: ClientSettings) -> OpenTransaction:
    async with client_of(settings) as client:
        identity = await client.run(TransactionManager("x", 60_000, lambda: 0.5).initialize())
        return OpenTransaction("x", *identity, client.connections.feature("transaction.version"))


async def end(settings: ClientSettings, transaction: OpenTransaction, *, commit: bool) -> None:
    async with client_of(settings) as client:
        await client.run(SharedTransactionManager(transaction, lambda: 0.5).end(commit=commit))


async def read(bootstrap: str, topic: str, partition: int) -> list[bytes | None]:
    where = TopicPartition(topic, partition)
    found: list[bytes | None] = []
    async with Consumer(bootstrap, isolation_level="read_committed") as consumer:
        consumer.assign([where])
        consumer.seek_to_beginning(where)
        # Apache Kafka answers EndTxn before the markers are there.
        async with Consumer(bootstrap) as all_of_it:
            end_offset = (await all_of_it.end_offsets([where]))[where]
        while (await consumer.end_offsets([where]))[where] < end_offset:
            pass
        while await consumer.position(where) < end_offset:
            found += [record.value for record in await consumer.getmany(timeout_ms=200)]
    return found


@pytest.mark.parametrize("commit", [True, False])
async def test_two_producers_write_into_one_transaction(
    bootstrap: str, topic: str, commit: bool
) -> None:
    settings = ClientSettings.from_config({"bootstrap.servers": bootstrap})
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, 2)])
    transaction = await begin(settings)
    async with (
        BatchProducer(settings, transaction) as one,
        BatchProducer(settings, transaction) as two,
    ):
        for first in range(0, 200, 10):
            await one.send(topic, 0, encoded(first))
            await two.send(topic, 1, encoded(first + 1000))
        await one.flush()
        await two.flush()
    await end(settings, transaction, commit=commit)
    assert await read(bootstrap, topic, 0) == (values(0, 200) if commit else [])
    assert await read(bootstrap, topic, 1) == (values(1000, 200) if commit else [])


async def test_a_batch_that_is_too_large_is_sent_in_parts(bootstrap: str, topic: str) -> None:
    settings = ClientSettings.from_config({"bootstrap.servers": bootstrap})
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, 1, configs={"max.message.bytes": "600"})])
    transaction = await begin(settings)
    async with BatchProducer(settings, transaction, compression=Compression.GZIP) as producer:
        await producer.send(topic, 0, encoded(0, 200, Compression.GZIP))
        await producer.send(topic, 0, encoded(200))
        await producer.flush()
    await end(settings, transaction, commit=True)
    assert await read(bootstrap, topic, 0) == values(0, 210)


async def test_what_is_behind_a_refused_batch_fails_with_it(bootstrap: str, topic: str) -> None:
    """And not, sent again and again as out of order, when its time is over."""
    settings = ClientSettings.from_config({"bootstrap.servers": bootstrap})
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, 2, configs={"max.message.bytes": "600"})])
    transaction = await begin(settings)
    large = build_batch(None, [b"x" * 2_000], 1_000, transactional=True)
    async with BatchProducer(settings, transaction) as producer:
        await producer.send(topic, 0, encoded(0))
        await producer.flush()
        refused = await producer.send(topic, 0, large)
        behind = [await producer.send(topic, 0, encoded(first)) for first in (10, 20)]
        behind.append(await producer.send(topic, 1, encoded(30)))
        with pytest.raises(RecordTooLargeError):
            await producer.flush()
        assert isinstance(refused.error, RecordTooLargeError)
        for each in behind:
            if each.error is not None:  # it may have left before the answer was here
                assert type(each.error) is AbortableTransactionError
        assert behind[0].error is not None
        with pytest.raises(AbortableTransactionError, match="MESSAGE_TOO_LARGE"):
            await producer.send(topic, 0, encoded(40))
    await end(settings, transaction, commit=False)
    assert await read(bootstrap, topic, 0) == []


async def test_without_a_transaction_it_has_an_identity_of_its_own(
    bootstrap: str, topic: str
) -> None:
    settings = ClientSettings.from_config({"bootstrap.servers": bootstrap})
    async with Producer(bootstrap) as producer:
        await producer.send_and_wait(topic, b"before")
    async with BatchProducer(settings) as batches:
        await batches.send(topic, 0, build_batch(None, values(0), 1_000))
        await batches.flush()
    assert await read(bootstrap, topic, 0) == [b"before", *values(0)]


async def test_what_cannot_be_written_is_raised(bootstrap: str, topic: str) -> None:
    settings = ClientSettings.from_config({"bootstrap.servers": bootstrap})
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, 1)])
    transaction = await begin(settings)
    await begin(settings)  # somebody else
    async with BatchProducer(settings, transaction) as producer:
        with pytest.raises(UnknownTopicOrPartitionError, match="1 partitions"):
            await producer.send(topic, 1, encoded(0))
        await producer.send(topic, 0, encoded(0))
        with pytest.raises(KafkaError, match=topic):
            await producer.flush()
        with pytest.raises(KafkaError):
            await producer.send(topic, 0, encoded(0))
