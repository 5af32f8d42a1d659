"""A time limit for each test, far above what it takes: a product that hangs fails, and goes on."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Final

import pytest

FAST_S: Final = 180.0
PROCESSES_S: Final = 600.0
"""Of tests that start processes, on a machine that does much else."""
STOPPED_S = 20.0
"""After this time more, what the cancelled test still waits for is cancelled too."""
ENDED_S = 60.0
"""After this time more, the process is ended."""


def set_time_limit(item: pytest.Function) -> None:
    """Limit it by its kind, or by its own marker ``timeout``."""
    own = item.get_closest_marker("timeout")
    kinds = [item.get_closest_marker(name) for name in ("slow", "conformance")]
    limit_s = own.args[0] if own else PROCESSES_S if any(kinds) else FAST_S
    if inspect.iscoroutinefunction(item.obj):
        # An exception of pytest-timeout's signal is lost in a loop, or hits the wrong task. Its
        # thread ends the process, for loops that do not turn and for fixtures that do not end.
        item.obj = _limited(item.obj, limit_s)
        marker = pytest.mark.timeout(limit_s + ENDED_S, method="thread")
    else:
        marker = pytest.mark.timeout(limit_s)
    item.add_marker(marker, append=False)


def _limited(test: Callable[..., Awaitable[None]], limit_s: float) -> Callable[..., object]:
    @functools.wraps(test)
    async def limited(**given: object) -> None:
        # The outer one is for a product that does not stop after the inner one.
        async with asyncio.timeout(limit_s + STOPPED_S), asyncio.timeout(limit_s):
            await test(**given)

    return limited
