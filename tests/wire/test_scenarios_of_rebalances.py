"""What clients of others make of scenarios of rebalances, of clusters and of passwords."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka import TopicPartition as OfAiokafka
from aiokafka.errors import KafkaConnectionError, NodeNotReadyError, RequestTimedOutError
from fencepost_broker import Cluster
from fencepost_broker.operations import RebalanceGroup
from fencepost_broker.server.scenarios import SCENARIOS
from fencepost_broker.server.scenarios.changed_password import PASSWORD, change_password
from fencepost_broker.server.scenarios.clusters import cut_off, move_leader, move_leader_home
from fencepost_broker.server.scenarios.members import GROUP
from fencepost_broker.server.scenarios.places import broker_for, cluster_for
from fencepost_broker.server.scenarios.wire import Connection
from fencepost_client import Admin, KafkaError

from tests.support.waiting import until
from tests.wire.scenario_harness import LOGIN, READ_S, Member, for_librdkafka

# These are about clients, which have threads of their own: one loop will do.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])
REBALANCES = 3
OLD_LOGIN = {**LOGIN, "sasl_plain_password": PASSWORD}


# -- rebalance-storm -------------------------------------------------------------------------------


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    """Counts."""

    assigned = revoked = 0

    def on_partitions_revoked(self, revoked: Collection[Any]) -> None:
        self.revoked += bool(revoked)

    def on_partitions_assigned(self, assigned: Collection[Any]) -> None:
        self.assigned += 1


def assigned(member: Listener | Member, times: int) -> Callable[[], bool]:
    """Whether it was told to begin so often."""
    return lambda: member.assigned == times


async def test_each_rebalance_stops_aiokafka() -> None:
    async with broker_for(SCENARIOS["rebalance-storm"]) as broker:
        listener = Listener()
        consumer = AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap, group_id=GROUP, heartbeat_interval_ms=50
        )
        consumer.subscribe(["orders"], listener=listener)
        await consumer.start()
        try:
            for number in range(REBALANCES):
                await until(assigned(listener, number + 1))
                await broker.perform(RebalanceGroup(group=GROUP))
            await until(lambda: listener.revoked == REBALANCES)
        finally:
            await consumer.stop()


async def test_each_rebalance_stops_librdkafka() -> None:
    async with broker_for(SCENARIOS["rebalance-storm"]) as broker:
        member = await asyncio.to_thread(Member, broker.bootstrap)
        for number in range(REBALANCES):
            await asyncio.to_thread(member.poll_until, assigned(member, number + 1))
            await broker.perform(RebalanceGroup(group=GROUP))
        await asyncio.to_thread(member.poll_until, assigned(member, REBALANCES + 1))
        assert member.revoked == REBALANCES
        await asyncio.to_thread(member.close)


# -- stuck-cooperative-rebalance -------------------------------------------------------------------


async def is_stable(bootstrap: str) -> bool:
    async with Admin(bootstrap) as admin:
        try:
            described = await admin.describe_groups([GROUP])
        except KafkaError:  # nobody has joined yet
            return False
        return described[GROUP].state.upper() == "STABLE"


async def test_a_new_librdkafka_gets_nothing_while_the_other_does_not_revoke() -> None:
    def joined() -> tuple[Member, Member]:
        old = Member(bootstrap, partition_assignment_strategy="cooperative-sticky")
        old.poll_until(lambda: old.partitions == 2)
        new = Member(bootstrap, partition_assignment_strategy="cooperative-sticky")
        new.poll_until(lambda: new.assigned)  # and the old one hangs between two polls
        return old, new

    def goes_on(old: Member, new: Member) -> None:
        old.poll_until(lambda: old.revoked)
        new.poll_until(lambda: new.partitions == 1)
        new.close()
        old.close()

    async with broker_for(SCENARIOS["stuck-cooperative-rebalance"]) as broker:
        bootstrap = broker.bootstrap
        old, new = await asyncio.to_thread(joined)
        assert (old.partitions, new.partitions) == (2, 0)
        assert await is_stable(bootstrap)
        await asyncio.to_thread(goes_on, old, new)


class Hanging(ConsumerRebalanceListener):  # type: ignore[misc]
    """Does not give up its partitions until it may."""

    def __init__(self) -> None:
        self.hangs, self.returns = asyncio.Event(), asyncio.Event()

    async def on_partitions_revoked(self, revoked: Collection[Any]) -> None:
        if revoked:
            self.hangs.set()
            await self.returns.wait()

    def on_partitions_assigned(self, assigned: Collection[Any]) -> None: ...


async def test_a_new_aiokafka_gets_nothing_while_the_other_hangs_in_a_callback() -> None:
    """aiokafka has no cooperative protocol: here the new one waits for its JoinGroup."""
    async with broker_for(SCENARIOS["stuck-cooperative-rebalance"]) as broker:
        old, new = (
            AIOKafkaConsumer(
                bootstrap_servers=broker.bootstrap, group_id=GROUP, heartbeat_interval_ms=50
            )
            for _ in range(2)
        )
        hanging = Hanging()
        old.subscribe(["orders"], listener=hanging)
        new.subscribe(["orders"])
        try:
            await old.start()
            await until(lambda: len(old.assignment()) == 2)
            starting = asyncio.ensure_future(new.start())
            await asyncio.wait_for(hanging.hangs.wait(), READ_S)
            assert not starting.done()
            hanging.returns.set()
            await asyncio.wait_for(starting, READ_S)
            await until(lambda: len(new.assignment()) == 1)
        finally:
            hanging.returns.set()
            await new.stop()
            await old.stop()


# -- clusters --------------------------------------------------------------------------------------


async def produce(cluster: Cluster, broker_id: int, value: bytes) -> None:
    async with Connection(cluster.broker(broker_id)) as connection:
        assert await connection.produce(value) == "NONE"


async def test_aiokafka_reads_on_when_the_leader_moves() -> None:
    async with cluster_for(SCENARIOS["leader-epoch-fenced"]) as cluster:
        await move_leader_home(cluster)
        consumer = AIOKafkaConsumer(
            bootstrap_servers=cluster.bootstrap, auto_offset_reset="earliest"
        )
        await consumer.start()
        try:
            consumer.assign([OfAiokafka("orders", 0)])
            for leader in (1, 2):
                if leader == 2:
                    await move_leader(cluster, 2)
                await produce(cluster, leader, b"%d" % leader)
                read = await asyncio.wait_for(consumer.getone(), READ_S)
                assert read.value == b"%d" % leader
        finally:
            await consumer.stop()


async def test_librdkafka_is_fenced_by_its_leader_epoch_and_reads_on() -> None:
    def read() -> bytes:
        message = consumer.poll(READ_S)
        assert message is not None
        assert message.error() is None
        return bytes(message.value())

    async with cluster_for(SCENARIOS["leader-epoch-fenced"]) as cluster:
        await move_leader_home(cluster)
        consumer = confluent_kafka.Consumer(
            {"bootstrap.servers": cluster.bootstrap, "group.id": GROUP}
        )
        consumer.assign([confluent_kafka.TopicPartition("orders", 0, 0)])
        await produce(cluster, 1, b"1")
        assert await asyncio.to_thread(read) == b"1"
        await move_leader(cluster, 2)
        await produce(cluster, 2, b"2")
        assert await asyncio.to_thread(read) == b"2"
        await asyncio.to_thread(consumer.close)
        assert "FENCED_LEADER_EPOCH" in cluster.broker(1).stats()["errors"]


async def is_sent(producer: AIOKafkaProducer) -> bool:
    """Whether a record reached the leader, as its producer says."""
    try:
        await producer.send_and_wait("orders", b"again")
    except (RequestTimedOutError, NodeNotReadyError):
        return False
    return True


async def test_aiokafka_sends_to_the_half_that_it_reaches() -> None:
    async with cluster_for(SCENARIOS["half-a-cluster-behind-a-cut"]) as cluster:
        await move_leader_home(cluster)
        async with AIOKafkaProducer(
            bootstrap_servers=cluster.bootstrap, request_timeout_ms=1_000
        ) as producer:
            await producer.send_and_wait("orders", b"before")
            async with cut_off(cluster, 1) as cut:
                with pytest.raises(RequestTimedOutError):
                    await producer.send_and_wait("orders", b"lost")
                assert cut.fired
                async with asyncio.timeout(READ_S):
                    while not await is_sent(producer):
                        pass


async def test_librdkafka_sends_to_the_half_that_it_reaches() -> None:
    def send(producer: confluent_kafka.Producer) -> None:
        producer.produce("orders", b"order")
        assert producer.flush(READ_S) == 0

    async with cluster_for(SCENARIOS["half-a-cluster-behind-a-cut"]) as cluster:
        await move_leader_home(cluster)
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": cluster.bootstrap, "socket.timeout.ms": 1_000}
        )
        await asyncio.to_thread(send, producer)
        async with cut_off(cluster, 1) as cut:
            await asyncio.to_thread(send, producer)
            assert cut.fired


# -- password-changed ------------------------------------------------------------------------------


async def test_aiokafka_is_refused_when_it_connects_with_the_old_password() -> None:
    async with broker_for(SCENARIOS["password-changed"]) as broker:
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap, **OLD_LOGIN) as connected:
            await connected.send_and_wait("orders", b"before")
            await change_password(broker)
            new = AIOKafkaProducer(bootstrap_servers=broker.bootstrap, **OLD_LOGIN)
            with pytest.raises(KafkaConnectionError):
                await new.start()
            await new.stop()
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap, **LOGIN) as renewed:
            await renewed.send_and_wait("orders", b"after")


async def test_librdkafka_is_refused_when_its_login_expires() -> None:
    errors: list[int] = []
    async with broker_for(SCENARIOS["password-changed"]) as broker:
        producer = confluent_kafka.Producer(
            {
                "bootstrap.servers": broker.bootstrap,
                "error_cb": lambda error: errors.append(error.code()),
                **for_librdkafka(OLD_LOGIN),
            }
        )
        producer.produce("orders", b"before")
        assert await asyncio.to_thread(producer.flush, READ_S) == 0
        await change_password(broker)
        await until(
            lambda: producer.poll(0) or confluent_kafka.KafkaError._AUTHENTICATION in errors
        )
