"""Clients that say that they will send no more: what was asked is answered, and nothing is left."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic

from tests.support.broker import RunningBroker, running_broker

pytestmark = pytest.mark.asyncio


def versions(correlation_id: int) -> bytes:
    return bytes(encode_request(ApiVersionsRequest(), 0, correlation_id))


def long_poll(correlation_id: int) -> bytes:
    topics = [FetchTopic("t", partitions=[FetchPartition(0, partition_max_bytes=1000)])]
    request = FetchRequest(max_wait_ms=600_000, min_bytes=1, topics=topics)
    return bytes(encode_request(request, 11, correlation_id))


async def half_closed(broker: RunningBroker, sent: bytes) -> list[int]:
    """Send, say that this is all, and read to the end; gives whose answers came."""
    reader, writer = await asyncio.open_connection(broker.host, broker.port)
    writer.write(sent)
    writer.write_eof()
    answered = []
    try:
        while size := await reader.read(4):
            size += await reader.readexactly(4 - len(size))
            frame = await reader.readexactly(int.from_bytes(size, "big"))
            answered.append(int.from_bytes(frame[:4], "big"))
    finally:
        writer.close()
    return answered


async def test_whole_requests_are_answered_and_then_it_is_over() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        assert await half_closed(broker, versions(1) + versions(2)) == [1, 2]
        assert await half_closed(broker, b"") == []


async def test_half_a_request_is_dropped() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        assert await half_closed(broker, versions(1) + versions(2)[:-3]) == [1]
        assert await half_closed(broker, b"\x05\0\0\0" + bytes(300_000)) == []
        assert await broker.produce("t", 0, b"v") == 0


async def test_nothing_waits_for_who_does_not() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        assert await half_closed(broker, versions(1) + long_poll(2) + versions(3)) == [1]
        server = broker.process.socket_server
        assert server.parked_count == 0
        assert not broker.server.table.by_name["t"].partitions[0].waiters
        assert await broker.produce("t", 0, b"v") == 0
        assert broker.process.stats()["connections"]["open"] == 1
