"""The log of a share coordinator stays short, and a restart finds the state in what is left."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_protocol.apis import Message
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated import read_share_group_state as reading
from fencepost_protocol.generated import write_share_group_state as writing
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.primitives import uuid_text

from tests.support.broker import RunningBroker, memory_disk, running_broker
from tests.support.waiting import asked_until, until

pytestmark = pytest.mark.asyncio
SETTINGS = {
    "share.coordinator.state.topic.num.partitions": 1,
    "share.coordinator.state.topic.prune.interval.ms": 2,
    "share.coordinator.cold.partition.snapshot.interval.ms": 2,
}
SHARE_KEY = 2
ACKNOWLEDGED = 2


async def result(broker: RunningBroker, message: Message, version: int = 0) -> Any:
    return (await broker.ask(message, version)).results[0].partitions[0]


async def begin(broker: RunningBroker, topic_id: bytes) -> None:
    """Until the share coordinator is there."""
    key = f"g:{uuid_text(topic_id)}:0"

    async def is_found() -> bool:
        answer = await broker.ask(FindCoordinatorRequest("", SHARE_KEY, [key]), 6)
        return bool(answer.coordinators[0].error_code == 0)

    await asked_until(is_found)


async def test_old_records_are_deleted_and_the_state_stays() -> None:
    disk = memory_disk()
    async with running_broker(SETTINGS, topics={"t": 1}, disk=disk) as broker:
        topic_id = broker.server.image.topics.by_name["t"].topic_id
        await begin(broker, topic_id)
        part = initializing.PartitionData(0, 1, 0)
        row = initializing.InitializeStateData(topic_id, [part])
        begun = initializing.InitializeShareGroupStateRequest("g", [row])
        assert not (await result(broker, begun)).error_code
        for last in range(4):
            batch = writing.StateBatch(last, last, ACKNOWLEDGED, 1)
            part_ = writing.PartitionData(0, 1, 0, 0, last + 1, [batch])
            row_ = writing.WriteStateData(topic_id, [part_])
            assert not (
                await result(broker, writing.WriteShareGroupStateRequest("g", [row_]), 1)
            ).error_code
        [shard] = broker.coordinators.shards_of(RecordFamily.SHARES)
        log = shard.partition.log
        await until(lambda: log.log_end_offset - 1 == log.log_start_offset >= 5)  # one snapshot
    async with running_broker(SETTINGS, disk=disk) as broker:
        await begin(broker, topic_id)
        ask = reading.ReadStateData(topic_id, [reading.PartitionData(0, 0)])
        read = await result(broker, reading.ReadShareGroupStateRequest("g", [ask]))
        assert (read.start_offset, read.state_epoch) == (0, 1)
        [found] = read.state_batches
        assert (found.first_offset, found.last_offset, found.delivery_state) == (0, 3, ACKNOWLEDGED)
