"""Of very many requests, an event stream tells a sample and says how many it left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from fencepost_broker.apis.request import Request
from fencepost_broker.network.watchers import unwatch, watch
from fencepost_broker.server.control import port, sampling
from fencepost_broker.server.embedded.last_requests import LastRequests
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.control.harness import begun, controlled, events_in, open_port
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
KEPT = 3
SENT = 20


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "BURST", KEPT)
    monkeypatch.setattr(sampling, "MORE_PER_TICK", 0)


async def until_lost(events: AsyncIterator[dict[str, Any]], count: int) -> Counter[str]:
    """Read until so many requests are said to be left out; returns what was told."""
    told: Counter[str] = Counter()
    while told["lost"] < count:
        event = await anext(events)
        if event["type"] == "lost":
            assert sum(event["requests"].values()) == event["lost"]
            told["lost"] += event["lost"]
        told[event.get("api") or event.get("what") or ""] += 1
        told.update({f"lost {name}": n for name, n in event.get("requests", {}).items()})
    return told


async def test_a_sample_is_told_and_the_others_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        open_port() as it,
        it.session.get(f"http://{it.address}/v1/events?kinds=request") as answer,
    ):
        events = events_in(answer)
        for _ in range(SENT):
            await it.broker.ask(MetadataRequest([]), 12)
        await it.broker.ask(ListGroupsRequest(), 4)
        told = await until_lost(events, SENT - KEPT)
        assert (told["Metadata"], told["lost Metadata"]) == (KEPT, SENT - KEPT)
        assert told["ListGroups"] == 1, "each API has its own sample"
        monkeypatch.setattr(sampling, "MORE_PER_TICK", KEPT)
        event = {"type": "lost"}
        while event["type"] == "lost":
            await it.broker.ask(MetadataRequest([]), 12)
            event = await anext(events)
        assert event["api"] == "Metadata", "there are more after a while"


async def test_other_requests_take_the_direct_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "TICKS_PER_SECOND", 1e-4)
    async with (
        open_port() as it,
        it.session.get(f"http://{it.address}/v1/events?kinds=request"),
    ):
        server = it.broker.process.socket_server
        for _ in range(SENT):
            await it.broker.ask(MetadataRequest([]), 12)
        assert server.resting == {ApiKey.METADATA}
        seen: list[int] = []
        assert server.watcher is not None
        requested = server.watcher.requested

        def note(request: Request) -> None:
            seen.append(request.api_key)
            requested(request)

        monkeypatch.setattr(server.watcher, "requested", note)
        await it.broker.ask(MetadataRequest([]), 12)
        await it.broker.ask(ListGroupsRequest(), 4)
        assert seen == [ApiKey.LIST_GROUPS]
        await it.ask("GET", "/v1/requests")
        watch(server, last := LastRequests())
        await it.broker.ask(MetadataRequest([]), 12)
        assert "Metadata" in str(list(last.lines())), "another watcher sees all requests"
        unwatch(server, last)


async def test_states_and_markers_are_never_left_out() -> None:
    async with (
        controlled(topics={"t": 1}) as it,
        it.client() as client,
        it.session.get(f"http://{it.address}/v1/events?kinds=step") as answer,
    ):
        events = events_in(answer)
        for number in range(2 * KEPT):
            await begun(client, f"id-{number}")
        states: set[str] = set()
        while len(states) < 2 * KEPT:
            event = await anext(events)
            if event.get("what") == "state" and event["state"] == "Ongoing":
                states.add(event["transactional_id"])


async def test_nothing_rests_after_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(port, "HEARTBEAT_SECONDS", 0.01)
    async with open_port() as it:
        server = it.broker.process.socket_server
        async with it.session.get(f"http://{it.address}/v1/events?kinds=request"):
            for _ in range(SENT):
                await it.broker.ask(MetadataRequest([]), 12)
        await until(lambda: server.watcher is None)
        assert not server.resting
