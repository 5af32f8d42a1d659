"""One event loop in a thread, and the calls that other threads make in it.

=============================== ===================================================================
a call                          becomes a task of the loop; the thread that calls waits for it
an interrupt, while it waits    cancels the task, and is raised when that has ended
a callback within a call        runs in the thread that waits (an errand), never in the loop
a call within a callback        is awaited by the task that waits for the callback, so that it is
                                known as coming from there
the last user closes            ends the loop and the thread; so does the end of the interpreter
a fork                          the child has no such thread: its calls are refused
=============================== ===================================================================
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, ParamSpec, TypeVar

from fencepost_client.errors import IllegalStateError

P = ParamSpec("P")
R = TypeVar("R")
_EXIT_SECONDS: Final = 5.0
"""How long the end of the interpreter waits for the end of the loop, whose thread is a daemon."""
_LOOK_SECONDS: Final = 0.2
"""A signal that comes just before a thread falls asleep does not wake it, and on Windows none does:
who waits looks up so often."""


def _take(queue: SimpleQueue[R]) -> R:
    while True:
        with suppress(Empty):
            return queue.get(timeout=_LOOK_SECONDS)


def _run_loop(main: Coroutine[Any, Any, None]) -> None:
    """Like ``asyncio.run``, but without a thread at the end that waits for name resolution.

    A thread cannot be started while the interpreter ends, and it waits for threads itself.
    """
    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(main)
        loop.run_until_complete(_cancel_others())
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class Portal:
    """The loop, its thread, and its number of users."""

    def __init__(self) -> None:
        self.users = 0
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._is_open = True
        self._stop = asyncio.Event()
        ready = threading.Event()
        self._thread = threading.Thread(
            target=lambda: _run_loop(self._live(ready)), name="fencepost-client", daemon=True
        )
        self._thread.start()
        ready.wait()

    async def _live(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        ready.set()
        # What is still under way afterwards is cancelled by `_run_loop`.
        await self._stop.wait()

    @property
    def is_here(self) -> bool:
        """Whether this process has the thread; a forked child does not."""
        return self._pid == os.getpid()

    def call(self, function: Callable[P, Coroutine[Any, Any, R]], *a: P.args, **kw: P.kwargs) -> R:
        """Run a coroutine in the loop, and wait for its result."""
        if not self.is_here:
            raise IllegalStateError(
                "this client was started before the process was forked: start a new one in the "
                "child process"
            )
        if threading.current_thread() is self._thread:
            raise IllegalStateError(
                "a blocking call in the client's own thread would wait for itself"
            )
        make = partial(function, *a, **kw)
        errand: _Errand | None = getattr(_here, "errand", None)
        if errand is not None:
            return errand.call(make)
        return _Call(self, make).wait()

    def submit(self, step: Callable[[], object]) -> None:
        """Run a function in the loop; everything submitted runs before the loop ends."""
        with self._lock:
            if not self._is_open:
                raise IllegalStateError("the client is closed")
            self._loop.call_soon_threadsafe(step)

    def stop(self, timeout_seconds: float | None = None) -> None:
        """End the loop; waiting calls raise an error."""
        with self._lock:
            if not self._is_open or not self.is_here:
                return
            self._is_open = False
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(timeout_seconds)


class _Call(Generic[R]):
    """A call of a thread, with the callbacks that the thread runs meanwhile (errands)."""

    def __init__(self, portal: Portal, make: Callable[[], Coroutine[Any, Any, R]]) -> None:
        self.portal = portal
        self.inbox: SimpleQueue[_Errand | None] = SimpleQueue()
        """Errands; ``None`` is the end."""
        self._make = make
        self._task: asyncio.Task[R] | None = None

    def _begin(self) -> None:
        """In the loop."""
        context = copy_context()
        context.run(_CALL.set, self)
        self._task = asyncio.get_running_loop().create_task(self._run(), context=context)
        self._task.add_done_callback(self._ended)

    async def _run(self) -> R:
        return await self._make()

    def _ended(self, task: asyncio.Task[R]) -> None:
        if not task.cancelled():
            task.exception()  # Looked at: an interrupted caller does not, and nobody has to know.
        self.inbox.put(None)

    def wait(self) -> R:
        """Wait in the calling thread, and run errands."""
        try:
            self.portal.submit(self._begin)
            while (errand := _take(self.inbox)) is not None:
                errand.carry_out()
        except BaseException:
            with suppress(IllegalStateError):
                self.portal.submit(self._cancel)
                while _take(self.inbox) is not None:
                    pass
            raise
        assert self._task is not None
        if self._task.cancelled():
            raise IllegalStateError("the client was closed while this call waited")
        return self._task.result()

    def _cancel(self) -> None:
        if self._task is None:
            self.inbox.put(None)  # The interrupt came before the loop was asked.
        else:
            self._task.cancel()


class _Request:
    """A call within a callback."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        self.make = make
        self.answers: SimpleQueue[tuple[Any, Exception | None]] = SimpleQueue()


