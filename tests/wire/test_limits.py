"""Settings that bound what clients take: each is seen to do what it says."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_broker import Broker
from fencepost_broker.config import Value
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.broker import Client

pytestmark = pytest.mark.asyncio


def fetch(max_wait_ms: int) -> FetchRequest:
    partition = FetchPartition(0, fetch_offset=0, partition_max_bytes=1 << 20)
    return FetchRequest(
        max_wait_ms=max_wait_ms, min_bytes=1, topics=[FetchTopic("t", partitions=[partition])]
    )


async def test_a_request_too_many_to_wait_is_answered_at_once() -> None:
    settings = {"requests.parked.max": 1}
    async with (
        Broker(topics={"t": 1}, settings=settings) as broker,
        Client(broker.bootstrap) as first,
        Client(broker.bootstrap) as second,
    ):
        waiting = asyncio.ensure_future(first.ask(fetch(600_000), 11))
        await second.ask(MetadataRequest(topics=None), 9)
        answer = await second.ask(fetch(600_000), 11)
        assert answer.responses[0].partitions[0].error_code == 0
        assert not waiting.done()
        waiting.cancel()
        await first.disconnect()
        await second.ask(MetadataRequest(topics=None), 9)
        # The place is free again: this one waits for its time.
        third = asyncio.ensure_future(second.ask(fetch(600_000), 11))
        async with Client(broker.bootstrap) as other:
            await other.produce("t", 0, b"x")
        assert (await third).responses[0].partitions[0].records


async def test_so_many_requests_wait_behind_one_that_waits() -> None:
    settings = {"connection.requests.max": 3}
    async with Broker(topics={"t": 1}, settings=settings) as broker:
        address = broker.addresses[0]
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(encode_request(fetch(600_000), 11, 0, "test"))
        await writer.drain()
        for number in range(1, 40):
            asked = encode_request(MetadataRequest(topics=None), 9, number, "test")
            writer.write(asked)
            await writer.drain()
            async with Client(broker.bootstrap) as other:
                await other.ask(MetadataRequest(topics=None), 9)
        assert broker.stats()["connections"]["queued_bytes"] == 3 * (len(asked) - 4)
        async with Client(broker.bootstrap) as other:
            await other.produce("t", 0, b"x")
        for number in range(40):
            size = int.from_bytes(await reader.readexactly(4))
            assert int.from_bytes((await reader.readexactly(size))[:4]) == number
        writer.close()
        await writer.wait_closed()


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionResetError:
        return True


async def test_an_address_may_have_a_limit_of_its_own() -> None:
    settings: dict[str, Value] = {
        "max.connections.per.ip": 5,
        "max.connections.per.ip.overrides": "127.0.0.1:1",
    }
    async with Broker(settings=settings) as broker, Client(broker.bootstrap) as client:
        await client.ask(ApiVersionsRequest(), 0)
        address = broker.addresses[0]
        reader, writer = await asyncio.open_connection(address.host, address.port)
        assert await is_closed(reader)
        writer.close()
        await client.ask(ApiVersionsRequest(), 0)


async def test_a_stop_waits_no_longer_than_it_may() -> None:
    broker = Broker(settings={"shutdown.timeout.ms": 1})
    await broker.start()
    address = broker.addresses[0]
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(b"\0\0\1\0half a request")
    async with Client(broker.bootstrap) as client:
        await client.ask(ApiVersionsRequest(), 0)
    assert await broker.stop()
    assert await is_closed(reader)
    writer.close()


async def test_connections_that_may_be_idle_for_ever() -> None:
    settings = {"connections.max.idle.ms": -1}
    async with Broker(settings=settings) as broker, Client(broker.bootstrap) as client:
        for _ in range(3):
            await client.ask(ApiVersionsRequest(), 0)


async def test_where_a_broker_stands_is_told() -> None:
    settings = {"broker.rack": "north"}
    async with Broker(settings=settings) as broker, Client(broker.bootstrap) as client:
        answer = await client.ask(MetadataRequest(topics=None), 9)
        assert [each.rack for each in answer.brokers] == ["north"]


@pytest.mark.parametrize(
    ("version", "code"),
    [(2, ErrorCode.INVALID_REQUEST), (3, ErrorCode.TOPIC_DELETION_DISABLED)],
)
async def test_topics_may_be_kept_from_deletion(version: int, code: ErrorCode) -> None:
    settings = {"delete.topic.enable": False}
    async with (
        Broker(topics={"t": 1}, settings=settings) as broker,
        Client(broker.bootstrap) as client,
    ):
        answer = await client.ask(DeleteTopicsRequest(topic_names=["t"]), version)
        assert [(each.name, each.error_code) for each in answer.responses] == [("t", code)]
        answer = await client.ask(DeleteTopicsRequest(topics=[DeleteTopicState("t")]), 6)
        assert answer.responses[0].error_code == ErrorCode.TOPIC_DELETION_DISABLED


@pytest.mark.parametrize(
    ("given", "said"),
    [("tea:1", "there is no feature tea"), ("metadata.version:29", "levels 30 to 30, not 29")],
)
async def test_a_level_that_cannot_be_is_refused(given: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        await Broker(settings={"features": given}).start()
    async with Broker(settings={"features": "metadata.version:30"}):
        pass
