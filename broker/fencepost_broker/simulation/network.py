"""Connections in memory between the processes of a simulation.

A connection has two ends. What an end writes arrives at the other after a latency, in order,
sometimes in two pieces. A cut between two processes keeps back what is on its way until it is
healed, as TCP does, and delivers it even if its end was closed; a reset loses it. Code belongs to
the process in whose context it runs (``current_process``); cuts and slow ways are between names.
"""

from __future__ import annotations

import asyncio
import struct
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from hashlib import blake2b
from random import Random
from types import SimpleNamespace
from typing import Any, Final

from fencepost_broker.simulation.process import OUTSIDE, Process, current_process

HOST: Final = "127.0.0.1"
FIRST_PORT: Final = 20_000
SOCKET_BYTES: Final = 256 << 10
"""What lies between two ends, as in the buffers of two sockets, before the writer notices."""
_RESET: Final = (104, "the other end has reset the connection")
_HIGH_WATER: Final = 64 << 10
_PIECE_BYTES: Final = 64 << 10
"""The most that a protocol is given at once."""
_LATENCY_S: Final = (0.0001, 0.002)
_SPLIT_CHANCE: Final = 0.02
_GAP_S, _DRIP_S = 1e-9, 0.000_1
"""The least time between two pieces."""
_SINGLE_BYTES: Final = 12
"""So many bytes of what is written arrive one by one where pieces are small; the rest at once."""
_EVENT: Final = struct.Struct(">dIIB").pack


