"""What a watcher hears of a server: every request, answer, wait and end, in order."""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress

import pytest
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.network.connection import Connection

from tests.wire.server_harness import Running, end_txn, running

pytestmark = pytest.mark.asyncio


class Notes:
    """A watcher that writes down what it hears."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.gone = asyncio.Event()

    def opened(self, connection: Connection) -> None:
        self.lines.append("opened")

    def requested(self, request: Request) -> None:
        self.lines.append(f"requested {request.correlation_id}")

    def parked(self, request: Request) -> None:
        self.lines.append(f"parked {request.correlation_id}")

    def answered(self, request: Request, pieces: Pieces) -> None:
        answer = b"".join(pieces)
        assert struct.unpack_from(">ii", answer) == (len(answer) - 4, request.correlation_id)
        self.lines.append(f"answered {request.correlation_id}")

    def dropped(self, connection: Connection, reason: str) -> None:
        self.lines.append(f"dropped: {reason}")

    def closed(self, connection: Connection, reason: str) -> None:
        self.lines.append("closed")
        self.gone.set()


def watched(it: Running) -> Notes:
    notes = Notes()
    it.server.watcher = notes
    return notes


async def test_requests_answers_and_the_end() -> None:
    async with running() as it:
        notes = watched(it)
        client = await it.connect()
        client.writer.write(end_txn(1) + end_txn(2, park=True) + end_txn(3))
        await it.broker.arrived.wait()
        it.broker.let_go()
        for _ in range(3):
            await client.end_txn_answer()
        client.writer.close()
        await notes.gone.wait()
    assert notes.lines == [
        "opened", "requested 1", "answered 1", "requested 2", "parked 2", "answered 2",
        "requested 3", "answered 3", "closed",
    ]  # fmt: skip


async def test_why_a_connection_was_dropped() -> None:
    async with running(connections_per_address_max=1) as it:
        notes = watched(it)
        client, other = await it.connect(), await it.connect()
        with suppress(ConnectionError):
            assert await other.reader.read() == b""
        await notes.gone.wait()
        notes.gone.clear()
        client.writer.write(b"\x7f\xff\xff\xff")
        assert await client.reader.read() == b""
        await notes.gone.wait()
    assert notes.lines[:3] == [
        "opened", "dropped: too many connections from one address", "closed",
    ]  # fmt: skip
    assert notes.lines[3].startswith("dropped: ")
    assert "a frame of 2147483647 bytes was announced" in notes.lines[3]
    assert notes.lines[4:] == ["closed"]


async def test_an_idle_connection_is_dropped_with_its_reason() -> None:
    async with running(idle_ms_max=20) as it:
        notes = watched(it)
        client = await it.connect()
        assert await client.reader.read() == b""
        await notes.gone.wait()
    assert notes.lines == ["opened", "dropped: idle for connections.max.idle.ms", "closed"]
