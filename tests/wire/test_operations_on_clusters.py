"""Operations on leaders, in-sync replicas and brokers, in a cluster of several processes."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker import Cluster as Embedded
from fencepost_broker.operations import (
    FenceBroker,
    MoveCoordinator,
    MoveLeader,
    Operation,
    OperationRefusedError,
    PartitionNow,
    RebalanceGroup,
    ShrinkIsr,
    TimeOutTransaction,
    UnfenceBroker,
)
from fencepost_broker.server.operations import perform
from fencepost_client import Consumer, Producer
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from tests.support.broker import Client, running_broker
from tests.support.cluster import Cluster, running_cluster
from tests.support.waiting import asked_until, until
from tests.wire.transaction_harness import TRANSACTIONS

pytestmark = pytest.mark.asyncio
GROUPS = 0


def isr(cluster: Cluster, broker_id: int) -> list[int]:
    """The in-sync replicas of t-0 as a broker knows them."""
    partition = cluster.broker(broker_id).server.image.topics.partition("t", 0)
    assert partition is not None
    return sorted(partition.isr)


def partition_epoch(cluster: Cluster) -> int:
    """How often the controller has changed t-0."""
    partition = cluster.controller.image.topics.partition("t", 0)
    assert partition is not None
    return partition.partition_epoch


async def until_led_by(cluster: Cluster, broker_id: int) -> None:
    async def is_so() -> bool:
        return await cluster.leaders("t") == [broker_id]

    await asked_until(is_so)
    await until(lambda: cluster.broker(broker_id).server.table.by_name["t"].partitions[0].leads)


async def test_a_leader_moves_and_clients_follow() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", 1, 2)
        [old] = await cluster.leaders("t")
        new = 3 - old
        await cluster.broker(old).produce("t", 0, b"one")
        await until(lambda: isr(cluster, old) == [1, 2])
        now = await perform(
            cluster.broker(old).server, MoveLeader(topic="t", partition=0, broker=new)
        )
        assert now == PartitionNow(
            topic="t", partition=0, leader=new, replicas=[new, old], in_sync=now.in_sync
        )
        await until_led_by(cluster, new)
        assert await cluster.broker(new).produce("t", 0, b"two") == 1
        server = cluster.broker(new).server
        with pytest.raises(OperationRefusedError, match=f"broker {new} leads t-0 already"):
            await perform(server, MoveLeader(topic="t", partition=0, broker=new))
        # It leads again without an operation on the order of the replicas, if it is first.
        await perform(server, MoveLeader(topic="t", partition=0, broker=old))
        await until_led_by(cluster, old)


async def test_an_isr_shrinks_and_grows_again() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", 1, 2)
        [leader] = await cluster.leaders("t")
        follower = 3 - leader
        await until(lambda: isr(cluster, leader) == [1, 2])
        shrink = ShrinkIsr(topic="t", partition=0, broker=follower)
        before = partition_epoch(cluster)
        now = await perform(cluster.broker(leader).server, shrink)
        assert now.in_sync == [leader]
        assert partition_epoch(cluster) > before
        await until(
            lambda: isr(cluster, follower) == [1, 2]
        )  # its next fetch shows that it is here
        with pytest.raises(OperationRefusedError, match=f"perform this at broker {leader}"):
            await perform(cluster.broker(follower).server, shrink)
        with pytest.raises(OperationRefusedError, match="leads t-0 and stays in sync"):
            await perform(
                cluster.broker(leader).server, ShrinkIsr(topic="t", partition=0, broker=leader)
            )


async def test_a_fenced_broker_leads_nothing_until_its_heartbeat() -> None:
    async with running_cluster(2, broker_heartbeat_interval_ms=600_000) as cluster:
        await cluster.create("t", 1, 2)
        [leader] = await cluster.leaders("t")
        other = 3 - leader
        server = cluster.broker(other).server
        await until(lambda: isr(cluster, other) == [1, 2])
        assert (await perform(server, FenceBroker(broker=leader))).is_fenced
        await until_led_by(cluster, other)
        await until(lambda: isr(cluster, other) == [other])
        with pytest.raises(OperationRefusedError, match=f"not in sync, those of brokers {other}"):
            await perform(server, MoveLeader(topic="t", partition=0, broker=leader))
        with pytest.raises(OperationRefusedError, match=f"broker {leader} is fenced already"):
            await perform(server, FenceBroker(broker=leader))
        with pytest.raises(OperationRefusedError, match="the only one that is active"):
            await perform(server, FenceBroker(broker=other))
        assert not (await perform(server, UnfenceBroker(broker=leader))).is_fenced
        await until(lambda: isr(cluster, other) == [1, 2])


async def test_what_another_broker_has_is_to_be_done_there() -> None:
    async with running_cluster(2) as cluster:
        await cluster.create("t", 1)
        first = cluster.broker(1)
        await first.ask(FindCoordinatorRequest("a", TRANSACTIONS), 3)
        await until(
            lambda: all(
                "__transaction_state" in each.server.table.by_name for each in cluster.brokers
            )
        )
        refusals = []
        for broker in cluster.brokers:
            for number in range(8):
                with pytest.raises(OperationRefusedError) as refused:
                    await perform(
                        broker.server, TimeOutTransaction(transactional_id=f"id-{number}")
                    )
                refusals.append(str(refused.value))
        assert any("perform this at broker 2" in each for each in refusals)
        assert any("perform this at broker 1" in each for each in refusals)
        with pytest.raises(OperationRefusedError, match="there is no group 'g'"):
            await perform(first.server, RebalanceGroup(group="g"))


async def test_a_coordinator_moves_and_its_clients_follow() -> None:
    async with Embedded(brokers=2, topics={"t": 1}) as cluster:
        names: dict[str, dict[str, Any]] = {
            "__transaction_state": {"transactional_id": "x"}, "__consumer_offsets": {"group": "g"},
        }  # fmt: skip
        with pytest.raises(OperationRefusedError, match="there is no group 'g'"):
            await cluster.broker(1).perform(MoveCoordinator(group="g", broker=2))
        async with (
            Producer(cluster.bootstrap, transactional_id="x") as producer,
            Consumer(cluster.bootstrap, group_id="g", auto_offset_reset="earliest") as consumer,
        ):
            consumer.subscribe(["t"])
            for _ in range(2):
                async with producer.transaction() as transaction:
                    await transaction.send("t", b"1")
                read = 0
                while not read:
                    read = len(await consumer.getmany(timeout_ms=1000))
                await consumer.commit()
                for topic, named in names.items():
                    old, new = await coordinators(cluster, topic, named)
                    operation = MoveCoordinator(**named, broker=new)
                    now = await cluster.broker(old).perform(operation)
                    assert (now.topic, now.leader) == (topic, new)


async def coordinators(cluster: Embedded, topic: str, named: dict[str, Any]) -> tuple[int, int]:
    """The broker that coordinates, and the other one, once both are in sync."""
    [name] = named.values()

    async def asked() -> tuple[int, bool]:
        async with Client(cluster.broker(1).bootstrap) as client:
            kind = GROUPS if "group" in named else TRANSACTIONS
            found = await client.ask(
                FindCoordinatorRequest(key_type=kind, coordinator_keys=[name]), 4
            )
            told = await client.ask(MetadataRequest([MetadataRequestTopic(name=topic)]), 12)
        node_id = found.coordinators[0].node_id
        return node_id, all(len(each.isr_nodes) == 2 for each in told.topics[0].partitions)

    async def are_in_sync() -> bool:
        node_id, in_sync = await asked()
        return in_sync and node_id > 0

    await asked_until(are_in_sync)
    old, _ = await asked()
    return old, 3 - old


async def test_one_broker_alone_has_nothing_to_move() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        refused: list[tuple[Operation[Any], str]] = [
            (MoveLeader(topic="t", partition=0, broker=1), "only one replica"),
            (MoveLeader(topic="t", partition=0, broker=7), "no broker 7; the brokers are 1"),
            (ShrinkIsr(topic="t", partition=0, broker=1), "only one replica"),
            (FenceBroker(broker=1), "the only one that is active"),
            (FenceBroker(broker=3), "no broker 3; the brokers are 1"),
            (UnfenceBroker(broker=1), "is not fenced"),
        ]
        for operation, why in refused:
            with pytest.raises(OperationRefusedError, match=why):
                await perform(broker.server, operation)
