"""A broker with a control port in the test's own loop, and requests to that."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import aiohttp
from fencepost_broker import Broker
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.observability.logging import LazyLogs
from fencepost_broker.server.control.controlled import controlled_broker
from fencepost_broker.server.control.port import ControlPort
from fencepost_broker.server.control.watching import WatchedBroker
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client, RunningBroker, running_broker


class ControlClient:
    """Asks one control port."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self.session = session
        self.address = address

    async def ask(
        self, method: str, path: str, body: Any = None, *, expect: int = 200, **options: Any
    ) -> Any:
        """Send a request, which must be answered with this status; returns the content."""
        if body is not None:
            options["json"] = body
        url = f"http://{self.address}{path}"
        async with self.session.request(method, url, **options) as answer:
            assert answer.status == expect, await answer.text()
            if answer.status == 204:
                assert await answer.read() == b""
                return None
            kind = "application/json" if expect < 400 else "application/problem+json"
            assert answer.content_type == kind
            content = await answer.json(content_type=None)
            if expect >= 400:
                assert content["status"] == expect
            return content


class Controlled(ControlClient):
    """A broker, and a client of its control port."""

    def __init__(self, session: aiohttp.ClientSession, broker: Broker) -> None:
        super().__init__(session, broker.control or "")
        self.broker = broker

    def client(self) -> Client:
        """A connection to the broker's listener."""
        return Client(self.broker.bootstrap)


class OpenPort(ControlClient):
    """The control port of a running broker, opened by itself so that a test can look into it."""

    def __init__(
        self, session: aiohttp.ClientSession, address: str, port: ControlPort, broker: RunningBroker
    ) -> None:
        super().__init__(session, address)
        self.port = port
        self.broker = broker

    async def connect(
        self, buffer_bytes: int = 1 << 16
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection that sends what the test likes, and takes so much without reading."""
        host, _, port = self.address.rpartition(":")
        return await asyncio.open_connection(host, int(port), limit=buffer_bytes)


def _no_logs() -> NoReturn:
    raise AssertionError("nothing has to be logged")


@asynccontextmanager
async def open_port() -> AsyncIterator[OpenPort]:
    """A broker and its control port."""
    async with (
        running_broker({"control.address": "0"}) as broker,
        aiohttp.ClientSession() as session,
    ):
        logs = LazyLogs(_no_logs, LogLevels())
        made = controlled_broker(
            WatchedBroker(broker.process), broker.server.addresses, logs, Broker(log_level="error")
        )
        port = ControlPort("0", None, made, broker.process.log)
        try:
            yield OpenPort(session, await port.open(), port, broker)
        finally:
            await port.close()


@asynccontextmanager
async def controlled(**options: Any) -> AsyncIterator[Controlled]:
    """A broker with a control port at a free port of 127.0.0.1, unless the options say more."""
    given: dict[str, Any] = {"control": 0, "log_level": "error", **options}
    async with Broker(**given) as broker, aiohttp.ClientSession() as session:
        yield Controlled(session, broker)


async def events_in(answer: aiohttp.ClientResponse) -> AsyncIterator[dict[str, Any]]:
    """Yield the events of a stream."""
    assert answer.content_type == "text/event-stream"
    kind = ""
    async for line in answer.content:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            event = json.loads(value)
            assert event["type"] == kind
            yield event


async def begun(client: Any, transactional_id: str) -> tuple[int, int]:
    """Begin a transaction in topic t, partition 0; returns the producer's id and epoch."""
    found = await client.ask(FindCoordinatorRequest(transactional_id, 1), 3)
    assert not found.error_code
    answer = await client.ask(InitProducerIdRequest(transactional_id, 60_000), 4)
    assert not answer.error_code
    producer = {"producer_id": answer.producer_id, "producer_epoch": answer.producer_epoch}
    adding = AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=transactional_id,
        v3_and_below_producer_id=answer.producer_id,
        v3_and_below_producer_epoch=answer.producer_epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic("t", [0])],
    )
    await client.ask(adding, 3)
    batch = bytes(build_batch(None, [b"x"], 1000, **producer, base_sequence=0, transactional=True))
    data = [TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])]
    written = await client.ask(ProduceRequest(transactional_id, -1, 5000, data), 9)
    assert not written.responses[0].partition_responses[0].error_code
    return answer.producer_id, answer.producer_epoch
