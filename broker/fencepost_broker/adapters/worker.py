"""Work off the loop, in one thread. Its twin without a thread is ``flushes.InlineWorker``."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable


class WorkerThread:
    """One thread, started with the first work."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def run(self, work: Callable[[], None], done: Callable[[], None]) -> None:
        """Do the work in the thread, then call ``done`` in the loop."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._serve, name="fencepost-worker", daemon=True
            )
            self._thread.start()

        def both() -> None:
            try:
                work()
            finally:
                self._loop.call_soon_threadsafe(done)

        self._work.put(both)

    async def close(self) -> None:
        """Let it do what was asked for; all of that is told as done when this returns."""
        if self._thread is None:
            return
        ended = asyncio.Event()
        self.run(_nothing, ended.set)
        await ended.wait()
        self._work.put(None)
        self._thread.join()
        self._thread = None

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()


def _nothing() -> None:
    """The last work of all."""
