"""The control port of a proxy: rules, requests and events; what only a broker can do is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from fencepost_broker import Broker, SettingsError, attach
from fencepost_broker.server.proxy.proxy import Proxy
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.records.writer import build_batch

from tests.control.harness import ControlClient
from tests.support.broker import Client
from tests.support.up import produce_request
from tests.support.waiting import asked_until, until

pytestmark = pytest.mark.asyncio
TOKEN = "0123456789abcdef"


class Controlled(ControlClient):
    """A proxy in front of a broker, and a client of its control port."""

    def __init__(self, session: aiohttp.ClientSession, proxy: Proxy, broker: Broker) -> None:
        super().__init__(session, proxy.control or "")
        self.proxy = proxy
        self.broker = broker

    def client(self) -> Client:
        """A connection to the proxy."""
        return Client(self.proxy.bootstrap)

    async def requests(self) -> list[dict[str, Any]]:
        """The requests that were seen."""
        found: list[dict[str, Any]] = (await self.ask("GET", "/v1/requests"))["requests"]
        return found


@asynccontextmanager
async def controlled(**options: Any) -> AsyncIterator[Controlled]:
    async with (
        Broker(topics={"t": 1}, log_level="error") as broker,
        Proxy(broker.bootstrap, **{"control": 0, "log_level": "error", **options}) as proxy,
        aiohttp.ClientSession() as session,
    ):
        yield Controlled(session, proxy, broker)


def unknown_topic() -> MetadataRequest:
    asked = [MetadataRequestTopic(name="none")]
    return MetadataRequest(asked, allow_auto_topic_creation=False)


async def test_a_rule_is_added_fires_and_is_removed() -> None:
    async with controlled() as it:
        rule = {"name": "lost", "match": {"api": "Metadata"}, "act": {"type": "drop-answer"}}
        added = await it.ask("POST", "/v1/faults", rule, expect=201)
        assert added["fired"] == 0
        async with it.client() as client:
            with pytest.raises((OSError, asyncio.IncompleteReadError)):
                await client.ask(unknown_topic(), 12)
        assert (await it.ask("GET", "/v1/faults/lost/fired"))["fired"] == 1
        [touched] = (await it.ask("GET", "/v1/faults/lost/requests"))["requests"]
        assert touched["request"]["topics"][0]["name"] == "none"
        await it.ask("DELETE", "/v1/faults/lost", expect=204)
        async with it.client() as client:
            await client.ask(unknown_topic(), 12)


async def test_what_only_a_broker_can_do_is_refused_by_name() -> None:
    async with controlled() as it:
        for method, path, body in (
            ("GET", "/v1/clock", None),
            ("POST", "/v1/clock/advance", {"days": 8}),
            ("GET", "/v1/brokers", None),
            ("GET", "/v1/stats", None),
            ("GET", "/metrics", None),
            ("GET", "/v1/topics", None),
            ("GET", "/v1/topics/t/partitions/0", None),
            ("POST", "/v1/topics", {"name": "u"}),
            ("GET", "/v1/transactions", None),
            ("GET", "/v1/groups", None),
            ("GET", "/v1/markers/holds", None),
            ("GET", "/v1/disk/faults", None),
            ("GET", "/v1/snapshots", None),
            ("POST", "/v1/reset", None),
            ("POST", "/v1/operations", {"type": "fence-producer", "transactional_id": "p"}),
        ):
            refused = await it.ask(method, path, body, expect=409)
            assert "a proxy cannot do this" in refused["detail"], path
        await it.ask("GET", "/v1/processes", expect=409)
        match = {"api": "EndTxn", "user": "alice"}
        rule = {"match": match, "act": {"type": "disconnect"}}
        wrong = await it.ask("POST", "/v1/faults", rule, expect=400)
        assert "user: a proxy does not know who is logged in" in wrong["detail"]
        assert "openapi" in await it.ask("GET", "/openapi.json")
        assert (await it.ask("GET", "/v1/faults?broker=1", expect=404))["status"] == 404


async def test_requests_are_seen_with_their_errors() -> None:
    async with controlled() as it:
        assert await it.requests() == []
        async with it.client() as client:
            await client.ask(ApiVersionsRequest("lib", "1.0"), 4)
            await client.ask(unknown_topic(), 12)
        versions, metadata = await it.requests()
        assert (versions["api"], versions["errors"]) == ("ApiVersions", {})
        assert versions["software"] == "lib 1.0"
        assert metadata["errors"] == {"UNKNOWN_TOPIC_OR_PARTITION": 1}
        assert metadata["took_us"] > 0
        assert (metadata["client_id"], metadata["broker"]) == ("test", -1)
        assert metadata["address"].startswith("127.0.0.1:")
        [node_id] = it.proxy.brokers
        async with Client(it.proxy.brokers[node_id]) as client:
            await client.ask(unknown_topic(), 12)
        assert (await it.requests())[-1]["broker"] == node_id
        await it.ask("DELETE", "/v1/requests", expect=204)
        assert it.proxy.clients.watcher is None, "watching costs each request something"


async def test_requests_that_are_sent_together_each_get_their_answer() -> None:
    async with controlled() as it:
        await it.ask("GET", "/v1/requests")
        batch = bytes(build_batch(None, [b"x"], 1000))
        silent = produce_request("t", batch, acks=0)
        async with it.client() as client:
            assert client.streams is not None
            frames = [
                encode_request(MetadataRequest([]), 12, 0, "test"),
                encode_request(silent, 9, 1, "test"),
                encode_request(unknown_topic(), 12, 2, "test"),
            ]
            client.streams[1].write(b"".join(map(bytes, frames)))

            async def are_answered() -> bool:
                found = await it.requests()
                return len(found) == 3 and all(each["took_us"] is not None for each in found)

            await asked_until(are_answered)
        told = [(each["api"], each["errors"]) for each in await it.requests()]
        assert told == [
            ("Metadata", {}), ("Produce", {}), ("Metadata", {"UNKNOWN_TOPIC_OR_PARTITION": 1}),
        ]  # fmt: skip


async def test_answers_are_the_same_while_they_are_watched() -> None:
    wanted = [FetchTopic("t", partitions=[FetchPartition(0, partition_max_bytes=1_000_000)])]
    fetch = FetchRequest(max_wait_ms=0, min_bytes=0, max_bytes=1_000_000, topics=wanted)
    async with controlled() as it, it.client() as client:
        record = bytes(build_batch(None, [b"x" * 300_000], 1000))
        await client.ask(produce_request("t", record), 9)
        before = await client.ask(fetch, 11)
        await it.ask("GET", "/v1/requests")
        assert await client.ask(fetch, 11) == before
        [told] = await it.requests()
        assert told["answer_bytes"] > 300_000


async def test_a_rule_that_fires_is_told_and_so_is_its_connection() -> None:
    async with (
        controlled() as it,
        it.session.get(f"http://{it.address}/v1/events?kinds=fault,request,log") as answer,
    ):
        rule = {"name": "error", "match": {"api": "Metadata"},
                "act": {"type": "error", "code": "UNKNOWN_SERVER_ERROR"}}  # fmt: skip
        await it.ask("POST", "/v1/faults", rule, expect=201)
        async with it.client() as client:
            await client.ask(unknown_topic(), 12)
        told = {}
        async for line in answer.content:
            if line.startswith(b"data: "):
                event = json.loads(line[6:])
                told[event["type"]] = event
            if {"fault", "request"} <= told.keys():
                break
        assert (told["fault"]["name"], told["fault"]["fired"]) == ("error", 1)
        assert told["request"]["errors"] == {"UNKNOWN_SERVER_ERROR": 1}
    await until(lambda: it.proxy.clients.watcher is None)


async def test_a_request_whose_broker_is_gone_says_why() -> None:
    async with controlled() as it:
        await it.ask("GET", "/v1/requests")
        await it.ask(
            "POST",
            "/v1/faults",
            {"match": {"api": "Metadata"}, "act": {"type": "drop-request"}},
            expect=201,
        )
        async with it.client() as client:
            with pytest.raises((OSError, asyncio.IncompleteReadError)):
                await client.ask(unknown_topic(), 12)
        [told] = await it.requests()
        assert "rule-1" in told["dropped"]


async def test_a_program_attaches_to_a_proxy() -> None:
    async with controlled() as it:
        assert it.proxy.control is not None
        attached = await asyncio.to_thread(attach, it.proxy.control)
        late = await asyncio.to_thread(attached.faults.delay, 0, api="Metadata")
        async with it.client() as client:
            await client.ask(unknown_topic(), 12)
        await asyncio.to_thread(lambda: late.fired)
        assert it.proxy.faults[late.name].fired == 1


async def test_guards_are_those_of_a_broker(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    async with controlled(control_token_file=file) as it:
        await it.ask("GET", "/v1/faults", expect=401)
        await it.ask("GET", "/v1/faults", headers={"Authorization": f"Bearer {TOKEN}"})
        await it.ask("GET", "/v1/faults", headers={"Host": "evil.example"}, expect=421)
        await it.ask("GET", "/v1/faults", headers={"Origin": "http://evil.example"}, expect=403)
    with pytest.raises(SettingsError, match="need a token"):
        await Proxy("127.0.0.1:1", control="0.0.0.0:0").start()
