"""What parts of a broker ask of share coordinators: the topic is made, and each row is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated import read_share_group_state as reading

from tests.support.broker import RunningBroker, memory_disk, running_broker

pytestmark = pytest.mark.asyncio

GROUP = "g"


async def told(broker: RunningBroker, message: Message) -> dict[int, Any]:
    """The rows of the answer, by partition."""
    answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    persister = broker.server.coordinators.runtime.persister
    asyncio.get_running_loop().call_soon(persister.ask, message, answered.set_result)
    answer = await answered
    return {each.partition: each for topic in answer.results for each in topic.partitions}


def begin(topic_id: bytes, numbers: Iterable[int]) -> Message:
    rows = [initializing.PartitionData(each, 3, each * 100) for each in numbers]
    return initializing.InitializeShareGroupStateRequest(
        GROUP, [initializing.InitializeStateData(topic_id, rows)]
    )


def read(topic_id: bytes, numbers: Iterable[int]) -> Message:
    rows = [reading.PartitionData(each, 0) for each in numbers]
    return reading.ReadShareGroupStateRequest(GROUP, [reading.ReadStateData(topic_id, rows)])


@pytest.mark.parametrize("fsync", ["interval", "always"])
async def test_rows_of_several_coordinators_and_a_restart(fsync: str) -> None:
    disk = memory_disk()
    async with running_broker({"fsync": fsync}, topics={"t": 8}, disk=disk) as broker:
        topic_id = broker.server.image.topics.by_name["t"].topic_id
        assert "__share_group_state" not in broker.server.image.topics.by_name
        rows = await told(broker, begin(topic_id, range(9)))
        assert {each: row.error_code for each, row in rows.items()} == {
            **dict.fromkeys(range(8), ErrorCode.NONE),
            8: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        }
        assert len(broker.server.image.topics.by_name["__share_group_state"].partitions) == 5
    async with running_broker({"fsync": fsync}, disk=disk) as broker:
        rows = await told(broker, read(topic_id, range(8)))
        assert {each: row.start_offset for each, row in rows.items()} == {
            each: each * 100 for each in range(8)
        }
        assert await told(broker, read(topic_id, ())) == {}
