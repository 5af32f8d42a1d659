"""One client's connection: bytes in, frames to the dispatcher, answers out, all in order.

Receiving. ``get_buffer`` and ``buffer_updated`` come back to back on every loop but Windows'
proactor, so all connections of a process read into one buffer. Frames that are whole are handled
in place; what is left of an unfinished one moves into a room of its own, after its size has passed
the limit, and the rest of it is received straight into that. Buffer and rooms are used again, so
that a handler must keep nothing of its frame; ``SharedBuffer.scribble`` makes the tests notice if
one does.

Cost. What every small request goes through is written as one piece (``_cut``), then
``Server.dispatch``: each call that is not made here is a hundredth of what a request costs.

Order. Requests of one connection are carried out strictly one after the other, as in Apache
Kafka: while one is parked, those behind it wait unread in ``_waiting``, and reading stops when
too many wait. Answers of one receive leave in one ``writelines``.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from collections import deque
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any, Final, Protocol, cast

from fencepost_protocol.exceptions import RemoteProtocolError

from fencepost_broker.adapters.receiving import SHARED_BYTES, SharedBuffer
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.metrics import Metrics
from fencepost_broker.principals import ANONYMOUS

_unpack_size: Final = struct.Struct(">i").unpack_from
_SIZE_BYTES: Final = 4
_STRANGERS: Final = {
    b"\x16\x03": "this looks like TLS: listeners here are PLAINTEXT (security.protocol)",
    b"GET ": "this looks like HTTP: this is the port of a Kafka broker",
}
"""What else comes to a broker's port, by its first bytes, and what to say about it."""
WAITING_BYTES_MAX: Final = 1 << 20
"""Requests behind a parked one, before reading stops; one half received comes on top."""
OUT_BYTES_MAX: Final = 1 << 20
"""Answers of one receive that are collected before they are handed to the socket."""

_MUTED: Final = Request(cast(Any, None), 0, 0, 0, None, memoryview(b""), 0)
"""Stands for a parked request where a connection is muted."""


