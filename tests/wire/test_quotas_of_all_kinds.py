"""Quotas of handlers' time, of topics that are made, and of new connections, over the wire."""

from __future__ import annotations

import asyncio
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import pytest
from fencepost_broker.config import Value
from fencepost_broker.server.clock import StateClock
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_groups import ListGroupsRequest

from tests.conformance.quota_cases import CONNECTIONS, MUTATIONS, TIME, script
from tests.support.broker import Client, RunningBroker, running_broker
from tests.support.cluster import running_cluster
from tests.support.waiting import until
from tests.wire.quota_harness import PRODUCED, fetch, limit, produce

pytestmark = pytest.mark.asyncio
HERE = ("ip", "127.0.0.1")


def create(name: str, partitions: int = 1) -> CreateTopicsRequest:
    return CreateTopicsRequest([CreatableTopic(name, partitions, 1)], 30_000)


def parked(broker: RunningBroker) -> int:
    return broker.process.socket_server.parked_count


async def test_it_tells_what_apache_kafka_tells() -> None:
    expected = Path(__file__).parents[1] / "conformance" / "quotas.txt"
    async with running_broker() as broker:
        lines = await script(f"{broker.host}:{broker.port}")
    assert lines == expected.read_text(encoding="utf-8").splitlines()


async def test_the_time_of_handlers_counts_and_what_they_wait_for_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two seconds are 2 % of the hundred that the windows have: a third too much."""
    calls = 0

    def slow_ns() -> int:
        nonlocal calls
        calls += 1
        return perf_counter_ns() + calls * 2_000_000_000

    clock = StateClock(manual=True)
    async with running_broker({"quota.window.size.seconds": 10}, clock=clock) as broker:
        await limit(broker, TIME, 1.5)
        monkeypatch.setattr("fencepost_broker.network.throttling.perf_counter_ns", slow_ns)
        told_ms = (await broker.ask(FindCoordinatorRequest("g", 0), 3)).throttle_time_ms
        monkeypatch.undo()
        assert told_ms == 10_000, "it would be 33 s, but no wait is longer than a window"
        muted = asyncio.ensure_future(broker.ask(ApiVersionsRequest(), 0))
        await until(lambda: parked(broker) == 1)
        clock.advance(ms=told_ms - 1)
        await asyncio.sleep(0)
        assert not muted.done()
        clock.advance(ms=1)
        await muted
        clock.advance(seconds=1000)
        assert not (await broker.ask(ListGroupsRequest(), 4)).throttle_time_ms


async def test_a_fetch_that_waits_uses_no_time() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        await limit(broker, TIME, 3.0)
        request = fetch(broker, max_wait_ms=500)
        assert not (await broker.ask(request, 13)).throttle_time_ms
        await limit(broker, TIME, 1e-9)
        answer = await broker.ask(request, 13)
        assert answer.throttle_time_ms == 1000
        assert (answer.error_code, answer.responses) == (0, [])


async def test_a_produce_waits_for_the_longer_of_both_reasons() -> None:
    clock = StateClock(manual=True)
    async with running_broker(topics={"t": 1}, clock=clock) as broker:
        await limit(broker, TIME, 1e-9)
        assert (await broker.ask(produce(15_000), 9)).throttle_time_ms == 1000
        clock.advance(seconds=1)
        changed = asyncio.ensure_future(limit(broker, PRODUCED, 1000))
        await until(lambda: parked(broker) == 1)
        clock.advance(seconds=1)
        await changed
        answered = asyncio.ensure_future(broker.ask(produce(15_000), 9))
        await until(lambda: parked(broker) == 1)
        clock.advance(seconds=1)
        assert (await answered).throttle_time_ms > 1000


async def test_a_client_that_creates_too_much_is_muted() -> None:
    clock = StateClock(manual=True)
    settings: dict[str, Value] = {"controller.quota.window.num": 2}
    async with running_broker(settings, clock=clock) as broker:
        await limit(broker, MUTATIONS, 1.0)
        answer = await broker.ask(create("a", 4), 7)
        assert (answer.throttle_time_ms, parked(broker)) == (0, 0)
        answer = await broker.ask(create("b"), 7)
        assert answer.topics[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
        assert answer.topics[0].error_message == (
            "the quota controller_mutation_rate allows this client to create and delete"
            " 1 partitions a second: try again in 2000 ms"
        )
        assert (answer.throttle_time_ms, parked(broker)) == (2000, 1)
        assert "b" not in broker.server.image.topics.by_name
        clock.advance(ms=2000)
        assert not (await broker.ask(create("b"), 7)).topics[0].error_code


async def test_a_broker_mutes_for_as_long_as_its_controller_says() -> None:
    async with running_cluster(1) as cluster:
        broker = cluster.broker(1)
        await limit(broker, MUTATIONS, 0.1)
        await until(lambda: MUTATIONS in broker.server.quotas.quotas.keys)
        assert not (await broker.ask(create("a", 100), 7)).throttle_time_ms
        answer = await broker.ask(create("b"), 7)
        assert answer.topics[0].error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
        assert 500_000 < answer.throttle_time_ms < 1_000_000
        assert parked(broker) == 1


async def served(bootstrap: str) -> Any:
    async with Client(bootstrap) as client:
        try:
            return await client.ask(ApiVersionsRequest("a", "1"), 3)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None


async def test_an_address_that_connects_too_often_is_not_served() -> None:
    clock = StateClock(manual=True)
    async with running_broker(clock=clock) as broker:
        bootstrap = f"{broker.host}:{broker.port}"
        await limit(broker, CONNECTIONS, 1.0, HERE)
        for _ in range(10):
            assert await served(bootstrap) is not None
        refused = asyncio.ensure_future(served(bootstrap))
        await until(lambda: parked(broker) == 1)
        assert not (await broker.ask(ListGroupsRequest(), 4)).error_code, "it is open already"
        clock.advance(seconds=1)
        assert await refused is None
        clock.advance(seconds=10)
        assert await served(bootstrap) is not None


async def test_connections_above_the_rate_of_all_wait_one_after_the_other() -> None:
    clock = StateClock(manual=True)
    settings: dict[str, Value] = {
        "listeners": "PLAINTEXT://127.0.0.1:0,OTHER://127.0.0.1:0",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT",
        "listener.name.other.max.connection.creation.rate": 1,
    }
    async with running_broker(settings, clock=clock) as broker:
        plain, other = (each.bootstrap for each in broker.server.addresses)
        asked = [asyncio.ensure_future(served(other)) for _ in range(12)]
        await until(lambda: sum(each.done() for each in asked) == 10)
        await until(lambda: parked(broker) == 2)
        assert await served(plain) is not None
        clock.advance(seconds=1)
        await until(lambda: sum(each.done() for each in asked) == 11)
        clock.advance(seconds=1)
        assert None not in await asyncio.gather(*asked)


async def test_markers_between_brokers_have_no_quota() -> None:
    async with running_broker() as broker:
        await limit(broker, TIME, 50.0)
        apis = broker.process.socket_server.apis
        without = {key for key, (_, steps, _) in apis.items() if not steps}
        assert without == {ApiKey.WRITE_TXN_MARKERS}
        await limit(broker, TIME, None)
        assert not any(steps for _, steps, _ in apis.values())
