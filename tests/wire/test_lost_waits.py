"""Requests that wait in a coordinator when their connection goes, or when too many wait already."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker.network.connection import Connection
from fencepost_broker.server.clock import StateClock
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from tests.support.broker import Client, RunningBroker, running_broker
from tests.support.objects import count_alive
from tests.wire.transaction_harness import KAFKAS_WAY, Producer

pytestmark = pytest.mark.asyncio

NONE = ErrorCode.NONE
AT_ONCE = {"group.initial.rebalance.delay.ms": 0}
SESSION_MS = 10_000


def another(broker: RunningBroker) -> Client:
    return Client(f"{broker.host}:{broker.port}")


def join(member_id: str = "") -> JoinGroupRequest:
    protocols = [JoinGroupRequestProtocol("any", b"m")]
    return JoinGroupRequest("g", SESSION_MS, 60_000, member_id, None, "consumer", protocols)


def sync(generation: int, member_id: str, *assigned: str) -> SyncGroupRequest:
    given = [SyncGroupRequestAssignment(each, each.encode()) for each in assigned]
    return SyncGroupRequest("g", generation, member_id, None, "consumer", "any", given)


async def member_id(client: Client) -> str:
    answer = await client.ask(join(), 7)
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    return str(answer.member_id)


async def beat(client: Client, generation: int, member: str) -> ErrorCode:
    answer = await client.ask(HeartbeatRequest("g", generation, member), 4)
    return ErrorCode(answer.error_code)


async def group(client: Client) -> tuple[str, int]:
    (found,) = (await client.ask(DescribeGroupsRequest(["g"]), 5)).groups
    return found.group_state, len(found.members)


async def until_parked(broker: RunningBroker, count: int) -> None:
    async with asyncio.timeout(60):
        while broker.process.socket_server.parked_count != count:
            await broker.ask(MetadataRequest(topics=[]), 9)


async def lose(client: Client, waiting: asyncio.Task[Any]) -> None:
    waiting.cancel()
    await client.disconnect()


async def stable(broker: RunningBroker) -> tuple[str, int]:
    """A group of one member."""
    await broker.ask(FindCoordinatorRequest("g", 0), 2)
    me = await member_id(broker)
    generation = (await broker.ask(join(me), 7)).generation_id
    assert not (await broker.ask(sync(generation, me, me), 5)).error_code
    return me, generation


async def test_a_member_whose_join_waits_stays_until_its_session_is_over() -> None:
    clock = StateClock(manual=True)
    async with running_broker(AT_ONCE, clock=clock) as broker:
        me, generation = await stable(broker)
        connections = count_alive(Connection)
        other = another(broker)
        lost = await member_id(other)
        waiting = asyncio.ensure_future(other.ask(join(lost), 7))
        await until_parked(broker, 1)
        await lose(other, waiting)
        await until_parked(broker, 0)
        assert count_alive(Connection) == connections, "the group's member holds no connection"
        assert await group(broker) == ("PreparingRebalance", 2)
        assert await beat(broker, generation, me) is ErrorCode.REBALANCE_IN_PROGRESS
        joined = await broker.ask(join(me), 7)
        assert {each.member_id for each in joined.members} == {me, lost}
        assert not (await broker.ask(sync(joined.generation_id, me, me, lost), 5)).error_code
        assert await group(broker) == ("Stable", 2)
        clock.advance(ms=SESSION_MS - 1)
        assert await beat(broker, joined.generation_id, me) is NONE
        clock.advance(ms=1)
        assert await group(broker) == ("PreparingRebalance", 1)
        alone = await broker.ask(join(me), 7)
        assert [each.member_id for each in alone.members] == [me]


async def test_a_member_whose_sync_waits_stays_until_its_session_is_over() -> None:
    clock = StateClock(manual=True)
    async with running_broker(AT_ONCE, clock=clock) as broker:
        me, _ = await stable(broker)
        other = another(broker)
        lost = await member_id(other)
        joining = asyncio.ensure_future(other.ask(join(lost), 7))
        await until_parked(broker, 1)
        generation = (await broker.ask(join(me), 7)).generation_id
        assert (await joining).generation_id == generation
        waiting = asyncio.ensure_future(other.ask(sync(generation, lost), 5))
        await until_parked(broker, 1)
        await lose(other, waiting)
        await until_parked(broker, 0)
        assert (await broker.ask(sync(generation, me, me, lost), 5)).assignment == me.encode()
        assert await group(broker) == ("Stable", 2)
        async with another(broker) as back:
            again = await back.ask(sync(generation, lost), 5)
            assert again.assignment == lost.encode(), "whoever comes back has lost nothing"
        clock.advance(ms=SESSION_MS)
        assert await group(broker) == ("Empty", 0)


async def test_a_group_that_may_not_wait_any_more_says_so() -> None:
    async with running_broker({**AT_ONCE, "requests.parked.max": 1}) as broker:
        me, generation = await stable(broker)
        async with another(broker) as second, another(broker) as third:
            parked = await member_id(second)
            waiting = asyncio.ensure_future(second.ask(join(parked), 7))
            await until_parked(broker, 1)
            refused = await third.ask(join(), 3)  # would be a member at once, and wait
            assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
            refused = await third.ask(join(), 7)
            assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
            assert await group(broker) == ("PreparingRebalance", 2)
            joined = await broker.ask(join(me), 7)
            assert not joined.error_code, "whoever does not have to wait is answered"
            assert (await waiting).generation_id == joined.generation_id > generation


async def test_a_sync_that_may_not_wait_comes_again() -> None:
    async with running_broker({**AT_ONCE, "requests.parked.max": 1}) as broker:
        me, _ = await stable(broker)
        async with another(broker) as second, another(broker) as idle:
            other = await member_id(second)
            waiting = asyncio.ensure_future(second.ask(join(other), 7))
            await until_parked(broker, 1)
            generation = (await broker.ask(join(me), 7)).generation_id
            await waiting
            broker.process.socket_server.parked_max = 0
            refused = await second.ask(sync(generation, other), 5)
            assert refused.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
            assert (await broker.ask(sync(generation, me, me, other), 5)).assignment
            assert (await idle.ask(sync(generation, other), 5)).assignment == other.encode()


async def state_of(broker: RunningBroker) -> str:
    answer = await broker.ask(DescribeTransactionsRequest(["x"]), 0)
    return str(answer.transaction_states[0].transaction_state)


async def ended(broker: RunningBroker) -> tuple[int, int]:
    """A producer whose markers are held back."""
    await broker.ask(FindCoordinatorRequest("x", 1), 2)
    producer = await broker.ask(InitProducerIdRequest("x", 60_000), 4)
    who = producer.producer_id, producer.producer_epoch
    topics = [AddPartitionsToTxnTopic("t", [0])]
    await broker.ask(AddPartitionsToTxnRequest([], "x", *who, topics), 3)
    assert not (await broker.ask(EndTxnRequest("x", *who, True), 3)).error_code
    return who


async def test_an_add_whose_connection_went_is_carried_out_and_gives_its_place_back() -> None:
    """As a request that a Kafka has received: the client cannot know whether it was."""
    settings = {"transaction.park.max.ms": 600_000}
    async with running_broker(settings, topics={"t": 2}) as broker:
        hold = broker.coordinators.sender.hold()
        who = await ended(broker)
        other = another(broker)
        add = AddPartitionsToTxnRequest([], "x", *who, [AddPartitionsToTxnTopic("t", [1])])
        waiting = asyncio.ensure_future(other.ask(add, 3))
        await until_parked(broker, 1)
        await lose(other, waiting)
        await until_parked(broker, 0)
        assert await state_of(broker) == "PrepareCommit"
        hold.release()
        async with asyncio.timeout(60):
            while await state_of(broker) != "Ongoing":
                pass
        answer = await broker.ask(add, 3)
        assert (
            not answer.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
        )


async def test_an_add_that_may_not_wait_hears_it_at_once() -> None:
    settings = {"transaction.park.max.ms": 600_000, "requests.parked.max": 1}
    async with running_broker(settings, topics={"t": 2}) as broker:
        hold = broker.coordinators.sender.hold()
        who = await ended(broker)
        broker.process.socket_server.parked_max = 0
        add = AddPartitionsToTxnRequest([], "x", *who, [AddPartitionsToTxnTopic("t", [1])])
        (topic,) = (await broker.ask(add, 3)).results_by_topic_v3_and_below
        code = topic.results_by_partition[0].partition_error_code
        assert code == ErrorCode.CONCURRENT_TRANSACTIONS
        begin = await broker.ask(InitProducerIdRequest("x", 60_000), 4)
        assert begin.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        hold.release()
        async with asyncio.timeout(60):
            while await state_of(broker) != "CompleteCommit":
                pass


async def test_no_more_ask_again_than_may_wait() -> None:
    patient = {**KAFKAS_WAY, "add.partitions.to.txn.retry.backoff.max.ms": "600000"}
    async with (
        running_broker({**patient, "requests.parked.max": 1}, topics={"t": 1}) as broker,
        another(broker) as one,
        another(broker) as other,
    ):
        first, second = Producer(one, "a"), Producer(other, "b")
        for producer in (first, second):
            await producer.start()
            await producer.send()
        hold = broker.coordinators.sender.hold()
        for producer in (first, second):
            await producer.end()
        waiting = asyncio.create_task(first.send())
        await until_parked(broker, 1)
        async with asyncio.timeout(60):
            assert await second.send() is ErrorCode.CONCURRENT_TRANSACTIONS
        assert not waiting.done()
        hold.release()
        assert await waiting is NONE
        async with asyncio.timeout(60):
            while await second.send() is not NONE:
                pass
