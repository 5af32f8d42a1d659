"""Clients that measure: one record after the other, or as much as goes through."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, Final

from fencepost_client import Producer

from tests.bench.cluster.clusters import PATIENCE_S

VALUE: Final = bytes(1000)
CHUNK: Final = 64
PROBE_S: Final = 0.01
BUFFER_BYTES: Final = 4 << 20
"""A transaction ends when all that was taken for it is sent: more would make it longer."""


def p99(values: Sequence[float]) -> float:
    """What one in a hundred exceeds."""
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.99))]


class Steady:
    """Produces one record, waits for it, and produces the next one."""

    def __init__(self, producer: Producer, topic: str) -> None:
        self._producer = producer
        self._topic = topic
        self.acked: list[float] = []
        """When each was acknowledged."""

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._producer.send_and_wait(self._topic, b"x", partition=0)
            self.acked.append(monotonic())

    async def more(self, count: int) -> None:
        """Wait for so many more."""
        wanted = len(self.acked) + count
        async with asyncio.timeout(PATIENCE_S):
            while len(self.acked) < wanted:  # noqa: ASYNC110 (nobody is to be woken in between)
                await asyncio.sleep(0.001)

    def longest_pause(self, since: float) -> float:
        """The longest time between two of them, of which the second came after this."""
        pairs = zip(self.acked, self.acked[1:], strict=False)
        return max(later - earlier for earlier, later in pairs if later >= since)

    def first_behind(self, since: float) -> float:
        """When the first one came after this."""
        return next(at for at in self.acked if at > since)


@asynccontextmanager
async def steady(bootstrap: str, topic: str) -> AsyncIterator[Steady]:
    """One that produces all the while."""
    async with Producer(bootstrap, linger_ms=0) as producer:
        client = Steady(producer, topic)
        running = asyncio.create_task(client.run())
        try:
            await client.more(20)
            yield client
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def produce_one(bootstrap: str, topic: str) -> None:
    """A first record, acknowledged by all."""
    async with Producer(bootstrap, linger_ms=0) as producer:
        await producer.send_and_wait(topic, b"x", partition=0)


async def throughput(bootstrap: str, topic: str, seconds: float) -> tuple[float, list[float]]:
    """As much as goes through: records a second, and how long a single record takes meanwhile.

    That is one of another producer's, which lingers for nothing.
    """
    times: list[float] = []
    async with (
        Producer(bootstrap) as producer,
        Producer(bootstrap, linger_ms=0) as probe,
    ):
        await producer.send_and_wait(topic, VALUE)
        probing = asyncio.create_task(_probe(probe, topic, times))
        try:
            rate = await _fill(producer, topic, seconds)
        finally:
            probing.cancel()
            await asyncio.gather(probing, return_exceptions=True)
    return rate, times


async def _fill(producer: Producer, topic: str, seconds: float) -> float:
    sent, begin = 0, monotonic()
    while monotonic() < begin + seconds:
        await producer.send_many(topic, [VALUE] * CHUNK)
        await asyncio.sleep(0)
        sent += CHUNK
    await producer.flush()
    return sent / (monotonic() - begin)


async def _probe(producer: Producer, topic: str, times: list[float]) -> None:
    while True:
        begin = monotonic()
        await producer.send_and_wait(topic, VALUE)
        times.append(monotonic() - begin)
        await asyncio.sleep(PROBE_S)


async def plain_rate(bootstrap: str, topic: str, seconds: float, **settings: Any) -> float:
    """Records a second without transactions."""
    async with Producer(
        bootstrap, enable_idempotence=False, buffer_memory=BUFFER_BYTES, **settings
    ) as producer:
        await producer.send_and_wait(topic, VALUE)
        return await _fill(producer, topic, seconds)


async def transactional_rate(
    bootstrap: str, topic: str, seconds: float, transaction_ms: int
) -> float:
    """Records a second in transactions that are committed when so much time has passed."""
    transactional_id = f"slide-{uuid.uuid4().hex}"
    async with Producer(
        bootstrap, transactional_id=transactional_id, buffer_memory=BUFFER_BYTES
    ) as producer:
        async with producer.transaction() as transaction:
            await transaction.send(topic, VALUE)
        sent, begin = 0, monotonic()
        while monotonic() < begin + seconds:
            commit_at = monotonic() + transaction_ms / 1000
            async with producer.transaction() as transaction:
                while monotonic() < commit_at:
                    await transaction.send_many(topic, [VALUE] * CHUNK)
                    await asyncio.sleep(0)
                    sent += CHUNK
        return sent / (monotonic() - begin)
