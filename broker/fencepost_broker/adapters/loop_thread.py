"""One event loop in a thread of its own, for the brokers of a program that blocks.

All of a process share it while any of them runs, so that they may share a state clock, too.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

R = TypeVar("R")


class LoopThread:
    """The loop, its thread, and how many use it."""

    def __init__(self) -> None:
        self.users = 0
        self._pid = os.getpid()
        self._loop = _new_loop()
        # The interpreter's end does not wait for a daemon; whoever has files closes them by then.
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="fencepost-broker", daemon=True
        )
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether this process has the thread; a child that was forked has not."""
        return self._pid == os.getpid()

    def run(self, call: Coroutine[Any, Any, R], timeout_seconds: float | None = None) -> R:
        """Wait for what becomes of a call that is made there; an interrupt cancels it."""
        if not self.is_here or threading.current_thread() is self._thread:
            call.close()
            raise RuntimeError(
                "a blocking call from the broker's own thread would wait for itself"
                if self.is_here
                else "this broker was started before the process was forked: start another one"
            )
        asked = asyncio.run_coroutine_threadsafe(call, self._loop)
        try:
            return asked.result(timeout_seconds)
        except BaseException:
            asked.cancel()
            raise

    def end(self) -> None:
        """Nobody uses it any more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


class _Shared:
    """The process's thread, while anybody uses it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.thread: LoopThread | None = None

    def forget(self) -> None:
        """In a child: the thread is the parent's, and maybe the lock."""
        self.lock = threading.Lock()
        self.thread = None


_shared: Final = _Shared()


def enter() -> LoopThread:
    """Use the thread until ``leave``; the first one starts it."""
    with _shared.lock:
        if _shared.thread is None:
            _shared.thread = LoopThread()
        _shared.thread.users += 1
        return _shared.thread


def leave(thread: LoopThread) -> None:
    """The last one ends it."""
    if not thread.is_here:
        return
    with _shared.lock:
        thread.users -= 1
        if thread.users:
            return
        _shared.thread = None
    thread.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared.forget)
