"""A time limit for each test, far above what it takes: a product that hangs fails, and goes on."""

from __future__ import annotations

import asyncio
import faulthandler
import functools
import inspect
import os
from collections.abc import Awaitable, Callable, Generator
from typing import Final

import pytest

FAST_S: Final = 180.0
PROCESSES_S: Final = 600.0
"""Of tests that start processes, on a machine that does much else."""
STOPPED_S = 20.0
"""After this time more, what the cancelled test still waits for is cancelled too."""
ENDED_S = 60.0
"""After this time more, the process is ended."""


_LIMIT_S: Final = pytest.StashKey[float]()


def set_time_limit(item: pytest.Function) -> None:
    """Limit a test by its kind, or by its own marker ``timeout``."""
    own = item.get_closest_marker("timeout")
    kinds = [item.get_closest_marker(name) for name in ("slow", "conformance")]
    limit_s = own.args[0] if own else PROCESSES_S if any(kinds) else FAST_S
    item.stash[_LIMIT_S] = limit_s
    if inspect.iscoroutinefunction(item.obj):
        # An exception of pytest-timeout's signal is lost in a loop, or hits the wrong task.
        item.obj = _limited(item.obj, limit_s)
        limit_s = 0
    item.add_marker(pytest.mark.timeout(limit_s), append=False)


def _limited(test: Callable[..., Awaitable[None]], limit_s: float) -> Callable[..., object]:
    @functools.wraps(test)
    async def limited(**given: object) -> None:
        # The outer one is for a product that does not stop after the inner one.
        async with asyncio.timeout(limit_s + STOPPED_S), asyncio.timeout(limit_s):
            await test(**given)

    return limited


class Ending:
    """A pytest plugin for what no exception ends: a loop that does not turn, or does not close.

    It writes where all threads are, and ends the process; xdist says which test that was.
    """

    def __init__(self) -> None:
        self._stderr = os.dup(2)  # that of a test is captured, and lost with the process

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, None, None]:
        """From here on."""
        self._end_after(item.stash.get(_LIMIT_S, PROCESSES_S) + ENDED_S)
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        """Until all is cleaned up; pytest has stopped the clock if the test failed."""
        self._end_after(ENDED_S)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _end_after(self, seconds: float) -> None:
        faulthandler.dump_traceback_later(seconds, exit=True, file=self._stderr)
