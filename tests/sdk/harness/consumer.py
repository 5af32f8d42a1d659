"""Topics for consumers, and records to read."""

from __future__ import annotations

from fencepost_client import (
    Admin,
    Consumer,
    ConsumerRecord,
    NewTopic,
    Producer,
    TopicPartition,
)

LONG_MS = 30_000


async def create(bootstrap: str, topic: str, partitions: int = 1) -> list[TopicPartition]:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, partitions, 1)])
    return [TopicPartition(topic, number) for number in range(partitions)]


async def produce(bootstrap: str, topic: str, *values: bytes, partition: int = 0) -> None:
    async with Producer(bootstrap) as producer:
        for value in values:
            await producer.send(topic, value, partition=partition)


async def read(consumer: Consumer, count: int) -> list[bytes | None]:
    """So many values; waits for them."""
    found: list[ConsumerRecord] = []
    while len(found) < count:
        found += await consumer.getmany(timeout_ms=LONG_MS, max_records=count - len(found))
    return [record.value for record in found]


def numbers(start: int, end: int) -> list[bytes]:
    return [b"%d" % number for number in range(start, end)]
