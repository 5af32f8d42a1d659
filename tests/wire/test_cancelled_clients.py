"""A cancellation reaches the task, whatever fails while a client is closed."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_broker.simulation import Simulation, simulate
from fencepost_broker.simulation.cluster import SimulatedCluster
from fencepost_client import Producer


def test_a_transaction_that_cannot_be_aborted_hides_no_cancellation() -> None:
    async def work(cluster: SimulatedCluster) -> None:
        async with (
            asyncio.timeout(5),
            Producer(cluster.bootstrap, transactional_id="p") as producer,
        ):
            producer.begin()
            await producer.send_and_wait("t", b"1")
            await cluster.kill(1)
            await asyncio.sleep(60)

    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(1, {"t": 1})
        with pytest.raises(TimeoutError) as raised:
            await work(cluster)
        cancelled = raised.value.__cause__
        assert cancelled is not None
        [note] = cancelled.__notes__
        assert note.startswith("Closing failed as well: REQUEST_TIMED_OUT: ")
        await cluster.start_surely(1)

    simulate(program, [1])
