"""What a clean log holds: idempotent and transactional writers, and an exactly-once program."""

from __future__ import annotations

from fencepost_client import Consumer, NewTopic, Producer, exactly_once
from fencepost_client.clients.admin import Admin

ORDERS = "orders"
INVOICES = "invoices"
PAIRS = "pairs"
TOPICS = {ORDERS: 2, INVOICES: 2, PAIRS: 2}
GROUP = "billing"
ORDER_COUNT = 40


async def make_traffic(bootstrap: str) -> None:
    """Orders, their invoices by ``exactly_once``, and transactions over two partitions."""
    async with Producer(bootstrap) as producer:
        for number in range(ORDER_COUNT):
            await producer.send(
                ORDERS, b"order %d" % number, key=b"id-%d" % number, partition=number % 2
            )
            if number % 5 == 4:
                await producer.flush()
    async with Producer(bootstrap, transactional_id="pairs-1") as producer:
        for number in range(8):
            await _pair(producer, number, commit=number % 3 != 2)
    await _invoice(bootstrap)


async def _pair(producer: Producer, number: int, *, commit: bool) -> None:
    producer.begin()
    for partition in range(2):
        for _ in range(2):
            await producer.send(PAIRS, b"pair %d" % number, partition=partition)
            await producer.flush()
    await (producer.commit() if commit else producer.abort())


async def _invoice(bootstrap: str) -> None:
    consumer = Consumer(
        bootstrap,
        group_id=GROUP,
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
    )
    done = 0

    async def handler(records: object, transaction: object) -> None:
        for record in records:  # type: ignore[attr-defined]
            await transaction.send(  # type: ignore[attr-defined]
                INVOICES, b"invoice", key=record.key, partition=record.partition
            )

    producer = Producer(bootstrap, transactional_id="billing-1")
    async with consumer, exactly_once(consumer, producer, handler) as transactions:
        consumer.subscribe([ORDERS])
        async for step in transactions:
            done += len(step.records)
            if done >= ORDER_COUNT:
                break


async def make_topics(bootstrap: str) -> None:
    """For a broker that was not told of them at its start."""
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(name, count) for name, count in TOPICS.items()])
