"""Fetches of a consumer that leaves its group are answered, and only those."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity

from tests.support.broker import Client, RunningBroker, running_broker
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

LEAVING: list[tuple[Message, int]] = [
    (LeaveGroupRequest("g", members=[MemberIdentity("m")]), 5),
    (ConsumerGroupHeartbeatRequest("g", "m", -1), 1),
    (ConsumerGroupHeartbeatRequest("g", "m", -2, "instance"), 1),
]


def parked(broker: RunningBroker) -> int:
    """How many requests wait for records."""
    return len(broker.server.table.by_name["orders"].partitions[0].waiters)


def fetching(client: Client) -> asyncio.Task[object]:
    """A fetch that waits for ten minutes."""
    topics = [FetchTopic("orders", partitions=[FetchPartition(0, partition_max_bytes=1 << 20)])]
    request = FetchRequest(max_wait_ms=600_000, min_bytes=1, max_bytes=1 << 20, topics=topics)
    return asyncio.create_task(client.ask(request, 11))


@pytest.mark.parametrize(("leave", "version"), LEAVING, ids=["classic", "consumer", "static"])
@pytest.mark.parametrize("answers", [True, False])
async def test_a_consumer_that_leaves_waits_for_nothing(
    leave: Message, version: int, answers: bool
) -> None:
    settings = {"group.leave.answers.fetches": answers}
    async with (
        running_broker(settings, topics={"orders": 1}) as broker,
        Client(broker.bootstrap, "reader") as reads,
        Client(broker.bootstrap, "reader") as leaves,
        Client(broker.bootstrap, "another") as stays,
    ):
        mine, others = fetching(reads), fetching(stays)
        await until(lambda: parked(broker) == 2)
        await leaves.ask(leave, version)
        assert parked(broker) == (1 if answers else 2)
        if answers:
            await mine
        mine.cancel()
        others.cancel()
