"""Operations on groups and coordinators, as members and clients feel them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import pytest
from fencepost_broker import Broker
from fencepost_broker.operations import (
    ExpireSession,
    LoadCoordinator,
    Operation,
    OperationRefusedError,
    RebalanceGroup,
    RemoveMember,
    UnloadCoordinator,
)
from fencepost_broker.server.operations import perform
from fencepost_client import Consumer
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol

from tests.support.broker import Client, RunningBroker, running_broker
from tests.support.coordinators import assert_as_logged
from tests.support.waiting import GIVEN_UP_S, until
from tests.wire.transaction_harness import NONE, Producer, state_of, until_state

pytestmark = pytest.mark.asyncio

AT_ONCE = {
    "group.initial.rebalance.delay.ms": 0,
    "group.consumer.heartbeat.interval.ms": 50,
    "group.consumer.min.heartbeat.interval.ms": 50,
}
LOADING = "COORDINATOR_LOAD_IN_PROGRESS"


class Membership(NamedTuple):
    """What a consumer knows of its place in the group."""

    generation: int
    member_id: str


@asynccontextmanager
async def consumer_of(
    broker: Broker, protocol: Any, instance_id: str | None = None
) -> AsyncIterator[Consumer]:
    """A member with an assignment."""
    async with Consumer(
        broker.bootstrap,
        group_id="readers",
        group_protocol=protocol,
        group_instance_id=instance_id,
        heartbeat_interval_ms=50,
    ) as consumer:
        consumer.subscribe(["t"])
        await membership_after(consumer, None)
        yield consumer


async def membership_after(consumer: Consumer, before: Membership | None) -> Membership:
    """Read until the consumer has its partitions in another generation."""
    async with asyncio.timeout(GIVEN_UP_S):
        while True:
            await consumer.getmany(timeout_ms=20)
            known = consumer.group_metadata()
            now = Membership(known.generation_id, known.member_id)
            if consumer.assignment() and (before is None or now.generation != before.generation):
                return now


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_group_rebalances_and_its_members_stay(protocol: str) -> None:
    async with (
        Broker(topics={"t": 2}, settings=AT_ONCE) as broker,
        consumer_of(broker, protocol) as consumer,
    ):
        before = await membership_after(consumer, None)
        now = await broker.perform(RebalanceGroup(group="readers"))
        assert now.members == [before.member_id]
        after = await membership_after(consumer, before)
        assert after.member_id == before.member_id
        assert after.generation > before.generation


@pytest.mark.parametrize("kind", [RemoveMember, ExpireSession])
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("instance_id", [None, "reader-1"])
async def test_a_member_that_is_removed_comes_back(
    kind: Any, protocol: str, instance_id: str | None
) -> None:
    async with (
        Broker(topics={"t": 2}, settings=AT_ONCE) as broker,
        consumer_of(broker, protocol, instance_id) as consumer,
    ):
        before = await membership_after(consumer, None)
        operation: Operation[Any] = kind(group="readers", member=instance_id or before.member_id)
        now = await broker.perform(operation)
        assert (now.state, now.members) == ("Empty", [])
        with pytest.raises(OperationRefusedError, match="has no member"):
            await broker.perform(operation)
        after = await membership_after(consumer, before)
        assert protocol == "consumer" or after.member_id != before.member_id


async def test_a_group_that_cannot_rebalance_is_refused() -> None:
    async with running_broker(AT_ONCE, topics={"t": 1}) as broker, joined(broker) as member_id:
        with pytest.raises(
            OperationRefusedError, match="no group 'reader'; did you mean 'readers'"
        ):
            await perform(broker.server, RebalanceGroup(group="reader"))
        now = await perform(broker.server, RemoveMember(group="readers", member=member_id))
        assert now.members == []
        with pytest.raises(OperationRefusedError, match="'readers' is Empty"):
            await perform(broker.server, RebalanceGroup(group="readers"))
        assert_as_logged(broker.coordinators)


@asynccontextmanager
async def joined(broker: RunningBroker) -> AsyncIterator[str]:
    """The id of a member that has joined and then does nothing more."""
    await broker.ask(FindCoordinatorRequest("readers", 0), 2)
    async with Client(f"{broker.host}:{broker.port}") as client:
        answer = await client.ask(join("", b"one"), 3)
        assert answer.error_code == NONE
        yield answer.member_id


def join(member_id: str, metadata: bytes) -> JoinGroupRequest:
    protocols = [JoinGroupRequestProtocol("any", metadata)]
    return JoinGroupRequest("readers", 10_000, 60_000, member_id, None, "consumer", protocols)


async def test_the_session_of_a_member_that_waits_does_not_end() -> None:
    async with running_broker(AT_ONCE) as broker, joined(broker) as first:
        await perform(broker.server, RebalanceGroup(group="readers"))
        server = broker.process.socket_server
        async with Client(f"{broker.host}:{broker.port}") as other:
            joins = asyncio.ensure_future(other.ask(join("", b"two"), 3))
            await until(lambda: server.parked_count == 1)
            assert (await broker.ask(join(first, b"one"), 3)).generation_id == 2
            second = (await joins).member_id
            await perform(broker.server, RebalanceGroup(group="readers"))
            joins = asyncio.ensure_future(other.ask(join(second, b"two"), 3))
            await until(lambda: server.parked_count == 1)
            with pytest.raises(OperationRefusedError, match=r"waits for an.*use remove-member"):
                await perform(broker.server, ExpireSession(group="readers", member=second))
            now = await perform(broker.server, ExpireSession(group="readers", member=first))
            assert now.members == [second]
            assert (await joins).generation_id == 3


# -- coordinators --------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ["NOT_COORDINATOR", LOADING])
async def test_a_coordinator_is_unloaded_for_a_while(error: Any) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = Producer(broker)
        await producer.start()
        assert await producer.send() is NONE
        unload = UnloadCoordinator(transactional_id="a", answer=error)
        now = await perform(broker.server, unload)
        assert (now.topic, now.is_loaded) == ("__transaction_state", False)
        assert await producer.end() is ErrorCode[error]
        with pytest.raises(OperationRefusedError, match="load-coordinator"):
            await perform(broker.server, unload)
        load = LoadCoordinator(transactional_id="a")
        assert (await perform(broker.server, load)).is_loaded
        assert await state_of(broker) == "Ongoing"
        assert await producer.end() is NONE
        await until_state(broker, "CompleteCommit")
        with pytest.raises(OperationRefusedError, match="is loaded already"):
            await perform(broker.server, load)
        assert_as_logged(broker.coordinators)


@pytest.mark.parametrize("error", ["NOT_COORDINATOR", LOADING])
async def test_a_consumer_goes_on_when_its_coordinator_is_back(error: Any) -> None:
    async with (
        Broker(topics={"t": 1}, settings=AT_ONCE) as broker,
        consumer_of(broker, "classic") as consumer,
    ):
        await broker.perform(UnloadCoordinator(group="readers", answer=error))
        commit = asyncio.ensure_future(consumer.commit())
        await consumer.getmany(timeout_ms=100)
        assert not commit.done()
        await broker.perform(LoadCoordinator(group="readers"))
        await commit


async def test_there_is_no_coordinator_before_the_first_id() -> None:
    async with running_broker() as broker:
        for operation in (UnloadCoordinator(group="g"), LoadCoordinator(group="g")):
            with pytest.raises(OperationRefusedError, match="there is no group 'g'"):
                await perform(broker.server, operation)
