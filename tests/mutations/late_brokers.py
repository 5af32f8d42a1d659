"""A simulation in which brokers of a cluster, and their controller, get what is late.

A leader's proposal of an ISR arrives after another one, or names a broker that was started again
since. A batch's transaction ends between the coordinator's answer and the append. A leader learns
late that another one leads, or a marker does not arrive before a broker is killed.
"""

from __future__ import annotations

import asyncio
from typing import Final

from fencepost_broker.server.embedded.cluster import CONTROLLER_ID
from fencepost_broker.simulation import Simulation
from fencepost_broker.simulation.cluster import SimulatedCluster
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    BrokerState,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client
from tests.wire.transaction_harness import Producer

_OLD: Final = 11
"""A Produce version whose clients add partitions by themselves."""

_SYNC_S: Final = 30.0
_SETTINGS: Final = {
    # The coordinator's log does not wait for the broker whose requests are kept back.
    "transaction.state.log.replication.factor": 1,
    "transaction.park.enable": False,
    "log.retention.ms": -1,  # records have old timestamps
}


def _epochs(cluster: SimulatedCluster) -> dict[int, int]:
    return {each: broker.epoch for each, broker in cluster.image.cluster.brokers.items()}


def _leader_and_other(cluster: SimulatedCluster) -> tuple[int, int]:
    """Return the brokers' ids."""
    leads = cluster.image.topics.by_name["t"].partitions[0].leader
    return leads, 3 - leads


async def _in_sync(cluster: SimulatedCluster) -> None:
    async with asyncio.timeout(_SYNC_S):
        await cluster.wait_until_in_sync()


async def _late_proposals(cluster: SimulatedCluster) -> None:
    """The controller refuses a proposal that knows less than it does."""
    node_id, other = _leader_and_other(cluster)
    old = _epochs(cluster)[other]
    await cluster.stop_broker(other)
    await asyncio.sleep(1)
    await cluster.start_surely(other)
    await _in_sync(cluster)
    epochs, topic = _epochs(cluster), cluster.image.topics.by_name["t"]
    known = topic.partitions[0]

    async def propose(partition_epoch: int, epoch_of_other: int) -> ErrorCode:
        isr = [BrokerState(node_id, epochs[node_id]), BrokerState(other, epoch_of_other)]
        entry = AlterPartitionRequestPartitionData(0, known.leader_epoch)
        entry.new_isr_with_epochs, entry.partition_epoch = isr, partition_epoch
        topics = [AlterPartitionRequestTopicData(topic.topic_id, [entry])]
        request = AlterPartitionRequest(node_id, epochs[node_id], topics)
        async with Client(cluster.nodes[CONTROLLER_ID].bootstrap) as client:
            answer = await client.ask(request, 3)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    late = await propose(known.partition_epoch - 1, epochs[other])
    assert late == ErrorCode.INVALID_UPDATE_VERSION, f"a late proposal of an ISR: {late.name}"
    away = await propose(known.partition_epoch, old)
    assert away == ErrorCode.INELIGIBLE_REPLICA, f"a broker that was away joins: {away.name}"


async def _late_verification(sim: Simulation, cluster: SimulatedCluster) -> None:
    """The transaction of a batch is aborted while the coordinator's answer is on its way."""
    leads, other = _leader_and_other(cluster)
    at_leader, at_other = (Client(cluster.brokers[each].bootstrap) for each in (leads, other))
    async with at_leader, at_other:
        producer = await _elsewhere(at_other)
        late = Producer(at_leader, producer.name)
        late.id, late.epoch = producer.id, producer.epoch
        # The first transaction opens the connection that answers are kept back on.
        assert await producer.add(0) == ErrorCode.NONE
        assert await late.send(version=_OLD) == ErrorCode.NONE
        assert await producer.end("abort", 3) == ErrorCode.NONE
        await asyncio.sleep(1)
        assert await producer.add(0) == ErrorCode.NONE
        names = f"broker-{leads}", f"broker-{other}"
        asking = [
            end
            for end in sim.network.ends
            if (end.process.name, end.other.process.name) == names and end.number % 2 == 0
        ]
        for end in asking:
            end.pause_reading()
        sending = asyncio.create_task(late.send(version=_OLD))
        await asyncio.sleep(0.2)
        assert await producer.end("abort", 3) == ErrorCode.NONE
        await asyncio.sleep(0.5)
        for end in asking:
            end.resume_reading()
        assert await sending, "a batch is taken after its transaction was aborted"


