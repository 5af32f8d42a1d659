"""Each area of a broker tells what is its own, and none is told of below its level."""

from __future__ import annotations

import io
import json
import socket
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.logging import LazyLogs, Logs
from fencepost_broker.server.clock import StateClock, wall_ms
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)

from tests.support.broker import Client

pytestmark = pytest.mark.asyncio

LOADING = (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


class Told:
    """A broker's lines, by area."""

    def __init__(self, level: str, **areas: str) -> None:
        self._stream = io.StringIO()
        levels = LogLevels(level, areas)
        self.logs = LazyLogs(lambda: Logs(self._stream, wall_ms, level="debug"), levels)

    def lines(self, area: str | None = None) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self._stream.getvalue().splitlines()]
        return [line for line in lines if area in (None, line["area"])]

    def text(self, area: str) -> str:
        return json.dumps(self.lines(area))


async def a_bit_of_everything(told: Told) -> None:
    """Something of each area."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        settings = {"tap.port": taken.getsockname()[1], "log.segment.bytes": 1 << 20}
        clock = StateClock(manual=True, at_ms=wall_ms())
        topics = ["t:1:retention.ms=1000"]
        broker = Broker(topics=topics, settings=settings, clock=clock, logs=told.logs)
        async with broker, Client(broker.bootstrap) as client:
            for _ in range(2):
                await client.produce("t", 0, bytes(600_000), timestamp_ms=clock.now_ms())
            clock.advance(days=1)
            name = MetadataRequestTopic(name="no/topic")
            await client.ask(MetadataRequest([name], allow_auto_topic_creation=True), 12)
            for kind, key in ((0, "my-group"), (1, "my-id")):
                asked = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
                answer = await client.ask(asked, 4)
                while answer.coordinators[0].error_code in LOADING:
                    answer = await client.ask(asked, 4)
            ids = await client.ask(InitProducerIdRequest("my-id", 60_000), 4)
            assert not ids.error_code
            partition = OffsetCommitRequestPartition(0, 5)
            topic = OffsetCommitRequestTopic("t", partitions=[partition])
            commit = OffsetCommitRequest("my-group", topics=[topic])
            committed = await client.ask(commit, 8)
            assert not committed.topics[0].partitions[0].error_code
            async with Client(broker.bootstrap) as bad:
                assert bad.streams is not None
                bad.streams[1].write(b"GET / HTTP/1.1\r\n\r\n")
                assert await bad.streams[0].read() == b""


async def test_each_area_tells_what_is_its_own() -> None:
    told = Told("debug")
    await a_bit_of_everything(told)
    expected = {
        "server": "stopped",
        "connection": "closing the connection",
        "log": "removed 2 segments",
        "controller": "TopicRecord(name='t'",
        "group": "my-group",
        "transaction": "my-id",
        "tap": "the tap is off",
    }
    for area, words in expected.items():
        assert words in told.text(area), area
        others = [other for other in expected if other != area]
        assert not [other for other in others if words in told.text(other)], words
    [closed] = [each for each in told.lines("connection") if each["level"] == "warning"]
    assert closed["client"].startswith("/127.0.0.1:")


async def test_details_are_told_only_where_they_are_asked_for() -> None:
    told = Told("info", transaction="debug", connection="error", tap="error")
    await a_bit_of_everything(told)
    assert {line["area"] for line in told.lines() if line["level"] == "debug"} == {"transaction"}
    assert not told.lines("connection")
    assert not told.lines("tap")
    assert told.lines("log")
