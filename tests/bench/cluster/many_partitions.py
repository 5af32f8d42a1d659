"""Many partitions: how long metadata, a start and a failover take then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Final

from fencepost_protocol.generated import create_topics as creation
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest

from tests.bench.cluster import clients
from tests.bench.cluster.clusters import (
    BROKERS,
    Cluster,
    SlowError,
    described,
    until,
    until_in_sync,
)
from tests.support.up import Wire

TOPIC_PARTITIONS: Final = 1000
UNITS: Final = {
    "create": "s to create them",
    "propagation": "s until all brokers tell who leads the last",
    "start": "s to start all with them",
    "in sync": "s from then until all replicas are in sync",
    "failover": "s from kill -9 until all are led by others",
    "produce": "s from then until acks=all is answered",
}
REMARK: Final = (
    "In topics of 1,000 partitions, created one after the other. Starting is that of all processes"
    " with what they have on disk. Sessions are 9,000 ms, and heartbeats come every 2,000 ms, as by"
    " default: both times are part of a failover."
)
_VICTIM: Final = 3


def measure(cluster: Cluster, partitions: int) -> Mapping[str, float]:
    """All of it, on a cluster of its own."""
    size = min(partitions, TOPIC_PARTITIONS)
    names = [f"many-{number}" for number in range(partitions // size)]
    told = {}
    with cluster:
        begin = time.monotonic()
        for name in names:
            _create(cluster, name, size)
        told["create"] = time.monotonic() - begin
        until(lambda: _all_led(cluster, BROKERS, names[-1:], size), "the last topic is led")
        told["propagation"] = time.monotonic() - begin
        told["start"] = cluster.restarted()
        begin = time.monotonic()
        until(lambda: _all_led(cluster, BROKERS, names, size), "all is led behind a start")
        for name in names:  # with its only replica in sync a partition would lose its leader
            until_in_sync(cluster, name)
        told["in sync"] = time.monotonic() - begin
        with Wire(cluster.port(BROKERS[0])) as wire:  # one may lead all behind a start
            wire.ask(ElectLeadersRequest(0, None, 60_000), 2)
        until(lambda: _leads_its_share(cluster, names), "leaders are those that are preferred")
        begin = time.monotonic()
        cluster.kill(_VICTIM)
        left = [each for each in BROKERS if each != _VICTIM]
        until(lambda: _all_led(cluster, left, names, size), "all is led again")
        told["failover"] = time.monotonic() - begin
        begin = time.monotonic()
        asyncio.run(clients.produce_one(cluster.bootstrap, names[-1]))
        told["produce"] = time.monotonic() - begin
    return told


def _create(cluster: Cluster, name: str, partitions: int) -> None:
    request = creation.CreateTopicsRequest(
        topics=[creation.CreatableTopic(name, partitions, len(BROKERS))], timeout_ms=120_000
    )
    with Wire(cluster.port(BROKERS[0])) as wire:
        answer = wire.ask(request, 7).topics[0]
    if answer.error_code:
        raise SlowError(f"{cluster.name} does not create {name}: {answer.error_message}")


def _leads_its_share(cluster: Cluster, names: list[str]) -> bool:
    told = [each for name in names for each in described(cluster, BROKERS[0], name)]
    return all(each.leader_id == each.replica_nodes[0] for each in told)


def _all_led(
    cluster: Cluster, asked: tuple[int, ...] | list[int], names: list[str], size: int
) -> bool:
    """Whether these brokers tell, each of them, that one of them leads each of these partitions."""
    for broker_id in asked:
        for name in names:
            told = described(cluster, broker_id, name)
            if len(told) < size or any(each.leader_id not in asked for each in told):
                return False
    return True