async def _elsewhere(client: Client) -> Producer:
    """Return a producer whose coordinator is the client's broker."""
    number = 0
    while True:
        number += 1
        producer = Producer(client, f"producer-{number}")
        error = await producer.start()
        if not error:
            return producer
        await asyncio.sleep(0.1)


async def produce(client: Client, value: bytes) -> ErrorCode:
    """Send a record that all replicas in sync have to get, and wait for a leader."""
    records = bytes(build_batch(None, [value], 1000))
    data = TopicProduceData("t", partition_data=[PartitionProduceData(0, records)])
    answer = await client.ask(ProduceRequest(None, -1, 60_000, [data]), 12)
    return ErrorCode(answer.responses[0].partition_responses[0].error_code)


async def _late_leader(sim: Simulation, cluster: SimulatedCluster) -> None:
    """A leader has a record that no follower has, and learns that another one leads."""
    leads, other = _leader_and_other(cluster)
    cuts = [
        (f"broker-{leads}", f"broker-{other}"),
        (f"broker-{other}", f"broker-{leads}"),
        (f"broker-{leads}", "controller"),
    ]
    for cut in cuts:
        sim.network.cut(*cut)
    async with (
        Client(cluster.brokers[leads].bootstrap) as at_former,
        Client(cluster.brokers[other].bootstrap) as at_new,
    ):
        waiting = asyncio.create_task(produce(at_former, b"of the former leader"))
        while cluster.image.topics.by_name["t"].partitions[0].leader != other:  # noqa: ASYNC110 - the controller tells nobody
            await asyncio.sleep(0.5)
        while await produce(at_new, b"of the new leader"):  # noqa: ASYNC110 - it is asked
            await asyncio.sleep(0.5)
        for cut in cuts:
            sim.network.heal(*cut)
        late = await waiting
        assert late == ErrorCode.NOT_LEADER_OR_FOLLOWER, f"a former leader says {late.name}"
    await _in_sync(cluster)
    assert not await _produce_anywhere(cluster), "nothing can be written any more"


async def _produce_anywhere(cluster: SimulatedCluster) -> ErrorCode:
    await asyncio.sleep(1)
    leads, _ = _leader_and_other(cluster)
    async with Client(cluster.brokers[leads].bootstrap) as client:
        return await produce(client, b"of whoever leads")


async def _unfinished(sim: Simulation, cluster: SimulatedCluster, *, coordinator: bool) -> None:
    """A broker is killed while a marker is on its way: the coordinator's, or the leader's."""
    leads, other = _leader_and_other(cluster)
    async with (
        Client(cluster.brokers[leads].bootstrap) as at_leader,
        Client(cluster.brokers[other].bootstrap) as at_other,
    ):
        producer = await _elsewhere(at_other)
        assert await producer.add(0) == ErrorCode.NONE
        sending = Producer(at_leader, producer.name)
        sending.id, sending.epoch = producer.id, producer.epoch
        assert await sending.send(version=_OLD) == ErrorCode.NONE
        way = f"broker-{other}", f"broker-{leads}"
        sim.network.cut(*way)
        assert await producer.end("commit", 3) == ErrorCode.NONE
        await asyncio.sleep(0.5)
        newer = await Producer(at_other, producer.name).initialize()
        assert newer == ErrorCode.CONCURRENT_TRANSACTIONS, "a producer begins before the markers"
    killed = other if coordinator else leads
    await cluster.kill(killed)
    sim.network.heal(*way)
    await cluster.start_surely(killed)
    await _in_sync(cluster)
    await asyncio.sleep(60)
    written = cluster.written()
    assert written is not None, "a partition has no leader"
    assert not written.is_open, "a transaction that has ended stays open"
    async with Client(cluster.brokers[other].bootstrap) as client:
        assert not await Producer(client, producer.name).start(), "it is never complete"


async def late_brokers(sim: Simulation) -> None:
    """Start two brokers, and let requests between them be late."""
    cluster = await sim.cluster(2, {"t": 1}, _SETTINGS)
    await asyncio.sleep(2)
    await _late_verification(sim, cluster)
    await _unfinished(sim, cluster, coordinator=True)
    await _unfinished(sim, cluster, coordinator=False)
    await _late_leader(sim, cluster)
    await _late_proposals(cluster)
