"""Producers of a two-phase commit (KIP-939): they prepare, and their successors complete."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from fencepost_broker import Broker
from fencepost_client import (
    Admin,
    ConfigError,
    Consumer,
    FatalError,
    IllegalStateError,
    PreparedTxnState,
    Producer,
    ProducerFencedError,
    TopicPartition,
    UnsupportedVersionError,
)
from fencepost_client.producer.stages import Stage

pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

SETTINGS = {
    "unstable.api.versions.enable": "true",
    "transaction.two.phase.commit.enable": "true",
}
NAME = "orders-1"


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[Broker]:
    async with Broker(topics={"t": 2}, settings=SETTINGS) as running:
        yield running


def participant(broker: Broker, *, keeps: bool = False, **more: Any) -> Producer:
    return Producer(
        broker.bootstrap,
        transactional_id=NAME,
        transaction_two_phase_commit_enable=True,
        keep_prepared_txn=keeps,
        **more,
    )


async def committed(broker: Broker) -> list[bytes | None]:
    where = [TopicPartition("t", 0), TopicPartition("t", 1)]
    found = []
    async with Consumer(
        broker.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign(where)
        ends = await consumer.end_offsets(where)
        while any(consumer.positions().get(each, 0) < end for each, end in ends.items()):
            found += [record.value for record in await consumer.getmany(timeout_ms=100)]
    return sorted(found, key=str)


async def prepared(broker: Broker, *values: bytes) -> PreparedTxnState:
    """The transaction of a producer that is gone."""
    async with participant(broker) as producer:
        producer.begin()
        for partition, value in enumerate(values):
            await producer.send("t", value, partition=partition)
        return await producer.prepare()


async def test_the_stored_state_commits_at_the_next_start(broker: Broker) -> None:
    state = await prepared(broker, b"a", b"b")
    assert await committed(broker) == []
    async with participant(broker, keeps=True) as producer:
        assert producer.is_prepared
        await producer.complete(str(state))
        assert producer.stage is Stage.READY
        async with producer.transaction() as transaction:
            await transaction.send("t", b"c")
    assert await committed(broker) == [b"a", b"b", b"c"]


@pytest.mark.parametrize("stored", ["", "0:32000"])
async def test_another_state_aborts(broker: Broker, stored: str) -> None:
    await prepared(broker, b"a", b"b")
    async with participant(broker, keeps=True) as producer:
        await producer.complete(stored)
    assert await committed(broker) == []
    async with Admin(broker.bootstrap) as admin:
        assert [each.state for each in await admin.list_transactions()] == ["CompleteAbort"]


async def test_completing_again_changes_nothing(broker: Broker) -> None:
    state = await prepared(broker, b"a")
    for _ in range(2):
        async with participant(broker, keeps=True) as producer:
            await producer.complete(state)
    assert await committed(broker) == [b"a"]


async def test_without_keeping_the_start_aborts(broker: Broker) -> None:
    await prepared(broker, b"a")
    async with participant(broker) as producer:
        with pytest.raises(IllegalStateError, match="keep_prepared_txn"):
            await producer.complete("0:0")
    assert await committed(broker) == []


async def test_an_administrator_ends_what_nobody_completes(broker: Broker) -> None:
    state = await prepared(broker, b"a")
    async with Admin(broker.bootstrap) as admin, participant(broker, keeps=True) as producer:
        await admin.force_terminate_transaction(NAME)
        with pytest.raises(ProducerFencedError):
            await producer.complete(state)
    assert await committed(broker) == []


async def test_the_predecessor_is_fenced(broker: Broker) -> None:
    async with participant(broker) as first:
        first.begin()
        await first.send("t", b"a")
        state = await first.prepare()
        async with participant(broker, keeps=True) as second:
            with pytest.raises(ProducerFencedError):
                await first.commit()
            await second.complete(state)
    assert await committed(broker) == [b"a"]


async def test_an_exception_after_prepare_decides_nothing(broker: Broker) -> None:
    states = []

    async def fail(producer: Producer) -> None:
        async with producer.transaction() as transaction:
            await transaction.send("t", b"a")
            states.append(await producer.prepare())
            raise OSError("the database is gone")

    async with participant(broker) as producer:
        with pytest.raises(OSError, match="the database is gone"):
            await fail(producer)
        assert producer.is_prepared
        await producer.complete(states[0])
    assert await committed(broker) == [b"a"]


async def test_nothing_can_be_added_to_a_prepared_transaction(broker: Broker) -> None:
    async with participant(broker) as producer:
        producer.begin()
        await producer.prepare()
        with pytest.raises(IllegalStateError, match="prepared"):
            await producer.send("t", b"a")
        await producer.abort()


async def test_a_transaction_in_which_nothing_was_sent(broker: Broker) -> None:
    state = await prepared(broker)
    async with participant(broker, keeps=True) as producer:
        assert not producer.is_prepared
        await producer.complete(state)


async def test_who_may_not_take_part() -> None:
    with pytest.raises(ConfigError, match="transaction_timeout_ms"):
        Producer(
            "localhost:1",
            transactional_id=NAME,
            transaction_timeout_ms=1000,
            transaction_two_phase_commit_enable=True,
        )
    async with Broker() as without:
        with pytest.raises(UnsupportedVersionError, match="unstable"):
            await participant(without).start()
    async with Broker(settings={"unstable.api.versions.enable": "true"}) as off:
        with pytest.raises(FatalError, match="TRANSACTIONAL_ID_AUTHORIZATION_FAILED"):
            await participant(off).start()
        async with Producer(off.bootstrap, transactional_id=NAME) as producer:
            producer.begin()
            with pytest.raises(IllegalStateError, match="two_phase"):
                await producer.prepare()


async def test_version_1_of_transactions_cannot_tell_states_apart() -> None:
    settings = SETTINGS | {"features": "transaction.version:1"}
    async with Broker(settings=settings) as old, participant(old) as producer:
        producer.begin()
        with pytest.raises(UnsupportedVersionError, match="version 2"):
            await producer.prepare()
