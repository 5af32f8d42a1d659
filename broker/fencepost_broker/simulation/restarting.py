"""A process of a program that is killed, and started again."""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Callable, Coroutine
from functools import partial
from types import FunctionType
from typing import Any

from fencepost_broker.simulation.cluster import in_process
from fencepost_broker.simulation.loop import SimLoop
from fencepost_broker.simulation.process import Process


def again(
    work: Coroutine[Any, Any, Any] | Callable[[], Coroutine[Any, Any, Any]],
) -> Callable[[], Coroutine[Any, Any, Any]]:
    """Return what makes the same coroutine each time.

    A coroutine that has not begun is created again from its function and its arguments.
    """
    if callable(work):
        return work
    frame = getattr(work, "cr_frame", None)
    if frame is None or inspect.getcoroutinestate(work) != inspect.CORO_CREATED:
        raise TypeError("a process that is started again is a coroutine that has not begun")
    [make] = (
        each
        for each in gc.get_referents(work)
        if isinstance(each, FunctionType) and each.__code__ is frame.f_code
    )
    given = inspect.getargvalues(frame)
    code, named = frame.f_code, given.locals
    count = code.co_argcount
    args = [named[each] for each in given.args[:count]]
    args += named[given.varargs] if given.varargs else ()
    options = {each: named[each] for each in given.args[count:]}
    options |= named[given.keywords] if given.keywords else {}
    work.close()
    return partial(make, *args, **options)


class Restarting:
    """A process of a program that is started again when it is killed."""

    def __init__(
        self, loop: SimLoop, name: str, make: Callable[[], Coroutine[Any, Any, Any]]
    ) -> None:
        self._loop = loop
        self._name = name
        self._make = make
        self._process = Process(name)
        self._killed = asyncio.Event()

    async def run(self) -> Any:
        """Run it until it returns."""
        while True:
            self._killed.clear()
            self._loop.network.started(self._name)
            work = self._loop.create_task(in_process(self._process, self._make()))
            killed = self._loop.create_task(self._killed.wait())
            try:
                await asyncio.wait((work, killed), return_when=asyncio.FIRST_COMPLETED)
                if work.done():
                    return work.result()
                self._process = Process(self._name)
            finally:
                killed.cancel()
                work.cancel()

    def kill(self) -> None:
        """End the process, as SIGKILL does."""
        self._loop.kill(self._process)
        self._killed.set()
