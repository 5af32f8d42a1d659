"""Metrics by OTLP: a receiver gets those of /metrics, and one that fails does no harm."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_broker.config.errors import SettingsError
from fencepost_broker.server.metrics.figure import Figure
from fencepost_broker.server.otlp import metrics as sending
from fencepost_broker.server.otlp import receiver as receiving
from fencepost_broker.server.otlp.metrics import metrics_of
from fencepost_broker.server.otlp.receiver import Receiver
from prometheus_client.parser import text_string_to_metric_families

from tests.control.harness import Controlled, controlled
from tests.support.broker import QuietLog
from tests.support.otlp import OtlpReceiver, attributes_of, otlp_receiver
from tests.support.waiting import until

_MESSAGES = "kafka_server_brokertopicmetrics_messagesin_total"


class KeptLog(QuietLog):
    """Keeps the lines of warnings and news."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def info(self, event: str, **values: Any) -> None:
        self.lines.append((event, values.get("why", "")))

    warning = info


def points_of(receiver: OtlpReceiver) -> dict[str, list[Any]]:
    """The points of the last message, by the metrics' names."""
    if not receiver.metrics:
        return {}
    [scope] = receiver.metrics[-1].scope_metrics
    return {
        each.name: list(getattr(each, each.WhichOneof("data")).data_points)
        for each in scope.metrics
    }


def value_of(receiver: OtlpReceiver, name: str, **labels: str) -> float | None:
    found = [
        each.as_double
        for each in points_of(receiver).get(name, ())
        if attributes_of(each) == labels
    ]
    return found[0] if found else None


async def names_at(it: Controlled) -> set[str]:
    async with it.session.get(f"http://{it.address}/metrics") as answer:
        text = await answer.text()
    return {
        sample.name for family in text_string_to_metric_families(text) for sample in family.samples
    }


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "INTERVAL_S", 0.05)


@pytest.mark.asyncio
async def test_a_receiver_gets_what_prometheus_gets() -> None:
    async with (
        otlp_receiver() as receiver,
        controlled(settings={"otlp.endpoint": receiver.url}, topics={"t": 1}) as it,
        it.client() as client,
    ):
        for _ in range(3):
            await client.produce("t", 0, b"x")
        await until(lambda: value_of(receiver, _MESSAGES, topic="t") == 3)
        assert set(points_of(receiver)) == await names_at(it)
        resource = attributes_of(receiver.metrics[-1].resource)
    assert resource["service.name"] == "fencepost"
    assert resource["service.instance.id"] == "1"
    assert set(receiver.requests) == {"/v1/metrics"}


def test_a_total_is_a_sum_that_grows_and_the_rest_are_gauges() -> None:
    def made(name: str, kind: Any) -> Any:
        figure = Figure(name, kind, "what it means", lambda _: ())
        [found] = [
            each for each in metrics_of([(figure, [({"topic": "t"}, 5.0)])], 7, 9)
            if each.name == name
        ]  # fmt: skip
        return found

    total = made("x_total", "counter")
    assert total.sum.is_monotonic
    assert total.description == "what it means"
    [point] = total.sum.data_points
    assert (point.as_double, point.start_time_unix_nano, point.time_unix_nano) == (5, 7, 9)
    assert attributes_of(point) == {"topic": "t"}
    assert made("x", "gauge").gauge.data_points
    assert made("x_count", "counter").gauge.data_points, "else Prometheus would add _total"


@pytest.mark.asyncio
async def test_a_receiver_that_fails_is_told_once_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log: Any = KeptLog()
    async with otlp_receiver() as target:
        receiver = Receiver(f"{target.url}/", log)
        outcomes = []
        for status in (500, 503, 503, 200, 400):
            target.status = status
            outcomes.append(await receiver.post("v1/metrics", b""))
        assert outcomes == ["refused", "later", "later", "taken", "refused"]
        target.may_answer.clear()
        monkeypatch.setattr(receiving, "SECONDS_MAX", 0.01)
        assert await receiver.post("v1/metrics", b"") == "later"
        await receiver.close()
    failed, back = "the OTLP receiver takes nothing: it is tried again", "the OTLP receiver is back"
    assert log.lines == [
        (failed, "500 Internal Server Error"), (back, ""), (failed, "400 Bad Request"),
    ]  # fmt: skip


@pytest.mark.asyncio
async def test_a_broker_serves_while_its_receiver_is_down_and_sends_when_it_is_back() -> None:
    async with otlp_receiver() as receiver:
        receiver.status = 500
        async with (
            controlled(settings={"otlp.endpoint": receiver.url}, topics={"t": 1}) as it,
            it.client() as client,
        ):
            await until(lambda: len(receiver.requests) > 2)
            await client.produce("t", 0, b"x")
            receiver.status = 200
            await until(lambda: value_of(receiver, _MESSAGES, topic="t") == 1)
            url = receiver.url
    async with (
        controlled(settings={"otlp.endpoint": url}, topics={"t": 1}) as it,
        it.client() as client,
    ):
        await client.produce("t", 0, b"x")


@pytest.mark.asyncio
async def test_without_the_library_the_start_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any) -> Any:
        if name.startswith("opentelemetry"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *given)

    for name in [each for each in sys.modules if each.startswith("fencepost_broker.server.otlp.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    broker = Broker(settings={"otlp.endpoint": "http://127.0.0.1:4318"})
    with pytest.raises(SettingsError, match=r"pip install 'fencepost\[otlp\]'"):
        await broker.start()


@pytest.mark.parametrize(
    "url", ["127.0.0.1:4318", "ftp://x", "http://", "http://x:1?y", "http://x:y", "http://u:p@x"]
)
def test_an_endpoint_is_a_url(url: str) -> None:
    with pytest.raises(SettingsError, match=r"otlp\.endpoint"):
        Broker(settings={"otlp.endpoint": url})
