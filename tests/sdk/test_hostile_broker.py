"""Peers that are no broker, or not any more: an error that says so, in time, and nothing left."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from fencepost_broker import Broker
from fencepost_client import (
    Admin,
    Consumer,
    MalformedAnswerError,
    Producer,
    RequestTimedOutError,
    TopicPartition,
)

pytestmark = pytest.mark.asyncio
Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def peer(behaviour: Behaviour) -> AsyncIterator[str]:
    """Something that listens and does as it likes."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await behaviour(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            tasks.discard(task)
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"{host}:{port}"
    finally:
        server.close()
        while tasks:
            await asyncio.wait(tasks)
        await server.wait_closed()


async def never_answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(1000):
        pass


async def closes_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    return


async def closes_when_asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1000)


async def speaks_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1000)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    await never_answers(reader, writer)


async def answers_for_another(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1000)
    writer.write(struct.pack(">iii", 8, 4711, 0))
    await never_answers(reader, writer)


async def answers_too_little(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    size = struct.unpack(">i", await reader.readexactly(4))[0]
    frame = await reader.readexactly(size)
    writer.write(struct.pack(">i", 5) + frame[4:8] + b"\x00")
    await never_answers(reader, writer)


async def announces_much(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1000)
    writer.write(struct.pack(">i", 0x7FFF_FFFF))
    await never_answers(reader, writer)


@pytest.mark.parametrize(
    "behaviour",
    [
        never_answers,
        closes_at_once,
        closes_when_asked,
        speaks_http,
        answers_for_another,
        answers_too_little,
        announces_much,
    ],
)
async def test_what_is_no_broker_is_told_in_time(behaviour: Behaviour) -> None:
    async with peer(behaviour) as address:
        with pytest.raises(RequestTimedOutError, match=address):
            async with Admin(address, default_api_timeout_ms=300):
                pass
        with pytest.raises(RequestTimedOutError, match=address):
            async with Producer(address, max_block_ms=300):
                pass


class Proxy:
    """Between client and broker; what it does to the bytes can be changed while it runs."""

    def __init__(self) -> None:
        self.target = ""
        self.cut_after: int | None = None
        """Close each connection after so many bytes of answers."""
        self.cuts = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = self.target.rpartition(":")
        their_reader, their_writer = await asyncio.open_connection(host, int(port))
        back = asyncio.create_task(self._answers(their_reader, writer))
        try:
            while data := await reader.read(1 << 16):
                their_writer.write(data)
        finally:
            their_writer.close()
            await back

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        sent = 0
        while data := await reader.read(1 << 16):
            if self.cut_after is not None and sent + len(data) > self.cut_after:
                self.cuts += 1
                writer.transport.abort()
                return
            sent += len(data)
            writer.write(data)


class Garbler(Proxy):
    """Spoils large answers, which here are those to Fetch."""

    spoils = True

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                size = await reader.readexactly(4)
                frame = bytearray(await reader.readexactly(*struct.unpack(">i", size)))
                if self.spoils and len(frame) > 2000:
                    frame[9:1009] = b"\xff" * 1000
                writer.write(size + frame)
        except asyncio.IncompleteReadError:
            return


@pytest.mark.parametrize("way", ["getmany", "async for", "fetch_batches"])
@pytest.mark.ours_alone("the answers are bent on their way, and the broker is told to bear with it")
async def test_answers_with_records_that_make_no_sense_are_told(way: str) -> None:
    """Once per attempt; whoever asks again may have better luck."""
    proxy = Garbler()
    async with peer(proxy) as address:
        settings = {"advertised.listeners": f"PLAINTEXT://{address}"}
        async with Broker(topics={"t": 1}, settings=settings) as broker:
            listeners = broker.settings["listeners"]
            assert isinstance(listeners, tuple)
            proxy.target = listeners[0].rpartition("//")[2]
            async with Producer(address) as producer:
                await producer.send_and_wait("t", bytes(5000))
            async with Consumer(address, auto_offset_reset="earliest") as consumer:
                consumer.assign([TopicPartition("t", 0)])

                async def one() -> int:
                    if way == "async for":
                        return len((await anext(aiter(consumer))).value or b"")
                    if way == "getmany":
                        return len((await consumer.getmany(timeout_ms=30_000))[0].value or b"")
                    (batch,) = await consumer.fetch_batches(timeout_ms=30_000)
                    return len(batch.values[0] or b"")

                for _ in range(2):
                    with pytest.raises(MalformedAnswerError, match=f"{address}.* Fetch"):
                        await one()
                proxy.spoils = False
                assert await one() == 5000


@pytest.mark.parametrize("cut_after", [1200, 1500, 2000])
@pytest.mark.ours_alone("the answers are bent on their way, and the broker is told to bear with it")
async def test_connections_that_are_cut_again_and_again(cut_after: int) -> None:
    """Answers are lost all the time; every record is written once, and read once."""
    proxy = Proxy()
    async with peer(proxy) as address:
        settings = {"advertised.listeners": f"PLAINTEXT://{address}"}
        async with Broker(topics={"t": 1}, settings=settings) as broker:
            listeners = broker.settings["listeners"]
            assert isinstance(listeners, tuple)
            proxy.target = listeners[0].rpartition("//")[2]
            patience = {"retry_backoff_ms": 1, "retry_backoff_max_ms": 5, "linger_ms": 0}
            async with Producer(address, **patience) as producer:  # type: ignore[arg-type]
                await producer.send_and_wait("t", b"0")
                proxy.cut_after = cut_after
                for number in range(1, 50):
                    await producer.send("t", b"%d" % number)
                    await asyncio.sleep(0.001)
                await producer.flush()
            assert proxy.cuts > 0
            proxy.cut_after = None
            async with Consumer(address, auto_offset_reset="earliest") as consumer:
                consumer.assign([TopicPartition("t", 0)])
                found: list[bytes | None] = []
                while len(found) < 50:
                    found += [record.value for record in await consumer.getmany(timeout_ms=1000)]
                assert await consumer.getmany(timeout_ms=50) == []
        assert found == [b"%d" % number for number in range(50)]
