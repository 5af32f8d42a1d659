"""Share partitions with the share coordinator of the broker: over a socket, and over restarts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated import share_acknowledge as a
from fencepost_protocol.generated import share_fetch as f

from tests.machine.apis.share.harness import codes, errors, given
from tests.support.broker import Client, RunningBroker, memory_disk, running_broker

pytestmark = pytest.mark.asyncio

NONE = ErrorCode.NONE
ACCEPT, RELEASE = [1], [2]


class Member:
    """A member of a group, on a connection of its own."""

    def __init__(self, broker: RunningBroker, member_id: str = "m") -> None:
        self.client = Client(broker.bootstrap)
        self.topic_id = broker.server.image.topics.by_name["t"].topic_id
        self.member_id = member_id
        self.epoch = 0

    async def fetch(self, *acks: tuple[int, int, list[int]], max_wait_ms: int = 5_000) -> Any:
        batches = [f.AcknowledgementBatch(*each) for each in acks]
        topics = [f.FetchTopic(self.topic_id, [f.FetchPartition(0, batches)])]
        request = f.ShareFetchRequest(
            "g", self.member_id, self.epoch, max_wait_ms, 1, 1 << 20, 500, 500, topics=topics
        )
        self.epoch += 1
        return await self.client.ask(request, 2)

    async def acknowledge(self, *acks: tuple[int, int, list[int]]) -> Any:
        batches = [a.AcknowledgementBatch(*each) for each in acks]
        topics = [a.AcknowledgeTopic(self.topic_id, [a.AcknowledgePartition(0, batches)])]
        request = a.ShareAcknowledgeRequest("g", self.member_id, self.epoch, topics=topics)
        self.epoch += 1
        return await self.client.ask(request, 2)


async def begin(broker: RunningBroker) -> None:
    """Let the share partition of the group begin at offset 0."""
    topic_id = broker.server.image.topics.by_name["t"].topic_id
    rows = [initializing.PartitionData(0, 1, 0)]
    topics = [initializing.InitializeStateData(topic_id, rows)]
    request = initializing.InitializeShareGroupStateRequest("g", topics)
    answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    broker.coordinators.persister.ask(request, answered.set_result)
    assert (await answered).results[0].partitions[0].error_code == NONE


@pytest.mark.parametrize("fsync", ["interval", "always"])
async def test_what_is_acknowledged_is_not_delivered_again_after_a_restart(fsync: str) -> None:
    disk = memory_disk()
    async with running_broker({"fsync": fsync}, topics={"t": 1}, disk=disk) as broker:
        await begin(broker)
        await broker.produce("t", 0, *[b"v"] * 10)
        member = Member(broker)
        assert given(await member.fetch()) == [(0, 0, 9, 1)]
        assert codes(await member.acknowledge((0, 2, ACCEPT), (5, 6, ACCEPT), (7, 7, RELEASE))) == [
            NONE
        ]
        assert given(await member.fetch()) == [(0, 7, 7, 2)]
        await member.client.disconnect()
    async with running_broker({"fsync": fsync}, disk=disk) as broker:
        member = Member(broker)
        again = given(await member.fetch())
        assert [each[1:3] for each in again] == [(3, 4), (7, 7), (8, 9)]
        assert again[1][3] >= 2, "the release was written, and with it how often it was delivered"
        assert errors(await member.fetch((3, 4, ACCEPT), (7, 9, ACCEPT), max_wait_ms=0)) == [
            (NONE, NONE)
        ]
        await member.client.disconnect()
    async with running_broker({"fsync": fsync}, disk=disk) as broker:
        await broker.produce("t", 0, b"new")
        member = Member(broker)
        assert given(await member.fetch()) == [(0, 10, 10, 1)]
        await member.client.disconnect()


async def test_a_lost_connection_releases_its_records() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        await begin(broker)
        await broker.produce("t", 0, *[b"v"] * 10)
        one, two = Member(broker), Member(broker, "n")
        assert given(await one.fetch()) == [(0, 0, 9, 1)]
        assert given(await two.fetch(max_wait_ms=0)) == []
        await one.client.disconnect()
        assert given(await two.fetch()) == [(0, 0, 9, 2)]
        await two.client.disconnect()


async def test_locks_end_by_the_brokers_clock() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        await begin(broker)
        await broker.produce("t", 0, *[b"v"] * 10, timestamp_ms=broker.process.clock.now_ms())
        one, two = Member(broker), Member(broker, "n")
        assert given(await one.fetch()) == [(0, 0, 9, 1)]
        broker.process.clock.advance(seconds=30)
        assert given(await two.fetch()) == [(0, 0, 9, 2)]
        assert codes(await one.acknowledge((0, 9, ACCEPT))) == [ErrorCode.INVALID_RECORD_STATE]
        await one.client.disconnect()
        await two.client.disconnect()
