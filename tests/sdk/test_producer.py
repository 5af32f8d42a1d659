"""The producer against real brokers: ours, and Apache Kafka."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    AbortableTransactionError,
    Admin,
    ConfigError,
    Consumer,
    DeliveryTimedOutError,
    FatalError,
    GroupMetadata,
    IllegalStateError,
    KafkaError,
    NewTopic,
    Producer,
    ProducerFencedError,
    RecordTooLargeError,
    RequestTimedOutError,
    TopicPartition,
    TransactionAbortedError,
    UnknownTopicOrPartitionError,
)
from fencepost_client.config.settings import Acks, CompressionName

from tests.sdk.harness.producer import create, read
from tests.support.broker import Client
from tests.support.restarting import Restarting

pytestmark = pytest.mark.asyncio


async def test_records_arrive_in_order_and_say_where(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap, batch_size=300) as producer:
        deliveries = [await producer.send(topic, b"%d" % number) for number in range(100)]
        first = await deliveries[0]
        assert (first.topic, first.partition, first.offset) == (topic, 0, 0)
        assert [(await delivery).offset for delivery in deliveries] == list(range(100))
    assert await read(bootstrap, topic) == [b"%d" % number for number in range(100)]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
async def test_keys_headers_times_and_codecs(
    bootstrap: str, topic: str, codec: CompressionName
) -> None:
    await create(bootstrap, topic, 3)
    async with Producer(bootstrap, compression=codec) as producer:
        headers = [("a", b"1"), ("a", None)]
        sent = await producer.send_and_wait(
            topic, b"v", key=b"foobar", headers=headers, timestamp_ms=1_700_000_000_000
        )
        assert sent.partition == (-790332482 & 0x7FFF_FFFF) % 3
        assert sent.timestamp_ms == 1_700_000_000_000
        await producer.send_and_wait(topic, None, partition=sent.partition)
    assert await read(bootstrap, topic, sent.partition) == [b"v", None]


@pytest.mark.parametrize("given", [{"headers": [(b"a", b"1")]}, {"timestamp_ms": "x"}])
async def test_a_record_that_cannot_be_encoded_is_refused_and_the_next_is_sent(
    bootstrap: str, topic: str, given: dict[str, Any]
) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap) as producer:
        with pytest.raises(TypeError):
            await producer.send_and_wait(topic, b"bad", **given)
        assert (await producer.send_and_wait(topic, b"good")).offset == 0


async def test_records_without_keys_spread_in_batches(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic, 4)
    async with Producer(bootstrap, batch_size=500) as producer:
        deliveries = await producer.send_many(topic, [bytes(50)] * 400)
        used = [(await delivery).partition for delivery in deliveries]
    assert set(used) == {0, 1, 2, 3}
    changes = sum(a != b for a, b in pairwise(used))
    assert changes < 100


async def test_memory_is_back_pressure_and_a_cancelled_send_was_not_taken(
    bootstrap: str, topic: str
) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap, batch_size=200, buffer_memory=400) as producer:
        for _ in range(2):
            await producer.send(topic, bytes(150))
        waiting = asyncio.create_task(producer.send(topic, b"cancelled" * 15))
        await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.gather(*(producer.send(topic, b"%0150d" % number) for number in range(20)))
    found = await read(bootstrap, topic)
    assert len(found) == 22
    assert not [value for value in found if value.startswith(b"cancelled")]


async def test_what_cannot_be_sent_says_why(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap, max_request_size=1000) as producer:
        with pytest.raises(UnknownTopicOrPartitionError, match=f"{topic}-7"):
            await producer.send(topic, b"", partition=7)
        with pytest.raises(RecordTooLargeError, match="max_request_size"):
            await producer.send(topic, bytes(2000))
        with pytest.raises(IllegalStateError, match="transactional_id"):
            producer.begin()
        with pytest.raises(KafkaError):
            await producer.send("not a name!", b"")
    with pytest.raises(IllegalStateError, match="closed"):
        await producer.send(topic, b"")
    with pytest.raises(IllegalStateError, match="not started"):
        await Producer(bootstrap).send(topic, b"")
    with pytest.raises(ConfigError):
        Producer(bootstrap, transactional_id="t", enable_idempotence=False)


@pytest.mark.parametrize("acks", [0, 1])
async def test_weaker_acks(bootstrap: str, topic: str, acks: Acks) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap) as producer:
        await producer.send_and_wait(topic, b"its leader is up")  # which acks=0 would not hear
    async with Producer(bootstrap, acks=acks, enable_idempotence=False) as producer:
        assert (await producer.send_and_wait(topic, b"a")).offset == (1 if acks else -1)
        await producer.send_and_wait(topic, b"b")
    found: list[Any] = []
    while len(found) < 3:  # nor when it is written
        found = await read(bootstrap, topic)
    assert found[1:] == [b"a", b"b"]


async def test_transactions_commit_and_abort(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap, transactional_id=topic) as producer:
        for number in range(3):
            async with producer.transaction() as transaction:
                await transaction.send(topic, b"%d" % number)
                await transaction.send_offsets(
                    {TopicPartition(topic, 0): number}, GroupMetadata(topic)
                )
        with pytest.raises(ZeroDivisionError):  # noqa: PT012
            async with producer.transaction() as transaction:
                sent = await transaction.send(topic, b"aborted")
                await producer.flush()
                dropped = await transaction.send(topic, b"never sent")
                raise ZeroDivisionError
        assert (await sent).offset == 6
        with pytest.raises(TransactionAbortedError):
            await dropped
        async with producer.transaction() as transaction:
            await transaction.send(topic, b"3")
        with pytest.raises(IllegalStateError, match="begin a transaction"):
            await producer.send(topic, b"outside")
    assert await read(bootstrap, topic) == [
        b"0", "COMMIT", b"1", "COMMIT", b"2", "COMMIT", b"aborted", "ABORT", b"3", "COMMIT",
    ]  # fmt: skip


async def test_a_refused_record_ends_its_transaction_at_once(bootstrap: str, topic: str) -> None:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, 1, configs={"max.message.bytes": "600"})])
    async with Producer(bootstrap, transactional_id=topic, linger_ms=0) as producer:
        producer.begin()
        await producer.send_and_wait(topic, b"a")
        refused = await producer.send(topic, b"x" * 2_000)
        behind = await producer.send(topic, b"b")
        with pytest.raises(AbortableTransactionError, match="MESSAGE_TOO_LARGE"):
            await producer.commit()
        assert isinstance(refused.error, RecordTooLargeError)
        assert isinstance(behind.error, AbortableTransactionError)
        await producer.abort()
        async with producer.transaction() as transaction:
            await transaction.send(topic, b"c")
    assert await read(bootstrap, topic) == [b"a", "ABORT", b"c", "COMMIT"]


async def test_a_second_producer_fences_the_first(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap, transactional_id=topic) as old:
        old.begin()
        await old.send(topic, b"old")
        await old.flush()
        async with Producer(bootstrap, transactional_id=topic) as new:
            with pytest.raises(ProducerFencedError):
                await old.commit()
            async with new.transaction() as transaction:
                await transaction.send(topic, b"new")
        with pytest.raises(ProducerFencedError):
            old.begin()
    assert await read(bootstrap, topic) == [b"old", "ABORT", b"new", "COMMIT"]


async def test_offsets_of_a_member_that_left_are_refused(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap, transactional_id=topic) as producer:
        gone = GroupMetadata(topic, 3, "gone")
        with pytest.raises(AbortableTransactionError):  # noqa: PT012
            async with producer.transaction() as transaction:
                await transaction.send(topic, b"x")
                await transaction.send_offsets({TopicPartition(topic, 0): 1}, gone)
        with pytest.raises(TypeError, match="group_metadata"):
            await producer.send_offsets({}, topic)  # type: ignore[arg-type]


@pytest.mark.ours_alone("transaction.version is lowered for the whole cluster")
async def test_classic_transactions() -> None:
    async with Broker(topics={"t": 2}) as broker, Client(broker.bootstrap) as client:
        from fencepost_protocol.generated.update_features import (
            FeatureUpdateKey,
            UpdateFeaturesRequest,
        )

        lower = UpdateFeaturesRequest(
            feature_updates=[FeatureUpdateKey("transaction.version", 1, upgrade_type=2)]
        )
        assert not (await client.ask(lower, 1)).error_code
        async with Producer(broker.bootstrap, transactional_id="a") as producer:
            for number in range(2):
                async with producer.transaction() as transaction:
                    await transaction.send("t", b"%d" % number, partition=0)
                    await transaction.send("t", b"%d" % number, partition=1)
                    await transaction.send_offsets({TopicPartition("t", 0): 1}, GroupMetadata("g"))
        for partition in (0, 1):
            found = await read(broker.bootstrap, "t", partition)
            assert found == [b"0", "COMMIT", b"1", "COMMIT"]


async def test_a_broker_that_goes_away_and_comes_back(restarting: Restarting, topic: str) -> None:
    await create(restarting.bootstrap, topic)
    producer = Producer(restarting.bootstrap)
    await producer.start()
    await producer.send_and_wait(topic, b"before")
    await restarting.stop()
    delivery = await producer.send(topic, b"while it was away")
    await restarting.start()
    assert (await delivery).offset == 1
    await producer.close()
    assert await read(restarting.bootstrap, topic) == [b"before", b"while it was away"]


@pytest.mark.ours_alone("its time-outs are too short for a Java process that has just started")
async def test_a_broker_that_stays_away_is_told_by_flush_and_close() -> None:
    options = {"delivery_timeout_ms": 300, "request_timeout_ms": 200, "linger_ms": 0}
    async with Broker(topics={"t": 1}) as broker:
        producer = Producer(broker.bootstrap, **options)  # type: ignore[arg-type]
        await producer.start()
        await producer.send_and_wait("t", b"before")
    delivery = await producer.send("t", b"lost")
    with pytest.raises(DeliveryTimedOutError):
        await producer.flush()
    assert isinstance(delivery.error, DeliveryTimedOutError)
    await producer.send("t", b"lost, too")
    with pytest.raises(DeliveryTimedOutError):
        await producer.close()


@pytest.mark.ours_alone("only its port is used, when it is gone")
async def test_nobody_answers_at_all() -> None:
    async with Broker() as broker:
        address = broker.bootstrap
    with pytest.raises(RequestTimedOutError, match=address):
        async with Producer(address, max_block_ms=200):
            pass


async def test_a_topic_that_grows_gets_records_in_all_its_partitions(
    bootstrap: str, topic: str
) -> None:
    await create(bootstrap, topic)
    async with (
        Admin(bootstrap) as admin,
        Producer(bootstrap, metadata_max_age_ms=20) as producer,
    ):
        assert (await producer.send_and_wait(topic, b"")).partition == 0
        await admin.create_partitions({topic: 2})
        used = {0}
        while used != {0, 1}:
            used.add((await producer.send_and_wait(topic, b"")).partition)


async def test_a_name_that_no_topic_can_have_stops_nobody(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap) as producer, Consumer(bootstrap, group_id=topic) as consumer:
        for name in ("\ud800", "x" * 70_000, "a b"):
            with pytest.raises(FatalError, match="not a topic name"):
                await producer.send(name, b"")
            with pytest.raises(ConfigError, match="not a topic name"):
                consumer.assign([TopicPartition(name, 0)])
            with pytest.raises(ConfigError, match="not a topic name"):
                consumer.subscribe([name])
        await producer.send_and_wait(topic, b"")


async def test_an_exception_in_the_block_is_not_hidden_by_waiting_records(
    bootstrap: str, topic: str
) -> None:
    await create(bootstrap, topic)
    with pytest.raises(ZeroDivisionError):  # noqa: PT012
        async with Producer(bootstrap, linger_ms=60_000, delivery_timeout_ms=200_000) as p:
            delivery = await p.send(topic, b"")
            raise ZeroDivisionError
    with pytest.raises(KafkaError, match="closed"):
        await delivery


@pytest.mark.parametrize("batch_size", [0, 1, 16_384, 1 << 17])
async def test_who_sends_without_end_lets_others_have_their_turn(
    bootstrap: str, topic: str, batch_size: int
) -> None:
    await create(bootstrap, topic)
    async with Producer(bootstrap, batch_size=batch_size) as producer:
        await producer.send_and_wait(topic, b"")
        had_its_turn = asyncio.Event()
        asyncio.get_running_loop().call_soon(had_its_turn.set)
        for _ in range(20):
            await producer.send(topic, bytes(20_000))
        assert had_its_turn.is_set()
