"""Scenarios of clusters: a leader that moves, and a part of the cluster that no client reaches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fencepost_broker.operations import FenceBroker, MoveLeader
from fencepost_broker.server.faults import Fault
from fencepost_broker.server.scenarios.scenario import AnyCluster, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import TOPIC, Connection

_WAIT_S: Final = 30.0


async def _until_led(connection: Connection, leader: int | None, in_sync: int) -> int:
    """Wait until Metadata say so; returns the leader epoch. ``None`` is any leader."""
    async with asyncio.timeout(_WAIT_S):
        while True:
            told = await connection.partition()
            if leader in {told.leader_id, None} and len(told.isr_nodes) == in_sync:
                return int(told.leader_epoch)


async def move_leader(cluster: AnyCluster, new: int) -> int:
    """Move the topic's leader, and wait until both brokers know it; returns the leader epoch."""
    async with Connection(cluster.broker(1)) as one, Connection(cluster.broker(2)) as two:
        await _until_led(one, None, 2)
        await cluster.broker(new).perform(MoveLeader(topic=TOPIC, partition=0, broker=new))
        await _until_led(one, new, 2)
        return await _until_led(two, new, 2)


@asynccontextmanager
async def cut_off(cluster: AnyCluster, broker_id: int) -> AsyncIterator[Fault]:
    """Let no client reach a broker, and keep it from the records of the other one, which leads.

    Its heartbeats reach the controller, which lets it lead again when it has caught up.
    """
    other = 3 - broker_id
    cut = cluster.broker(broker_id).faults.blackhole()
    fetches = cluster.broker(other).faults.blackhole(client_id=f"broker-{broker_id}-fetcher")
    await cluster.broker(other).perform(FenceBroker(broker=broker_id))
    async with Connection(cluster.broker(other)) as connection:
        await _until_led(connection, other, 1)
        try:
            yield cut
        finally:
            cut.remove()
            fetches.remove()
        await _until_led(connection, other, 2)


async def _fenced(cluster: AnyCluster, tell: Tell) -> Facts:
    old = await move_leader_home(cluster)
    async with Connection(cluster.broker(1)) as one, Connection(cluster.broker(2)) as two:
        await one.produce(b"order")
        before = await one.fetch(0, old)
        tell(f"A reader reads at broker 1 with the leader epoch that it knows: {before}.")
        new = await move_leader(cluster, 2)
        fenced = await one.fetch(0, old)
        tell(f"Broker 2 becomes the leader. The reader asks broker 1 with the old epoch: {fenced}.")
        without = await one.fetch(0)
        tell(f"A client that sends no epochs reads on at the follower (KIP-392): {without}.")
        ahead = await two.fetch(0, new + 1)
        tell(f"A reader that has heard of a later epoch than broker 2 gets {ahead}.")
        after = await two.fetch(0, new)
        tell(f"With new metadata, it reads at broker 2: {after}.")
        return {
            "before": before,
            "old_epoch": fenced,
            "no_epoch": without,
            "later_epoch": ahead,
            "current_epoch": after,
        }


async def move_leader_home(cluster: AnyCluster) -> int:
    """Let broker 1 lead the topic; returns the leader epoch."""
    async with Connection(cluster.broker(1)) as connection:
        epoch = await _until_led(connection, None, 2)
        if (await connection.partition()).leader_id == 1:
            return epoch
    return await move_leader(cluster, 1)


async def _half(cluster: AnyCluster, tell: Tell) -> Facts:
    await move_leader_home(cluster)
    async with Connection(cluster.broker(1)) as one, Connection(cluster.broker(2)) as two:
        before = await one.produce(b"before")
        tell(f"A producer sends a record to broker 1, the leader: {before}.")
        async with cut_off(cluster, 1) as cut:
            lost = asyncio.ensure_future(one.produce(b"lost"))
            await cut.wait_until_fired()
            tell("The network between broker 1 and all others is cut. Broker 2 leads.")
            meanwhile = await two.produce(b"meanwhile")
            answered = "yes" if lost.done() else "no"
            tell(f"A producer that knows broker 2 goes on: {meanwhile}.")
            tell("One that knows broker 1 alone waits until its time is over.")
        late = await lost
        tell(f"The cut is mended, and what was under way arrives at broker 1: {late}.")
        return {
            "before": before,
            "meanwhile": meanwhile,
            "answered_behind_the_cut": answered,
            "late": late,
            "end_offset": await two.end_offset(),
        }


FENCED: Final = Scenario(
    name="leader-epoch-fenced",
    summary="A reader has the leader epoch of before a change of leaders",
    seen="FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH in the logs of clients and brokers for a"
    " moment, and a pause until the client has new metadata.",
    clients="Those that send leader epochs (KIP-320): Java from 2.1, librdkafka from 2.1. Others"
    " cannot be fenced, and do not notice that a log was truncated.",
    remedy="None is needed: clients ask for metadata, check their position with"
    " OffsetForLeaderEpoch, and go on.",
    kip="KIP-320",
    brokers=2,
    run=_fenced,
)
HALF: Final = Scenario(
    name="half-a-cluster-behind-a-cut",
    summary="One of two brokers is behind a cut in the network",
    seen="Some clients go on, and others wait for request.timeout.ms or fail: those that know the"
    " brokers behind the cut only, and those that have to ask a coordinator there.",
    clients="All clients: connections stay open, so nothing but a time-out tells them.",
    remedy="All brokers in bootstrap.servers, and a request.timeout.ms well below"
    " delivery.timeout.ms; clients can ask the bootstrap servers again (KIP-899, KIP-1102).",
    kip="KIP-899",
    brokers=2,
    run=_half,
)
