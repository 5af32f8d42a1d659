"""A test of one's own against a real broker in the same process: nothing to install or to stop.

pip install fencepost aiokafka pytest pytest-asyncio
pytest examples/testing/test_orders.py
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from fencepost_broker import Broker, StateClock

TOPICS = ["orders:1:retention.ms=604800000"]  # a week


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[Broker]:
    """A broker of its own for each test, empty, at a free port, whose time only moves when told."""
    async with Broker(topics=TOPICS, clock=StateClock(manual=True)) as broker:
        yield broker


async def place_order(broker: Broker, order: bytes) -> None:
    """What your program does."""
    async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap) as producer:
        await producer.send_and_wait("orders", order)


@pytest.mark.asyncio
async def test_an_order_arrives(broker: Broker) -> None:
    await place_order(broker, b"3 apples")
    async with AIOKafkaConsumer(
        "orders", bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest"
    ) as consumer:
        message = await consumer.getone()
    assert message.value == b"3 apples"


@pytest.mark.asyncio
async def test_an_order_is_forgotten_after_a_week(broker: Broker) -> None:
    await place_order(broker, b"3 apples")
    partition = TopicPartition("orders", 0)
    async with AIOKafkaConsumer(bootstrap_servers=broker.bootstrap) as consumer:
        broker.clock.advance(days=6)
        assert await consumer.beginning_offsets([partition]) == {partition: 0}
        broker.clock.advance(days=2)
        assert await consumer.beginning_offsets([partition]) == {partition: 1}
