"""Quotas of replication: a follower that lags catches up at the rate, and one in sync at once."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fencepost_broker import Broker
from fencepost_broker.simulation import Simulation, simulate
from fencepost_broker.simulation.cluster import SimulatedCluster
from fencepost_client import Admin, Producer
from fencepost_client.admin.configs import ConfigResource, ResourceKind

from tests.conformance import replication_quota_cases

EXPECTED = Path(replication_quota_cases.__file__).with_name("replication_quotas.txt")
RECORDS = 40
RECORD_BYTES = 50_000
RATE = 100_000
AT_RATE_S = RECORDS * RECORD_BYTES / RATE
AT_ONCE_S = 5
"""More than a broker needs to start and to copy all without a quota."""
ALL_BROKERS = ConfigResource(ResourceKind.BROKER, "")
TOPIC = ConfigResource(ResourceKind.TOPIC, "orders")
SETTINGS = {"replica.fetch.max.bytes": RECORD_BYTES}


@pytest.mark.asyncio
async def test_settings_are_those_of_apache_kafka() -> None:
    async with Broker() as broker:
        told = await replication_quota_cases.script(broker.bootstrap)
    assert told == EXPECTED.read_text(encoding="utf-8").splitlines()


async def catches_up_s(
    sim: Simulation, cluster: SimulatedCluster, side: str, replicas: str
) -> float:
    """Return how long a broker that missed all records needs until it is in sync."""
    async with Admin(cluster.bootstrap) as admin, Producer(cluster.bootstrap) as producer:
        await admin.alter_configs(
            {
                ALL_BROKERS: {f"{side}.replication.throttled.rate": str(RATE)},
                TOPIC: {f"{side}.replication.throttled.replicas": replicas},
            }
        )
        [orders] = cluster.leaders("orders")
        assert orders.replication is not None
        follower = max(orders.replication.followers)
        began_s = sim.now_s
        await send(producer)
        assert sim.now_s - began_s < AT_ONCE_S, "followers in sync are not throttled"
        await cluster.kill(follower)
        while follower in orders.replication.partition.isr:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(1)
        await send(producer)
        await asyncio.sleep(30)  # the records of the others in sync count, and are over
        await cluster.start_surely(follower)
        began_s = sim.now_s
        await cluster.wait_until_in_sync()
        took_s = sim.now_s - began_s
        began_s = sim.now_s
        await send(producer)
        assert sim.now_s - began_s < AT_ONCE_S, "followers in sync are not throttled"
        return took_s


async def send(producer: Producer) -> None:
    """Send records of which each takes half a second at the rate, to all in sync."""
    sent = [await producer.send("orders", bytes(RECORD_BYTES)) for _ in range(RECORDS)]
    for delivery in sent:
        await delivery


@pytest.mark.parametrize(
    ("side", "replicas", "is_slow"),
    [
        ("leader", "*", True),
        ("leader", "0:1,0:2,0:3", True),
        ("leader", "1:1,1:2,1:3", False),
        ("follower", "*", True),
        ("follower", "1:1,1:2,1:3", False),
    ],
)
def test_a_follower_catches_up_at_the_rate(side: str, replicas: str, *, is_slow: bool) -> None:
    took_s: list[float] = []

    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(3, {"orders": 1}, SETTINGS)
        took_s.append(await catches_up_s(sim, cluster, side, replicas))

    simulate(program, [1])
    if is_slow:
        assert AT_RATE_S * 0.9 < took_s[0] < AT_RATE_S * 1.5
    else:
        assert took_s[0] < AT_ONCE_S