class Network:
    """All servers and connections of a simulation."""

    def __init__(self, loop: Any, random: Random) -> None:
        """``loop`` is the ``SimLoop``, which makes this network."""
        self._loop = loop
        self._random = random
        self.servers: dict[int, Server] = {}
        """By port."""
        self._next_port = FIRST_PORT
        self.numbers = 0
        self.cuts: dict[tuple[str, str], int] = {}
        """How often the way from one process to another is cut now."""
        self._healed = asyncio.Event()
        self._slow: dict[tuple[str, str], tuple[float, float]] = {}
        self._vanished: dict[End, None] = {}
        self.ends: dict[End, None] = {}
        """The open ends, in the order in which they were opened."""
        self.latency_s = _LATENCY_S
        """The least and the greatest latency."""
        self.is_dripping = False
        """Whether what is sent arrives a byte at a time."""
        self.tap: Callable[[End, bytes], object] = lambda _end, _data: None  # what an end writes
        self.events = 0
        self._hash = blake2b(digest_size=16)

    # -- what is seen ----------------------------------------------------------------------------

    @property
    def digest(self) -> str:
        """A hash over all events: when, on which connection, and which bytes."""
        return self._hash.hexdigest()

    def note(self, number: int, what: int, data: bytes) -> None:
        """Count an event, and add it to the hash."""
        self.events += 1
        self._hash.update(_EVENT(self._loop.now_s, number, len(data), what) + data)

    # -- connecting ------------------------------------------------------------------------------

    def listen(
        self, make: Callable[[], asyncio.BaseProtocol], port: int, *, is_serving: bool
    ) -> Server:
        """Bind a server to a port, or to a free one."""
        port = port or self._free_port()
        if port in self.servers:
            raise OSError(98, f"the address is in use: {HOST}:{port}")
        server = self.servers[port] = Server(self, self._loop, make, port)
        server.is_accepting = is_serving
        return server

    def forget(self, server: Server) -> None:
        """Let the port be used again."""
        if self.servers.get(server.port) is server:
            del self.servers[server.port]

    def _free_port(self) -> int:
        self._next_port += 1
        return self._next_port

    async def connect(
        self, make: Callable[[], asyncio.BaseProtocol], port: int
    ) -> tuple[End, asyncio.BaseProtocol]:
        """Connect to a port; raises ``ConnectionRefusedError`` if nothing listens there."""
        name = current_process.get().name
        await asyncio.sleep(2 * self.draw_latency_s())
        server = self.servers.get(port)
        while server is not None and (
            self.is_cut(name, server.process.name) or self.is_cut(server.process.name, name)
        ):
            self._healed.clear()
            await self._healed.wait()
            server = self.servers.get(port)
        if server is None:
            raise ConnectionRefusedError(111, f"nothing listens at {HOST}:{port}")
        self.numbers += 2
        mine, theirs = (HOST, self._free_port()), (HOST, port)
        client = End(self, self._loop, self.numbers, copy_context(), mine, theirs)
        accepted = End(self, self._loop, self.numbers + 1, server.context, theirs, mine)
        client.other, accepted.other = accepted, client
        self.ends[client] = self.ends[accepted] = None
        protocol = make()
        client.set_protocol(protocol)
        protocol.connection_made(client)
        self._loop.call_soon(server.accept, accepted, context=server.context)
        return client, protocol

    # -- faults ----------------------------------------------------------------------------------

    def is_cut(self, source: str, target: str) -> bool:
        """Return whether nothing gets from one process to another."""
        return (source, target) in self.cuts

    def cut(self, source: str, target: str) -> None:
        """Keep back what one process sends to another, until ``heal``. It may be called twice."""
        self.cuts[source, target] = self.cuts.get((source, target), 0) + 1

    def heal(self, source: str, target: str) -> None:
        """End a cut, and deliver what it has kept back."""
        left = self.cuts.pop((source, target)) - 1
        if left:
            self.cuts[source, target] = left
            return
        self._healed.set()
        for end in list(self.ends):
            if end.process.name == target and end.other.process.name == source:
                end.deliver_soon()

    def reset(self, end: End) -> None:
        """Break a connection, as a router does that has forgotten it."""
        for each in (end, end.other):
            each.lose(ConnectionResetError(104, "the connection was reset"))

    def end(self, process: Process, *, silently: bool = False) -> None:
        """Close what a process has open that has ended.

        The other ends see resets; ``silently``, they see nothing until a process of this name
        starts and answers them, as after a power cut.
        """
        for server in list(self.servers.values()):
            if server.process is process:
                server.close()
        for end in list(self.ends):
            if end.process is process:
                if silently:
                    self.vanish(end)
                else:
                    end.abort()

    def vanish(self, end: End) -> None:
        """Let an end go away without a word: the other one is half open."""
        self._vanished[end] = None
        end.lose(ConnectionResetError(104, "the connection is gone"))

    def started(self, name: str) -> None:
        """Note that a process runs again, which knows nothing of the former one's connections."""
        for end in list(self._vanished):
            if end.process.name == name:
                del self._vanished[end]
                end.reset_other()

    def slow(self, source: str, target: str, latency_s: tuple[float, float] | None) -> None:
        """Set the least and the greatest latency from one process to another."""
        if latency_s is None:
            self._slow.pop((source, target), None)
        else:
            self._slow[source, target] = latency_s

    def mend(self) -> None:
        """Heal all cuts and slow ways, and end what is half open."""
        for way, count in list(self.cuts.items()):
            for _ in range(count):
                self.heal(*way)
        self._slow.clear()
        self.latency_s, self.is_dripping = _LATENCY_S, False
        for end in list(self._vanished):
            del self._vanished[end]
            end.reset_other()

    def draw_latency_s(self, source: str = "", target: str = "") -> float:
        """Draw how long bytes are on their way."""
        least, greatest = self.latency_s
        if self._slow:
            least, greatest = self._slow.get((source, target), self.latency_s)
        return least + (greatest - least) * self._random.random()

    def pieces(self, data: bytes) -> list[bytes]:
        """Return the pieces in which bytes arrive."""
        if self.is_dripping:
            single = [data[at : at + 1] for at in range(min(len(data), _SINGLE_BYTES))]
            return [*single, data[_SINGLE_BYTES:]] if len(data) > _SINGLE_BYTES else single
        if len(data) > 1 and self._random.random() < _SPLIT_CHANCE:
            place = self._random.randrange(1, len(data))
            return [*self.pieces(data[:place]), *self.pieces(data[place:])]
        if len(data) <= _PIECE_BYTES:
            return [data]
        return [data[at : at + _PIECE_BYTES] for at in range(0, len(data), _PIECE_BYTES)]


