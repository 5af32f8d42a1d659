"""What a client asks, for those who look: counts, hooks, and Prometheus's text."""

from __future__ import annotations

import asyncio
import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    Admin,
    Consumer,
    NetworkError,
    NewTopic,
    Producer,
    RequestMetrics,
    RequestOutcome,
    SentRequest,
    TopicPartition,
    prometheus_text,
)
from fencepost_client.clients.fetch_loop import MUCH_BYTES
from fencepost_protocol.generated.index import ApiKey

from tests.support.waiting import until

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.ours_alone("counted in the client's own links, whoever answers"),
]
DOCUMENTATION = Path(__file__).parents[2] / "docs/how-to/measure-a-client.md"
SAMPLE = re.compile(r'[a-z_]+\{client="(?:[^"\\]|\\.)*",api="[a-z_]+"(?:,le="[^"]+")?\} [0-9.]+')


class Listener:
    """A hook that keeps what it hears."""

    def __init__(self) -> None:
        self.under_way: list[SentRequest] = []
        self.done: list[tuple[SentRequest, RequestOutcome]] = []

    def on_request(self, request: SentRequest) -> None:
        self.under_way.append(request)

    def on_response(self, request: SentRequest, outcome: RequestOutcome) -> None:
        self.under_way.remove(request)
        self.done.append((request, outcome))


async def test_all_three_clients_count_and_tell() -> None:
    metrics = [RequestMetrics() for _ in range(3)]
    heard = [Listener() for _ in range(3)]
    for each, listener in zip(metrics, heard, strict=True):
        each.add_hook(listener)
    async with Broker() as broker:
        async with Admin(broker.bootstrap, metrics=metrics[0]) as admin:
            await admin.create_topics([NewTopic("t", 1)])
        async with Producer(broker.bootstrap, metrics=metrics[1]) as producer:
            await producer.send_and_wait("t", b"x")
        async with Consumer(broker.bootstrap, metrics=metrics[2]) as consumer:
            consumer.assign([TopicPartition("t", 0)])
            consumer.seek(TopicPartition("t", 0), 0)
            assert len(await consumer.getmany(timeout_ms=5_000)) == 1
    for api_key, each, listener in zip(
        (ApiKey.CREATE_TOPICS, ApiKey.PRODUCE, ApiKey.FETCH), metrics, heard, strict=True
    ):
        assert each.of(api_key).times_us.count == 1 or api_key is ApiKey.FETCH
        (request, outcome), *_ = [one for one in listener.done if one[0].api_key is api_key]
        assert request.peer == broker.bootstrap
        assert request.api_version > 0
        assert outcome.is_awaited
        assert outcome.error is None
        assert 0 < outcome.time_us <= each.of(api_key).times_us.largest
        assert not listener.under_way, "what began has ended"


@pytest.mark.parametrize("size", [100, MUCH_BYTES])
async def test_the_next_fetch_is_sent_before_the_application_has_much_to_do(size: int) -> None:
    metrics, heard = RequestMetrics(), Listener()
    metrics.add_hook(heard)
    async with Broker() as broker:
        async with Producer(broker.bootstrap) as producer:
            await producer.send_and_wait("t", bytes(size))
        async with Consumer(broker.bootstrap, metrics=metrics) as consumer:
            consumer.assign([TopicPartition("t", 0)])
            consumer.seek(TopicPartition("t", 0), 0)
            assert len(await consumer.getmany(timeout_ms=5_000)) == 1
            asked_ahead = any(each.api_key is ApiKey.FETCH for each in heard.under_way)
            assert asked_ahead is (size >= MUCH_BYTES)


async def test_a_request_that_nobody_waits_for_and_a_hook_that_is_removed() -> None:
    metrics, listener = RequestMetrics(), Listener()
    metrics.add_hook(listener)
    async with (
        Broker(topics={"t": 1}) as broker,
        Producer(broker.bootstrap, acks=0, metrics=metrics, enable_idempotence=False) as producer,
    ):
        await producer.send_and_wait("t", b"x")
        (outcome,) = [told for sent, told in listener.done if sent.api_key is ApiKey.PRODUCE]
        assert not outcome.is_awaited
        assert not metrics.of(ApiKey.PRODUCE).times_us.count
        metrics.remove_hook(listener)
        count = len(listener.done)
        await producer.send_and_wait("t", b"x")
        assert len(listener.done) == count


