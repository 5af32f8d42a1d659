"""A broker that does not lead any more says who does (KIP-951): nobody waits for Metadata."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_client import Consumer, Producer, TopicPartition
from fencepost_protocol.apis import request_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_response, read_request_head
from fencepost_protocol.generated import fetch, produce
from fencepost_protocol.generated.index import ApiKey

from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
SUCCESSOR, EPOCH = 77, 9
"""Newer than whatever Metadata says."""


class Gate:
    """An address of the broker; it may say that somebody else leads."""

    def __init__(self, successor: Gate | None = None) -> None:
        self.port = 0
        self.broker_port = 0
        self.asked: list[Any] = []
        self._successor = successor
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks)
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        ours, theirs = await asyncio.open_connection("127.0.0.1", self.broker_port)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                size = await reader.readexactly(4)
                frame = await reader.readexactly(int.from_bytes(size))
                if (refusal := self._look(frame)) is not None:
                    writer.write(refusal)
                    continue
                theirs.write(size + frame)
                size = await ours.readexactly(4)
                writer.write(size + await ours.readexactly(int.from_bytes(size)))
        theirs.transport.abort()
        writer.transport.abort()

    def _look(self, frame: bytes) -> bytes | None:
        api_key, version, correlation_id, _, body = read_request_head(memoryview(frame))
        if api_key not in (ApiKey.PRODUCE, ApiKey.FETCH):
            return None
        request: Any
        request, _ = request_class(api_key).decode(memoryview(frame), version, body)
        if api_key == ApiKey.FETCH and request.session_epoch < 0:
            return None  # the consumer's farewell
        self.asked.append(request)
        if self._successor is None:
            return None
        code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        answer: Any
        if api_key == ApiKey.PRODUCE:
            ((topic),) = request.topic_data
            part = produce.PartitionProduceResponse(0, code, -1)
            part.current_leader = produce.LeaderIdAndEpoch(SUCCESSOR, EPOCH)
            answer = produce.ProduceResponse(
                [produce.TopicProduceResponse(topic.name, topic.topic_id, [part])],
                node_endpoints=[produce.NodeEndpoint(SUCCESSOR, "127.0.0.1", self._successor.port)],
            )
        else:
            (wanted,) = request.topics
            data = fetch.PartitionData(0, code, -1, records=b"")
            data.current_leader = fetch.LeaderIdAndEpoch(SUCCESSOR, EPOCH)
            answer = fetch.FetchResponse(
                session_id=5,
                responses=[fetch.FetchableTopicResponse(wanted.topic, wanted.topic_id, [data])],
                node_endpoints=[fetch.NodeEndpoint(SUCCESSOR, "127.0.0.1", self._successor.port)],
            )
        return bytes(encode_response(answer, version, correlation_id))


@asynccontextmanager
async def moved() -> AsyncIterator[tuple[str, Gate, Gate]]:
    """A broker that Metadata shows at the first gate, which sends all to the second."""
    leads = Gate()
    led = Gate(leads)
    async with leads.open(), led.open():
        settings = {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{led.port}"}
        async with Broker(topics={"t": 1}, settings=settings) as broker:
            leads.broker_port = led.broker_port = broker.settings.endpoints[0].port
            yield f"127.0.0.1:{led.port}", led, leads


async def test_records_go_to_who_was_named_at_once() -> None:
    async with (
        moved() as (bootstrap, led, leads),
        Producer(bootstrap, retry_backoff_ms=60_000, retry_backoff_max_ms=60_000) as producer,
    ):
        assert (await producer.send_and_wait("t", b"x")).offset == 0
        # Metadata, which is older, does not bring the old leader back.
        assert (await producer.send_and_wait("t", b"y")).offset == 1
        assert len(led.asked) == 1
        assert len(leads.asked) == 2


async def test_records_are_fetched_from_who_was_named_at_once() -> None:
    async with moved() as (bootstrap, led, leads), Consumer(bootstrap) as consumer:
        consumer.assign([TopicPartition("t", 0)])
        consumer.seek(TopicPartition("t", 0), 0)
        reading = asyncio.ensure_future(consumer.getmany(timeout_ms=60_000))
        await until(lambda: bool(leads.asked))
        reading.cancel()
        await asyncio.wait([reading])
        (part,) = leads.asked[0].topics[0].partitions
        assert part.current_leader_epoch == EPOCH
        assert len(led.asked) == 1
