"""The two clocks: state time from the wall, wire time from the loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


class WallClock:
    """Both run by themselves."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    def now_ms(self) -> int:
        """State time, in milliseconds since 1970."""
        return int(time.time() * 1000)

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> asyncio.TimerHandle:
        """Wire time: make a call later."""
        return self._loop.call_later(delay_ms / 1000, call)
