"""A share consumer: what it is given, and what becomes of its acknowledgements."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from fencepost_client import (
    AcknowledgeType,
    Admin,
    ConfigResource,
    IllegalStateError,
    NewTopic,
    Producer,
    ResourceKind,
    ShareConsumer,
    ShareRecord,
    TopicPartition,
)
from fencepost_client.blocking import ShareConsumer as BlockingShareConsumer

pytestmark = pytest.mark.asyncio
LONG_MS = 30_000
ONE_BY_ONE: dict[str, Any] = {"max_poll_records": 1, "share_acquire_mode": "record_limit"}
ACCEPT, RELEASE, REJECT = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT


def explicit(bootstrap: str, group: str, **options: Any) -> ShareConsumer:
    return ShareConsumer(
        bootstrap, group_id=group, share_acknowledgement_mode="explicit", **options
    )


async def prepare(bootstrap: str, topic: str, partitions: int = 1, **settings: str) -> None:
    """Make a topic, and a group of the same name that begins at its start."""
    given = {"share.auto.offset.reset": "earliest"}
    given |= {name.replace("_", "."): value for name, value in settings.items()}
    async with Admin(bootstrap) as admin:
        await admin.create_topics([NewTopic(topic, partitions)])
        await admin.alter_configs({ConfigResource(ResourceKind.GROUP, topic): given})


async def produce(bootstrap: str, topic: str, *values: bytes, partitions: int = 1) -> None:
    async with Producer(bootstrap) as producer:
        for number, value in enumerate(values):
            await producer.send(topic, value, partition=number % partitions)
        await producer.flush()


async def take(consumer: ShareConsumer, count: int) -> list[ShareRecord]:
    found: list[ShareRecord] = []
    while len(found) < count:
        more = await consumer.getmany(timeout_ms=LONG_MS)
        assert more, f"only {found}"
        found += more
    return found


async def test_each_record_is_accepted_released_or_rejected(bootstrap: str, topic: str) -> None:
    await prepare(bootstrap, topic)
    async with explicit(bootstrap, topic) as consumer:
        consumer.subscribe([topic])
        await produce(bootstrap, topic, b"accept", b"release", b"reject")
        kinds = {b"accept": ACCEPT, b"release": RELEASE, b"reject": REJECT}
        first = await take(consumer, 3)
        assert [(r.value, r.offset, r.delivery_count) for r in first] == [
            (b"accept", 0, 1), (b"release", 1, 1), (b"reject", 2, 1),
        ]  # fmt: skip
        with pytest.raises(IllegalStateError):
            await consumer.getmany()
        for record in first:
            consumer.acknowledge(record, kinds[record.value or b""])
        with pytest.raises(IllegalStateError):
            consumer.acknowledge(first[0])
        [again] = await take(consumer, 1)
        assert (again.value, again.delivery_count) == (b"release", 2)
        consumer.acknowledge(again)
        assert await consumer.commit() == {}
        assert consumer.assignment() == {TopicPartition(topic, 0)}
        assert consumer.acquisition_lock_timeout_ms


async def test_implicitly_the_next_call_accepts_and_the_end_releases_the_rest(
    bootstrap: str, topic: str
) -> None:
    await prepare(bootstrap, topic)
    await produce(bootstrap, topic, *(b"%d" % number for number in range(5)))
    async with ShareConsumer(bootstrap, group_id=topic) as consumer:
        consumer.subscribe([topic])
        seen = []
        async for record in consumer:
            seen.append(record.value)
            if len(seen) == 3:
                break
    assert seen == [b"0", b"1", b"2"]
    async with ShareConsumer(bootstrap, group_id=topic) as consumer:
        consumer.subscribe([topic])
        rest = await take(consumer, 2)
        assert [(r.value, r.delivery_count) for r in rest] == [(b"3", 2), (b"4", 2)]


async def test_two_members_share_one_partition(bootstrap: str, topic: str) -> None:
    await prepare(bootstrap, topic)
    strict: dict[str, Any] = {"max_poll_records": 2, "share_acquire_mode": "record_limit"}
    async with (
        explicit(bootstrap, topic, **strict) as one,
        explicit(bootstrap, topic, **strict) as two,
    ):
        one.subscribe([topic])
        two.subscribe([topic])
        await produce(bootstrap, topic, b"0", b"1", b"2", b"3")
        found = Counter(r.value for r in [*await take(one, 2), *await take(two, 2)])
        assert found == Counter([b"0", b"1", b"2", b"3"])


async def test_records_of_several_partitions(bootstrap: str, topic: str) -> None:
    await prepare(bootstrap, topic, 3)
    values = [b"%d" % number for number in range(30)]
    await produce(bootstrap, topic, *values, partitions=3)
    async with ShareConsumer(bootstrap, group_id=topic) as consumer:
        consumer.subscribe([topic])
        assert sorted(r.value or b"" for r in await take(consumer, 30)) == sorted(values)
        assert await consumer.commit() == {}


async def test_a_lock_is_renewed_until_the_record_is_acknowledged(
    bootstrap: str, topic: str
) -> None:
    await prepare(bootstrap, topic)
    await produce(bootstrap, topic, b"slow", b"next")
    async with explicit(
        bootstrap, topic, max_poll_records=1, share_acquire_mode="record_limit"
    ) as c:
        c.subscribe([topic])
        [slow] = await take(c, 1)
        c.acknowledge(slow, AcknowledgeType.RENEW)
        assert await c.commit() == {}
        [following] = await take(c, 1)
        assert following.value == b"next"
        c.acknowledge(slow)
        c.acknowledge(following)
        assert await c.commit() == {}


async def test_without_async(bootstrap: str, topic: str) -> None:
    await prepare(bootstrap, topic)
    await produce(bootstrap, topic, b"0", b"1")

    def read() -> list[bytes | None]:
        with BlockingShareConsumer(bootstrap, group_id=topic) as consumer:
            consumer.subscribe([topic])
            found = []
            for record in consumer:
                found.append(record.value)
                if len(found) == 2:
                    return found
        return []

    assert await asyncio.to_thread(read) == [b"0", b"1"]


async def test_without_a_subscription(bootstrap: str, topic: str) -> None:
    async with ShareConsumer(bootstrap, group_id=topic) as consumer:
        with pytest.raises(IllegalStateError):
            await consumer.getmany()
