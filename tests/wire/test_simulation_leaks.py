"""When all is quiet, brokers keep nothing of requests and connections that are gone."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from fencepost_broker.network.connection import Connection
from fencepost_broker.simulation import Simulation
from fencepost_broker.simulation.leaks import kept_of_the_gone
from fencepost_broker.simulation.runs import run_seed
from fencepost_client import Consumer, TopicPartition

from tests.support.compiled import pure_only

IDLE = {"open": 2, "parked_requests": 0, "queued_bytes": 0}


def kept(waiters: int = 0, ends: int = 2, **stats: int) -> list[str]:
    partition = SimpleNamespace(waiters=[object() for _ in range(waiters)])
    topics = {"orders": SimpleNamespace(partitions=[partition])}
    server: Any = SimpleNamespace(stats=lambda: {**IDLE, **stats})
    table: Any = SimpleNamespace(by_name=topics)
    return list(kept_of_the_gone(server, table, ends))


def test_what_is_in_use_is_no_leak() -> None:
    assert kept() == []
    assert kept(waiters=1, parked_requests=1, queued_bytes=20) == []


def test_connections_that_are_gone_are_found() -> None:
    assert kept(ends=1) == ["it counts 2 connections, and has 1"]


def test_requests_that_wait_for_no_connection_are_found() -> None:
    assert kept(waiters=2, parked_requests=1) == [
        "2 requests wait for records, and 1 are not answered"
    ]


def test_bytes_of_answered_requests_are_found() -> None:
    assert kept(queued_bytes=20) == ["it counts 20 bytes of requests, and has answered all"]


async def reset_a_fetch(sim: Simulation) -> None:
    """A consumer's connections break while its Fetch waits, and it does not come again."""
    cluster = await sim.cluster(brokers=1, topics={"orders": 1})

    async def read() -> None:
        async with Consumer(cluster.bootstrap, fetch_max_wait_ms=60_000) as consumer:
            consumer.assign([TopicPartition("orders", 0)])
            await consumer.getmany(timeout_ms=60_000)

    reading = sim.start(read(), "reader")
    await asyncio.sleep(5)
    reading.cancel()
    for end in list(sim.network.ends):
        if end.process.name == "reader":
            sim.network.reset(end)
    await sim.quiet(rest_s=1)


def test_a_fetch_whose_connection_is_reset_leaves_nothing() -> None:
    assert run_seed(reset_a_fetch, 1).verdict == "ok"


@pure_only("fencepost_broker.network.connection")
def test_a_simulation_finds_a_fetch_that_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "on_loss", lambda *_: None)
    verdict = run_seed(reset_a_fetch, 1).verdict
    assert "broker 1: 1 requests wait for records, and 0 are not answered" in verdict
