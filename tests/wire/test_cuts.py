"""Wires between processes of a cluster are cut, and healed: nothing acknowledged is lost.

Limits are short here, and whatever takes its time (sessions, lags) is waited for.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from fencepost_broker.apis import forwarding
from fencepost_broker.cli.cluster.status import status_of
from fencepost_broker.storage.log import UpperBound
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import PRODUCE_VERSION, Client, RunningBroker
from tests.support.cluster import CONTROLLER_ID
from tests.support.relay import Cut, Way
from tests.support.relayed_cluster import RelayedCluster, relayed_cluster
from tests.support.spread import spread
from tests.support.waiting import until

# What is cut lies outside of both loops, and most of the time is a wait: one of them will do.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])
QUICK = {
    "controller_socket_timeout_ms": 1000,
    "replica_lag_time_max_ms": 1000,
    "replica_socket_timeout_ms": 1000,
}
SLOW = pytest.mark.slow
ALL, LEADER_ONLY = -1, 1
VALUES = [b"before", b"zombie", b"meanwhile", b"after"]
ALL_THREE = {1, 2, 3}


def values(broker: RunningBroker) -> list[bytes]:
    """Which of ``VALUES`` consumers are shown of t-0."""
    partition = broker.server.table.find("t", 0)
    assert partition is not None
    result = partition.log.read(0, 1 << 20, UpperBound.HIGH_WATERMARK, min_one_batch=True)
    data = b"".join(bytes(piece) for piece in result.pieces or ())
    return [value for value in VALUES if value in data]


async def produce(client: Client, value: bytes, acks: int = ALL, timeout_ms: int = 10_000) -> int:
    """One record to t-0; gives the code of the answer."""
    records = bytes(build_batch(None, [value], 1000))
    data = TopicProduceData("t", partition_data=[PartitionProduceData(0, records)])
    answer = await client.ask(ProduceRequest(None, acks, timeout_ms, [data]), PRODUCE_VERSION)
    return int(answer.responses[0].partition_responses[0].error_code)


async def produced(cluster: RelayedCluster, value: bytes) -> None:
    """One record, to whoever leads, until it is acknowledged by all in sync."""
    while await produce(cluster.broker(leader(cluster)), value):
        pass


async def told(cluster: RelayedCluster, node_id: int, kind: str) -> dict[str, Any]:
    """What a node says of a kind of event; on a machine that stands still it may happen again."""
    await until(lambda: bool(cluster.said(node_id, kind)))
    return cluster.said(node_id, kind)[0]


def isr(cluster: RelayedCluster) -> set[int]:
    return set(cluster.controller.image.topics.by_name["t"].partitions[0].isr)


def leader(cluster: RelayedCluster) -> int:
    return cluster.controller.image.topics.by_name["t"].partitions[0].leader


@pytest.mark.parametrize(
    ("cut", "way"),
    [
        (Cut.SWALLOW, Way.BOTH),
        (Cut.SWALLOW, Way.BACK),
        (Cut.HOLD, Way.BOTH),
        (Cut.RESET, Way.BOTH),
    ],
)
@SLOW
async def test_a_leader_that_is_cut_off_from_the_controller(cut: Cut, way: Way) -> None:
    """Another one leads; what it is told itself it acknowledges to nobody, and cuts off later.

    With ``Way.BACK`` its heartbeats arrive and their answers do not.
    """
    async with relayed_cluster(3, **QUICK) as cluster:
        await cluster.create("t", 1, factor=3)
        old = leader(cluster)
        zombie = cluster.broker(old)
        await produced(cluster, b"before")
        cluster.to_controller[old].cut(cut, way)
        await told(cluster, old, "controller-lost")
        await cluster.silence(old)
        assert leader(cluster) not in {old, -1}
        partition = zombie.server.table.find("t", 0)
        assert partition is not None
        assert partition.leads, "it has not heard that another one leads"
        assert await produce(zombie, b"zombie", LEADER_ONLY) == 0, "one that may be lost"
        assert await produce(zombie, b"zombie", ALL, 1000) == ErrorCode.REQUEST_TIMED_OUT
        await produced(cluster, b"meanwhile")
        assert b"zombie" not in values(zombie)
        cluster.to_controller[old].heal()
        await until(lambda: isr(cluster) == ALL_THREE)
        await produced(cluster, b"after")
        expected = [b"before", b"meanwhile", b"after"]
        await until(lambda: all(values(each) == expected for each in cluster.brokers))
        await told(cluster, CONTROLLER_ID, "broker-fenced")
        for kind in ("broker-fenced", "truncated"):
            await told(cluster, old, kind)
        assert (await told(cluster, old, "controller-back"))["after_ms"] > 0
        assert (await told(cluster, old, "leader-changed"))["partition"] == "t-0"


@pytest.mark.parametrize(
    ("cut", "way"),
    [
        (Cut.SWALLOW, Way.BACK),
        (Cut.SWALLOW, Way.THERE),
    ],
)
@SLOW
async def test_a_follower_that_is_cut_off_from_its_leader(cut: Cut, way: Way) -> None:
    """Both have the controller: the follower is out of sync until it has caught up again."""
    async with relayed_cluster(3, **QUICK) as cluster:
        await cluster.create("t", 1, factor=3)
        led_by = leader(cluster)
        follower = min(ALL_THREE - {led_by})
        await produced(cluster, b"before")
        cluster.to_broker[led_by].cut(cut, way, whose=f"broker-{follower}-")
        writing = asyncio.ensure_future(produced(cluster, b"meanwhile"))
        await until(lambda: isr(cluster) == ALL_THREE - {follower})
        await writing
        assert b"meanwhile" not in values(cluster.broker(follower))
        cluster.to_broker[led_by].heal()
        await until(lambda: isr(cluster) == ALL_THREE)
        await until(lambda: values(cluster.broker(follower)) == [b"before", b"meanwhile"])
        for kind in ("isr-shrunk", "isr-grown"):
            assert (await told(cluster, led_by, kind))["partition"] == "t-0"
        assert (await told(cluster, follower, "leader-lost"))["leader"] == led_by
        back = await told(cluster, follower, "leader-back")
        assert back["after_ms"] > 0


@SLOW
async def test_who_leads_again_is_followed_at_once_by_those_it_did_not_answer() -> None:
    """A Fetch to a leader that was cut off is waited for no longer than it leads.

    Its connection stays open, and the answer is lost: only what the follower hears of the
    leadership ends the wait, before another one begins.
    """
    settings = {**QUICK, "replica_socket_timeout_ms": 600_000}
    async with relayed_cluster(2, **settings) as cluster:
        await cluster.create("t", 1, factor=2)
        old = leader(cluster)
        await produced(cluster, b"before")  # so that it is a Fetch that is under way
        cluster.to_broker[old].cut(Cut.SWALLOW)
        cluster.to_controller[old].cut(Cut.SWALLOW)
        other = 3 - old
        await until(lambda: cluster.to_broker[old].has_swallowed(f"broker-{other}-fetcher"))
        await cluster.silence(old)
        assert leader(cluster) == other
        cluster.to_broker[old].heal()
        cluster.to_controller[old].heal()
        await until(lambda: isr(cluster) == {1, 2})
        # It goes back: the other one stops, and follows when it is there again.
        cluster.to_controller[other].cut(Cut.SWALLOW)
        await cluster.silence(other)
        assert leader(cluster) == old
        cluster.to_controller[other].heal()
        await until(lambda: isr(cluster) == {1, 2})
        await produced(cluster, b"after")


async def test_what_is_passed_on_is_answered_when_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And what has time left is carried out once the controller is heard again."""
    settings: dict[str, Any] = {"controller_socket_timeout_ms": 500}
    async with relayed_cluster(1, **settings) as cluster:
        broker = cluster.broker(1)
        cluster.to_controller[1].cut(Cut.SWALLOW)
        monkeypatch.setattr(forwarding, "GIVE_UP_MS", 1200)
        request = CreateTopicsRequest(topics=[CreatableTopic("never", 1, 1)])
        answer = await broker.ask(request, 7)
        (told,) = answer.topics
        assert (told.name, told.error_code) == ("never", ErrorCode.REQUEST_TIMED_OUT)
        assert "controller" in told.error_message
        monkeypatch.setattr(forwarding, "GIVE_UP_MS", 60_000)
        request = CreateTopicsRequest(topics=[CreatableTopic("later", 1, 1)])
        creating = asyncio.ensure_future(broker.ask(request, 7))
        cluster.to_controller[1].heal()
        assert (await creating).topics[0].error_code == 0
        assert set(cluster.controller.image.topics.by_name) == {"later"}


