"""Our client; what is asked of it stands in `worker.py`."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import AsyncExitStack
from time import perf_counter
from typing import Any

from fencepost_client import Consumer, Producer, TopicPartition
from fencepost_client.producer.accumulator import BATCH_SIZE

from tests.bench.client.worker import Job, Latencies, measured, own_kilobytes

Told = dict[str, float]


def produce(job: Job) -> Told:
    """``send`` for each record, also with batches no larger than others'; or ``send_many``."""
    return asyncio.run(_produce(job))


async def _produce(job: Job) -> Told:
    value, told = bytes(job.size), Told()
    size = 1 << 14 if job.way == "batches of 16 KB" else BATCH_SIZE
    async with Producer(job.bootstrap, batch_size=size) as producer:
        await producer.send_and_wait(job.topic, value)
        with measured(told, job.count):
            if job.way == "send_many":
                for _ in range(job.count // 1000):
                    await producer.send_many(job.topic, [value] * 1000)
            else:
                for _ in range(job.count):
                    await producer.send(job.topic, value)
            await producer.flush()
    return told


def consume(job: Job) -> Told:
    """All records of a partition from its beginning."""
    return asyncio.run(_consume(job))


async def _consume(job: Job) -> Told:
    told = Told()
    async with Consumer(
        job.bootstrap, auto_offset_reset="earliest", max_poll_records=5000
    ) as consumer:
        consumer.assign([TopicPartition(job.topic, 0)])
        await consumer.getmany(timeout_ms=60_000, max_records=1)
        with measured(told, job.count - 1):
            await _READ[job.way](consumer, job.count - 1)
    return told


async def _batches(consumer: Consumer, count: int) -> None:
    """A copy of each value, since the others give one."""
    seen = 0
    while seen < count:
        for batch in await consumer.fetch_batches(timeout_ms=1000):
            seen += len(batch.values.to_list())


async def _getmany(consumer: Consumer, count: int) -> None:
    seen = 0
    while seen < count:
        seen += len(await consumer.getmany(timeout_ms=1000))


async def _iterate(consumer: Consumer, count: int) -> None:
    seen = 0
    async for _ in consumer:
        seen += 1
        if seen == count:
            return


_READ: dict[str, Callable[[Consumer, int], Any]] = {
    "batches": _batches,
    "getmany": _getmany,
    "async for": _iterate,
}


def latency(job: Job) -> Told:
    """Sent at a rate and read in the same loop."""
    return asyncio.run(_latency(job))


async def _latency(job: Job) -> Told:
    latencies = Latencies(job)
    async with (
        Producer(job.bootstrap, linger_ms=0) as producer,
        Consumer(job.bootstrap, auto_offset_reset="earliest") as consumer,
    ):
        consumer.assign([TopicPartition(job.topic, 0)])

        async def read() -> None:
            async for record in consumer:
                if latencies.arrived(record.value or b""):
                    return

        reading = asyncio.create_task(read())
        latencies.begin()
        for index in range(latencies.count):
            wait = latencies.wait_seconds(index)
            if wait > 0:
                await asyncio.sleep(wait)
            await producer.send(job.topic, latencies.record(index))
        await reading
        return latencies.told()


def transactions(job: Job) -> Told:
    """One record each, one after the other."""
    return asyncio.run(_transactions(job))


async def _transactions(job: Job) -> Told:
    value, told = bytes(job.size), Told()
    async with Producer(job.bootstrap, transactional_id=uuid.uuid4().hex, linger_ms=0) as producer:
        async with producer.transaction() as transaction:
            await transaction.send(job.topic, value)
        done, begin = 0, perf_counter()
        while perf_counter() < begin + job.seconds:
            async with producer.transaction() as transaction:
                await transaction.send(job.topic, value)
            done += 1
        told["rate"] = done / (perf_counter() - begin)
    return told


def memory(job: Job) -> Told:
    """Consumers of a partition each, that have read what is there and wait for more."""
    return asyncio.run(_memory(job))


async def _memory(job: Job) -> Told:
    async with AsyncExitStack() as stack:
        consumers: list[Consumer] = []

        async def add() -> None:
            consumer = await stack.enter_async_context(
                Consumer(job.bootstrap, auto_offset_reset="earliest")
            )
            consumer.assign([TopicPartition(job.topic, len(consumers))])
            consumers.append(consumer)
            seen = 0
            while seen < job.count:
                seen += len(await consumer.getmany(timeout_ms=1000))

        await add()
        before = own_kilobytes()
        for _ in range(job.clients - 1):
            await add()
        return {"kilobytes": (own_kilobytes() - before) / (job.clients - 1)}
