"""What aiokafka and librdkafka make of scenarios in which clients are refused or misled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as OfAiokafka
from aiokafka.errors import CommitFailedError, OffsetOutOfRangeError
from fencepost_broker import Broker
from fencepost_broker.operations import RemoveMember
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_broker.server.scenarios.members import GROUP
from fencepost_broker.server.scenarios.places import broker_for
from fencepost_broker.server.scenarios.refused_clients import QUOTA, set_quota
from fencepost_client import Admin, TopicPartition

from tests.wire.scenario_harness import READ_S, Member

# These are about clients, which have threads of their own: one loop will do.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])
NO_BROKER = 99


async def send_by_aiokafka(bootstrap: str) -> None:
    """Send a record."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        await producer.send_and_wait("orders", b"order")


async def send_by_librdkafka(bootstrap: str) -> None:
    """Send a record."""

    def send() -> None:
        producer = confluent_kafka.Producer({"bootstrap.servers": bootstrap})
        producer.produce("orders", b"order", on_delivery=lambda error, _: told.append(error))
        assert producer.flush(READ_S) == 0

    told: list[Any] = []
    await asyncio.to_thread(send)
    assert told == [None]


Send = Callable[[str], Awaitable[None]]
SENDERS = (send_by_aiokafka, send_by_librdkafka)


@pytest.mark.parametrize("send", SENDERS)
async def test_producers_outlast_metadata_that_lie(send: Send) -> None:
    async with broker_for(SCENARIOS["metadata-that-lies"]) as broker:
        lies = broker.faults.change_answer(
            {"topics[].partitions[].leader_id": NO_BROKER}, api="Metadata", times=3
        )
        await send(broker.bootstrap)
        assert lies.fired >= 1


async def test_librdkafka_tells_that_it_is_throttled() -> None:
    told: list[Any] = []

    def send(bootstrap: str) -> None:
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": bootstrap, "throttle_cb": told.append}
        )
        producer.produce("orders", b"x" * 15_000)
        assert producer.flush(READ_S) == 0
        while not told:
            producer.poll(0.1)

    async with broker_for(SCENARIOS["throttled-client"]) as broker:
        await set_quota(broker, QUOTA)
        await asyncio.to_thread(send, broker.bootstrap)
    assert told[0].throttle_time == pytest.approx(5, abs=1)


async def test_aiokafka_learns_by_its_commit_that_it_was_expelled() -> None:
    async with broker_for(SCENARIOS["zombie-member-commits"]) as broker:
        await send_by_aiokafka(broker.bootstrap)
        consumer = AIOKafkaConsumer(
            "orders", bootstrap_servers=broker.bootstrap, group_id=GROUP,
            auto_offset_reset="earliest", enable_auto_commit=False, heartbeat_interval_ms=60_000,
            session_timeout_ms=300_000,
        )  # fmt: skip
        await consumer.start()
        try:
            await asyncio.wait_for(consumer.getone(), READ_S)
            await expel(broker)
            with pytest.raises(CommitFailedError):
                await consumer.commit()
        finally:
            await consumer.stop()


async def test_librdkafka_learns_by_its_commit_that_it_was_expelled() -> None:
    def read(bootstrap: str) -> confluent_kafka.Consumer:
        consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": bootstrap, "group.id": GROUP, "auto.offset.reset": "earliest",
                "enable.auto.commit": False, "heartbeat.interval.ms": 100_000,
                "session.timeout.ms": 300_000, "max.poll.interval.ms": 300_000,
            }
        )  # fmt: skip
        consumer.subscribe(["orders"])
        message = consumer.poll(READ_S)
        assert message is not None
        assert message.error() is None
        return consumer

    async with broker_for(SCENARIOS["zombie-member-commits"]) as broker:
        await send_by_aiokafka(broker.bootstrap)
        consumer = await asyncio.to_thread(read, broker.bootstrap)
        try:
            await expel(broker)
            with pytest.raises(confluent_kafka.KafkaException) as failed:
                await asyncio.to_thread(consumer.commit, asynchronous=False)
            assert failed.value.args[0].code() == confluent_kafka.KafkaError.UNKNOWN_MEMBER_ID
        finally:
            await asyncio.to_thread(consumer.close)


async def expel(broker: Broker) -> None:
    """Remove the only member of the group."""
    async with Admin(broker.bootstrap) as admin:
        described = await admin.describe_groups([GROUP])
    [member] = described[GROUP].members
    await broker.perform(RemoveMember(group=GROUP, member=member.member_id))


async def delete_all(broker: Broker) -> None:
    """Write two records, and delete them."""
    for _ in range(2):
        await send_by_aiokafka(broker.bootstrap)
    async with Admin(broker.bootstrap) as admin:
        await admin.delete_records({TopicPartition("orders", 0): 2})


async def test_aiokafka_raises_offset_out_of_range_without_a_reset() -> None:
    async with broker_for(SCENARIOS["offset-out-of-range"]) as broker:
        await delete_all(broker)
        consumer = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap, auto_offset_reset="none")
        await consumer.start()
        try:
            partition = OfAiokafka("orders", 0)
            consumer.assign([partition])
            consumer.seek(partition, 1)
            with pytest.raises(OffsetOutOfRangeError):
                await asyncio.wait_for(consumer.getone(), READ_S)
        finally:
            await consumer.stop()


async def test_librdkafka_tells_offset_out_of_range_without_a_reset() -> None:
    def read(bootstrap: str) -> confluent_kafka.KafkaError | None:
        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "other", "auto.offset.reset": "error"}
        )
        try:
            consumer.assign([confluent_kafka.TopicPartition("orders", 0, 1)])
            message = consumer.poll(READ_S)
            return None if message is None else message.error()
        finally:
            consumer.close()

    async with broker_for(SCENARIOS["offset-out-of-range"]) as broker:
        await delete_all(broker)
        error = await asyncio.to_thread(read, broker.bootstrap)
    assert error is not None
    assert error.code() == confluent_kafka.KafkaError._AUTO_OFFSET_RESET


async def test_librdkafka_ends_when_another_has_its_instance_id() -> None:
    def error_of_the_first(bootstrap: str) -> confluent_kafka.KafkaError:
        first = Member(bootstrap, group_instance_id="reader-1")
        first.poll_until(lambda: first.assigned)
        second = Member(bootstrap, group_instance_id="reader-1")
        second.poll_until(lambda: second.assigned)
        first.poll_until(lambda: first.errors)
        second.close()
        first.close()
        return first.errors[0]

    async with broker_for(SCENARIOS["static-member-replaced"]) as broker:
        error = await asyncio.to_thread(error_of_the_first, broker.bootstrap)
    assert error.code() == confluent_kafka.KafkaError._FATAL
    assert "FENCED_INSTANCE_ID" in error.str() or "fenced" in error.str()


async def test_aiokafka_is_told_that_another_has_its_instance_id() -> None:
    async with broker_for(SCENARIOS["static-member-replaced"]) as broker:
        await send_by_aiokafka(broker.bootstrap)
        first, second = (
            AIOKafkaConsumer(
                "orders", bootstrap_servers=broker.bootstrap, group_id=GROUP,
                group_instance_id="reader-1", auto_offset_reset="earliest",
                enable_auto_commit=False, heartbeat_interval_ms=60_000, session_timeout_ms=300_000,
            )
            for _ in range(2)
        )  # fmt: skip
        try:
            await first.start()
            await asyncio.wait_for(first.getone(), READ_S)
            await second.start()
            with pytest.raises(CommitFailedError):  # its OffsetCommit has no instance id
                await first.commit()
        finally:
            await second.stop()
            await first.stop()