async def test_a_request_that_gets_no_answer() -> None:
    metrics, listener = RequestMetrics(), Listener()
    metrics.add_hook(listener)
    async with Broker(topics={"t": 1}) as broker:
        consumer = Consumer(broker.bootstrap, metrics=metrics, fetch_max_wait_ms=60_000)
        await consumer.start()
        consumer.assign([TopicPartition("t", 0)])
        consumer.seek(TopicPartition("t", 0), 0)
        reading = asyncio.ensure_future(consumer.getmany(timeout_ms=60_000))
        await until(lambda: any(each.api_key is ApiKey.FETCH for each in listener.under_way))
    await until(lambda: metrics.of(ApiKey.FETCH).failed > 0)
    reading.cancel()
    await asyncio.wait([reading])
    await consumer.close()
    outcomes = [outcome for sent, outcome in listener.done if sent.api_key is ApiKey.FETCH]
    assert any(isinstance(outcome.error, NetworkError) for outcome in outcomes)
    assert not listener.under_way


async def test_a_hook_that_raises_disturbs_nobody() -> None:
    class Broken:
        def on_request(self, request: SentRequest) -> None:
            raise ZeroDivisionError

        def on_response(self, request: SentRequest, outcome: RequestOutcome) -> None:
            raise ZeroDivisionError

    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    metrics, listener = RequestMetrics(), Listener()
    metrics.add_hook(Broken())
    metrics.add_hook(listener)
    async with (
        Broker(topics={"t": 1}) as broker,
        Producer(broker.bootstrap, metrics=metrics) as producer,
    ):
        await producer.send_and_wait("t", b"x")
    assert len(told) == 2 * len(listener.done) > 0
    assert all(isinstance(each["exception"], ZeroDivisionError) for each in told)


async def test_prometheus_text() -> None:
    metrics = RequestMetrics()
    for time_us in (500, 1_500, 3_000, 60_000_000):
        metrics.finished(ApiKey.PRODUCE, time_us, is_answered=True)
    metrics.finished(ApiKey.FETCH, 0, is_answered=False)
    text = prometheus_text({'a "quoted\\\n name': metrics, "b": RequestMetrics()})
    lines = text.splitlines()
    assert text.endswith("\n")
    assert sum(line.startswith("# TYPE") for line in lines) == 2
    for line in lines:
        assert line.startswith("# ") or SAMPLE.fullmatch(line), line
    of = r'client="a \"quoted\\\n name"'
    name = "fencepost_client_request_seconds"
    assert f'{name}_bucket{{{of},api="produce",le="0.001"}} 1' in lines
    assert f'{name}_bucket{{{of},api="produce",le="0.002"}} 2' in lines
    assert f'{name}_bucket{{{of},api="produce",le="30"}} 3' in lines
    assert f'{name}_bucket{{{of},api="produce",le="+Inf"}} 4' in lines
    assert f'{name}_sum{{{of},api="produce"}} 60.005000' in lines
    assert f'{name}_count{{{of},api="produce"}} 4' in lines
    assert f'fencepost_client_requests_failed_total{{{of},api="fetch"}} 1' in lines


async def test_the_documented_example(capsys: pytest.CaptureFixture[str]) -> None:
    text = DOCUMENTATION.read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (example,) = [block for block in blocks if "prometheus_text(" in block]
    async with Broker(topics={"orders": 1}) as broker:
        source = example.replace("localhost:9092", broker.bootstrap)
        names: dict[str, Any] = {}
        exec(f"async def example():\n{textwrap.indent(source, '    ')}", names)
        await names["example"]()
    out = capsys.readouterr().out
    assert re.search(r"PRODUCE took \d+ us", out)
    assert 'fencepost_client_request_seconds_count{client="billing",api="produce"} 1' in out
