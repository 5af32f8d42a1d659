"""``Cluster.faults``: rules of all brokers of a cluster in a program, without a control port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from fencepost_broker import Cluster
from fencepost_broker.blocking import Cluster as BlockingCluster
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.server.faults import FaultNotFiredError
from fencepost_client import LATEST, Admin, Producer, TopicPartition
from fencepost_client.blocking import Producer as BlockingProducer

from tests.support.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
TOPICS = {"t": 4}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running() -> AsyncIterator[Cluster]:
    async with Cluster(brokers=2, topics=TOPICS) as cluster:
        yield cluster


@pytest_asyncio.fixture(loop_scope="module")
async def cluster(running: Cluster) -> AsyncIterator[Cluster]:
    """The cluster, without faults before and after the test."""
    yield running
    running.fault_rules().reset()


async def produce(cluster: Cluster, count: int = 4) -> None:
    """Write records, one request each, to the partitions in turn."""
    async with Producer(cluster.bootstrap, retry_backoff_ms=1) as producer:
        for number in range(count):
            await producer.send_and_wait("t", b"x", partition=number % TOPICS["t"])


def counts(cluster: Cluster, name: str) -> list[int]:
    """How often a rule has fired at each broker that runs."""
    return [each.faults[name].fired for each in cluster.brokers.values()]


async def test_a_rule_fires_once_whichever_broker_is_asked(cluster: Cluster) -> None:
    third = cluster.faults.drop_answer(api="Produce", skip=2, times=1)
    then = cluster.faults.delay(0, api="Produce", after=third.name, every=2)
    await produce(cluster, 8)
    assert (third.fired, then.fired) == (1, 4), "the 7 requests after it: 1st, 3rd, 5th, 7th"
    assert sorted(counts(cluster, third.name)) == [0, 1]
    assert [each.api for each in third.requests] == ["Produce"]


async def test_a_broker_that_is_started_again_has_the_rules(cluster: Cluster) -> None:
    late = cluster.faults.delay(0, api="Produce")
    once = cluster.faults.delay(0, api="Produce", times=1)
    await produce(cluster)
    assert (late.fired, once.fired) == (4, 1)
    await cluster.stop_broker(2)
    await cluster.start_broker(2)
    await cluster.kill(1)
    await cluster.start_broker(1)
    await produce(cluster)
    assert (late.fired, once.fired) == (8, 1)
    assert sum(counts(cluster, late.name)) == 4, "the first four are kept, though not there"
    assert cluster.unfired_faults() == []


async def test_a_wait_counts_the_firings_of_all_brokers(cluster: Cluster) -> None:
    late = cluster.faults.delay(0, api="Produce")
    waiting = asyncio.ensure_future(late.wait_until_fired(6))
    await produce(cluster, 4)
    assert not waiting.done()
    await cluster.stop_broker(1)
    await cluster.start_broker(1)
    await produce(cluster, 2)
    await waiting
    assert not cluster.fault_rules().waits
    with pytest.raises(FaultNotFiredError, match="6 of 7 times in 0 s; 6 requests"):
        await late.wait_until_fired(7, timeout_s=0)


async def test_what_brokers_hold_is_released(cluster: Cluster) -> None:
    held = cluster.faults.hold(api="Produce")
    async with Producer(cluster.bootstrap) as one, Producer(cluster.bootstrap) as other:
        sent = [await each.send("t", b"x", partition=0) for each in (one, other)]
        await held.wait_until_fired(2)
        await until(lambda: held.held == 2)
        assert held.release() == 2
        held.remove()
        for each in sent:
            await each
    assert cluster.faults.list() == []


async def test_a_rule_that_cannot_work_is_at_no_broker(cluster: Cluster) -> None:
    cluster.faults.delay(0, api="Produce", name="taken")
    with pytest.raises(RuleError, match="did you mean Produce"):
        cluster.faults.delay(0, api="Prodce", name="wrong")
    with pytest.raises(RuleError, match="already"):
        cluster.faults.delay(0, api="Produce", name="taken")
    cluster.broker(2).faults.delay(0, api="Produce", name="own")
    with pytest.raises(RuleError, match="already"):
        cluster.faults.delay(0, api="Produce", name="own")
    with pytest.raises(KeyError, match="did you mean taken"):
        _ = cluster.faults["take"]
    assert [each.name for each in cluster.faults.list()] == ["taken"]
    names = {each: [s.name for s in b.faults.list()] for each, b in cluster.brokers.items()}
    assert names == {1: ["taken"], 2: ["taken", "own"]}


async def test_a_rule_that_fired_at_one_broker_has_fired(cluster: Cluster) -> None:
    cluster.faults.delay(0, api="Produce", partition=0, name="fired")
    cluster.faults.delay(0, api="Produce", partition=0, name="removed")
    cluster.faults.delay(0, api="Heartbeat", name="unfired")
    cluster.faults.delay(0, api="Heartbeat", name="removed unfired")
    cluster.faults.delay(0, api="Heartbeat", name="may", may_stay_unfired=True)
    cluster.broker(1).faults.delay(0, api="Heartbeat", name="own")
    await produce(cluster)
    cluster.faults["removed"].remove()
    cluster.faults["removed unfired"].remove()
    assert sorted(cluster.unfired_faults()) == ["own", "removed unfired", "unfired"]


async def test_a_reset_is_the_state_right_after_the_start(cluster: Cluster) -> None:
    await produce(cluster)
    cluster.faults.delay(0, api="Heartbeat")
    before = cluster.bootstrap
    await cluster.kill(2)
    await cluster.reset()
    assert (cluster.bootstrap, sorted(cluster.brokers)) == (before, [1, 2])
    assert (cluster.faults.list(), cluster.unfired_faults()) == ([], [])
    async with Admin(cluster.bootstrap) as admin:
        ends = {TopicPartition("t", each): LATEST for each in range(TOPICS["t"])}
        found = await admin.list_offsets(ends)
    assert {each.offset for each in found.values()} == {0}


async def test_in_a_program_without_an_event_loop() -> None:
    def program() -> None:
        with BlockingCluster(brokers=2, topics={"t": 2}) as cluster:
            lost = cluster.faults.drop_answer(api="Produce", times=1)
            with BlockingProducer(cluster.bootstrap, retry_backoff_ms=1) as producer:
                for each in (0, 1):
                    producer.send("t", b"x", partition=each).result()
            lost.wait_until_fired()
            assert lost.fired == 1
            cluster.reset()
            assert cluster.faults.list() == []
            assert cluster.unfired_faults() == []

    await asyncio.to_thread(program)
