"""Connections that mean harm: they take what they announce, and nobody else notices."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from fencepost_broker.apis.fetch.fetching import Fetching
from fencepost_broker.config import Value
from fencepost_broker.network import connection as connections
from fencepost_broker.network.receive_buffer import SHARED_BYTES
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.fetch import (
    FetchResponse,
)
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import ANSWER_SECONDS, RunningBroker, running_broker
from tests.support.up import produce_request
from tests.wire.fetch_harness import FETCH_VERSION, PRODUCE_VERSION, fetch

pytestmark = pytest.mark.asyncio
SOCKETS_TAKE_BYTES = 100 << 20
"""More than the buffers of two sockets and of the server together."""


class Attacked:
    """A broker, one well-behaved connection, and those of the attackers."""

    def __init__(self, broker: RunningBroker) -> None:
        self.broker = broker
        self.server = broker.process.socket_server
        self._writers: list[asyncio.StreamWriter] = []

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(self.broker.host, self.broker.port)
        self._writers.append(writer)
        return reader, writer

    async def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        for writer in self._writers:
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def attacked(
    overrides: dict[str, Value] | None = None, topics: dict[str, int] | None = None
) -> AsyncIterator[Attacked]:
    async with running_broker(overrides, topics=topics) as broker:
        made = Attacked(broker)
        try:
            yield made
        finally:
            await made.close()


async def served(broker: RunningBroker) -> None:
    """Others are."""
    answer = await broker.ask(MetadataRequest(topics=[]), 12)
    assert len(answer.brokers) == 1


async def seen(broker: RunningBroker, count: int) -> dict[str, int]:
    """The counts of so many connections, once the server has read what they sent so far."""
    for _ in range(3):
        await served(broker)
    found: dict[str, int] = broker.process.stats()["connections"]
    assert found["open"] == count + 1, "the one that is served is another"
    return found


async def ends(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"\0",
        b"\0\0\0",
        b"\0\0\x10\0",
        b"\0\0\x10\0" + b"\0" * 100,
        b"\x06\0\0\0" + b"\0" * 100,
    ],
    ids=["nothing", "a byte", "three bytes", "a size", "half a frame", "some of 100 MB"],
)
async def test_who_sends_no_whole_request_is_closed_when_its_time_is_over(half: bytes) -> None:
    async with attacked() as it:
        broker = it.broker
        reader, writer = await it.connect()
        writer.write(half)
        await seen(broker, 1)
        it.server.reap()
        await served(broker)
        assert not reader.at_eof(), "it was heard of in this period"
        it.server.reap()
        assert await ends(reader)
        await served(broker)


async def test_a_byte_now_and_then_keeps_a_place_but_not_more_than_a_place() -> None:
    async with attacked({"max.connections.per.ip": 3}) as it:
        broker = it.broker
        await served(broker)
        slow = [await it.connect() for _ in range(2)]
        frame = encode_request(MetadataRequest(topics=[]), 12, 1)
        for at in range(len(frame)):
            for _, writer in slow:
                writer.write(frame[at : at + 1])
            await served(broker)
            it.server.reap()
        for reader, _ in slow:
            size = struct.unpack(">i", await reader.readexactly(4))[0]
            assert await reader.readexactly(size)
        over, _ = await it.connect()
        assert await ends(over), "there is no place for another"
        await served(broker)


@pytest.mark.parametrize("size", [(2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20, 9_999_999])
async def test_a_frame_that_comes_in_many_pieces_is_whole(size: int) -> None:
    async with attacked({"message.max.bytes": 20 << 20}, topics={"t": 1}) as it:
        broker = it.broker
        value = bytes(range(256)) * (size // 256)
        assert await broker.produce("t", 0, value) == 0
        assert await broker.produce("t", 0, value, b"after it") == 1


async def test_requests_behind_a_parked_one_take_no_more_than_their_bound() -> None:
    async with attacked(topics={"t": 1}) as it:
        broker = it.broker
        _, writer = await it.connect()
        writer.write(fetch("t", wait_ms=1 << 30))
        batch = bytes(build_batch(None, [bytes(900_000)], 1000))
        frame = encode_request(produce_request("t", batch), PRODUCE_VERSION, 2)
        for _ in range(50):
            writer.write(frame)
        await seen(broker, 1)
        for _ in range(20):
            held = (await seen(broker, 1))["queued_bytes"]
            assert 900_000 < held <= connections.WAITING_BYTES_MAX + SHARED_BYTES
        writer.transport.abort()


async def test_who_takes_no_answers_is_not_read_and_then_dropped() -> None:
    """A thousand pipelined fetches of a megabyte, of which nothing is read."""
    async with attacked(topics={"t": 1}) as it:
        broker = it.broker
        await broker.produce("t", 0, bytes(1_000_000))
        reader, writer = await it.connect()
        cast("asyncio.ReadTransport", writer.transport).pause_reading()
        writer.write(
            b"".join(fetch("t", wait_ms=0, correlation_id=number) for number in range(1_000))
        )
        for _ in range(20):
            assert (await seen(broker, 1))["bytes_out"] < SOCKETS_TAKE_BYTES
        for _ in range(3):
            it.server.reap()
            await served(broker)
        cast("asyncio.ReadTransport", writer.transport).resume_reading()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await reader.readexactly(1_000 * 1_000_000)
        await seen(broker, 0)


async def test_nothing_is_left_of_a_fetch_whose_client_went_away() -> None:
    async with attacked(topics={"t": 1}) as it:
        broker = it.broker
        partition = broker.server.table.by_name["t"].partitions[0]
        for _ in range(5):
            reader, writer = await it.connect()
            writer.write(fetch("t", wait_ms=(1 << 31) - 1))
            await seen(broker, 1)
            assert len(partition.waiters) == 1
            writer.transport.abort()
            await ends(reader)
            await served(broker)
            await served(broker)
            assert not partition.waiters


async def test_one_that_was_let_go_by_another_is_not_let_go_again() -> None:
    """A Produce behind a parked Fetch runs while the fetches of its partition are let go."""
    async with attacked(topics={"t": 1}) as it:
        broker = it.broker
        batch = bytes(build_batch(None, [b"second"], 1000))
        behind = bytes(encode_request(produce_request("t", batch), PRODUCE_VERSION, 2))
        first_reader, first = await it.connect()
        first.write(fetch("t", wait_ms=60_000) + behind)
        await seen(broker, 1)
        second_reader, second = await it.connect()
        second.write(fetch("t", wait_ms=60_000))
        await seen(broker, 2)
        assert await broker.produce("t", 0, b"first") == 0
        assert await broker.produce("t", 0, b"third") == 2
        for reader in (first_reader, second_reader):
            size = struct.unpack(">i", await reader.readexactly(4))[0]
            assert b"first" in await reader.readexactly(size)


@pytest.mark.parametrize("by", ["append", "deletion"])
async def test_a_fetch_that_runs_into_a_bug_costs_its_own_connection_only(
    monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    async with attacked(topics={"t": 1}) as it:
        broker = it.broker
        partition = broker.server.table.by_name["t"].partitions[0]
        readers = []
        for number in range(3):
            reader, writer = await it.connect()
            writer.write(fetch("t", wait_ms=60_000))
            await seen(broker, number + 1)
            readers.append(reader)
        broken = partition.waiters[1]

        def answer(fetching: Fetching) -> FetchResponse:
            if fetching is broken:
                raise RuntimeError("a bug")
            return FetchResponse()

        monkeypatch.setattr(Fetching, "attempt", answer)
        monkeypatch.setattr(Fetching, "whatever_there_is", answer)
        if by == "append":
            assert await broker.produce("t", 0, b"first") == 0
        else:
            broker.command(DeleteTopicsRequest(topics=[DeleteTopicState("t")]))
        for number in (0, 2):
            assert await readers[number].readexactly(4)
        await ends(readers[1])
        assert not partition.waiters
        assert it.server.parked_count == 0


async def test_a_fetch_is_let_go_when_its_topic_is_deleted() -> None:
    async with attacked(topics={"t": 1}) as it:
        broker = it.broker
        reader, writer = await it.connect()
        writer.write(fetch("t", wait_ms=(1 << 31) - 1) * 2)
        await seen(broker, 1)
        broker.command(DeleteTopicsRequest(topics=[DeleteTopicState("t")]))
        for error in (0, 3):  # what it waited for, and what it finds when it asks again
            async with asyncio.timeout(ANSWER_SECONDS):
                size = struct.unpack(">i", await reader.readexactly(4))[0]
                frame = memoryview(await reader.readexactly(size))
            answer, _ = FetchResponse.decode(frame, FETCH_VERSION, 4)
            assert answer.responses[0].partitions[0].error_code == error
