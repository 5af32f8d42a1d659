"""The live stream of events: what it tells, and what a slow reader loses."""

from __future__ import annotations

import asyncio
import json
import struct
from typing import Any

import pytest
from fencepost_broker.server.control import port
from fencepost_broker.server.control.events import (
    READERS_MAX,
    WAITING_EVENTS_MAX,
    EventHub,
    LogLine,
)
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.control.harness import controlled, events_in, open_port
from tests.support.broker import Client
from tests.support.waiting import asked_until, until

pytestmark = pytest.mark.asyncio


async def test_rules_that_fire_are_told() -> None:
    async with (
        controlled() as it,
        it.client() as client,
        it.session.get(f"http://{it.address}/v1/events?kinds=fault") as answer,
    ):
        events = events_in(answer)
        it.broker.faults.delay(0, name="late", api="Metadata", skip=1)
        for _ in range(3):
            await client.ask(MetadataRequest([]), 12)
        first, second = await anext(events), await anext(events)
        assert (first["type"], first["name"], first["api"]) == ("fault", "late", "Metadata")
        assert (first["fired"], second["fired"]) == (1, 2)


async def test_requests_and_log_lines_are_told() -> None:
    async with (
        controlled() as it,
        it.client() as client,
        it.client() as bad,
        it.session.get(f"http://{it.address}/v1/events") as answer,
    ):
        events = events_in(answer)
        assert await answer.content.readline() == b": the stream has begun\n"
        await client.ask(MetadataRequest([]), 12)
        request = await anext(events)
        assert (request["type"], request["api"]) == ("request", "Metadata")
        assert request["errors"] == {}
        assert bad.streams is not None
        bad.streams[1].write(b"\x00\x00\x00\x0a" + b"\x7f" * 10)
        line = await anext(events)
        assert (line["type"], line["area"], line["level"]) == ("log", "connection", "warning")
        assert line["text"] == "closing the connection"
        assert line["values"]["client"].startswith("/127.0.0.1:")


async def test_only_the_kinds_that_are_asked_for() -> None:
    async with open_port() as it:
        async with it.session.get(f"http://{it.address}/v1/events?kinds=log") as answer:
            events = events_in(answer)
            assert it.broker.process.socket_server.watcher is None
            await it.broker.ask(MetadataRequest([]), 12)
            it.port.events.publish(LogLine(7, "server", "info", "told", {}))
            assert (await anext(events))["text"] == "told"
        wrong = await it.ask("GET", "/v1/events?kinds=log,reqest", expect=400)
        assert "did you mean request?" in wrong["detail"]


async def test_the_watch_ends_with_the_last_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(port, "HEARTBEAT_SECONDS", 3600)
    async with open_port() as it:
        server = it.broker.process.socket_server
        url = f"http://{it.address}/v1/events?kinds=request"
        async with it.session.get(url), it.session.get(url):
            assert server.watcher is not None
        await until(lambda: server.watcher is None)
        assert it.port.events.readers == 0


async def test_a_request_that_waits_is_seen_before_its_answer() -> None:
    async with open_port() as it:
        it.broker.create("t")
        await it.ask("GET", "/v1/requests")
        wanted = [FetchTopic("t", partitions=[FetchPartition(0, partition_max_bytes=1000)])]
        fetch = FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=wanted)

        async def first() -> Any:
            found = (await it.ask("GET", "/v1/requests"))["requests"]
            return found[0] if found else None

        async def waits() -> bool:
            found = await first()
            return found is not None and found["has_waited"]

        async with Client(f"{it.broker.host}:{it.broker.port}") as other:
            waiting = asyncio.ensure_future(other.ask(fetch, 11))
            await asked_until(waits)
            told = await first()
            assert (told["api"], told["took_us"], told["errors"]) == ("Fetch", None, None)
            await it.broker.produce("t", 0, b"x")
            await waiting
        told = await first()
        assert told["took_us"] > 0
        assert told["errors"] == {}


async def test_a_request_whose_connection_is_dropped_says_why() -> None:
    async with open_port() as it:
        await it.ask("GET", "/v1/requests")
        async with Client(f"{it.broker.host}:{it.broker.port}") as other:
            assert other.streams is not None
            reader, writer = other.streams
            frame = bytes(encode_request(MetadataRequest([]), 12, 1, "x"))
            writer.write(struct.pack(">i", len(frame) - 4 - 2) + frame[4:-2])  # it is cut
            assert await reader.read() == b""
        [told] = (await it.ask("GET", "/v1/requests"))["requests"]
        assert told["api"] == "Metadata"
        assert "Metadata" in told["dropped"]


async def test_a_slow_reader_is_told_how_many_events_it_lost() -> None:
    hub = EventHub()
    reader = hub.open(())
    fast = hub.open(["log"])
    for number in range(WAITING_EVENTS_MAX + 3):
        hub.publish(LogLine(number, "server", "info", "", {}))
        assert await fast.take() is not None
    told: list[Any] = []
    while len(told) <= WAITING_EVENTS_MAX:
        taken = await reader.take()
        assert taken is not None
        told += [json.loads(line[6:]) for line in taken.splitlines() if line.startswith(b"data: ")]
    assert [each["at_ms"] for each in told[:-1]] == list(range(WAITING_EVENTS_MAX))
    assert told[-1] == {"type": "lost", "lost": 3, "requests": {}}
    hub.publish(LogLine(-1, "server", "info", "", {}))
    taken = await reader.take()
    assert taken is not None
    assert b'"at_ms":-1' in taken, "it goes on"
    hub.close()
    assert await reader.take() is None


async def test_a_stream_too_many_is_refused() -> None:
    async with open_port() as it:
        readers = [it.port.events.open(()) for _ in range(READERS_MAX)]
        await it.ask("GET", "/v1/events", expect=503)
        readers[0].close()
        async with it.session.get(f"http://{it.address}/v1/events") as answer:
            assert answer.status == 200


async def test_a_stream_ends_when_the_broker_stops() -> None:
    async with controlled() as it:
        async with it.session.get(f"http://{it.address}/v1/events?kinds=log") as answer:
            await it.broker.stop()
            told = [event async for event in events_in(answer)]
        assert [event for event in told if event["type"] != "log"] == []


async def test_no_reader_costs_nothing() -> None:
    hub = EventHub()
    assert not hub.wants("log")
    reader = hub.open(["request"])
    assert hub.wants("request")
    assert not hub.wants("log")
    reader.close()
    assert not hub.wants("request")
