"""What a record costs our client, and its peers where they are installed.

    python -m tests.bench.client localhost:9092

The broker is not part of what is measured: it runs elsewhere. Times are CPU time of this process,
all its threads included, in microseconds a record; the least of three runs.
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
import uuid
from collections.abc import Awaitable, Callable
from time import process_time
from typing import Any

from fencepost_client import Admin, Consumer, NewTopic, Producer, TopicPartition

ROWS = ((100, 200_000), (1000, 50_000))
RUNS = 3
Run = Callable[[str, str, int, int], Awaitable[float]]


async def produce_ours(bootstrap: str, topic: str, size: int, count: int) -> float:
    value = bytes(size)
    async with Producer(bootstrap) as producer:
        await producer.send_and_wait(topic, value)
        before = process_time()
        for _ in range(count):
            await producer.send(topic, value)
        await producer.flush()
        return process_time() - before


async def produce_aiokafka(bootstrap: str, topic: str, size: int, count: int) -> float:
    from aiokafka import AIOKafkaProducer

    value = bytes(size)
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True, linger_ms=5)
    await producer.start()
    await producer.send_and_wait(topic, value)
    before = process_time()
    for _ in range(count):
        await producer.send(topic, value)
    await producer.flush()
    spent = process_time() - before
    await producer.stop()
    return spent


async def produce_confluent(bootstrap: str, topic: str, size: int, count: int) -> float:
    from confluent_kafka import Producer as Confluent  # type: ignore[import-not-found,unused-ignore]

    value = bytes(size)
    settings: dict[str, Any] = {"bootstrap.servers": bootstrap, "enable.idempotence": True}
    producer = Confluent(settings | {"linger.ms": 5, "queue.buffering.max.messages": 1_000_000})
    producer.produce(topic, value)
    producer.flush()
    before = process_time()
    for _ in range(count):
        producer.produce(topic, value)
    producer.flush()
    return process_time() - before


async def consume_ours(bootstrap: str, topic: str, size: int, count: int) -> float:
    async with Consumer(bootstrap, auto_offset_reset="earliest", max_poll_records=5000) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        before = process_time()
        seen = 0
        while seen < count:
            seen += len(await consumer.getmany(timeout_ms=1000))
        return process_time() - before


async def consume_batches(bootstrap: str, topic: str, size: int, count: int) -> float:
    """Every value is looked at, as the others have made an object of each."""
    async with Consumer(bootstrap, auto_offset_reset="earliest", max_poll_records=5000) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        before = process_time()
        seen = 0
        while seen < count:
            for batch in await consumer.fetch_batches(timeout_ms=1000):
                seen += len(batch.values.to_list())
        return process_time() - before


async def consume_columns(bootstrap: str, topic: str, size: int, count: int) -> float:
    """Only where the values are."""
    async with Consumer(bootstrap, auto_offset_reset="earliest", max_poll_records=5000) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        before = process_time()
        seen = 0
        while seen < count:
            for batch in await consumer.fetch_batches(timeout_ms=1000):
                seen += len(batch.values.starts)
        return process_time() - before


async def consume_aiokafka(bootstrap: str, topic: str, size: int, count: int) -> float:
    from aiokafka import AIOKafkaConsumer
    from aiokafka import TopicPartition as Theirs

    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([Theirs(topic, 0)])
    before = process_time()
    seen = 0
    while seen < count:
        found = await consumer.getmany(timeout_ms=1000, max_records=5000)
        seen += sum(map(len, found.values()))
    spent = process_time() - before
    await consumer.stop()
    return spent


async def consume_confluent(bootstrap: str, topic: str, size: int, count: int) -> float:
    from confluent_kafka import Consumer as Confluent
    from confluent_kafka import TopicPartition as Theirs

    consumer = Confluent(
        {"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
    )
    consumer.assign([Theirs(topic, 0, 0)])
    before = process_time()
    seen = 0
    while seen < count:
        seen += len(consumer.consume(5000, 1.0))
    spent = process_time() - before
    consumer.close()
    return spent


PRODUCERS: dict[str, Run] = {
    "fencepost": produce_ours,
    "aiokafka": produce_aiokafka,
    "confluent_kafka": produce_confluent,
}
CONSUMERS: dict[str, Run] = {
    "fencepost": consume_ours,
    "fencepost, values of batches": consume_batches,
    "fencepost, batches": consume_columns,
    "aiokafka": consume_aiokafka,
    "confluent_kafka": consume_confluent,
}


async def main(bootstrap: str) -> None:
    """Print a line for each client, size and direction."""
    for size, count in ROWS:
        topic = f"bench-{uuid.uuid4().hex[:8]}"
        async with Admin(bootstrap) as admin:
            await admin.create_topics([NewTopic(topic, 1, 1)])
        for what, clients in (("produce", PRODUCERS), ("consume", CONSUMERS)):
            for name, run in clients.items():
                if not name.startswith("fencepost") and importlib.util.find_spec(name) is None:
                    print(f"{what:8} {size:5} bytes  {name:28} is not installed")
                    continue
                least = min([await run(bootstrap, topic, size, count) for _ in range(RUNS)])
                cost = least / count * 1e6
                print(f"{what:8} {size:5} bytes  {name:28} {cost:6.2f} us a record", flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
