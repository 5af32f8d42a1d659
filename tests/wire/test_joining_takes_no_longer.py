"""Calls for records of a member that joins a group take the time that they were given."""

from __future__ import annotations

import pytest
from fencepost_broker.simulation import Simulation, simulate
from fencepost_client import Consumer
from fencepost_client.config.settings import GroupProtocol

WAITS_MS = 1500
ANSWERS_S = 0.5
"""More than the way of a request there and back."""


def test_a_rebalance_takes_longer_than_a_call_for_records() -> None:
    """The other member asks for no records, so the group waits for it."""

    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(1, {"t": 2})
        async with (
            Consumer(cluster.bootstrap, group_id="g", heartbeat_interval_ms=100) as stands,
            Consumer(cluster.bootstrap, group_id="g") as joins,
        ):
            stands.subscribe(["t"])
            await stands.block_on_rebalance(60_000)
            joins.subscribe(["t"])
            for timeout_ms in (WAITS_MS, WAITS_MS, 0):
                began_s = sim.now_s
                assert await joins.getmany(timeout_ms=timeout_ms) == []
                assert 0 <= sim.now_s - began_s - timeout_ms / 1000 < ANSWERS_S
            assert not joins.assignment()
            while not joins.assignment():  # the call before has not ended what was under way
                await stands.getmany(timeout_ms=100)
                await joins.getmany(timeout_ms=100)

    simulate(program, [1])


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_coordinator_answers_later_than_a_call_for_records(protocol: GroupProtocol) -> None:
    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(1, {"t": 2})
        async with Consumer(cluster.bootstrap, group_id="g", group_protocol=protocol) as joins:
            joins.subscribe(["t"])
            cluster.pause(1)
            began_s = sim.now_s
            assert await joins.getmany(timeout_ms=WAITS_MS) == []
            assert 0 <= sim.now_s - began_s - WAITS_MS / 1000 < ANSWERS_S
            cluster.resume(1)
            while len(joins.assignment()) != 2:
                await joins.getmany(timeout_ms=100)

    simulate(program, [1])
