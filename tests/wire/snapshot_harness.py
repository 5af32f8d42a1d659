"""Writing to a broker and reading all of it again."""

from __future__ import annotations

from typing import Final

from fencepost_broker import Broker
from fencepost_client import Consumer, TopicPartition
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

from tests.support.broker import Client

T: Final = TopicPartition("t", 0)
LONG_MS: Final = 600_000


async def write(broker: Broker, *values: bytes, topic: str = "t") -> None:
    async with Client(broker.bootstrap) as client:
        for value in values:
            await client.produce(topic, 0, value)


async def end_offset(client: Client, topic: str = "t") -> int:
    wanted = ListOffsetsTopic(topic, [ListOffsetsPartition(0, timestamp=-1)])
    answer = await client.ask(ListOffsetsRequest(-1, topics=[wanted]), 7)
    return int(answer.topics[0].partitions[0].offset)


async def read(broker: Broker, count: int) -> list[bytes | None]:
    async with Client(broker.bootstrap) as client:
        assert await end_offset(client) == count
    async with Consumer(broker.bootstrap) as consumer:
        consumer.assign([T])
        consumer.seek_to_beginning(T)
        found: list[bytes | None] = []
        while len(found) < count:
            found += [record.value for record in await consumer.getmany(timeout_ms=LONG_MS)]
        return found
