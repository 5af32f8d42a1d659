"""A client's connection: it splits received bytes into frames and sends the answers in order.

Receiving. ``get_buffer`` and ``buffer_updated`` are called back to back on every loop but Windows'
proactor, so all connections of a process read into one buffer. Complete frames are handled in
place. The beginning of an incomplete one moves to a room of its own, after its size is checked, and
the rest is received directly into that room. The connection is not read while there is no room for
the whole frame (``QueuedBytes``). Buffer and rooms are reused, so handlers must not keep views of
their frames; ``SharedBuffer.scribble`` makes the tests notice if one does.

Cost. The path of small requests is written as one function (``_cut``), then
``SocketServer.dispatch``: each additional call costs about a hundredth of a request.

Order. Requests of one connection are carried out strictly one after the other, as in Apache
Kafka. While one is parked, the next ones wait undecoded in ``_waiting``; reading stops when too
many wait, or before a frame that would exceed the limit. They continue in a turn of their own (the
ready list), never on the stack of the code that answered the parked one. The answers to one receive
are sent in one ``writelines``.
"""

from __future__ import annotations

import asyncio
import struct
import sys
from collections import deque
from collections.abc import Callable
from enum import Enum
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, cast

from fencepost_protocol.exceptions import RemoteProtocolError

from fencepost_broker.apis.request import NO_ANSWER, NO_FRAME, Answer, Pieces, Request
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
"""The bytes of waiting requests at which reading stops; one receive may exceed them."""
OUT_BYTES_MAX: Final = 1 << 20
"""The bytes of answers that are collected before they are passed to the socket."""
UNREAD_TLS_BYTES_MAX: Final = 1 << 16
"""The bytes that a loop holds undecrypted while a connection is not read; at least one record."""

_PARKED: Final = 1
"""A request is parked."""
_MUTED: Final = 2
"""The client is above its quota."""
_CONGESTED: Final = 4
"""The client does not read its answers."""
_RESUMING: Final = 8
"""Waiting requests are carried out next, before new ones."""
_COUNTED: Final = _PARKED | _MUTED
"""The reasons that count in ``parked_count``; a connection has at most one of them."""
_BUSY: Final = _COUNTED | _RESUMING
_NONE_WAIT: Final[deque[memoryview]] = deque()
"""What all connections share that have no request that waits: an empty deque takes 760 bytes."""


class Ending(Enum):
    """What a connection does before it closes."""

    AT_ONCE = "at once"
    """Nothing: answers that are not sent yet are lost."""
    AFTER_SENDING = "after sending"
    """It sends the answers that it has, and discards requests that are not answered."""
    AFTER_ANSWERING = "after answering"
    """It answers the requests that it has received, and sends the answers."""


