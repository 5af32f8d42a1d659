"""Fault rules that act on the connection: answers in slow pieces, and TCP resets."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_broker import Broker
from fencepost_broker.faults.rule import DropAnswer
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.broker import Client
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

PIECE = 10
BYTES_PER_S = 10_000
LATE_MS = 100
HOUR_MS = 3_600_000


async def test_an_answer_is_sent_slowly_in_pieces_and_the_next_one_after_it() -> None:
    async with Broker(topics=["t:1"]) as broker, Client(broker.bootstrap) as client:
        broker.faults.slow_answer(BYTES_PER_S, PIECE, api="Metadata", times=1)
        assert client.streams is not None
        reader, writer = client.streams
        began = asyncio.get_running_loop().time()
        writer.write(encode_request(MetadataRequest(), 12, 7, "c"))
        writer.write(encode_request(ApiVersionsRequest("x", "1"), 3, 8, "c"))
        frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
        pauses = (len(frame) + 3) // PIECE
        took_s = asyncio.get_running_loop().time() - began
        assert round(took_s, 3) >= pauses * PIECE / BYTES_PER_S
        assert int.from_bytes(frame[:4]) == 7
        following = await reader.readexactly(8)
        assert int.from_bytes(following[4:]) == 8


async def test_a_slow_answer_is_sent_at_once_when_the_broker_stops() -> None:
    async with Broker(topics=["t:1"]) as broker, Client(broker.bootstrap) as client:
        fault = broker.faults.slow_answer(1, 1, api="Metadata")
        asked = asyncio.ensure_future(client.ask(MetadataRequest(), 12))
        await fault.wait_until_fired()
        await broker.stop()
        assert await asked


@pytest.mark.parametrize("act", ["drop_request", "drop_answer"])
async def test_a_connection_is_reset(act: str) -> None:
    async with Broker() as broker:
        getattr(broker.faults, act)(reset=True, api="Metadata", times=1)
        address = broker.addresses[0]
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(encode_request(MetadataRequest(), 12, 1, "c"))
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()


async def ask_and_wait_for_the_close(broker: Broker) -> float:
    """Ask for metadata; return how long after its answer the connection is closed."""
    address = broker.addresses[0]
    reader, writer = await asyncio.open_connection(address.host, address.port)
    writer.write(encode_request(MetadataRequest(), 12, 1, "c"))
    await reader.readexactly(int.from_bytes(await reader.readexactly(4)))
    began = asyncio.get_running_loop().time()
    assert await reader.read() == b""
    writer.close()
    return asyncio.get_running_loop().time() - began


async def test_a_close_is_told_late() -> None:
    async with Broker() as broker:
        broker.faults.slow_close(LATE_MS, api="Metadata", times=1)
        broker.faults.disconnect(api="Metadata")
        # The answer may be read a little after it was sent.
        assert await ask_and_wait_for_the_close(broker) >= LATE_MS / 2000
        assert broker.faults.list()[0].fired == 1


@pytest.mark.parametrize("is_closing", [False, True])
async def test_a_close_is_not_late_when_the_broker_stops(*, is_closing: bool) -> None:
    async with Broker(settings={"shutdown.timeout.ms": HOUR_MS}) as broker:
        late = broker.faults.slow_close(HOUR_MS, api="Metadata")
        if is_closing:
            broker.faults.disconnect(api="Metadata")
        asked = asyncio.ensure_future(ask_and_wait_for_the_close(broker))
        await late.wait_until_fired()
        await until(lambda: broker.stats()["connections"]["bytes_out"])
        stopping = asyncio.ensure_future(broker.stop())
        await until(stopping.done)
        await asked


async def test_a_drop_is_silent_or_a_reset() -> None:
    with pytest.raises(ValueError, match="choose one"):
        DropAnswer(silently=True, reset=True)
