"""How long one request keeps the loop: frames pushed into a connection that has no socket.

A turn of the loop is what lies between two looks for events; its length is told in processor time
of the loop's own thread, so that what else the machine does counts for nothing. What a thread of
the broker's does meanwhile costs others the interpreter's switches (5 ms each) and is not counted.
"""

from __future__ import annotations

import asyncio
import gc
import selectors
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from fencepost_broker.network.connection import Connection
from fencepost_protocol.framing import encode_request

from tests.support.broker import RunningBroker

_PIECE_BYTES: Final = 256 << 10
"""What a socket gives at most at a time."""
ANSWER_SECONDS: Final = 300


class TurnsSelector(selectors.DefaultSelector):
    """Measures each turn of the loop that asks it for events."""

    def __init__(self) -> None:
        super().__init__()
        self._began_ns = time.thread_time_ns()
        self.longest_ns = 0
        self.total_ns = 0

    def select(self, timeout: float | None = None) -> Any:
        """The turn is over; the next one begins when there are events."""
        took_ns = time.thread_time_ns() - self._began_ns
        self.longest_ns = max(self.longest_ns, took_ns)
        self.total_ns += took_ns
        events = super().select(timeout)
        self._began_ns = time.thread_time_ns()
        return events

    def forget(self) -> None:
        """Begin anew; the turn that is on counts from here."""
        self.longest_ns = self.total_ns = 0
        self._began_ns = time.thread_time_ns()


class Collections:
    """Measures how long Python looks for garbage, whichever thread does it: all others stand."""

    def __init__(self) -> None:
        self.longest_ns = 0
        self._began_ns = 0
        gc.callbacks.append(self._heard)

    def _heard(self, phase: str, _info: dict[str, int]) -> None:
        now_ns = time.thread_time_ns()
        if phase == "start":
            self._began_ns = now_ns
        else:
            self.longest_ns = max(self.longest_ns, now_ns - self._began_ns)

    def close(self) -> None:
        """Measure no more."""
        gc.callbacks.remove(self._heard)


class NoSocket(asyncio.Transport):
    """Takes answers, and says when one is there or the connection is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = 0
        self.wanted = 4
        self.head = b""
        self.is_done = asyncio.Event()
        self.is_closed = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """Where a peer would be."""
        return ("127.0.0.1", 1) if name == "peername" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """There is no buffer."""

    def write(self, data: Any) -> None:
        """Take bytes of an answer."""
        if len(self.head) < 4:
            self.head = (self.head + bytes(data[:4]))[:4]
        self.taken += len(data)
        if len(self.head) == 4 and self.taken >= 4 + int.from_bytes(self.head, "big"):
            self.is_done.set()

    def writelines(self, list_of_data: Any) -> None:
        """Take several pieces."""
        for each in list_of_data:
            self.write(each)

    def pause_reading(self) -> None:
        """Nothing reads here."""

    def resume_reading(self) -> None:
        """Nothing reads here."""

    def close(self) -> None:
        """The broker wants no more."""
        self.is_closed = True
        self.is_done.set()

    abort = close


@dataclass(frozen=True, slots=True)
class Measured:
    """What one request cost."""

    frame_bytes: int
    longest_ms: float
    total_ms: float
    answer_bytes: int
    is_refused: bool
    """Its connection was closed instead."""


async def measure(
    broker: RunningBroker,
    turns: TurnsSelector,
    frame: bytes | bytearray,
    *,
    is_answered: bool = True,
) -> Measured:
    """Push one frame into a connection of its own; wait until it is answered and let go of."""
    server = broker.process.socket_server
    connection = Connection(server, server.shared, "PLAINTEXT")
    transport = NoSocket()
    connection.connection_made(transport)
    view = memoryview(frame)
    await asyncio.sleep(0)
    gc.collect()
    turns.forget()
    collections = Collections()
    while view:
        room = connection.get_buffer(-1)[: min(len(view), _PIECE_BYTES)]
        room[:] = view[: len(room)]
        connection.buffer_updated(len(room))
        view = view[len(room) :]
        await asyncio.sleep(0)
    if is_answered:
        await asyncio.wait_for(transport.is_done.wait(), ANSWER_SECONDS)
    connection.connection_lost(None)
    while server.large._under_way:  # noqa: ASYNC110 (what it was made of is let go)
        await asyncio.sleep(0.01)
    collections.close()
    longest_ns = max(turns.longest_ns, collections.longest_ns)
    return Measured(
        len(frame), longest_ns / 1e6, turns.total_ns / 1e6, transport.taken,
        transport.is_closed,
    )  # fmt: skip


def run(main: Callable[[TurnsSelector], Awaitable[None]]) -> None:
    """Run in a loop whose turns are measured."""
    turns = TurnsSelector()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(turns)) as runner:
        runner.run(_awaited(main, turns))


async def _awaited(main: Callable[[TurnsSelector], Awaitable[None]], turns: TurnsSelector) -> None:
    await main(turns)


def framed(message: Any, version: int) -> bytearray:
    """A whole frame."""
    return encode_request(message, version, 1, "stalls")
