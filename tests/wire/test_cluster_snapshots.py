"""Snapshots of clusters: all nodes go back to the same instant."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker import Cluster, blocking
from fencepost_broker.server.embedded.snapshot import NoSnapshotsError
from fencepost_client import Admin, Consumer, Producer, TopicPartition

from tests.support.waiting import asked_until, until

T = TopicPartition("t", 0)


async def until_in_sync(cluster: Cluster, *ids: int) -> None:
    async with Admin(cluster.bootstrap) as admin:

        async def is_so() -> bool:
            [partition] = (await admin.describe_topics(["t"]))["t"].partitions
            return set(partition.in_sync_replicas) == set(ids) and partition.leader in ids

        await asked_until(is_so)


async def write(cluster: Cluster, *values: bytes) -> None:
    async with Producer(cluster.bootstrap) as producer:
        for value in values:
            await producer.send_and_wait("t", value)


async def read(cluster: Cluster, isolation: Any = "read_uncommitted") -> list[bytes | None]:
    async with (
        Admin(cluster.bootstrap) as admin,
        Consumer(cluster.bootstrap, isolation_level=isolation) as consumer,
    ):
        committed = isolation == "read_committed"
        end = (await admin.list_offsets({T: -1}, read_committed=committed))[T].offset
        consumer.assign([T])
        consumer.seek_to_beginning(T)
        found: list[bytes | None] = []
        while await consumer.position(T) < end:
            found += [each.value for each in await consumer.getmany(timeout_ms=1000)]
        return found


@pytest.mark.asyncio
async def test_what_was_written_later_is_gone_from_all_brokers() -> None:
    async with Cluster(topics={"t": 1}) as cluster:
        await until_in_sync(cluster, 1, 2, 3)
        await write(cluster, b"one")
        addresses = cluster.bootstrap
        before = cluster.snapshot()
        await write(cluster, b"two")
        async with Admin(cluster.bootstrap) as admin:
            await admin.delete_topics(["t"])
        await cluster.restore(before)
        assert cluster.bootstrap == addresses
        await until_in_sync(cluster, 1, 2, 3)
        assert await read(cluster) == [b"one"]
        await write(cluster, b"three")
        assert await read(cluster) == [b"one", b"three"]
        await cluster.restore(before)
        assert await read(cluster) == [b"one"]


@pytest.mark.asyncio
async def test_brokers_run_that_ran_and_others_do_not() -> None:
    async with Cluster(topics={"t": 1}) as cluster:
        await until_in_sync(cluster, 1, 2, 3)
        await write(cluster, b"one")
        cluster.snapshot("all")
        await cluster.stop_broker(3)
        await until_in_sync(cluster, 1, 2)
        cluster.snapshot("two of them")
        await cluster.kill(2)
        await cluster.start_broker(3)

        await cluster.restore("two of them")
        assert sorted(cluster.brokers) == [1, 2]
        assert await read(cluster) == [b"one"]
        await cluster.start_broker(3)
        await until_in_sync(cluster, 1, 2, 3)

        await cluster.kill(1)
        await cluster.restore("all")
        assert sorted(cluster.brokers) == [1, 2, 3]
        await until_in_sync(cluster, 1, 2, 3)
        assert await read(cluster) == [b"one"]


@pytest.mark.asyncio
async def test_a_broker_that_was_dead_in_the_snapshot_is_fenced_again() -> None:
    async with Cluster(topics={"t": 1}) as cluster:
        await until_in_sync(cluster, 1, 2, 3)
        await cluster.kill(2)
        before = cluster.snapshot()  # the controller has not noticed
        await cluster.restore(before)
        await until_in_sync(cluster, 1, 3)


@pytest.mark.asyncio
async def test_an_open_transaction_is_open_again() -> None:
    async with Cluster(topics={"t": 1}) as cluster:
        await until_in_sync(cluster, 1, 2, 3)
        async with Producer(cluster.bootstrap, transactional_id="payments") as producer:
            producer.begin()
            await producer.send_and_wait("t", b"paid")
            before = cluster.snapshot()
            await producer.commit()
        assert await read(cluster, "read_committed") == [b"paid"]
        await cluster.restore(before)
        assert await read(cluster) == [b"paid"]
        assert await read(cluster, "read_committed") == []
        async with (
            Producer(cluster.bootstrap, transactional_id="payments") as producer,
            producer.transaction(),
        ):
            await producer.send_and_wait("t", b"again")
        assert await read(cluster, "read_committed") == [b"again"]


@pytest.mark.asyncio
async def test_no_acknowledged_record_is_lost_while_clients_write() -> None:
    async with Cluster(topics={"t": 1}, settings={"min.insync.replicas": 3}) as cluster:
        await until_in_sync(cluster, 1, 2, 3)
        acknowledged: list[bytes] = []

        async def send() -> None:
            async with Producer(cluster.bootstrap, acks="all") as producer:
                while True:
                    value = b"%d" % len(acknowledged)
                    await producer.send_and_wait("t", value)
                    acknowledged.append(value)

        sending = asyncio.ensure_future(send())
        await until(lambda: len(acknowledged) > 50)
        before, known = cluster.snapshot(), acknowledged.copy()
        await until(lambda: len(acknowledged) > 100)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await cluster.restore(before)
        await until_in_sync(cluster, 1, 2, 3)
        found = await read(cluster)
        assert found[: len(known)] == known
        assert len(found) <= len(known) + 1, "and one record that was under way"


@pytest.mark.asyncio
async def test_a_fork_has_the_state_and_nothing_else_in_common() -> None:
    async with Cluster(topics={"t": 1}) as cluster:
        await until_in_sync(cluster, 1, 2, 3)
        await write(cluster, b"one")
        async with cluster.fork() as other:
            assert not set(other.bootstrap.split(",")) & set(cluster.bootstrap.split(","))
            await until_in_sync(other, 1, 2, 3)
            await write(other, b"two")
            await write(cluster, b"three")
            assert await read(other) == [b"one", b"two"]
            assert await read(cluster) == [b"one", b"three"]


@pytest.mark.asyncio
async def test_names_and_what_is_refused() -> None:
    cluster = Cluster(brokers=1, topics={"t": 1})
    with pytest.raises(NoSnapshotsError, match="not running"):
        cluster.snapshot()
    async with cluster:
        made = cluster.snapshot("empty")
        assert cluster.snapshots == {"empty": made}
        assert made.name == "empty"
        assert repr(made).startswith("<ClusterSnapshot 'empty', 1 brokers,")
        with pytest.raises(KeyError, match="there is no snapshot 'full'; there is 'empty'"):
            await cluster.restore("full")
        with pytest.raises(KeyError, match="there is no snapshot 'full'"):
            cluster.fork("full")
        with pytest.raises(NoSnapshotsError, match="a Cluster has them"):
            cluster.brokers[1].snapshot()


def test_a_blocking_program_asks_one_broker() -> None:
    with blocking.Cluster(brokers=2, topics={"t": 1}) as cluster:
        broker = cluster.broker(2)
        assert broker.bootstrap == cluster.brokers[2].bootstrap
        broker.faults.delay(0, api="Produce", name="own")
        assert [each.name for each in cluster.broker(2).faults.list()] == ["own"]
        assert cluster.broker(1).faults.list() == []
        cluster.kill(2)
        with pytest.raises(RuntimeError, match="broker 2 is not running"):
            cluster.broker(2)
        with pytest.raises(ValueError, match="there is no broker 3: ids are 1 to 2"):
            cluster.broker(3)


def test_in_a_blocking_program() -> None:
    with blocking.Cluster(brokers=2, topics={"t": 1}) as cluster:
        addresses = cluster.bootstrap
        made = cluster.snapshot("empty")
        cluster.kill(2)
        cluster.restore("empty")
        assert sorted(cluster.brokers) == [1, 2]
        assert cluster.bootstrap == addresses
        assert cluster.snapshots == {"empty": made}
        with cluster.fork() as other:
            assert sorted(other.brokers) == [1, 2]
            assert other.bootstrap != addresses
