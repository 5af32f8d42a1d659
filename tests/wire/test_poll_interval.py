"""``max_poll_interval_ms`` is the time between calls, not that of a call which waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from fencepost_broker.simulation import Simulation, simulate
from fencepost_client import Consumer, Producer, TopicPartition
from fencepost_client.config.settings import GroupProtocol
from fencepost_client.types import GroupMetadata

INTERVAL_MS = 2_000
LONGER_S = 9.0
"""Longer than the interval, and than the heartbeats of both protocols."""
LONG_MS = 600_000

Call = Callable[[Consumer], Awaitable[object]]
CALLS: dict[str, Call] = {
    "block_on_rebalance": lambda consumer: consumer.block_on_rebalance(LONG_MS),
    "getmany": lambda consumer: consumer.getmany(timeout_ms=round(LONGER_S * 2_000)),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_call_may_take_longer_than_the_interval(protocol: GroupProtocol, call: str) -> None:
    """The member waits for the end of a transaction, in which offsets of its group are."""
    lost: list[object] = []

    async def program(sim: Simulation) -> None:
        bootstrap = (await sim.cluster(1, {"t": 2})).bootstrap
        async with (
            Producer(bootstrap, transactional_id="p") as producer,
            Consumer(
                bootstrap, group_id="g", group_protocol=protocol, max_poll_interval_ms=INTERVAL_MS,
                isolation_level="read_committed", enable_auto_commit=False,
            ) as consumer,
        ):  # fmt: skip
            producer.begin()
            await producer.send_offsets({TopicPartition("t", 0): 0}, GroupMetadata("g"))
            consumer.subscribe(["t"], on_lost=lost.append)
            began_s = sim.now_s
            asking = asyncio.ensure_future(CALLS[call](consumer))
            await asyncio.sleep(1)
            then = consumer.group_metadata()
            await asyncio.sleep(LONGER_S)
            await producer.commit()
            await asking
            assert sim.now_s - began_s > LONGER_S
            assert not lost
            assert consumer.group_metadata() == then
            assert len(consumer.positions()) == 2

    simulate(program, [1])


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_listener_may_not(protocol: GroupProtocol) -> None:
    """Its partitions bring nothing while the application does something else."""

    async def slowly(_: object) -> None:
        await asyncio.sleep(LONGER_S)

    async def program(sim: Simulation) -> None:
        bootstrap = (await sim.cluster(1, {"t": 2})).bootstrap
        async with Consumer(
            bootstrap, group_id="g", group_protocol=protocol, max_poll_interval_ms=INTERVAL_MS
        ) as consumer:
            consumer.subscribe(["t"], on_assigned=slowly)
            asking = asyncio.ensure_future(consumer.getmany(timeout_ms=1_000))
            await asyncio.sleep(1)
            assert consumer.generation_id() > 0
            await asyncio.sleep(LONGER_S - 2)
            assert consumer.generation_id() < 0
            await asking

    simulate(program, [1])


def test_a_group_may_take_longer_than_the_interval() -> None:
    """It waits for its slowest member, which has more time than the one that joins."""

    async def program(sim: Simulation) -> None:
        bootstrap = (await sim.cluster(1, {"t": 2})).bootstrap
        async with (
            Consumer(bootstrap, group_id="g") as stands,
            Consumer(bootstrap, group_id="g", max_poll_interval_ms=INTERVAL_MS) as joins,
        ):
            stands.subscribe(["t"])
            await stands.block_on_rebalance(LONG_MS)
            began_s = sim.now_s
            joins.subscribe(["t"])
            await joins.block_on_rebalance(LONG_MS)
            assert sim.now_s - began_s > 290
            assert len(joins.assignment()) == 2

    simulate(program, [1])
