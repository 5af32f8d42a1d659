"""Brokers as processes: what was acknowledged is there when a leader was killed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from fencepost_client import Admin, Consumer, NewTopic, Producer, TopicPartition

from tests.support.up import Up

pytestmark = pytest.mark.slow
TOPIC, PARTITIONS, RECORDS = "t", 2, 400
QUICK = (
    "-c", "broker.session.timeout.ms=1500", "-c", "broker.heartbeat.interval.ms=200",
    "-c", "replica.fetch.backoff.ms=50", "--log-level", "info",
)  # fmt: skip


@pytest.fixture
def brokers() -> Iterator[dict[int, Up]]:
    """Two brokers by id, with a controller in a process of its own."""
    with ExitStack() as stack:
        controller = Up("-c", "process.roles=controller", "-c", "node.id=100", *QUICK)
        stack.enter_context(controller)
        where = f"controller.quorum.bootstrap.servers=127.0.0.1:{controller.port}"
        started = {}
        for number in (1, 2):
            roles = ("-c", "process.roles=broker", "-c", f"node.id={number}", "-c", where)
            started[number] = stack.enter_context(Up(*roles, *QUICK))
        yield started
        controller.assert_healthy()


async def create(bootstrap: str, name: str, partitions: int, factor: int) -> None:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(name, partitions, factor)])


async def leaders(bootstrap: str) -> list[int]:
    async with Admin(bootstrap) as admin:
        topic = (await admin.describe_topics([TOPIC]))[TOPIC]
        return [each.leader for each in topic.partitions]


async def read_back(bootstrap: str, count: int) -> list[bytes]:
    async with Consumer(bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign(TopicPartition(TOPIC, number) for number in range(PARTITIONS))
        found: list[bytes] = []
        while len(found) < count:
            found += [each.value or b"" for each in await consumer.getmany(timeout_ms=1000)]
        return found


def test_a_leader_is_killed_in_the_middle(brokers: dict[int, Up]) -> None:
    asyncio.run(kill_a_leader(brokers))


async def kill_a_leader(brokers: dict[int, Up]) -> None:
    bootstrap = ",".join(f"127.0.0.1:{each.port}" for each in brokers.values())
    await create(bootstrap, TOPIC, PARTITIONS, 2)
    victim = (await leaders(bootstrap))[0]
    acknowledged = []
    async with Producer(bootstrap) as producer:
        for number in range(RECORDS):
            if number == RECORDS // 2:
                await asyncio.to_thread(brokers[victim].kill)
            value = b"%d" % number
            await producer.send_and_wait(TOPIC, value, partition=number % PARTITIONS)
            acknowledged.append(value)
    found = await read_back(bootstrap, len(acknowledged))
    assert sorted(found) == sorted(acknowledged)
    async with asyncio.timeout(60):
        while await leaders(bootstrap) != [3 - victim] * PARTITIONS:
            pass  # a machine that is busy may fence the other one for a moment
    brokers[3 - victim].assert_healthy()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of its compression
def test_kafka_python_writes_and_reads_what_both_lead(brokers: dict[int, Up]) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    bootstrap = [f"127.0.0.1:{each.port}" for each in brokers.values()]
    asyncio.run(create(bootstrap[0], TOPIC, PARTITIONS, 2))
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    sent = [
        producer.send(TOPIC, b"%d" % number, partition=number % PARTITIONS) for number in range(100)
    ]
    assert {each.get(60).partition for each in sent} == {0, 1}
    producer.close()
    consumer = KafkaConsumer(
        TOPIC, bootstrap_servers=bootstrap, group_id="g", auto_offset_reset="earliest"
    )
    found: list[bytes] = []
    while len(found) < len(sent):
        found += [each.value for batch in consumer.poll(1000).values() for each in batch]
    consumer.close()
    assert sorted(found) == sorted(b"%d" % number for number in range(100))
