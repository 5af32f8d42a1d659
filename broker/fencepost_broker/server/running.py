"""A program that is a broker or a cluster: its event loop, its signals and its exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, Protocol

from fencepost_broker.server.errors import BrokerFailedError

_INTERRUPTED: Final = 130
"""Exit code."""
_STOPPING: Final = [
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGBREAK") if hasattr(signal, name)
]
"""Signals that stop a broker; the last one is Ctrl-Break of Windows."""


def run_loop(main: Coroutine[Any, Any, int]) -> int:
    """Run on uvloop if it is installed, otherwise on asyncio's own loop."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


class Runnable(Protocol):
    """A broker or a cluster that runs until it is stopped."""

    on_failure: Callable[[str], None]
    """Called with the reason if it cannot continue."""

    async def start(self) -> Any:
        """Start to serve."""

    async def stop(self) -> bool:
        """Stop; returns whether the stop was clean."""


async def run_until_stopped(
    broker: Runnable, ready: Callable[[], None], until_closed: int | None = None
) -> int:
    """Serve until SIGTERM or SIGINT (a second one exits at once), and return the exit code.

    A signal during the start ends the start. ``until_closed`` is a pipe: when its other end is
    closed, the broker stops. If the broker cannot continue, it is stopped cleanly, and a
    ``BrokerFailedError`` says why.
    """
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    failures: list[str] = []

    def on_failure(why: str) -> None:
        failures.append(why)
        stopping.set()

    broker.on_failure = on_failure

    def on_signal() -> None:
        if stopping.is_set():
            sys.exit(_INTERRUPTED)
        stopping.set()

    for number in _STOPPING:
        try:
            loop.add_signal_handler(number, on_signal)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(on_signal))
    if until_closed is not None:
        _tell_when_closed(until_closed, stopping.set)
    starting = loop.create_task(broker.start())
    told = loop.create_task(stopping.wait())
    await asyncio.wait({starting, told}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():  # it may wait for a controller that never comes
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await starting
        return _INTERRUPTED
    await starting
    try:
        ready()
    except BaseException:
        await broker.stop()
        raise
    await told
    if until_closed is not None:
        with suppress(NotImplementedError):
            loop.remove_reader(until_closed)
    is_clean = await broker.stop()
    if failures:
        raise BrokerFailedError(failures[0])
    return 0 if is_clean else 1


def _tell_when_closed(pipe: int, tell: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()

    def read() -> None:
        with suppress(OSError):
            os.read(pipe, 1)
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(tell)

    try:
        loop.add_reader(pipe, tell)
    except NotImplementedError:  # Windows
        threading.Thread(target=read, name="until-closed", daemon=True).start()
