"""A port in front of another one, with a wire that can be cut: each direction, each peer by itself.

    async with relay_to("127.0.0.1", port) as relay:
        ...  # connect to relay.port
        relay.cut(Cut.SWALLOW, Way.BACK)  # requests arrive, answers do not
        relay.heal()

What a connection says first names who it is (a Kafka client's id), so that one of several peers can
be cut off alone.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import Final, NamedTuple

_CHUNK: Final = 1 << 16
_CLIENT_ID: Final = struct.Struct(">iHHih")
"""A frame's size and its header up to the length of the client's id."""
_LINGER_NONE: Final = struct.pack("ii", 1, 0)


class Cut(Enum):
    """What becomes of bytes and of connections."""

    SWALLOW = auto()
    """They vanish. A connection that lost some stays open and dead, also when all is healed, as if
    a firewall had forgotten it."""
    HOLD = auto()
    """They wait, and arrive when all is healed, as TCP sends them again."""
    RESET = auto()
    """Connections are reset, new ones too."""


class Way(Flag):
    """A direction, as seen by who connects."""

    THERE = auto()
    BACK = auto()
    BOTH = THERE | BACK


class _InForce(NamedTuple):
    cut: Cut
    way: Way
    whose: str


@dataclass(eq=False)
class _Connection:
    near: asyncio.StreamWriter
    far: asyncio.StreamWriter | None = None
    client_id: str = ""
    dead: Way = field(default_factory=lambda: Way(0))
    """Where bytes were lost, so that what follows has no meaning."""
    has_ended: bool = False
    """One side has closed it, which the other was not told."""

    def reset(self) -> None:
        for writer in (self.near, self.far):
            if writer is None or writer.transport.is_closing():
                continue
            with suppress(OSError):
                raw = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NONE)
            writer.transport.abort()


class Relay:
    """Takes connections at ``port`` and makes each one of its own to the target."""

    def __init__(self, host: str = "127.0.0.1", target_port: int = 0) -> None:
        self._host = host
        self.target_port = target_port
        """May be told later; until then whoever comes is reset."""
        self.port = 0
        self._server: asyncio.Server | None = None
        self._in_force: list[_InForce] = []
        self._healed = asyncio.Event()
        self._healed.set()
        self._connections: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    # -- what tests do --------------------------------------------------------------------------

    def cut(self, cut: Cut, way: Way = Way.BOTH, whose: str = "") -> None:
        """Cut the wire, of those whose client id begins so."""
        self._in_force.append(_InForce(cut, way, whose))
        self._healed.clear()
        if cut is Cut.RESET:
            for each in list(self._connections):
                if each.client_id.startswith(whose):
                    each.reset()

    def heal(self) -> None:
        """Let all through again; a connection that has ended at one end is reset at the other."""
        self._in_force.clear()
        self._healed.set()
        for each in list(self._connections):
            if each.has_ended:
                each.reset()

    def has_swallowed(self, whose: str = "") -> bool:
        """Whether there is a connection that will never bring what was sent over it."""
        return any(each.dead and each.client_id.startswith(whose) for each in self._connections)

    # -- connections ----------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Reset all, and listen no more."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for each in list(self._connections):
            each.reset()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        connection = _Connection(writer)
        self._connections.add(connection)
        try:
            await self._carry(connection, reader)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            connection.reset()
            self._connections.discard(connection)
            self._tasks.discard(task)

    async def _carry(self, connection: _Connection, near: asyncio.StreamReader) -> None:
        first = await near.readexactly(_CLIENT_ID.size)
        size = _CLIENT_ID.unpack(first)[-1]
        name = await near.readexactly(max(size, 0))
        connection.client_id = name.decode()
        if self._cut_of(connection, Way.THERE) is Cut.RESET or not self.target_port:
            return
        far, connection.far = await asyncio.open_connection(self._host, self.target_port)
        ways = (
            self._pump(connection, near, connection.far, Way.THERE, first + name),
            self._pump(connection, far, connection.near, Way.BACK, b""),
        )
        pumps = [asyncio.create_task(each) for each in ways]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _pump(
        self,
        connection: _Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        way: Way,
        data: bytes,
    ) -> None:
        while data or (data := await reader.read(_CHUNK)):
            cut = self._cut_of(connection, way)
            while cut is Cut.HOLD:
                await self._healed.wait()
                cut = self._cut_of(connection, way)
            if cut is Cut.SWALLOW:
                connection.dead |= way
            if way not in connection.dead:
                writer.write(data)
                await writer.drain()
            data = b""
        # The end of a connection is not seen through a cut, either.
        connection.has_ended = True
        while self._cut_of(connection, way) is not None:
            await self._healed.wait()

    def _cut_of(self, connection: _Connection, way: Way) -> Cut | None:
        for each in self._in_force:
            is_meant = each.cut is Cut.RESET or way in each.way
            if is_meant and connection.client_id.startswith(each.whose):
                return each.cut
        return None


@asynccontextmanager
async def relay_to(host: str, target_port: int) -> AsyncIterator[Relay]:
    """A relay that listens."""
    relay = Relay(host, target_port)
    await relay.start()
    try:
        yield relay
    finally:
        await relay.close()