def up(node_id: int, role: str, port: int) -> dict[str, Any]:
    """A process as its supervisor tells of it."""
    where = f"127.0.0.1:{port}"
    told = {"id": node_id, "roles": [role], "state": "up", "pid": 7}
    return {**told, "bootstrap": where, "inside": where}


async def test_status_waits_for_a_controller_no_longer_than_it_may() -> None:
    """What brokers know is told all the same, and what is not known has a word."""
    async with relayed_cluster(1) as cluster:
        await cluster.create("t", 2)
        members = [up(CONTROLLER_ID, "controller", 1), up(1, "broker", cluster.broker(1).port)]
        status = await status_of(members, 60.0)
        assert status.unknown == []
        assert status.rows[1].metadata_lag is not None
        cluster.to_controller[1].cut(Cut.HOLD)
        status = await status_of(members, 0.5)
        (unknown,) = status.unknown
        assert "the metadata lag is unknown" in unknown
        of_controller, of_broker = status.rows
        assert (of_broker.leads, of_broker.fenced, of_broker.metadata_lag) == (2, False, None)
        assert of_controller.leads is None


async def test_status_of_a_cluster_none_of_whose_brokers_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        status = await status_of([up(1, "broker", silent.getsockname()[1])], 0.2)
    assert [(each.state, each.leads) for each in status.rows] == [("up", None)]
    assert "no broker answers" in status.unknown[0]