class Connection(asyncio.BufferedProtocol):
    """A client's connection, as a protocol of the event loop."""

    __slots__ = (
        "_closing", "_dispatcher", "_filled", "_finishing", "_frame", "_frame_size", "_head",
        "_held_by", "_kept_room", "_on_loss", "_out", "_out_bytes", "_parked", "_paused", "_shared",
        "_waiting", "_waiting_bytes", "_waits_for_room", "_writes_last_apart", "bytes_in",
        "bytes_out", "client", "client_host", "client_software_name", "client_software_version",
        "closes_late_s", "listener", "metrics", "parked_at_ns", "transport", "user", "was_active",
    )  # fmt: skip

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
        """The room of an incomplete frame, or only its beginning while it waits for room."""
        self._frame_size = 0
        self._filled = 0
        self._waits_for_room = False
        self._kept_room: Any = None
        self._parked: Request | None = None
        self._on_loss: Callable[[], None] | None = None
        self._waiting = _NONE_WAIT
        self._waiting_bytes = 0
        self._paused = False
        self._held_by = 0
        """The reasons why requests wait (``_PARKED`` and so on); 0 most of the time."""
        self._out: Pieces = []
        self._out_bytes = 0
        """How much of it was counted, while more requests of the same receive are carried out."""
        self.bytes_in = 0
        self.bytes_out = 0
        self.parked_at_ns = 0
        self._closing = False
        self._finishing = False
        self.closes_late_s = 0.0
        """Seconds between a close of the connection and the moment when the client is told."""

    # -- the loop's side -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection with its dispatcher; the event loop calls this."""
        self.transport = cast("asyncio.Transport", transport)
        self._writes_last_apart = _forgets_to_pause(transport)
        peer = transport.get_extra_info("peername")
        self.client_host = f"/{peer[0]}" if peer else "/"
        self.client.address = Address("", *peer[:2]).bootstrap if peer else ""
        if not self._dispatcher.opened(self):
            self.end(Ending.AT_ONCE)
            return
        self.transport.set_write_buffer_limits(high=self._dispatcher.answers_bytes_max)
        if transport.get_extra_info("ssl_object") is not None:
            cast("Any", transport).set_read_buffer_limits(high=UNREAD_TLS_BYTES_MAX)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release everything that belongs to the connection; the event loop calls this."""
        self._closing = True
        self._let_go()
        on_loss = self._stop_waiting()
        if on_loss is not None:
            on_loss()
        self._dispatcher.closed(self, exc)
        self.transport = None

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer that the event loop reads into."""
        del sizehint
        if self._frame is not None:
            return memoryview(self._frame)[self._filled : self._frame_size]
        if self._head:
            held = len(self._head)
            self._shared.view[:held] = self._head
            return self._shared.open[held:]
        return self._shared.open

    def buffer_updated(self, nbytes: int) -> None:
        """Handle received bytes; the event loop calls this."""
        self.was_active = True
        self.bytes_in += nbytes
        if self._frame is None:
            end = nbytes
            if self._head:
                end += len(self._head)
                self._head = b""
            self._cut(end)
            if self._shared.scribbles:
                self._shared.scribble(end)
        else:
            self._filled += nbytes
            if self._filled >= self._frame_size:
                self._finish_frame()
        self._flush()

    def pause_writing(self) -> None:
        """Stop reading requests, because the peer does not read its answers."""
        self._held_by |= _CONGESTED
        self._update_reading()

    def resume_writing(self) -> None:
        """Read requests again: the peer reads its answers."""
        self.was_active = True
        self._held_by &= ~_CONGESTED
        self._carry_on()

    # -- frames --------------------------------------------------------------------------------

    def _cut(self, end: int) -> None:
        """Carry out the complete frames in the shared buffer."""
        view, dispatcher = self._shared.view, self._dispatcher
        pos = 0
        while end - pos >= _SIZE_BYTES and not self._closing:
            size: int = _unpack_size(view, pos)[0]
            if not 0 <= size <= dispatcher.frame_bytes_max:
                told = (
                    f"a frame of {size} bytes was announced, but the limit is "
                    f"{dispatcher.frame_bytes_max} (socket.request.max.bytes)"
                    f"{stranger(self._shared.view, pos)}"
                )
                self.drop(RemoteProtocolError(told, path="frame size", offset=0))
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
            # The rest is a copy of _handle, which serves all other requests.
            try:
                pieces = dispatcher.dispatch(self, frame)
            except Exception as error:  # noqa: BLE001 (our bug must cost no more than this connection)
                self.drop(error, frame)
                return
            if pieces:
                self._out += pieces
                if pos == end:
                    return  # as after most receives; _flush is next
                for piece in pieces:
                    self._out_bytes += len(piece)
                if self._out_bytes > OUT_BYTES_MAX:
                    self._flush()
        if pos < end and not self._closing:
            self._head = bytes(view[pos:end])

    def _begin_frame(self, received: memoryview) -> None:
        """Receive the rest of a frame, or stop reading until there is room for it."""
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
        """Whether a frame of this size may be read now; limited while requests wait."""
        return not self._held_by or (
            self._waiting_bytes + size <= WAITING_BYTES_MAX
            and len(self._waiting) < self._dispatcher.waiting_max
        )

    def let_on(self) -> None:
        """Receive the frame that waited for room; ``QueuedBytes`` calls this."""
        beginning = self._frame
        try:
            self._frame = self._shared.take_room(self._frame_size)
        except OSError as error:
            self.drop(f"out of memory for a frame of {self._frame_size} bytes: {error}")
            return
        self._frame[: len(beginning)] = beginning
        self._waits_for_room = False
        self._update_reading()

    def _finish_frame(self) -> None:
        """Handle a frame that is complete in a room of its own."""
        size = self._frame_size
        frame = memoryview(self._frame)[:size]
        self._frame = None
        if self._held_by:
            self._hold(frame)
        else:
            self._carry_out(frame)
        if size > SMALL_BYTES:
            self._shared.queued.leave(self)
        if self._finishing:
            self.end(Ending.AFTER_ANSWERING)

    def _has_enough(self) -> bool:
        """Whether reading stops because enough requests wait; an admitted frame is read anyway."""
        return (
            len(self._waiting) >= self._dispatcher.waiting_max
            or self._waiting_bytes > WAITING_BYTES_MAX
            or (self._shared.queued.is_full and bool(self._waiting))
        )

    def _hold(self, frame: memoryview) -> None:
        """Queue a request until the ones before it are answered."""
        if not self._waiting:
            self._waiting = deque()
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

    def belongs_to(self, dispatcher: Dispatcher[Connection]) -> None:
        """Replace the dispatcher, from the next frame on."""
        self._dispatcher = dispatcher

    def keep_frame(self, frame: memoryview) -> None:
        """Keep the current request's frame unchanged until the request is answered."""
        self._kept_room = frame.obj

    @property
    def queued(self) -> QueuedBytes:
        """The count of all requests' bytes."""
        return self._shared.queued

    def _handle(self, frame: memoryview) -> None:
        try:
            pieces = self._dispatcher.dispatch(self, frame)
        except Exception as error:  # noqa: BLE001 (our bug must cost no more than this connection)
            self.drop(error, frame)
            return
        if pieces is not None:
            self._out += pieces
            self._out_bytes += sum(map(len, pieces))
            if self._out_bytes > OUT_BYTES_MAX:
                self._flush()  # this may call pause_writing

    def on_loss(self, call: Callable[[], None]) -> None:
        """Call this if the connection is lost before the parked request is answered."""
        self._on_loss = call

    def parked(self, request: Request) -> None:
        """Note that the dispatcher has parked a request; later ones wait."""
        self._parked = request
        self._held_by |= _PARKED
        self.parked_at_ns = perf_counter_ns()
        self._dispatcher.parked_count += 1

    @property
    def connection(self) -> Connection:
        """The connection itself; ``Peer`` objects that stand in for it return it, too."""
        return self

    @property
    def may_park(self) -> bool:
        """Whether one more request may be parked; the limit is for all connections together."""
        return self._dispatcher.parked_count < self._dispatcher.parked_max

    def release(self, request: Request, answer: Answer) -> None:
        """Send the answer to the parked request."""
        if self._parked is not request:
            return  # the connection was lost meanwhile
        self._stop_waiting()
        try:
            pieces = self._dispatcher.released(self, request, answer)
        except Exception as error:  # noqa: BLE001 (our bug must cost no more than this connection)
            self.drop(error)
            return
        self._out += pieces
        self._flush()
        if self._waiting or self._waits_for_room:
            self._held_by |= _RESUMING
            self._dispatcher.ready.add(self._resume)
        elif self._finishing:
            self.end(Ending.AFTER_ANSWERING)
        else:
            self._update_reading()

    def _resume(self) -> None:
        """Carry out the requests that waited for the parked one."""
        self._held_by &= ~_RESUMING
        if not self._closing:
            self._carry_on()

    def refuse_parked(self, request: Request, error: Exception) -> None:
        """Close the connection: a parked request could not be answered because of a bug."""
        if self._parked is request:
            self._stop_waiting()
        self.drop(error)

    def mute(self, on_end: Callable[[], None]) -> bool:
        """Carry out no requests until ``unmute``; ``on_end`` is called if the connection is lost.

        Return whether the connection was muted; it is not if it is being closed.
        """
        if self._closing or self._finishing or self.transport is None:
            return False
        self._held_by |= _MUTED
        self._on_loss = on_end
        self._dispatcher.parked_count += 1
        return True

    def unmute(self) -> None:
        """Carry out waiting and new requests again."""
        if not self._held_by & _MUTED:
            return
        on_end = self._stop_waiting()
        if on_end is not None:
            on_end()
        self._carry_on()

    def _stop_waiting(self) -> Callable[[], None] | None:
        """End parking or muting; return what was to be called if the connection is lost."""
        if self._held_by & _COUNTED:
            self._held_by &= ~_COUNTED
            self._dispatcher.parked_count -= 1
        on_loss, self._on_loss = self._on_loss, None
        self._parked = self._kept_room = None
        return on_loss

    def _carry_on(self) -> None:
        """Carry out the requests that wait, and send their answers."""
        while self._waiting and not (self._held_by or self._closing):
            frame = self._waiting.popleft()
            self._count_waiting(-len(frame))
            self._carry_out(frame)
        if self._waits_for_room and not (self._held_by or self._finishing):
            # A frame may not have asked for room yet; it is the only thing that can be left.
            self._count_waiting(-self._waiting_bytes)
            if self._shared.queued.admit(self, self._frame_size, self._filled):
                self.let_on()
        self._update_reading()
        self._flush()
        if self._finishing:
            self.end(Ending.AFTER_ANSWERING)

    def _update_reading(self) -> None:
        stop = self._waits_for_room or (self._frame is None and self._has_enough())
        if self._held_by & _CONGESTED:
            stop = True
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
        self._out_bytes = 0
        if len(out) == 1:
            self.bytes_out += len(out[0])
            self.transport.write(out[0])
            return
        self.bytes_out += sum(map(len, out))
        if self._writes_last_apart:
            if self.transport.is_closing():
                return  # the client has gone, and asyncio's writelines fails after that
            *first, last = (piece for piece in out if piece)
            self.transport.writelines(first)
            self.transport.write(last)
        else:
            self.transport.writelines(out)

    # -- the end -------------------------------------------------------------------------------

    def drop(self, reason: str | Exception, frame: memoryview = NO_FRAME) -> None:
        """Close without an answer, as Kafka does for some errors, and log the reason.

        An exception is the client's violation, or else a bug, logged with the request's frame.
        """
        if isinstance(reason, str):
            reason = RemoteProtocolError(reason)
        self._dispatcher.dropped(self, reason, frame)
        self.end()

    def end(self, ending: Ending = Ending.AFTER_SENDING, answer: Pieces = NO_ANSWER) -> None:
        """Close the connection; ``answer`` is sent as the last one."""
        if ending is Ending.AFTER_ANSWERING:
            self._finishing = True
            if self._held_by & _MUTED:
                self.unmute()  # calls this again
                return
            if not (self.is_idle or self._closing):
                return  # this is called again
        self._closing = True
        self._let_go()
        if self.transport is None:
            return
        if ending is Ending.AT_ONCE:
            self.transport.abort()
            return
        self._out += answer
        self._flush()
        if self.closes_late_s and not self._finishing:
            loop = asyncio.get_running_loop()
            loop.call_later(self.closes_late_s, self.transport.close)
        else:
            self.transport.close()

    def _let_go(self) -> None:
        """Discard all requests that are not carried out yet."""
        self._waiting.clear()
        self._count_waiting(-self._waiting_bytes)
        self._frame, self._waits_for_room = None, False
        self._shared.queued.leave(self)

    def reap(self) -> bool:
        """End a period of idleness; close if nothing was received in it, and return whether so.

        A connection is idle even with an incomplete frame, with an answer that the peer does not
        read, or while muted. A peer that was to be closed one period ago and has not read its
        remaining answers since is aborted.
        """
        if self.was_active:
            self.was_active = False
        elif self._closing:
            self.end(Ending.AT_ONCE)
        elif not self._held_by & _PARKED:
            self.end()
            return True
        return False

    @property
    def is_parked(self) -> bool:
        """Whether requests wait for a parked one, or for the end of muting."""
        return bool(self._held_by & _COUNTED)

    @property
    def is_idle(self) -> bool:
        """Whether no request is parked or half received; one that waits for room does not count."""
        return not self._held_by & _BUSY and (self._frame is None or self._waits_for_room)


def _forgets_to_pause(transport: asyncio.BaseTransport) -> bool:
    """Whether the transport's ``writelines`` never calls ``pause_writing`` (asyncio since 3.12).

    Then the last piece is sent by ``write``, which does call it. uvloop has no such bug.
    """
    return sys.version_info >= (3, 12) and type(transport).__module__.startswith("asyncio.")


__all__ = ["Connection"]
