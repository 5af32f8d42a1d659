"""One client's connection: bytes in, frames to the dispatcher, answers out, all in order.

Receiving. ``get_buffer`` and ``buffer_updated`` come back to back on every loop but Windows'
proactor, so all connections of a process read into one buffer. Frames that are whole are handled
in place; what is left of an unfinished one moves into a room of its own, after its size has passed
the limit, and the rest of it is received straight into that. While there is no room for all of it
(``QueuedBytes``), the connection is not read. Buffer and rooms are used again, so that a handler
must keep nothing of its frame; ``SharedBuffer.scribble`` makes the tests notice if one does.

Cost. What every small request goes through is written as one piece (``_cut``), then
``SocketServer.dispatch``: each call that is not made here is a hundredth of what a request costs.

Order. Requests of one connection are carried out strictly one after the other, as in Apache
Kafka: while one is parked, the next ones wait unread in ``_waiting``, and reading stops when too
many wait, or before a frame that would be too many. They go on in a turn of their own (the ready
list), never on the stack of what answered the parked one. Answers of one receive leave in one
``writelines``.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from collections import deque
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, cast

from fencepost_protocol.exceptions import RemoteProtocolError

from fencepost_broker.apis.request import Answer, Pieces, Request
from fencepost_broker.network.receive_buffer import (
    SMALL_BYTES,
    SharedBuffer,
    stranger,
)
from fencepost_broker.ports import Address, RemoteClient
from fencepost_broker.security.principals import ANONYMOUS

if TYPE_CHECKING:
    from fencepost_broker.network.dispatcher import Dispatcher
    from fencepost_broker.network.queued_bytes import QueuedBytes

_unpack_size: Final = struct.Struct(">i").unpack_from
_SIZE_BYTES: Final = 4
WAITING_BYTES_MAX: Final = 1 << 20
"""Requests behind a parked one, before reading stops; those of one receive come on top."""
OUT_BYTES_MAX: Final = 1 << 20
"""Answers of one receive that are collected before they are handed to the socket."""
UNREAD_TLS_BYTES_MAX: Final = 1 << 16
"""What a loop decrypts later, while a connection is not read. There must be room for a record."""

_PARKED: Final = 1
"""A request waits for its answer."""
_MUTED: Final = 2
"""The client is above its quota."""
_CONGESTED: Final = 4
"""The client does not take its answers."""
_RESUMING: Final = 8
"""Requests that have waited are carried out next, before any that arrive."""
_BUSY: Final = _PARKED | _MUTED | _RESUMING


class Connection(asyncio.BufferedProtocol):
    """A connection as the loop sees it."""

    def __init__(
        self, dispatcher: Dispatcher[Connection], shared: SharedBuffer, listener: str
    ) -> None:
        self._dispatcher = dispatcher
        self._shared = shared
        self.listener = listener
        self.metrics = dispatcher.metrics
        self.client_host = ""
        self.client = RemoteClient()
        self.user = ANONYMOUS
        self.client_software_name = self.client_software_version = ""
        self.transport: asyncio.Transport | None = None
        self._writes_last_apart = False
        self.was_active = True
        self._head, self._frame = b"", cast("Any", None)
        """Room for a frame that has begun; only its beginning while it waits for room."""
        self._frame_size = 0
        self._filled = 0
        self._waits_for_room = False
        self._kept_room: Any = None
        self._parked: Request | None = None
        self._on_loss: Callable[[], None] | None = None
        self._waiting: deque[memoryview] = deque()
        self._waiting_bytes = 0
        self._paused = False
        self._held_by = 0
        """Why requests wait: ``_PARKED`` and its sisters; most of the time for no reason."""
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
        self.transport = cast("asyncio.Transport", transport)
        self._writes_last_apart = _forgets_to_pause(transport)
        peer = transport.get_extra_info("peername")
        self.client_host = f"/{peer[0]}" if peer else "/"
        self.client.address = Address("", *peer[:2]).bootstrap if peer else ""
        if not self._dispatcher.opened(self):
            self._closing = True
            self.transport.abort()
            return
        self.transport.set_write_buffer_limits(high=self._dispatcher.answers_bytes_max)
        if transport.get_extra_info("ssl_object") is not None:
            cast("Any", transport).set_read_buffer_limits(high=UNREAD_TLS_BYTES_MAX)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop."""
        self._closing = True
        self._let_go()
        if self._held_by & (_PARKED | _MUTED):
            self._dispatcher.parked_count -= 1
        self._held_by = 0
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
            return self._shared.open[held:]
        return self._shared.open

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
                self._finish_frame()
        if self._out:
            self._flush()

    def pause_writing(self) -> None:
        """The peer does not take its answers: stop reading its requests."""
        self._held_by |= _CONGESTED
        self._update_reading()

    def resume_writing(self) -> None:
        """It takes them again."""
        self.was_active = True
        self._held_by &= ~_CONGESTED
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
                    f"{stranger(data, pos)}"
                )
                return
            start = pos + _SIZE_BYTES
            pos = start + size
            if pos > end:
                self._frame_size = size
                self._begin_frame(view[start:end])
                return
            frame = view[start:pos]
            if self._held_by:
                self._hold(memoryview(frame.tobytes()))
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
        if pos < end and not self._closing:
            self._head = bytes(view[pos:end])

    def _begin_frame(self, received: memoryview) -> None:
        """A frame has begun: receive the rest of it, or stop reading until there is room for it."""
        size, here = self._frame_size, len(received)
        self._filled = here
        if size <= SMALL_BYTES:
            self._frame = bytearray(size)
            self._frame[:here] = received
            return
        if not self._may_receive(size):
            self._count_waiting(here)
        elif self._shared.queued.admit(self, size, here):
            self._frame = received
            self.let_on()
            return
        self._frame, self._waits_for_room = bytearray(received), True
        self._update_reading()

    def _may_receive(self, size: int) -> bool:
        """Whether so much may be read now: behind a parked request no more than may wait there."""
        return not self._held_by or (
            self._waiting_bytes + size <= WAITING_BYTES_MAX
            and len(self._waiting) < self._dispatcher.waiting_max
        )

    def let_on(self) -> None:
        """There is room for the frame of which the beginning is here."""
        beginning = self._frame
        try:
            self._frame = self._shared.take_room(self._frame_size)
        except OSError as error:
            self.drop(f"there is no memory for a frame of {self._frame_size} bytes: {error}")
            return
        self._frame[: len(beginning)] = beginning
        self._waits_for_room = False
        self._update_reading()

    def _finish_frame(self) -> None:
        """A frame is whole that had room of its own."""
        frame = memoryview(self._frame)[: self._frame_size]
        self._frame = None
        if self._held_by:
            self._hold(frame)
        else:
            self._carry_out(frame)
        if len(frame) > SMALL_BYTES:
            self._shared.queued.leave(self)
        if self._finishing:
            self.finish()

    def _has_enough(self) -> bool:
        """Whether no more is read behind a parked request; a frame that was let on always is."""
        return (
            len(self._waiting) >= self._dispatcher.waiting_max
            or self._waiting_bytes > WAITING_BYTES_MAX
            or (self._shared.queued.is_full and bool(self._waiting))
        )

    def _hold(self, frame: memoryview) -> None:
        """Keep a request that must wait for one before it."""
        self._waiting.append(frame)
        self._count_waiting(len(frame))
        self._update_reading()

    def _count_waiting(self, count: int) -> None:
        self._waiting_bytes += count
        self._shared.queued.hold(count)

    def _carry_out(self, frame: memoryview) -> None:
        """Carry out a request that does not lie in the shared buffer."""
        self._handle(frame)
        if self._kept_room is not frame.obj:
            self._shared.give_back(frame.obj)
        self._kept_room = None

    def keep_frame(self, frame: memoryview) -> None:
        """The frame that is being carried out will be read later: leave it as it is."""
        self._kept_room = frame.obj

    @property
    def queued(self) -> QueuedBytes:
        """Where the bytes of requests are counted."""
        return self._shared.queued

    def _handle(self, frame: memoryview) -> None:
        try:
            pieces = self._dispatcher.dispatch(self, frame)
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
        self._held_by |= _PARKED
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

    def release(self, request: Request, answer: Answer) -> None:
        """The answer to the parked request."""
        if self._parked is not request:
            return  # the connection was lost meanwhile
        self._parked = self._on_loss = self._kept_room = None
        self._held_by &= ~_PARKED
        self._dispatcher.parked_count -= 1
        try:
            pieces = self._dispatcher.released(self, request, answer)
        except Exception as error:  # noqa: BLE001 (our bug must cost no more than this connection)
            self.refuse(memoryview(b""), error)
            return
        self._out += pieces
        self._out_bytes += sum(map(len, pieces))
        self._flush()
        if self._waiting or self._waits_for_room:
            self._held_by |= _RESUMING
            self._dispatcher.ready.add(self._resume)
        elif self._finishing:
            self.finish()
        else:
            self._update_reading()

    def _resume(self) -> None:
        """Carry out what has waited for the parked request."""
        self._held_by &= ~_RESUMING
        if self._closing:
            return
        self._carry_on()
        self._flush()
        if self._finishing:
            self.finish()

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """It could not be answered: our bug costs this connection."""
        if self._parked is request:
            self._parked = self._on_loss = None
            self._held_by &= ~_PARKED
            self._dispatcher.parked_count -= 1
        self.refuse(memoryview(b""), error)

    def mute(self, on_end: Callable[[], None]) -> bool:
        """Carry out nothing until ``unmute``; ``on_end`` is called then, or when it is lost."""
        if self._closing or self._finishing or self.transport is None:
            return False
        self._held_by |= _MUTED
        self._on_loss = on_end
        self._dispatcher.parked_count += 1
        return True

    def unmute(self) -> None:
        """Carry out what waits, and what comes."""
        if not self._held_by & _MUTED:
            return
        on_end, self._on_loss = self._on_loss, None
        self._held_by &= ~_MUTED
        self._dispatcher.parked_count -= 1
        if on_end is not None:
            on_end()
        self._carry_on()
        self._flush()
        if self._finishing:
            self.finish()

    def _carry_on(self) -> None:
        while self._waiting and not (self._held_by or self._closing):
            frame = self._waiting.popleft()
            self._count_waiting(-len(frame))
            self._carry_out(frame)
        if self._waits_for_room and not (self._held_by or self._finishing):
            # It may be that it has not asked for room yet: nothing else is left behind.
            self._count_waiting(-self._waiting_bytes)
            if self._shared.queued.admit(self, self._frame_size, self._filled):
                self.let_on()
        self._update_reading()

    def _update_reading(self) -> None:
        stop = bool(
            self._held_by & _CONGESTED
            or self._waits_for_room
            or (self._frame is None and self._has_enough())
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
        self._let_go()
        if self.transport is not None:
            self._flush()
            self.transport.close()

    def _let_go(self) -> None:
        """Nothing of what it sent is carried out any more."""
        self._waiting.clear()
        self._count_waiting(-self._waiting_bytes)
        self._frame, self._waits_for_room = None, False
        self._shared.queued.leave(self)

    def end_with(self, pieces: Pieces) -> None:
        """Send this and close."""
        self._out += pieces
        self._out_bytes += sum(map(len, pieces))
        self._close()

    def belongs_to(self, dispatcher: Dispatcher[Connection]) -> None:
        """From the next frame on another one carries out what comes."""
        self._dispatcher = dispatcher

    def finish(self) -> None:
        """Close once nothing of it is being carried out: at shutdown, or when it was idle."""
        self._finishing = True
        if self._held_by & _MUTED:
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
        elif not self._held_by & _PARKED:
            self._close()
            return True
        return False

    @property
    def is_parked(self) -> bool:
        """Whether its requests wait, for the answer of one or for the end of a quota's time."""
        return bool(self._held_by & (_PARKED | _MUTED))

    @property
    def is_idle(self) -> bool:
        """Nothing parked, nothing half received; what waits for room counts as unread."""
        return not self._held_by & _BUSY and (self._frame is None or self._waits_for_room)


def _forgets_to_pause(transport: asyncio.BaseTransport) -> bool:
    """Whether ``writelines`` lets answers pile up without telling: asyncio's does since 3.12.

    Its ``write`` pauses us as it should, so that the last piece goes that way. uvloop is right.
    """
    return sys.version_info >= (3, 12) and type(transport).__module__.startswith("asyncio.")


__all__ = ["Connection"]