async def test_who_comes_back_too_early_waits_for_its_own_session_and_says_so() -> None:
    async with relayed_cluster(1) as cluster:
        session_ms = cluster.controller.config.settings.broker_session_timeout_ms
        await cluster.die(1)
        starting = asyncio.ensure_future(cluster.start_broker(1))
        log = cluster.log_of(1)
        await until(lambda: bool(log.of_kind("not-registered")))
        assert not starting.done()
        (refused,) = log.of_kind("not-registered")
        assert refused["why"] == "DUPLICATE_BROKER_REGISTRATION"
        assert refused["up_to_ms"] == session_ms
        await cluster.silence(1)
        await starting
        assert (await told(cluster, 1, "registered"))["after_ms"] > 0


@SLOW
async def test_a_coordinator_that_is_cut_off_from_a_leader_brings_its_markers_later() -> None:
    """Meanwhile the outcome stands, other partitions have theirs, and nobody begins anew."""
    short: dict[str, Any] = {"request_timeout_ms": 1000}
    async with spread(3, partitions=6, running=relayed_cluster, **short) as it:
        cluster = it.cluster
        assert isinstance(cluster, RelayedCluster)
        coordinator_id, cut_off = it.coordinator.node_id, it.leader_id
        leaders = {number: it.leader_of("t", number) for number in range(6)}
        here = next(number for number, each in leaders.items() if each == coordinator_id)
        who = await it.begin()
        for number in (0, here):
            answer = await cluster.broker(leaders[number]).ask(it.sent(who, number), 12)
            assert answer.responses[0].partition_responses[0].error_code == 0
        cluster.to_broker[cut_off].cut(Cut.SWALLOW, whose=f"broker-{coordinator_id}-")
        await it.end(who)
        await until(lambda: last_stable(it.coordinator, here) == 2)
        await told(cluster, coordinator_id, "broker-lost")
        assert await it.state() == "PrepareCommit"
        assert last_stable(it.leader, 0) == 0, "nothing of it is shown"
        request = InitProducerIdRequest(it.transactional_id, 60_000)
        again = await it.coordinator.ask(request, 4)
        assert again.error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        cluster.to_broker[cut_off].heal()
        await it.ended()
        assert last_stable(it.leader, 0) == 2
        assert await it.state() == "CompleteCommit"
        assert (await told(cluster, coordinator_id, "broker-back"))["broker"] == cut_off


def last_stable(broker: RunningBroker, number: int) -> int:
    partition = broker.server.table.find("t", number)
    assert partition is not None
    return partition.log.last_stable_offset
