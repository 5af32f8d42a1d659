"""Members of one group, and what their listeners hear."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fencepost_client import (
    Admin,
    Consumer,
    NewTopic,
    TopicPartition,
)

from tests.support.waiting import GIVEN_UP_S

PARTITIONS = 4
LONG_MS = 30_000


class Heard:
    """A listener of both kinds of callables."""

    def __init__(self) -> None:
        self.events: list[tuple[str, set[TopicPartition]]] = []

    def on_assigned(self, partitions: set[TopicPartition]) -> None:
        self.events.append(("assigned", partitions))

    async def on_revoked(self, partitions: set[TopicPartition]) -> None:
        await asyncio.sleep(0)
        self.events.append(("revoked", partitions))

    def on_lost(self, partitions: set[TopicPartition]) -> None:
        self.events.append(("lost", partitions))

    def subscribe(self, consumer: Consumer, topic: str) -> None:
        consumer.subscribe(
            [topic],
            on_assigned=self.on_assigned,
            on_revoked=self.on_revoked,
            on_lost=self.on_lost,
        )


async def create(bootstrap: str, topic: str) -> set[TopicPartition]:
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, PARTITIONS, 1)])
    return {TopicPartition(topic, number) for number in range(PARTITIONS)}


def member(bootstrap: str, group: str, *assignors: str, **options: Any) -> Consumer:
    return Consumer(
        bootstrap,
        group_id=group,
        partition_assignment_strategy=assignors or ["range"],
        heartbeat_interval_ms=50,
        auto_offset_reset="earliest",
        **options,
    )


async def poll_until(enough: Callable[[], object], *consumers: Consumer) -> None:
    """Let all ask for records until something is true."""
    polls: dict[asyncio.Task[Any], Consumer] = {}
    try:
        async with asyncio.timeout(2 * GIVEN_UP_S):
            while not enough():
                for consumer in set(consumers) - set(polls.values()):
                    polls[asyncio.create_task(consumer.getmany(timeout_ms=20))] = consumer
                done, _ = await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
                for poll in done:
                    del polls[poll]
                    poll.result()
    finally:
        for poll in polls:
            poll.cancel()
        await asyncio.gather(*polls, return_exceptions=True)
