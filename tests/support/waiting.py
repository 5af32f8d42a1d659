"""Waiting for what comes by a socket or a process, and so wakes nobody in a test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

GIVEN_UP_S: Final = 60.0


async def until(is_so: Callable[[], bool]) -> None:
    """Look again and again, between whatever else the loop has to do."""
    async with asyncio.timeout(GIVEN_UP_S):
        while not is_so():  # noqa: ASYNC110 - there is nothing to wait on but the state itself
            await asyncio.sleep(0.001)


async def asked_until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Ask brokers again and again."""
    async with asyncio.timeout(2 * GIVEN_UP_S):
        while not await is_so():  # noqa: ASYNC110 - brokers have to be asked
            await asyncio.sleep(0.02)
