"""Tests that hang fail, whatever the event loop does meanwhile (tests/support/time_limits.py)."""

from __future__ import annotations

from pathlib import Path

from tests.support import inner_pytest

HANGING = """
import asyncio, threading
from contextlib import asynccontextmanager
import pytest
from tests.support import time_limits

pytestmark = pytest.mark.timeout(0.5)
time_limits.STOPPED_S = 0.1

@asynccontextmanager
async def a_product_that_does_not_stop():
    try:
        yield
    finally:
        await asyncio.Event().wait()

@pytest.mark.asyncio
async def test_nothing_happens():
    await asyncio.Event().wait()

@pytest.mark.asyncio
async def test_another_task_is_busy():
    async def busy():
        while True:
            await asyncio.sleep(0)
    task = asyncio.ensure_future(busy())
    try:
        await asyncio.Event().wait()
    finally:
        task.cancel()

@pytest.mark.asyncio
async def test_it_does_not_stop():
    async with a_product_that_does_not_stop():
        await asyncio.Event().wait()

def test_without_a_loop():
    threading.Event().wait()

def test_that_ends():
    pass
"""
STUCK = """
import pytest
from tests.support import time_limits

time_limits.ENDED_S = 0.1

@pytest.mark.asyncio
@pytest.mark.timeout(0.5)
async def test_the_loop_does_not_turn():
    while True:
        pass
"""
NOT_CLOSED = """
import pytest, threading
from tests.support import time_limits

time_limits.ENDED_S = 0.1

@pytest.fixture
def product():
    yield
    threading.Event().wait()

@pytest.mark.timeout(0.5)
def test_that_fails(product):
    assert False
"""


def test_what_hangs_fails_and_the_rest_goes_on(tmp_path: Path) -> None:
    result = inner_pytest.run(tmp_path, "test_it.py", HANGING)
    assert "7 failed, 1 passed" in result.stdout, result.stdout
    for test in ("nothing_happens", "another_task_is_busy", "it_does_not_stop"):
        for loop in ("asyncio", "uvloop"):
            assert f"test_{test}[{loop}] - TimeoutError" in result.stdout
    assert "test_without_a_loop - Failed: Timeout (>0.5" in result.stdout


def test_a_loop_that_does_not_turn_ends_the_process(tmp_path: Path) -> None:
    result = inner_pytest.run(tmp_path, "test_it.py", STUCK)
    assert result.returncode == 1
    assert "in test_the_loop_does_not_turn" in result.stderr


def test_a_product_that_is_not_closed_after_a_failed_test_ends_the_process(
    tmp_path: Path,
) -> None:
    result = inner_pytest.run(tmp_path, "test_it.py", NOT_CLOSED)
    assert result.returncode == 1
    assert "in product" in result.stderr
