"""A session of clients that uses most of what clients use, for recordings."""

from __future__ import annotations

from contextlib import suppress

from fencepost_client import Consumer, Producer

ORDERS = "orders"


class _GivenUpError(Exception):
    """Aborts a transaction."""


async def play_session(bootstrap: str, topic: str = ORDERS) -> None:
    """Produce, commit and abort transactions, and consume in a group."""
    async with Producer(bootstrap) as producer:
        for number in range(3):
            await producer.send_and_wait(topic, b"%d" % number, key=b"k", partition=0)
    await _transaction(bootstrap, topic, b"committed")
    with suppress(_GivenUpError):
        await _transaction(bootstrap, topic, b"aborted")
    async with Consumer(
        bootstrap, group_id="billing", auto_offset_reset="earliest",
        isolation_level="read_committed", enable_auto_commit=False,
    ) as consumer:  # fmt: skip
        consumer.subscribe([topic])
        read = 0
        async for _ in consumer:
            read += 1
            if read == 4:
                break
        await consumer.commit()


async def _transaction(bootstrap: str, topic: str, value: bytes) -> None:
    async with (
        Producer(bootstrap, transactional_id="payments") as producer,
        producer.transaction(),
    ):
        await producer.send_and_wait(topic, value, partition=0)
        if value == b"aborted":
            raise _GivenUpError
