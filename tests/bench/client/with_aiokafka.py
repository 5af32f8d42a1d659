"""aiokafka; what is asked of it stands in `worker.py`."""

from __future__ import annotations

import asyncio
import uuid
from time import perf_counter
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from tests.bench.client.worker import Job, Latencies, measured, own_kilobytes

Told = dict[str, float]


async def _producer(job: Job, **settings: Any) -> AIOKafkaProducer:
    producer = AIOKafkaProducer(
        bootstrap_servers=job.bootstrap, enable_idempotence=True, **settings
    )
    await producer.start()
    return producer


async def _consumer(job: Job, partition: int = 0) -> AIOKafkaConsumer:
    consumer = AIOKafkaConsumer(bootstrap_servers=job.bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([TopicPartition(job.topic, partition)])
    return consumer


def produce(job: Job) -> Told:
    """``send`` for each record."""
    return asyncio.run(_produce(job))


async def _produce(job: Job) -> Told:
    value, told = bytes(job.size), Told()
    producer = await _producer(job, linger_ms=5)
    await producer.send_and_wait(job.topic, value)
    with measured(told, job.count):
        for _ in range(job.count):
            await producer.send(job.topic, value)
        await producer.flush()
    await producer.stop()
    return told


def consume(job: Job) -> Told:
    """All records of a partition from its beginning."""
    return asyncio.run(_consume(job))


async def _consume(job: Job) -> Told:
    told = Told()
    consumer = await _consumer(job)
    await consumer.getmany(timeout_ms=60_000, max_records=1)
    seen = 1
    with measured(told, job.count - 1):
        if job.way == "getmany":
            while seen < job.count:
                found = await consumer.getmany(timeout_ms=1000, max_records=5000)
                seen += sum(map(len, found.values()))
        else:
            async for _ in consumer:
                seen += 1
                if seen == job.count:
                    break
    await consumer.stop()
    return told


def latency(job: Job) -> Told:
    """Sent at a rate and read in the same loop."""
    return asyncio.run(_latency(job))


async def _latency(job: Job) -> Told:
    latencies = Latencies(job)
    producer = await _producer(job, linger_ms=0)
    consumer = await _consumer(job)

    async def read() -> None:
        async for record in consumer:
            if latencies.arrived(record.value):
                return

    reading = asyncio.create_task(read())
    latencies.begin()
    for index in range(latencies.count):
        wait = latencies.wait_seconds(index)
        if wait > 0:
            await asyncio.sleep(wait)
        await producer.send(job.topic, latencies.record(index))
    await reading
    told = latencies.told()
    await producer.stop()
    await consumer.stop()
    return told


def transactions(job: Job) -> Told:
    """One record each, one after the other."""
    return asyncio.run(_transactions(job))


async def _transactions(job: Job) -> Told:
    value = bytes(job.size)
    producer = await _producer(job, transactional_id=uuid.uuid4().hex)
    async with producer.transaction():
        await producer.send(job.topic, value)
    done, begin = 0, perf_counter()
    while perf_counter() < begin + job.seconds:
        async with producer.transaction():
            await producer.send(job.topic, value)
        done += 1
    rate = done / (perf_counter() - begin)
    await producer.stop()
    return {"rate": rate}


def memory(job: Job) -> Told:
    """Consumers of a partition each, that have read what is there and wait for more."""
    return asyncio.run(_memory(job))


async def _memory(job: Job) -> Told:
    consumers: list[AIOKafkaConsumer] = []

    async def add() -> None:
        consumer = await _consumer(job, len(consumers))
        consumers.append(consumer)
        seen = 0
        while seen < job.count:
            found = await consumer.getmany(timeout_ms=1000)
            seen += sum(map(len, found.values()))

    await add()
    before = own_kilobytes()
    for _ in range(job.clients - 1):
        await add()
    kilobytes = (own_kilobytes() - before) / (job.clients - 1)
    for consumer in consumers:
        await consumer.stop()
    return {"kilobytes": kilobytes}