class Watcher(Protocol):
    """Somebody who hears of everything; slow or not, nothing waits for it.

    What it is given belongs to the connection: it copies what it keeps.
    """

    def opened(self, connection: Connection) -> None:
        """A client has connected."""

    def requested(self, request: Request) -> None:
        """A request is about to be carried out."""

    def parked(self, request: Request) -> None:
        """It waits, and will be answered later."""

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Its answer leaves; no pieces when it must not be answered."""

    def dropped(self, connection: Connection, reason: str) -> None:
        """The broker closes a connection."""

    def closed(self, connection: Connection, reason: str) -> None:
        """A connection is gone."""


class Dispatcher(Protocol):
    """What a connection needs of the server around it."""

    frame_bytes_max: int
    waiting_max: int
    metrics: Metrics
    parked_max: int
    answers_bytes_max: int
    parked_count: int

    def dispatch(
        self, connection: Connection, frame: memoryview, *, is_large: bool = False
    ) -> Pieces | None:
        """Carry out one request; ``None`` when it is parked.

        The frame of a large one stays as it is until it is answered.
        """

    def released(self, connection: Connection, request: Request, pieces: Pieces) -> None:
        """The parked request has its answer."""

    def opened(self, connection: Connection) -> bool:
        """Whether the connection may stay."""

    def closed(self, connection: Connection, error: Exception | None) -> None:
        """It is gone."""

    def failed(self, connection: Connection, frame: memoryview, error: Exception) -> None:
        """A handler failed, which is our fault; the connection is closed after this."""

    def violated(self, connection: Connection, error: RemoteProtocolError) -> None:
        """The peer broke the protocol; the connection is closed after this."""


class Connection(asyncio.BufferedProtocol):
    """A connection as the loop sees it."""

    def __init__(self, dispatcher: Dispatcher, shared: SharedBuffer, listener: str) -> None:
        self._dispatcher = dispatcher
        self._shared = shared
        self.listener = listener
        self.metrics = dispatcher.metrics
        self.client_host = ""
        self.user = ANONYMOUS
        self.client_software_name = ""
        self.client_software_version = ""
        self.transport: asyncio.Transport | None = None
        self._writes_last_apart = False
        self.was_active = True
        self._head = b""
        self._frame: bytearray | None = None
        self._frame_size = 0
        self._filled = 0
        self._parked: Request | None = None
        self._on_loss: Callable[[], None] | None = None
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._paused = False
        self._congested = False
        self._out: Pieces = []
        self._out_bytes = 0
        self.bytes_in = 0
        self.bytes_out = 0
        self.parked_at_ns = 0
        self._closing = False
        self._finishing = False

    # -- the loop's side -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        self.transport = cast(asyncio.Transport, transport)
        self._writes_last_apart = _forgets_to_pause(transport)
        peer = transport.get_extra_info("peername")
        self.client_host = f"/{peer[0]}" if peer else "/"
        if not self._dispatcher.opened(self):
            self._closing = True
            self.transport.abort()
            return
        self.transport.set_write_buffer_limits(high=self._dispatcher.answers_bytes_max)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self._closing = True
        self._waiting.clear()
        if self._parked is not None:
            self._dispatcher.parked_count -= 1
        self._parked = None
        if self._on_loss is not None:
            self._on_loss()
        self._dispatcher.closed(self, exc)
        self.transport = None

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the loop shall put what arrives next."""
        del sizehint
        if self._frame is not None:
            return memoryview(self._frame)[self._filled : self._frame_size]
        held = len(self._head)
        if held:
            self._shared.view[:held] = self._head
            return self._shared.view[held:]
        return self._shared.view

    def buffer_updated(self, nbytes: int) -> None:
        """Called by the loop: so many bytes have arrived."""
        self.was_active = True
        self.bytes_in += nbytes
        if self._frame is None:
            end = nbytes + len(self._head)
            self._head = b""
            self._cut(end)
            if self._shared.scribbles:
                self._shared.scribble(end)
        else:
            self._filled += nbytes
            if self._filled >= self._frame_size:
                self._receive_large(self._frame)
            elif self._filled == len(self._frame):
                self._make_room(self._frame, self._filled)
        if self._out:
            self._flush()

    def pause_writing(self) -> None:
        """The peer does not take its answers: stop reading its requests."""
        self._congested = True
        self._update_reading()

    def resume_writing(self) -> None:
        """It takes them again."""
        self.was_active = True
        self._congested = False
        self._update_reading()
        self._carry_on()
        self._flush()

    # -- frames --------------------------------------------------------------------------------

    def _cut(self, end: int) -> None:
        """Find the frames in the shared buffer, and carry them out."""
        data, view, dispatcher = self._shared.data, self._shared.view, self._dispatcher
        pos = 0
        while end - pos >= _SIZE_BYTES and not self._closing:
            size: int = _unpack_size(data, pos)[0]
            if not 0 <= size <= dispatcher.frame_bytes_max:
                self._violation(
                    f"a frame of {size} bytes was announced, and at most "
                    f"{dispatcher.frame_bytes_max} are taken (socket.request.max.bytes)"
                    f"{_stranger(data, pos)}"
                )
                return
            start = pos + _SIZE_BYTES
            pos = start + size
            if pos > end:
                self._frame_size = size
                self._filled = end - start
                self._make_room(view[start:end], self._filled)
                return
            frame = view[start:pos]
            if self._parked is not None or self._congested:
                self._hold(frame)
                continue
            # From here on as in _handle, which everything else goes by.
            try:
                pieces = dispatcher.dispatch(self, frame)
            except Exception as error:  # noqa: BLE001 (our bug must cost no more than this connection)
                self.refuse(frame, error)
                return
            if pieces:
                self._out += pieces
                for piece in pieces:
                    self._out_bytes += len(piece)
                if self._out_bytes > OUT_BYTES_MAX:
                    self._flush()
        if pos < end:
            self._head = bytes(view[pos:end])

    def _make_room(self, received: bytearray | memoryview, filled: int) -> None:
        """Hold a frame of which ``filled`` bytes are there: at most as much again is trusted."""
        room = self._shared.take_room(self._frame_size, 2 * filled)
        room[:filled] = received
        if self._frame is not None:
            self._shared.give_back(self._frame)
        self._frame = room

    def _receive_large(self, room: bytearray) -> None:
        """A frame is whole that had a room of its own."""
        self._frame = None
        frame = memoryview(room)[: self._frame_size]
        if self._parked is not None or self._congested:
            self._hold(frame)
        else:
            self._handle(frame, is_large=True)
        if self._parked is None or self._parked.frame is not frame:
            self._shared.give_back(room)
        if self._finishing:
            self.finish()

    def _hold(self, frame: memoryview) -> None:
        """Keep a request that must wait for one before it."""
        self._waiting.append(frame.tobytes())
        self._waiting_bytes += len(frame)
        self._update_reading()

    def _handle(self, frame: memoryview, *, is_large: bool) -> None:
        try:
            pieces = self._dispatcher.dispatch(self, frame, is_large=is_large)
        except Exception as error:  # noqa: BLE001 (our bug must cost no more than this connection)
            self.refuse(frame, error)
            return
        if pieces is not None:
            self._out += pieces
            self._out_bytes += sum(map(len, pieces))
            if self._out_bytes > OUT_BYTES_MAX:
                self._flush()  # which may say that the peer takes no more

    def on_loss(self, call: Callable[[], None]) -> None:
        """What to call if the connection is lost before the request that parks is answered."""
        self._on_loss = call

    def parked(self, request: Request) -> None:
        """The dispatcher has parked this request: nothing behind it is carried out."""
        self._parked = request
        self.parked_at_ns = perf_counter_ns()
        self._dispatcher.parked_count += 1

    @property
    def connection(self) -> Connection:
        """Itself: also what stands in for it while a request waits says so."""
        return self

    @property
    def may_park(self) -> bool:
        """Whether one more request may wait, of all connections together."""
        return self._dispatcher.parked_count < self._dispatcher.parked_max

    def release(self, request: Request, pieces: Pieces) -> None:
        """The answer to the parked request."""
        if self._parked is not request:
            return  # the connection was lost meanwhile
        self._dispatcher.released(self, request, pieces)
        self._parked = self._on_loss = None
        self._dispatcher.parked_count -= 1
        self._out += pieces
        self._out_bytes += sum(map(len, pieces))
        self._carry_on()
        self._flush()
        if self._finishing:
            self.finish()

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """It could not be answered: our bug costs this connection."""
        if self._parked is request:
            self._parked = self._on_loss = None
            self._dispatcher.parked_count -= 1
        self.refuse(memoryview(b""), error)

    def release_alone(self, request: Request, pieces: Pieces, then: Callable[[], None]) -> None:
        """As ``release``; ``then`` is called before what waits behind it is carried out."""
        waiting, self._waiting = self._waiting, deque()
        self.release(request, pieces)
        self._waiting = waiting
        then()
        self._carry_on()
        self._flush()

    def mute(self, on_end: Callable[[], None]) -> bool:
        """Carry out nothing until ``unmute``; ``on_end`` is called then, or when it is lost."""
        if self._closing or self._finishing or self.transport is None:
            return False
        self._parked, self._on_loss = _MUTED, on_end
        self._dispatcher.parked_count += 1
        return True

    def unmute(self) -> None:
        """Carry out what waits, and what comes."""
        if self._parked is not _MUTED:
            return
        on_end = self._on_loss
        self._parked = self._on_loss = None
        self._dispatcher.parked_count -= 1
        if on_end is not None:
            on_end()
        self._carry_on()
        self._flush()
        if self._finishing:
            self.finish()

    def _carry_on(self) -> None:
        while self._waiting and self._parked is None and not (self._closing or self._congested):
            frame = self._waiting.popleft()
            self._waiting_bytes -= len(frame)
            self._handle(memoryview(frame), is_large=len(frame) > SHARED_BYTES)
        self._update_reading()

    def _update_reading(self) -> None:
        stop = (
            self._congested
            or len(self._waiting) >= self._dispatcher.waiting_max
            or self._waiting_bytes > WAITING_BYTES_MAX
        )
        if stop == self._paused or self.transport is None or self._closing:
            return
        self._paused = stop
        if stop:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    # -- the way out ---------------------------------------------------------------------------

    def _flush(self) -> None:
        out: list[Any] = self._out
        if not out or self.transport is None:
            return
        self._out = []
        self.bytes_out += self._out_bytes
        self._out_bytes = 0
        if len(out) == 1:
            self.transport.write(out[0])
        elif self._writes_last_apart:
            *first, last = (piece for piece in out if piece)
            self.transport.writelines(first)
            self.transport.write(last)
        else:
            self.transport.writelines(out)

    def _violation(self, reason: str) -> None:
        error = RemoteProtocolError(reason, path="frame size", offset=0)
        self._dispatcher.violated(self, error)
        self._close()

    def drop(self, reason: str) -> None:
        """Close without an answer, where Kafka does."""
        self._violation(reason)

    def refuse(self, frame: memoryview, error: Exception) -> None:
        """Close because a request could not be carried out, whosever fault it is."""
        if isinstance(error, RemoteProtocolError):
            self._dispatcher.violated(self, error)
        else:
            self._dispatcher.failed(self, frame, error)
        self._close()

    def _close(self) -> None:
        """Send what was answered so far, then close."""
        self._closing = True
        self._waiting.clear()
        if self.transport is not None:
            self._flush()
            self.transport.close()

    def end_with(self, pieces: Pieces) -> None:
        """Send this and close."""
        self._out += pieces
        self._out_bytes += sum(map(len, pieces))
        self._close()

    def belongs_to(self, dispatcher: Dispatcher) -> None:
        """From the next frame on another one carries out what comes."""
        self._dispatcher = dispatcher

    def finish(self) -> None:
        """Close once nothing of it is being carried out: at shutdown, or when it was idle."""
        self._finishing = True
        if self._parked is _MUTED:
            self.unmute()  # comes back here
        elif self.is_idle:
            self._close()

    def abort(self) -> None:
        """Close at once."""
        self._closing = True
        if self.transport is not None:
            self.transport.abort()

    def reap(self) -> bool:
        """A period of idleness is over: close if nothing was heard in it; says whether it did.

        A frame that is half received does not count as being busy, nor does an answer that the
        peer does not take, nor being muted. Whoever was to be closed a period ago and still has
        not taken what was left for it, does not get it.
        """
        if self.was_active:
            self.was_active = False
        elif self._closing:
            self.abort()
        elif self._parked is None or self._parked is _MUTED:
            self._close()
            return True
        return False

    @property
    def is_parked(self) -> bool:
        """Whether a request of its waits."""
        return self._parked is not None

    @property
    def is_idle(self) -> bool:
        """Nothing parked, nothing half received."""
        return self._parked is None and self._frame is None


def _forgets_to_pause(transport: asyncio.BaseTransport) -> bool:
    """Whether ``writelines`` lets answers pile up without telling: asyncio's does since 3.12.

    Its ``write`` pauses us as it should, so that the last piece goes that way. uvloop is right.
    """
    return sys.version_info >= (3, 12) and type(transport).__module__.startswith("asyncio.")


def _stranger(data: bytearray, pos: int) -> str:
    """A word on who it may be that does not speak Kafka's protocol."""
    for beginning, hint in _STRANGERS.items():
        if data.startswith(beginning, pos):
            return f"; {hint}"
    return ""


__all__ = ["Connection", "Dispatcher", "Watcher"]
