"""One event loop in a thread of its own, for the brokers of a blocking program.

All brokers of a process share it while any of them runs, so that they can share a state clock.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

R = TypeVar("R")
_CANCEL_SECONDS: Final = 30.0
"""How long an interrupt waits for the call that it has cancelled."""


class LoopThread:
    """The loop, its thread, and its number of users."""

    def __init__(self) -> None:
        self.users = 0
        self._pid = os.getpid()
        self._loop = _new_loop()
        # The interpreter's end does not wait for a daemon; users with files close them before.
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="fencepost-broker", daemon=True
        )
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Return whether the thread is in this process; a forked child does not have it."""
        return self._pid == os.getpid()

    def check(self) -> None:
        """Raise RuntimeError if a call would wait for ever."""
        if not self.is_here:
            raise RuntimeError(
                "this broker was started before the process was forked: start another one"
            )
        if threading.current_thread() is self._thread:
            raise RuntimeError("a blocking call from the broker's own thread would wait for itself")

    def run(self, make: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Make a call in the loop and wait for its result.

        An interrupt cancels the call, and is raised when it has ended.
        """
        call = self.begin(make)
        try:
            return call.wait()
        except BaseException:
            self._loop.call_soon_threadsafe(call.cancel)
            call.is_over.wait(_CANCEL_SECONDS)
            raise

    def begin(self, make: Callable[[], Coroutine[Any, Any, R]]) -> Call[R]:
        """Start a call in the loop, which can be waited for."""
        self.check()
        call = Call(make)
        self._loop.call_soon_threadsafe(call.begin)
        return call

    def end(self) -> None:
        """Stop the loop: it has no user any more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Call(Generic[R]):
    """A call in the loop that other threads can wait for."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, R]]) -> None:
        self.is_over = threading.Event()
        self._make = make
        self._task: asyncio.Task[R] | None = None

    def begin(self) -> None:
        """Start the call; runs in the loop."""
        self._task = asyncio.get_running_loop().create_task(self._make())
        self._task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[R]) -> None:
        if not task.cancelled():
            task.exception()  # Retrieved here: an interrupted caller does not do so.
        self.is_over.set()

    def cancel(self) -> None:
        """Cancel the call; runs in the loop, after ``begin``."""
        assert self._task is not None
        self._task.cancel()

    def wait(self, timeout_seconds: float | None = None) -> R:
        """Wait for the result; runs in another thread."""
        if not self.is_over.wait(timeout_seconds):
            raise TimeoutError(f"not done within {timeout_seconds} s")
        assert self._task is not None
        return self._task.result()


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


class _Shared:
    """The process's thread, while it has users."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.thread: LoopThread | None = None

    def forget(self) -> None:
        """Forget the thread in a forked child: it is the parent's, and maybe the lock, too."""
        self.lock = threading.Lock()
        self.thread = None


_shared: Final = _Shared()


def enter() -> LoopThread:
    """Use the thread until ``leave``; the first user starts it."""
    with _shared.lock:
        if _shared.thread is None:
            _shared.thread = LoopThread()
        _shared.thread.users += 1
        return _shared.thread


def leave(thread: LoopThread) -> None:
    """Stop using the thread; the last user ends it."""
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