class _Errand:
    """A callback that runs in the thread whose call has led to it."""

    def __init__(self, portal: Portal, function: Callable[[], object]) -> None:
        self.error: Exception | None = None
        self.requests: asyncio.Queue[_Request | None] = asyncio.Queue()
        """Calls that the callback makes; ``None`` is its end."""
        self.is_over = False
        self._portal = portal
        self._function = function

    def carry_out(self) -> None:
        """In the thread that waits; an interrupt is its own matter."""
        _here.errand = self
        try:
            self._function()
        except Exception as error:  # noqa: BLE001 - raised by whoever waits for the callback
            self.error = error
        finally:
            _here.errand = None
        self._portal.submit(partial(self.requests.put_nowait, None))

    def call(self, make: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """A call of the callback's."""
        request = _Request(make)
        self._portal.submit(partial(self._ask, request))
        result, error = _take(request.answers)
        if error is not None:
            raise error
        found: R = result
        return found

    def _ask(self, request: _Request) -> None:
        if self.is_over:
            _refuse(request)
        else:
            self.requests.put_nowait(request)

    async def answer(self, request: _Request) -> None:
        """In the task that waits for the callback."""
        try:
            request.answers.put((await request.make(), None))
        except Exception as error:  # noqa: BLE001 - raised in the callback
            request.answers.put((None, error))
        except BaseException:
            _refuse(request)
            raise

    def end(self) -> None:
        """Fail a request that nothing can answer."""
        self.is_over = True
        while not self.requests.empty():
            if (request := self.requests.get_nowait()) is not None:
                _refuse(request)


def _refuse(request: _Request) -> None:
    request.answers.put((None, IllegalStateError("the call was cancelled, or the client closed")))


async def in_calling_thread(function: Callable[P, object], *a: P.args, **kw: P.kwargs) -> None:
    """Run a callback in the thread whose call this task is."""
    call = _CALL.get()
    errand = _Errand(call.portal, partial(function, *a, **kw))
    call.inbox.put(errand)
    try:
        while (request := await errand.requests.get()) is not None:
            await errand.answer(request)
    finally:
        errand.end()
    if errand.error is not None:
        raise errand.error


_CALL: Final[ContextVar[_Call[Any]]] = ContextVar("_CALL")
_here: Final = threading.local()


class _Shared:
    """The portal of the process, while it has users."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.portal: Portal | None = None

    def forget(self) -> None:
        """In a child: the thread is the parent's, and maybe the lock."""
        self.lock = threading.Lock()
        self.portal = None
        _here.errand = None


_shared: Final = _Shared()


def enter() -> Portal:
    """Use the portal until ``leave``; the first user starts it."""
    with _shared.lock:
        if _shared.portal is None:
            _shared.portal = Portal()
        _shared.portal.users += 1
        return _shared.portal


def leave(portal: Portal) -> None:
    """End the use of the portal; the last user ends it."""
    if not portal.is_here:
        return
    with _shared.lock:
        portal.users -= 1
        if portal.users:
            return
        _shared.portal = None
    portal.stop()


@atexit.register
def _end_with_the_interpreter() -> None:
    if _shared.portal is not None:
        _shared.portal.stop(_EXIT_SECONDS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared.forget)
