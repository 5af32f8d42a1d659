"""Fixtures for all tests."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

LOOPS = ["asyncio"]
try:
    import uvloop
except ImportError:  # a platform without it: Windows
    uvloop = None  # type: ignore[assignment]
else:
    LOOPS.append("uvloop")


@pytest.fixture(params=LOOPS)
def event_loop_policy(request: pytest.FixtureRequest) -> Any:
    """Every async test runs on asyncio's own loop and on uvloop."""
    if request.param == "uvloop":
        return uvloop.EventLoopPolicy()
    return asyncio.DefaultEventLoopPolicy()
