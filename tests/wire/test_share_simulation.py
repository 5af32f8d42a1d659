"""A share group in virtual time, after kills in each state of a record."""

from __future__ import annotations

import pytest
from fencepost_broker.simulation import Simulation, simulate
from fencepost_broker.simulation.programs.shares import shares
from fencepost_broker.simulation.runs import run_seed
from fencepost_client import (
    AcknowledgeType,
    Admin,
    ConfigResource,
    Producer,
    ResourceKind,
    ShareConsumer,
)

ACCEPT, RELEASE, REJECT, RENEW = AcknowledgeType
LIMIT = 2
SETTINGS = {
    "group.share.assignment.interval.ms": 0,
    "min.insync.replicas": 2,
    "share.coordinator.state.topic.min.isr": 2,
}
OF_GROUP = {"share.auto.offset.reset": "earliest", "share.delivery.count.limit": str(LIMIT)}
STATES = [b"acquired", b"accepted", b"released", b"rejected", b"renewed", b"twice released"]
KINDS = dict(zip(STATES, [None, ACCEPT, RELEASE, REJECT, RENEW, RELEASE], strict=True))


@pytest.mark.parametrize("killed", [1, 2, 3])
def test_each_state_of_a_record_survives_the_kill_of_a_broker(killed: int) -> None:
    """Broker 1 leads one of the partitions at least; other kills meet the coordinators."""

    async def member(bootstrap: str) -> ShareConsumer:
        consumer = ShareConsumer(
            bootstrap,
            group_id="g",
            share_acknowledgement_mode="explicit",
            share_acquire_mode="record_limit",
        )
        await consumer.start()
        consumer.subscribe(["t"])
        return consumer

    async def take(consumer: ShareConsumer, wanted: int) -> dict[bytes, int]:
        """Take all, and acknowledge them by their values; return their delivery counts."""
        found: dict[bytes, int] = {}
        for _ in range(wanted):
            for record in await consumer.getmany(timeout_ms=2000):
                value = bytes(record.value or b"")
                found[value] = record.delivery_count
                kind = KINDS[value]
                if kind is not None:
                    consumer.acknowledge(record, kind)
            assert await consumer.commit() == {}
            if len(found) == wanted:
                break
        return found

    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(3, {"t": 1}, SETTINGS)
        async with Admin(cluster.bootstrap) as admin:
            await admin.alter_configs({ConfigResource(ResourceKind.GROUP, "g"): OF_GROUP})
        await cluster.wait_until_in_sync()
        async with Producer(cluster.bootstrap, acks="all") as producer:
            for value in STATES:
                await producer.send_and_wait("t", value)
        first = await member(cluster.bootstrap)
        assert await take(first, len(STATES)) == dict.fromkeys(STATES, 1)
        await cluster.wait_until_in_sync()
        await cluster.kill(killed)
        await cluster.start_surely(killed)
        await cluster.wait_until_in_sync()
        await first.close(accept=False)
        second = await member(cluster.bootstrap)
        again: dict[bytes, int] = {}
        while b"acquired" not in again or b"released" not in again:
            again |= await take(second, 1)
        assert again[b"released"] == again[b"twice released"] == 2
        assert again.keys() == {b"acquired", b"renewed", b"released", b"twice released"}
        assert {again[b"acquired"], again[b"renewed"]} <= {1, 2}, "2: the leader has released them"
        await second.close(accept=False)

    simulate(program, [killed])


def test_the_built_in_program_ends_without_faults() -> None:
    """Such a run is over at once, and needs records all the same."""
    assert run_seed(lambda sim: shares(sim, for_s=0), 1).verdict == "ok"
