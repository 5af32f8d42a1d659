"""A transformation from one topic to another, and its output."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fencepost_client import (
    Admin,
    Committed,
    Consumer,
    ConsumerRecord,
    Producer,
    TopicPartition,
    Transaction,
    exactly_once,
)
from fencepost_client.clients.exactly_once import ExactlyOnce, Handler
from fencepost_client.consumer.list_offsets import LATEST

from tests.sdk.harness.producer import create
from tests.support.reached import has_reached
from tests.support.waiting import GIVEN_UP_S


def consumer_of(bootstrap: str, group_id: str, **options: Any) -> Consumer:
    options = {"heartbeat_interval_ms": 20, "max_poll_records": 4, **options}
    return Consumer(
        bootstrap,
        group_id=group_id,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **options,
    )


def upper_to(topic: str) -> Handler:
    async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        for record in records:
            assert record.value is not None
            await transaction.send(topic, record.value.upper())

    return handler


async def in_and_out(bootstrap: str, topic: str, partitions: int) -> str:
    """A topic to read from, and one to write to; the name of the second."""
    out = f"{topic}-out"
    for each in (topic, out):
        await create(bootstrap, each, partitions)
    return out


async def fill(bootstrap: str, topic: str, count: int, partitions: int = 2) -> list[bytes]:
    """Inputs, evenly over the partitions; what is to come of them."""
    async with Producer(bootstrap, linger_ms=0) as producer:
        for number in range(count):
            await producer.send(topic, b"n%03d" % number, partition=number % partitions)
    return [b"N%03d" % number for number in range(count)]


async def outputs(bootstrap: str, topic: str, partitions: int = 2) -> list[bytes | None]:
    """Everything that is committed, in the order of values."""
    where = [TopicPartition(topic, number) for number in range(partitions)]
    found: list[bytes | None] = []
    async with Admin(bootstrap) as admin:
        told = await admin.list_offsets(dict.fromkeys(where, LATEST))
        ends = {each: told[each].offset for each in where}
    async with Consumer(
        bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign(where)
        async with asyncio.timeout(2 * GIVEN_UP_S):
            while not has_reached(consumer, ends):
                found += [record.value for record in await consumer.getmany(timeout_ms=100)]
    return sorted(found, key=lambda value: value or b"")


async def process(loop: ExactlyOnce, count: int) -> list[Committed]:
    """Let transactions be made until so many records are processed."""
    done: list[Committed] = []
    while sum(len(each.records) for each in done) < count:
        done.append(await anext(loop))
    return done


@asynccontextmanager
async def running(
    bootstrap: str, topic: str, handler: Handler, transactional_id: str, **options: Any
) -> AsyncIterator[ExactlyOnce]:
    """A loop from ``topic``, in the group of that name."""
    async with consumer_of(bootstrap, topic, **options) as consumer:
        consumer.subscribe([topic])
        # Longer than a machine stands still: a transaction that times out is made again.
        producer = Producer(
            bootstrap, transactional_id=transactional_id, transaction_timeout_ms=60_000
        )
        async with exactly_once(consumer, producer, handler) as loop:
            yield loop
