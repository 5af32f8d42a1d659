"""A broker for tests that block."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

from fencepost_broker import Broker


class BrokerThread:
    """A broker that does not mind whether the test blocks."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def __enter__(self) -> str:
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        self._thread.start()
        self._ready.wait()
        return self._bootstrap

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with Broker(settings=self._settings) as broker:
            self._bootstrap = broker.bootstrap
            self._ready.set()
            await self._stop.wait()
