"""One end of a connection through a proxy: it receives bytes, and finds the frames in them."""

from __future__ import annotations

import asyncio
from typing import Final

from fencepost_protocol.framing import SIZE_BYTES

from fencepost_broker.apis.request import Request

HELD_BYTES_MAX: Final = 104_857_600
"""The largest frame that is held until it is whole, as Kafka's socket.request.max.bytes."""
UNSENT_BYTES_MAX: Final = 1 << 20
"""The bytes that one end has not taken yet at which the other end is not read any more."""


class Awaited:
    """A request whose answer is looked at."""

    __slots__ = ("api_key", "correlation_id", "request", "version", "watched")

    def __init__(
        self,
        api_key: int,
        version: int,
        correlation_id: int,
        request: Request | None = None,
        watched: Request | None = None,
    ) -> None:
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id
        self.request = request
        """The request that a rule has fired on; it is released with the answer."""
        self.watched = watched
        """The request whose answer the watcher sees."""


TOKEN: Final = Awaited(-1, 0, 0)
"""The answer to a raw token of a login, which has no correlation id."""


class End(asyncio.BufferedProtocol):
    """One end of a connection; subclasses look at frames and send them to the other end."""

    transport: asyncio.Transport | None = None

    def __init__(self, buffer: memoryview) -> None:
        self._buffer = buffer
        self._head = b""
        """The beginning of a frame, too short to be looked at."""
        self._frame: bytearray | None = None
        """A frame that is held until it is whole."""
        self._filled = 0
        self._left = 0
        """The rest of a frame that is passed on as it arrives."""
        self.is_attentive = False
        """Whether ``_see`` and ``_passed`` are called for frames that are passed on."""

    @property
    def is_within_a_frame(self) -> bool:
        """Whether a part of a frame has arrived."""
        return self._left > 0 or self._frame is not None

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer that the event loop reads into."""
        del sizehint
        if self._frame is not None:
            return memoryview(self._frame)[self._filled :]
        held = len(self._head)
        if held:
            self._buffer[:held] = self._head
            return self._buffer[held:]
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Pass on received bytes; the event loop calls this."""
        frame = self._frame
        if frame is None:
            end = nbytes + len(self._head)
            self._head = b""
            self._pass_on(self._buffer, end)
            return
        self._filled += nbytes
        if self._filled == len(frame):
            self._frame = None
            self._take(memoryview(frame))

    def _pass_on(self, view: memoryview, end: int) -> None:
        """Send frames to the other end, in one piece if possible, and take those to be read."""
        begin = pos = 0
        while pos < end:
            left = self._left or self._look(view, pos, end)
            if not left:
                break
            if left < 0:
                self._send(view[begin:pos])
                begin = pos
                if end - pos < -left:
                    self._frame = bytearray(-left)
                    self._filled = end - pos
                    self._frame[: self._filled] = view[pos:end]
                    return
                begin = pos = pos - left
                self._take(view[pos + left : pos])
                continue
            step = min(left, end - pos)
            self._left = left - step
            pos += step
            if self.is_attentive:
                self._see(view[pos - step : pos])
                if not self._left:
                    self._send(view[begin:pos])
                    begin = pos
                    self._passed()
        if pos > begin:
            self._send(view[begin:pos])
        if pos < end:
            self._keep(view[pos:end])

    def _look(self, view: memoryview, pos: int, end: int) -> int:
        """Look at the beginning of a frame, and return its size.

        The size is negative if the frame is taken when it is whole, and not passed on. It is 0 if
        more bytes are needed, or if the frame has to wait.
        """
        raise NotImplementedError

    def _take(self, frame: memoryview) -> None:
        """Read a whole frame, with its size."""
        raise NotImplementedError

    def _see(self, piece: memoryview) -> None:
        """Look at a piece of a frame that is passed on; it may be changed."""

    def _passed(self) -> None:
        """Note that a whole frame was passed on."""

    def _send(self, piece: memoryview) -> None:
        """Send bytes to the other end."""
        raise NotImplementedError

    def _keep(self, rest: memoryview) -> None:
        """Keep what cannot be looked at yet."""
        self._head = bytes(rest)


def size_at(view: memoryview, pos: int) -> int:
    """Return the size of a frame of any content, with the four bytes of the size."""
    size = int.from_bytes(view[pos : pos + SIZE_BYTES], signed=True)
    return max(size, 0) + SIZE_BYTES