def _socket(at: tuple[str, int]) -> SimpleNamespace:
    """What is asked of a server's socket."""
    return SimpleNamespace(getsockname=lambda: at, fileno=lambda: -1, setsockopt=lambda *_: None)


class Server(asyncio.AbstractServer):
    """A server in memory."""

    def __init__(
        self,
        network: Network,
        loop: asyncio.AbstractEventLoop,
        make: Callable[[], asyncio.BaseProtocol],
        port: int,
    ) -> None:
        self._network = network
        self._loop = loop
        self._make = make
        self.port = port
        self.process = current_process.get()
        self.context = copy_context()
        self.sockets = [_socket((HOST, port))]
        self.is_accepting = False
        self._is_closed = False
        self._backlog: deque[End] = deque()

    def accept(self, end: End) -> None:
        """Take a connection, or keep it until the server accepts."""
        if self._is_closed:
            end.abort()
            return
        self._backlog.append(end)
        if self.is_accepting:
            self._accept_all()

    def _accept_all(self) -> None:
        while self._backlog:
            end = self._backlog.popleft()
            if end.is_closing():
                continue
            protocol = self._make()
            end.set_protocol(protocol)
            protocol.connection_made(end)
            end.resume_reading()

    def close(self) -> None:
        """Stop listening."""
        self.is_accepting, self._is_closed = False, True
        self._network.forget(self)
        while self._backlog:
            self._network.reset(self._backlog.popleft())

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """Return the simulation's loop."""
        return self._loop

    def is_serving(self) -> bool:
        """Whether connections are accepted."""
        return self.is_accepting

    async def start_serving(self) -> None:
        """Begin to accept connections."""
        self.is_accepting = True
        self._accept_all()

    async def serve_forever(self) -> None:
        """Accept until cancelled."""
        await self.start_serving()
        await self._loop.create_future()

    async def wait_closed(self) -> None:
        """Return at once."""


