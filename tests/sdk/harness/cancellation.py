"""Cancelling after a number of turns of the loop."""

from __future__ import annotations

import asyncio


async def cancelled_after(turns: int, task: asyncio.Task[None]) -> None:
    """Let it run for so many turns, cancel it, and wait for its end."""
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    try:
        async with asyncio.timeout(30):
            await task
    except asyncio.CancelledError:
        assert task.cancelled()
