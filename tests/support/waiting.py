"""Waiting for what comes by a socket or a process, and so wakes no one in a test.

Each wait is bounded, far above what it takes. What it raises then is a ``TimeoutError``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

GIVEN_UP_S: Final = 60.0
_PAUSE_S: Final = 0.01


async def until(is_so: Callable[[], object]) -> None:
    """Look again and again, between whatever else the loop has to do."""
    async with asyncio.timeout(GIVEN_UP_S):
        while not is_so():  # noqa: ASYNC110 - there is nothing to wait on but the state itself
            await asyncio.sleep(0.001)


async def asked_until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Ask brokers again and again."""
    async with asyncio.timeout(2 * GIVEN_UP_S):
        while not await is_so():  # noqa: ASYNC110 - brokers have to be asked
            await asyncio.sleep(0.02)


def polled(look: Callable[[], T], otherwise: str = "", within_s: float = GIVEN_UP_S) -> T:
    """Look again and again without a loop; return the first finding that is true."""
    given_up_at = time.monotonic() + within_s
    while not (found := look()):
        if time.monotonic() > given_up_at:
            raise TimeoutError(otherwise)
        time.sleep(_PAUSE_S)
    return found
