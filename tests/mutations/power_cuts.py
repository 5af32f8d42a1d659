"""A simulation of one broker that syncs, and whose power is cut as soon as it has answered."""

from __future__ import annotations

from typing import Final

from fencepost_broker.simulation import Simulation
from fencepost_broker.storage.disk.faults import FailingSync

from tests.mutations.late_brokers import produce
from tests.support.broker import Client

_TIMES: Final = 8


async def power_cuts(sim: Simulation) -> None:
    """Nothing that was acknowledged is lost, and a log whose sync has failed takes no records.

    Started again, it takes records; and what was written before the failed sync is still there
    after a power cut.
    """
    cluster = await sim.cluster(1, {"t": 1}, {"fsync": "always"})
    for number in range(1, _TIMES + 1):
        async with Client(cluster.bootstrap) as client:
            assert not await produce(client, b"acknowledged")
        await cluster.kill(1, power_cut=True)
        await cluster.start_surely(1)
        [partition] = cluster.leaders("t")
        found = partition.log.log_end_offset
        assert found == number, f"{found} records are left of {number}"
    async with Client(cluster.bootstrap) as client:
        fault = cluster.brokers[1].disk.add(FailingSync())
        assert await produce(client, b"not synced"), "a record is acknowledged without a sync"
        fault.remove()
        assert await produce(client, b"after it"), "a log takes records after a failed sync"
    await cluster.kill(1)
    await cluster.start_surely(1)
    async with Client(cluster.bootstrap) as client:
        assert not await produce(client, b"acknowledged")
    await cluster.kill(1, power_cut=True)
    await cluster.start_surely(1)
    [partition] = cluster.leaders("t")
    found = partition.log.log_end_offset
    assert found == _TIMES + 2, f"{found} records are left of {_TIMES + 2} after a failed sync"
