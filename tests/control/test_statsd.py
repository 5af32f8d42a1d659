"""Metrics by UDP, as StatsD takes them."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import asyncio_dgram
import pytest
from fencepost_broker.server.metrics import statsd
from fencepost_broker.server.metrics.figure import Figure
from fencepost_broker.server.metrics.statsd import DATAGRAM_BYTES_MAX, Growth, datagrams

from tests.control.harness import controlled


def reading(kind: Any, value: float, **labels: str) -> Any:
    return Figure("x", kind, "", lambda _: ()), [(labels, value)]


def test_counters_are_sent_as_growth_and_gauges_as_they_are() -> None:
    growth = Growth(3)
    assert list(growth.lines([reading("counter", 5, topic="a:b|c")])) == [
        "x:5|c|#broker:3,topic:a_b_c"
    ]
    assert list(growth.lines([reading("counter", 5, topic="a:b|c")])) == []
    assert list(growth.lines([reading("counter", 7, topic="a:b|c")])) == [
        "x:2|c|#broker:3,topic:a_b_c"
    ]
    assert list(growth.lines([reading("gauge", 1.5)])) == ["x:1.5|g|#broker:3"]
    assert list(growth.lines([reading("gauge", -1)])) == [
        "x:0|g|#broker:3",
        "x:-1|g|#broker:3",
    ]


def test_a_datagram_holds_what_fits() -> None:
    lines = ["x" * 700, "y" * 700, "z" * 2_000, "w"]
    assert [each.decode().split("\n") for each in datagrams(lines)] == [
        ["x" * 700, "y" * 700],
        ["z" * 2_000],
        ["w"],
    ]
    assert 2 * 700 + 1 <= DATAGRAM_BYTES_MAX < 3 * 700


@pytest.mark.asyncio
async def test_a_receiver_gets_the_metrics_of_a_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statsd, "INTERVAL_S", 0.05)
    receiver = await asyncio_dgram.bind(("127.0.0.1", 0))
    port = receiver.sockname[1]
    totals: Counter[str] = Counter()
    name = "kafka_server_brokertopicmetrics_messagesin_total|#broker:1,topic:t"
    address = f"127.0.0.1:{port}"
    async with (
        controlled(settings={"statsd.address": address}, topics={"t": 1}) as it,
        it.client() as client,
    ):
        for _ in range(3):
            await client.produce("t", 0, b"x")
        async with asyncio.timeout(60):
            while totals[name] < 3:
                data, _ = await receiver.recv()
                for line in data.decode().splitlines():
                    what, _, rest = line.partition(":")
                    value, kind, *tags = rest.split("|")
                    if kind == "c":
                        totals["|".join([what, *tags])] += int(float(value))
    receiver.close()
    assert totals[name] == 3
