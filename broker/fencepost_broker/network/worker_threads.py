"""Threads for blocking work; ``flushes.InlineWorker`` has the same interface without threads."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable


class WorkerThreads:
    """Runs work in up to ``at_once`` threads; with one, work is done in order."""

    def __init__(self, loop: asyncio.AbstractEventLoop, at_once: int = 1) -> None:
        self.at_once = at_once
        self._loop = loop
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._untold = 0
        """The number of jobs whose ``done`` has not been called."""
        self._idle: asyncio.Event | None = None

    def run(self, work: Callable[[], None], done: Callable[[], None]) -> None:
        """Do the work in a thread, then call ``done`` in the loop."""
        self._untold += 1
        if self._untold > len(self._threads) < self.at_once:
            thread = threading.Thread(target=self._serve, name="fencepost-worker", daemon=True)
            self._threads.append(thread)
            thread.start()

        def both() -> None:
            try:
                work()
            finally:
                # The loop was closed before this: nothing waits for the result.
                if not self._loop.is_closed():
                    self._loop.call_soon_threadsafe(self._tell, done)

        self._work.put(both)

    def _tell(self, done: Callable[[], None]) -> None:
        self._untold -= 1
        try:
            done()
        finally:
            if self._idle is not None and not self._untold:
                self._idle.set()

    async def close(self) -> None:
        """Wait until all work is done and every ``done`` has been called."""
        if self._untold:
            self._idle = asyncio.Event()
            await self._idle.wait()
            self._idle = None
        for _ in self._threads:
            self._work.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            work()
