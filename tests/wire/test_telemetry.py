"""Metrics that clients send to a broker (KIP-714)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import confluent_kafka
import pytest
from fencepost_broker import Broker, blocking
from fencepost_broker.cli.main import main
from fencepost_broker.observability import client_telemetry
from fencepost_broker.observability.tap.client import TapClient
from fencepost_broker.observability.tap.datagrams import EventKind
from fencepost_client import ConfigResource, ResourceKind
from fencepost_client.blocking import Admin
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.records.compression import Compression, compress
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    Gauge,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
)

from tests.conformance.telemetry_cases import NO_ID, Side, expected, script
from tests.control.harness import ControlClient
from tests.support.broker import Client
from tests.support.waiting import polled

ENABLED = {"client.telemetry.enable": True}


@asynccontextmanager
async def at_rest() -> AsyncIterator[tuple[Broker, Side]]:
    """A broker whose clock stands still unless a test moves it."""
    async with Broker(settings=ENABLED, control=0) as broker:
        broker.clock.pause()

        async def pass_by(milliseconds: int) -> None:
            broker.clock.advance(ms=milliseconds)

        yield broker, Side(broker.bootstrap, pass_by)


@pytest.mark.asyncio
async def test_the_answers_are_those_of_apache_kafka() -> None:
    async with at_rest() as (_, side):
        assert await script(side) == expected()


@pytest.mark.asyncio
async def test_clients_are_not_asked_unless_a_setting_says_so() -> None:
    for settings, is_told in (({}, False), (ENABLED, True)):
        async with Broker(settings=settings) as broker, Client(broker.bootstrap) as client:
            told = await client.ask(ApiVersionsRequest("a", "1"), 3)
            assert ({71, 72} <= {each.api_key for each in told.api_keys}) is is_told
            if not is_told:
                with pytest.raises(EOFError):
                    await client.ask(GetTelemetrySubscriptionsRequest(NO_ID), 0)


@pytest.mark.asyncio
async def test_metrics_are_kept_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_telemetry, "KEPT_BYTES_MAX", 2500)
    monkeypatch.setattr(client_telemetry, "INSTANCES_MAX", 4)
    async with at_rest() as (broker, side), side.client() as sender:
        for _ in range(5):
            await sender.get(NO_ID)
            await sender.push(bytes(1000))
        async with aiohttp.ClientSession() as session:
            port = ControlClient(session, str(broker.control))
            clients = (await port.ask("GET", "/v1/telemetry"))["clients"]
    assert [each["pushes"] for each in clients] == [1] * 4
    assert [each["last_push_ms"] is not None for each in clients] == [False, False, True, True]
    assert "not MetricsData" in clients[-1]["problem"]


@pytest.mark.asyncio
@pytest.mark.parametrize("codec", Compression)
async def test_metrics_are_read_in_every_compression(codec: Compression) -> None:
    """Its counters are in /metrics, and a tap shows the request."""
    point = NumberDataPoint(as_int=7)
    scope = ScopeMetrics(metrics=[Metric(name="taken", gauge=Gauge(data_points=[point]))])
    data = MetricsData(resource_metrics=[ResourceMetrics(scope_metrics=[scope])])
    sent = data.SerializeToString()
    if codec != Compression.NONE:
        sent = compress(codec, sent)
    async with at_rest() as (broker, side), side.client() as sender:
        host, _, port = broker.bootstrap.rpartition(":")
        await sender.get(NO_ID)
        async with TapClient(host, int(port)) as tap, aiohttp.ClientSession() as session:
            await sender.push(sent, codec=codec)
            events = tap.events()
            asked = await anext(each async for each in events if each.kind == EventKind.REQUEST)
            control = ControlClient(session, str(broker.control))
            [client] = (await control.ask("GET", "/v1/telemetry"))["clients"]
            async with session.get(f"http://{broker.control}/metrics") as answer:
                counted = await answer.text()
        assert sender.lines[-1] == "push: NONE"
        assert [(each["name"], each["value"]) for each in client["metrics"]] == [("taken", 7)]
        assert f"fencepost_client_telemetry_bytes_total {len(sent)}" in counted
        assert "fencepost_client_telemetry_pushes_total 1" in counted
        assert asked.api_key == ApiKey.PUSH_TELEMETRY
        assert sent in asked.frame


def test_what_librdkafka_sends_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with blocking.Broker(topics={"t": 1}, settings=ENABLED, control=0) as broker:
        ours = ["--control", str(broker.control)]
        with Admin(broker.bootstrap) as admin:
            every = ConfigResource(ResourceKind.CLIENT_METRICS, "all")
            admin.alter_configs({every: {"metrics": "*", "interval.ms": "100"}})
        producer = confluent_kafka.Producer(
            {"bootstrap.servers": broker.bootstrap, "client.id": "app"}
        )
        producer.produce("t", b"v")
        assert not producer.flush(30)
        capsys.readouterr()

        def sent() -> list[dict[str, object]]:
            assert main(["telemetry", *ours, "--client", "app", "--json"]) == 0
            clients = json.loads(capsys.readouterr().out)
            return [metric for each in clients for metric in each["metrics"]]

        metrics = polled(sent, "librdkafka sends no metrics")
        names = {each["name"] for each in metrics}
        assert "org.apache.kafka.producer.connection.creation.total" in names
        assert main(["telemetry", *ours]) == 0
        assert "asked for * every 100 ms; sent" in capsys.readouterr().out
