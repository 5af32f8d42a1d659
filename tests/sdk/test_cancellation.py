"""Cancelled anywhere: nothing hangs, nothing is left, nothing is written twice."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import pytest_asyncio
from fencepost_client import Admin, Consumer, NewTopic, Producer, TopicPartition
from fencepost_client.consumer.list_offsets import LATEST

from tests.sdk.harness.cancellation import cancelled_after
from tests.sdk.harness.consumer import LONG_MS
from tests.sdk.harness.groups import is_in_state
from tests.sdk.harness.producer import create
from tests.support.reached import has_reached

pytestmark = pytest.mark.asyncio
TURNS = (*range(12), 14, 17, 20, 25, 30, 40, 60, 100, 200, 400)
"""After how many turns of the loop the cancellation comes: at nearly every await there is."""


@pytest_asyncio.fixture(autouse=True)
async def _two_partitions(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic, 2)


async def everything(bootstrap: str, topic: str) -> list[bytes | None]:
    """All committed records of both partitions."""
    partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    found: list[bytes | None] = []
    async with Consumer(
        bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign(partitions)
        async with Admin(bootstrap) as admin:
            told = await admin.list_offsets(dict.fromkeys(partitions, LATEST))
        ends = {where: told[where].offset for where in partitions}
        while not has_reached(consumer, ends):
            found += [record.value for record in await consumer.getmany(timeout_ms=100)]
    return found


async def test_a_producer(bootstrap: str, topic: str) -> None:
    async def work(mark: int) -> None:
        async with Producer(bootstrap, linger_ms=0) as producer:
            for number in range(5):
                await producer.send_and_wait(topic, b"%d-%d" % (mark, number))

    for turns in TURNS:
        await cancelled_after(turns, asyncio.create_task(work(turns)))
    found = await everything(bootstrap, topic)
    assert len(found) == len(set(found))


async def test_a_transaction(bootstrap: str, topic: str) -> None:
    async def work(mark: int) -> None:
        async with Producer(bootstrap, transactional_id=topic) as producer:
            for number in range(3):
                async with producer.transaction() as transaction:
                    for half in (0, 1):
                        value = b"%d-%d-%d" % (mark, number, half)
                        await transaction.send(topic, value, partition=half)

    for turns in TURNS:
        await cancelled_after(turns, asyncio.create_task(work(turns)))
    # The next producer of this id ends what was left open.
    async with Producer(bootstrap, transactional_id=topic):
        found = await everything(bootstrap, topic)
    assert len(found) == len(set(found))
    whole = {value.rpartition(b"-")[0] for value in found if value}
    assert len(found) == 2 * len(whole), "half of a transaction"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"partition_assignment_strategy": ["cooperative-sticky"]},
        {"group_protocol": "consumer"},
    ],
    ids=["eager", "cooperative", "consumer"],
)
async def test_a_member_of_a_group(bootstrap: str, topic: str, options: Any) -> None:
    async def work() -> None:
        async with Consumer(
            bootstrap,
            group_id=topic,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=10,
            **options,
        ) as consumer:
            consumer.subscribe([topic])
            await consumer.getmany(timeout_ms=20)
            await consumer.commit()

    async with Producer(bootstrap) as producer:
        await producer.send_many(topic, [b"1", b"2", b"3"])
    for turns in TURNS:
        await cancelled_after(turns, asyncio.create_task(work()))


async def test_a_join_that_waits_does_not_hold_up_the_others(bootstrap: str, topic: str) -> None:
    """A cancelled member leaves, though its JoinGroup is still waiting at the broker."""
    options = {"group_id": topic, "heartbeat_interval_ms": 10}
    partitions = {TopicPartition(topic, 0), TopicPartition(topic, 1)}
    async with Consumer(bootstrap, **options) as stays:  # type: ignore[arg-type]
        stays.subscribe([topic])
        await stays.block_on_rebalance(LONG_MS)

        async def joins() -> None:
            async with Consumer(bootstrap, **options) as other:  # type: ignore[arg-type]
                other.subscribe([topic])
                await other.block_on_rebalance(LONG_MS)

        waits = asyncio.create_task(joins())
        await is_in_state(bootstrap, topic, "PreparingRebalance")
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
        # Less than the session's 45 s, which it takes when the member has not left.
        async with asyncio.timeout(30):
            await stays.block_on_rebalance(LONG_MS)
        assert stays.assignment() == partitions


async def test_an_admin(bootstrap: str, topic: str) -> None:
    async def work(mark: int) -> None:
        async with Admin(bootstrap) as admin:
            await admin.create_topics([NewTopic(f"{topic}-{mark}")])
            await admin.describe_topics()

    for turns in TURNS:
        await cancelled_after(turns, asyncio.create_task(work(turns)))
