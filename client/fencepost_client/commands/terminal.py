"""Input, output and interrupts of commands that run for long."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import Any, Final

_PIECE_BYTES: Final = 1 << 16
_PIECES_AHEAD: Final = 4
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


async def read_chunks(fd: int) -> AsyncIterator[bytes]:
    """Read from a pipe, a terminal or a file, chunk by chunk.

    A daemon thread reads, because a read of a terminal cannot be cancelled, and Ctrl-C must not
    wait for it. Files need a thread, too, because epoll does not support them.
    """
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[bytes | OSError] = asyncio.Queue()
    room = threading.Semaphore(_PIECES_AHEAD)
    is_over = threading.Event()

    def read() -> None:
        piece: bytes | OSError = b"-"
        while piece and not isinstance(piece, OSError):
            room.acquire()
            if is_over.is_set():
                return
            try:
                piece = os.read(fd, _PIECE_BYTES)
            except OSError as error:
                piece = error
            try:
                loop.call_soon_threadsafe(pieces.put_nowait, piece)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return

    threading.Thread(target=read, daemon=True).start()
    try:
        while piece := await pieces.get():
            if isinstance(piece, OSError):
                raise piece
            yield piece
            room.release()
    finally:
        is_over.set()
        room.release()


async def write_out(data: bytes) -> None:
    """Write to standard output in a thread, so that a slow reader does not block the loop."""

    def write() -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    writing = asyncio.ensure_future(asyncio.to_thread(write))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await writing  # what is printed counts as printed
        raise


async def run_until_interrupted(work: Coroutine[Any, Any, None]) -> bool:
    """Run a coroutine to its end or to Ctrl-C; whether it ended. Another Ctrl-C ends the caller."""
    loop, asking = asyncio.get_running_loop(), asyncio.current_task()
    working = asyncio.ensure_future(work)
    interrupted = False

    def interrupt() -> None:
        nonlocal interrupted
        if not interrupted:
            interrupted = True
            working.cancel()
        elif asking is not None:
            asking.cancel()

    if threading.current_thread() is threading.main_thread():
        with suppress(NotImplementedError):  # Windows: Ctrl-C is a KeyboardInterrupt
            for each in _SIGNALS:
                loop.add_signal_handler(each, interrupt)
    try:
        await working
    except asyncio.CancelledError:
        if not interrupted:
            raise
    finally:
        working.cancel()
    return not interrupted


class Pace:
    """Something that is due at intervals."""

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._next = self._loop.time()

    def is_due(self) -> bool:
        """Whether it is due; if so, the next time is an interval later."""
        if self._loop.time() < self._next:
            return False
        self._next = self._loop.time() + self._seconds
        return True
