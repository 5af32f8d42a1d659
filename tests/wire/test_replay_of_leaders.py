"""A recording in which leaders and coordinators change is replayed to one broker."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker import Broker, Cluster
from fencepost_broker.operations import MoveCoordinator, MoveLeader
from fencepost_broker.server.proxy.proxy import Proxy
from fencepost_client import Consumer, Producer
from fencepost_client.recordings.replaying import Replay, replay_file
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.support.broker import Client
from tests.support.sessions import ORDERS
from tests.support.waiting import asked_until

pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])


async def move_all(cluster: Cluster) -> None:
    """Move the leader of the topic, and the coordinators, to the other broker."""
    broker = cluster.broker(1)
    leaders: list[int] = []

    async def are_in_sync() -> bool:
        names = [ORDERS, "__transaction_state", "__consumer_offsets"]
        async with Client(broker.bootstrap) as client:
            asked = MetadataRequest([MetadataRequestTopic(name=each) for each in names])
            told = await client.ask(asked, 12)
            found = [
                await client.ask(FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]), 4)
                for kind, key in ((1, "payments"), (0, "billing"))
            ]
        leaders[:] = [told.topics[0].partitions[0].leader_id]
        leaders.extend(each.coordinators[0].node_id for each in found)
        isrs = [each.isr_nodes for topic in told.topics for each in topic.partitions]
        return min(leaders) > 0 and all(len(each) == 2 for each in isrs)

    await asked_until(are_in_sync)
    topic, transaction, group = (3 - each for each in leaders)
    await broker.perform(MoveLeader(topic=ORDERS, partition=0, broker=topic))
    await broker.perform(MoveCoordinator(transactional_id="payments", broker=transaction))
    await broker.perform(MoveCoordinator(group="billing", broker=group))


async def test_leaders_and_coordinators_move(tmp_path: Path) -> None:
    path = tmp_path / "moved.fprec"
    async with (
        Cluster(brokers=2, topics={ORDERS: 1}) as cluster,
        Proxy(cluster.bootstrap, record=path, log_level="error") as proxy,
        Producer(proxy.bootstrap) as producer,
        Producer(proxy.bootstrap, transactional_id="payments") as payments,
        Consumer(
            proxy.bootstrap, group_id="billing", auto_offset_reset="earliest",
            isolation_level="read_committed",
        ) as consumer,
    ):  # fmt: skip
        consumer.subscribe([ORDERS])
        for number in range(2):
            await producer.send_and_wait(ORDERS, b"%d" % number)
            async with payments.transaction() as transaction:
                await transaction.send(ORDERS, b"paid")
            read = 0
            while read < 2:
                read += len(await consumer.getmany(timeout_ms=100))
            await consumer.commit()
            await move_all(cluster)
    async with Broker(topics={ORDERS: 1}) as broker:
        found = await replay_file(path, Replay(broker.bootstrap))
    assert found.differences == []
    assert found.compared > 20
    assert any("was left out" in each for each in found.notes)


async def test_a_refused_record_is_not_written_twice(tmp_path: Path) -> None:
    path = tmp_path / "refused.fprec"
    async with Broker(topics={ORDERS: 1}) as broker:
        broker.faults.error("NOT_LEADER_OR_FOLLOWER", api="Produce", times=1)
        with broker.record(path):
            async with Producer(broker.bootstrap, enable_idempotence=False) as producer:
                await producer.send_and_wait(ORDERS, b"first")
                await producer.send_and_wait(ORDERS, b"second")
    async with Broker(topics={ORDERS: 1}) as broker:
        found = await replay_file(path, Replay(broker.bootstrap))
        explained = broker.explain_partition(ORDERS, 0)
        assert explained is not None
        assert explained.high_watermark == 2
    assert found.differences == []
    assert found.notes == ["Produce was left out where a broker refused it because it did not lead"]
