"""What is measured of a cluster, and what is to be reached."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from tests.bench.cluster import clients, many_partitions, producer_ids
from tests.bench.cluster.clusters import (
    KAFKA,
    PATIENCE_S,
    SESSION_MS,
    Cluster,
    create,
    delete,
    elect_preferred,
    prefer,
    until_in_sync,
)

Told: TypeAlias = Mapping[str, float]
RATE, P50, P99, READY, FIRST, PAUSE, STOP = "rate", "p50", "p99", "ready", "first", "pause", "stop"
MORE_IS_BETTER: Final = frozenset({RATE})
MILLISECONDS: Final = 1000.0
ALL_REPLICAS: Final = [2, 3, 1]
"""Broker 1 is Apache Kafka's controller, which is not killed."""
SLIDE_MS: Final = 100
MOVES: Final = 6
LONE_A_SECOND: Final = 200
"""So many records that are sent one by one, for each second that a row is to take."""


@dataclass(frozen=True)
class Effort:
    """How much is done."""

    rounds: int = 5
    seconds: float = 10.0
    slide_seconds: float = 30.0
    partitions: int = 10_000
    ids: int = 20_000


QUICK: Final = Effort(1, 0.3, 0.3, 40, 1200)


@dataclass(frozen=True)
class AtMost:
    """A bound of ours."""

    metric: str
    value: float


@dataclass(frozen=True)
class TimesKafka:
    """Be so many times as good as Apache Kafka."""

    metric: str
    times: float = 1.0


@dataclass(frozen=True)
class Row:
    """One thing that both do."""

    name: str
    title: str
    units: Mapping[str, str]
    measure: Callable[[Cluster, Effort, int], Mapping[str, Told]]
    """One round of one cluster, whose number is given; by contender."""
    goals: tuple[AtMost | TimesKafka, ...] = ()
    fresh: bool = False
    """Takes a cluster that is not started, and starts it."""
    rounds_max: int = 99
    remark: str = ""


def _topic(name: str) -> str:
    return f"{name}-{uuid.uuid4().hex[:8]}"


def _one(cluster: Cluster, told: Told) -> Mapping[str, Told]:
    return {cluster.name: told}


# -- starting --------------------------------------------------------------------------------------


def start(cluster: Cluster, effort: Effort, number: int) -> Mapping[str, Told]:
    """From nothing to the first record that three replicas have."""
    del effort, number
    begin = time.monotonic()
    with cluster:
        if cluster.name == KAFKA:  # whose first start formats its folders by a tool in Java
            begin = time.monotonic() - cluster.restarted()
        ready = time.monotonic() - begin
        topic = _topic("first")
        create(cluster, topic, [ALL_REPLICAS])
        asyncio.run(clients.produce_one(cluster.bootstrap, topic))
        first = time.monotonic() - begin
    return _one(cluster, {READY: ready * MILLISECONDS, FIRST: first * MILLISECONDS})


# -- leaders that go -------------------------------------------------------------------------------


def failover(cluster: Cluster, effort: Effort, number: int) -> Mapping[str, Told]:
    """kill -9 of the leader of a partition that is written to."""
    del effort, number
    topic = _topic("failover")
    create(cluster, topic, [ALL_REPLICAS])
    until_in_sync(cluster, topic)

    async def measured() -> float:
        async with clients.steady(cluster.bootstrap, topic) as client:
            begin = time.monotonic()
            await asyncio.to_thread(cluster.kill, ALL_REPLICAS[0])
            killed = time.monotonic()
            async with asyncio.timeout(PATIENCE_S):
                while client.acked[-1] < killed:  # noqa: ASYNC110 (as in Steady.more)
                    await asyncio.sleep(0.001)
            return client.first_behind(killed) - begin

    pause = asyncio.run(measured())
    cluster.start(ALL_REPLICAS[0])
    until_in_sync(cluster, topic)
    return _one(cluster, {PAUSE: pause * MILLISECONDS})


def move(cluster: Cluster, effort: Effort, number: int) -> Mapping[str, Told]:
    """Elections of preferred leaders, and a broker that stops in order."""
    del effort, number
    topic = _topic("move")
    create(cluster, topic, [ALL_REPLICAS])
    until_in_sync(cluster, topic)
    replicas = list(ALL_REPLICAS)

    async def measured() -> tuple[list[float], float]:
        nonlocal replicas
        pauses = []
        async with clients.steady(cluster.bootstrap, topic) as client:
            for _ in range(MOVES):
                replicas = [*replicas[1:], replicas[0]]
                await asyncio.to_thread(prefer, cluster, 1, topic, replicas)
                await client.more(20)
                begin = time.monotonic()
                await asyncio.to_thread(elect_preferred, cluster, 1, topic)
                await client.more(50)
                pauses.append(client.longest_pause(begin))
            await asyncio.to_thread(until_in_sync, cluster, topic)
            assert replicas == ALL_REPLICAS
            begin = time.monotonic()
            await asyncio.to_thread(cluster.stop, replicas[0])
            await client.more(50)
            return pauses, client.longest_pause(begin)

    pauses, stopped = asyncio.run(measured())
    cluster.start(replicas[0])
    until_in_sync(cluster, topic)
    return _one(
        cluster,
        {PAUSE: statistics.median(pauses) * MILLISECONDS, STOP: stopped * MILLISECONDS},
    )