class End(asyncio.Transport):
    """One end of a connection."""

    other: End

    def __init__(
        self,
        network: Network,
        loop: Any,
        number: int,
        context: Context,
        here: tuple[str, int],
        there: tuple[str, int],
    ) -> None:
        super().__init__({"sockname": here, "peername": there, "socket": _socket(here)})
        self._network = network
        self._loop = loop
        self.number = number
        self._context = context
        self.process: Process = context.get(current_process, OUTSIDE)
        self._protocol: asyncio.BaseProtocol | None = None
        self._is_closing = False
        self._is_paused = False
        self._arrived: deque[bytes | OSError | None] = deque()
        """What has arrived; ``None`` is the end, and an error is a reset."""
        self._last_s = 0.0
        """When what was written last arrives."""
        self._unread = 0
        """Bytes that the other end has not read."""
        self._high, self._low = _HIGH_WATER, _HIGH_WATER // 4
        self._is_full = False

    # -- protocol --------------------------------------------------------------------------------

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Let another protocol read."""
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol that reads."""
        assert self._protocol is not None
        return self._protocol

    def is_closing(self) -> bool:
        """Whether this end is closed."""
        return self._is_closing

    # -- reading ---------------------------------------------------------------------------------

    def is_reading(self) -> bool:
        """Whether the protocol is given what arrives."""
        return not self._is_paused and not self._is_closing

    def pause_reading(self) -> None:
        """Keep what arrives."""
        self._is_paused = True

    def resume_reading(self) -> None:
        """Read again."""
        self._is_paused = False
        self.deliver_soon()

    def deliver_soon(self) -> None:
        """Give the protocol what has arrived, in its own process."""
        self._loop.call_soon(self.deliver, context=self._context)

    def _arrives(self, data: bytes | OSError | None) -> None:
        if not self._is_closing:
            self._arrived.append(data)
            self.deliver()

    def __repr__(self) -> str:
        return f"{self.process.name} to {self.other.process.name}"

    def deliver(self) -> None:
        """Give the protocol what has arrived."""
        while self._arrived and self._may_read():
            data = self._arrived.popleft()
            if isinstance(data, OSError):
                self.lose(data)
                return
            if data is None:
                self._network.note(self.number, 1, b"")
                protocol = self.get_protocol()
                if not isinstance(protocol, asyncio.Protocol | asyncio.BufferedProtocol):
                    raise TypeError(f"a simulation does not know protocols like {protocol!r}")
                if not protocol.eof_received():
                    self.close()
                return
            self._network.note(self.number, 0, data)
            self._feed(data)
            self.other.was_read(len(data))

    def _may_read(self) -> bool:
        return (
            not self._is_paused
            and not self._is_closing
            and self._protocol is not None
            and (
                not self._network.cuts
                or not self._network.is_cut(self.other.process.name, self.process.name)
            )
        )

    def _feed(self, data: bytes) -> None:
        protocol = self._protocol
        if not isinstance(protocol, asyncio.BufferedProtocol):
            assert isinstance(protocol, asyncio.Protocol)
            protocol.data_received(data)
            return
        while data and not self._is_closing:
            buffer = memoryview(protocol.get_buffer(len(data)))
            size = min(len(buffer), len(data))
            buffer[:size] = data[:size]  # which copies nothing if it is all
            del buffer
            protocol.buffer_updated(size)
            data = data[size:]

    # -- writing ---------------------------------------------------------------------------------

    def write(self, data: Any) -> None:
        """Send bytes."""
        content = bytes(data)
        if self._is_closing or not content:
            return
        self._network.tap(self, content)
        for piece in self._network.pieces(content):
            self._send(piece)
        self._unread += len(content)
        if not self._is_full and self._unread > self._high + SOCKET_BYTES:
            self._is_full = True
            self.get_protocol().pause_writing()

    def writelines(self, list_of_data: Any) -> None:
        """Send bytes."""
        self.write(b"".join(list_of_data))

    def _send(self, data: bytes | OSError | None) -> None:
        gap_s = _DRIP_S if self._network.is_dripping else _GAP_S
        latency_s = self._network.draw_latency_s(self.process.name, self.other.process.name)
        self._last_s = max(self._loop.now_s + latency_s, self._last_s + gap_s)
        self._loop.call_at(self._last_s, self.other._arrives, data, context=self.other._context)

    def was_read(self, size: int) -> None:
        """Note that the other end has read bytes of this one."""
        self._unread -= size
        if self._is_full and self._unread <= self._low + SOCKET_BYTES:
            self._is_full = False
            self._loop.call_soon(self._resume_writing, context=self._context)

    def _resume_writing(self) -> None:
        if not self._is_closing and not self._is_full:
            self.get_protocol().resume_writing()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set how many unsent bytes pause the protocol, and how few resume it."""
        self._high = _HIGH_WATER if high is None else high
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Return them."""
        return self._low, self._high

    def get_write_buffer_size(self) -> int:
        """Return how much is unsent."""
        return max(self._unread - SOCKET_BYTES, 0)

    def can_write_eof(self) -> bool:
        """It can."""
        return True

    def write_eof(self) -> None:
        """Send the end."""
        if not self._is_closing:
            self._send(None)

    def close(self) -> None:
        """Close after what was written."""
        if not self._is_closing:
            self._send(None)
            self._end(None)

    def abort(self) -> None:
        """Close at once; the other end sees a reset, after all that the kernel was given."""
        if not self._is_closing:
            self._send(ConnectionResetError(*_RESET))
            self._end(None)

    def reset_other(self) -> None:
        """Let the other end see a reset; what is on its way is lost."""
        latency_s = self._network.draw_latency_s(self.process.name, self.other.process.name)
        error = ConnectionResetError(*_RESET)
        self._loop.call_later(latency_s, self.other.lose, error, context=self.other._context)

    def lose(self, error: OSError) -> None:
        """Lose the connection."""
        if not self._is_closing:
            self._end(error)

    def _end(self, error: OSError | None) -> None:
        self._is_closing = True
        self._arrived.clear()
        self._network.ends.pop(self, None)
        self._network.note(self.number, 2, b"")
        if self._protocol is not None:
            self._loop.call_soon(self._protocol.connection_lost, error, context=self._context)
