"""Work off the loop, in threads. Their twin without a thread is ``flushes.InlineWorker``."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable


class WorkerThreads:
    """As many threads as have something to do, up to ``at_once``; with one, all is in order."""

    def __init__(self, loop: asyncio.AbstractEventLoop, at_once: int = 1) -> None:
        self.at_once = at_once
        self._loop = loop
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._untold = 0
        """Pieces of work that the loop has not heard of as done."""
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
                # A loop that was closed without a word to us has nobody left to tell.
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
        """Let them do what was asked for; all of that is told as done when this returns."""
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