# -- one record at a time --------------------------------------------------------------------------


def lone(cluster: Cluster, effort: Effort, number: int) -> Mapping[str, Told]:
    """One record after the other, each acknowledged by all replicas before the next."""
    del number
    topic = _topic("lone")
    create(cluster, topic, [ALL_REPLICAS])
    until_in_sync(cluster, topic)

    async def measured() -> list[float]:
        async with clients.steady(cluster.bootstrap, topic) as client:
            begin = len(client.acked)
            await client.more(round(LONE_A_SECOND * effort.seconds))
            acked = client.acked[begin:]
            return [later - earlier for earlier, later in itertools.pairwise(acked)]

    times = asyncio.run(measured())
    delete(cluster, topic)
    return _one(
        cluster,
        {P50: statistics.median(times) * MILLISECONDS, P99: clients.p99(times) * MILLISECONDS},
    )


# -- throughput ------------------------------------------------------------------------------------


def produce(cluster: Cluster, effort: Effort, number: int) -> Mapping[str, Told]:
    """Acks all to six partitions, and what a single record takes meanwhile."""
    del number
    topic = _topic("produce")
    create(cluster, topic, [[1 + at % 3, 1 + (at + 1) % 3, 1 + (at + 2) % 3] for at in range(6)])
    rate, times = asyncio.run(clients.throughput(cluster.bootstrap, topic, effort.seconds))
    delete(cluster, topic)
    return _one(
        cluster,
        {
            RATE: rate * len(clients.VALUE) / 1e6,
            P50: statistics.median(times) * MILLISECONDS,
            P99: clients.p99(times) * MILLISECONDS,
        },
    )


TRANSACTIONS, ACKS_ALL, ACKS_1 = "transactions of 100 ms", "acks=all, 1 in flight", "acks=1, 5"
SLIDE: Final = (TRANSACTIONS, ACKS_ALL, ACKS_1)


def slide(cluster: Cluster, effort: Effort, number: int) -> Mapping[str, Told]:
    """The three ways to produce, each round in the other order."""
    told: dict[str, Told] = {}
    for way in SLIDE if number % 2 == 0 else SLIDE[::-1]:
        topic = _topic("slide")
        create(cluster, topic, [ALL_REPLICAS])
        rate = asyncio.run(_slide_rate(cluster.bootstrap, topic, way, effort.slide_seconds))
        delete(cluster, topic)
        told[f"{cluster.name}, {way}"] = {RATE: rate}
    return told


async def _slide_rate(bootstrap: str, topic: str, way: str, seconds: float) -> float:
    if way == TRANSACTIONS:
        return await clients.transactional_rate(bootstrap, topic, seconds, SLIDE_MS)
    if way == ACKS_ALL:
        return await clients.plain_rate(bootstrap, topic, seconds, acks="all", max_in_flight=1)
    return await clients.plain_rate(bootstrap, topic, seconds, acks=1, max_in_flight=5)


# -- all of them -----------------------------------------------------------------------------------

ROWS: Final = (
    Row(
        "start",
        "Start of three brokers and a controller",
        {READY: "ms until ready", FIRST: "ms until the first record has three replicas"},
        start,
        (AtMost(FIRST, 1500),),
        fresh=True,
        remark="Apache Kafka's folders are formatted before; its three processes start at once.",
    ),
    Row(
        "failover",
        "kill -9 of a leader",
        {PAUSE: "ms from the kill to the next acknowledged record"},
        failover,
        (AtMost(PAUSE, SESSION_MS + 500),),
        remark=f"Sessions are {SESSION_MS} ms, heartbeats come every {SESSION_MS // 10} ms. A"
        " session ends so long behind the last heartbeat, which may have come before the kill.",
    ),
    Row(
        "move",
        "A leader that moves as planned",
        {
            PAUSE: "ms of pause, preferred leader elected",
            STOP: "ms of pause, leader stopped in order",
        },
        move,
        (AtMost(PAUSE, 50), AtMost(STOP, 50)),
        remark="The longest time between two acknowledgements of a client that waits for each.",
    ),
    Row(
        "lone",
        "A record at a time with acks=all, three replicas, nothing else to do",
        {P50: "ms p50", P99: "ms p99"},
        lone,
        (AtMost(P50, 1), TimesKafka(P50)),
    ),
    Row(
        "replication",
        "Produce with acks=all, records of 1 KB, six partitions of three replicas",
        {RATE: "MB/s", P50: "ms p50 of a single record meanwhile", P99: "ms p99"},
        produce,
        (TimesKafka(RATE), TimesKafka(P99)),
        remark="Client and brokers share two cores; the client is ours, in one process.",
    ),
    Row(
        "slide",
        "Transactions of 100 ms beside plain producing, records of 1 KB",
        {RATE: "records/s"},
        slide,
    ),
    Row(
        "partitions",
        "10,000 partitions of three replicas",
        many_partitions.UNITS,
        lambda cluster, effort, _: _one(
            cluster, many_partitions.measure(cluster, effort.partitions)
        ),
        fresh=True,
        rounds_max=1,
        remark=many_partitions.REMARK,
    ),
    Row(
        "producer-ids",
        "InitProducerId with blocks of 1,000 from the controller",
        producer_ids.UNITS,
        lambda cluster, effort, _: producer_ids.measure(cluster, effort.ids),
        remark=producer_ids.REMARK,
    ),
)
