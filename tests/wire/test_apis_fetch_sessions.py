"""Fetch sessions over a socket; each expectation was seen on Apache Kafka 4.3.1."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)

from tests.support.broker import Client, RunningBroker, running_broker

pytestmark = pytest.mark.asyncio

BATCH = 69
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


class Consumer:
    """Fetches in a session."""

    def __init__(self, broker: RunningBroker) -> None:
        self.broker = broker
        self.session_id = 0
        self.epoch = 0

    async def fetch(
        self,
        *partitions: tuple[int, int],
        forget: tuple[int, ...] = (),
        max_bytes: int = 1 << 20,
        max_wait_ms: int = 0,
    ) -> list[tuple[int, int, int, int]]:
        """Per answered partition its number, error, high watermark and bytes."""
        entries = [
            FetchPartition(number, fetch_offset=offset, partition_max_bytes=1 << 20)
            for number, offset in partitions
        ]
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=max_bytes,
            session_id=self.session_id,
            session_epoch=self.epoch,
            topics=[FetchTopic("t", partitions=entries)] if entries else [],
            forgotten_topics_data=[ForgottenTopic("t", partitions=list(forget))] if forget else [],
        )
        response = await self.broker.ask(request, 12)
        assert response.error_code == 0
        self.session_id = response.session_id
        self.epoch += 1
        return [
            (each.partition_index, each.error_code, each.high_watermark, len(each.records or b""))
            for topic in response.responses
            for each in topic.partitions
        ]


async def test_a_session_tells_what_changed() -> None:
    async with running_broker(topics={"t": 3}) as broker:
        await broker.produce("t", 0, b"x")
        consumer = Consumer(broker)
        first = await consumer.fetch((0, 0), (1, 0), (2, 0))
        assert first == [(0, 0, 1, BATCH), (1, 0, 0, 0), (2, 0, 0, 0)]
        assert consumer.session_id > 0
        assert await consumer.fetch() == [(0, 0, 1, BATCH)]
        assert await consumer.fetch((0, 1)) == []
        for number in (1, 2):
            await broker.produce("t", number, b"x")
        assert await consumer.fetch() == [(1, 0, 1, BATCH), (2, 0, 1, BATCH)]
        assert await consumer.fetch(max_bytes=10) == [(1, 0, 1, BATCH)]
        assert await consumer.fetch(max_bytes=10) == [(2, 0, 1, BATCH)]
        assert await consumer.fetch((1, 1), (2, 1)) == []
        assert await consumer.fetch((9, 0)) == [(9, UNKNOWN, -1, 0)]
        assert await consumer.fetch() == [(9, UNKNOWN, -1, 0)]
        assert await consumer.fetch((0, 77), forget=(9,)) == [
            (0, ErrorCode.OFFSET_OUT_OF_RANGE, -1, 0)
        ]
        assert await consumer.fetch((0, 1)) == [(0, 0, 1, 0)]
        assert await consumer.fetch(forget=(0, 1, 2)) == []
        assert consumer.session_id == 0


async def test_a_parked_fetch_tells_its_news_once() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        consumer = Consumer(broker)
        assert await consumer.fetch((0, 0)) == [(0, 0, 0, 0)]
        waiting = asyncio.create_task(consumer.fetch(max_wait_ms=10_000))
        done, _ = await asyncio.wait({waiting}, timeout=0.2)
        assert not done
        partition = broker.server.table.by_name["t"].partitions[0]
        partition.moved()  # nothing came: it goes on waiting
        assert partition.waiters
        other = Client(f"{broker.host}:{broker.port}")
        await other.produce("t", 0, b"x")
        await other.disconnect()
        assert await waiting == [(0, 0, 1, BATCH)]
        assert await consumer.fetch((0, 1)) == []


@pytest.mark.parametrize(
    ("session_id", "epoch", "code"),
    [
        (0, 7, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (1, 7, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
    ],
)
async def test_what_is_wrong_with_a_session(session_id: int, epoch: int, code: int) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        consumer = Consumer(broker)
        await consumer.fetch((0, 0))
        asked = FetchRequest(session_id=session_id * consumer.session_id, session_epoch=epoch)
        response = await broker.ask(asked, 12)
        assert (response.error_code, response.session_id, response.responses) == (code, 0, [])
        assert await consumer.fetch() == []


async def test_the_setting_bounds_how_many_there_are() -> None:
    none = {"max.incremental.fetch.session.cache.slots": 0}
    async with running_broker(none, topics={"t": 1}) as broker:
        consumer = Consumer(broker)
        assert await consumer.fetch((0, 0)) == [(0, 0, 0, 0)]
        assert consumer.session_id == 0
