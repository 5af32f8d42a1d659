"""Hooks for all tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping

from hypothesis import HealthCheck, settings

# How fast a test is says how busy the machine is: nothing fails for that.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
try:
    import uvloop
except ImportError:  # a platform without it: Windows
    pass
else:
    LOOPS["uvloop"] = uvloop.new_event_loop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Every async test runs on asyncio's own loop and on uvloop, or on those that are named."""
    named = os.environ.get("FENCEPOST_TEST_LOOPS", "")
    return {name: LOOPS[name] for name in named.split(",")} if named else LOOPS
