"""``@pytest.mark.simulate``: each seed is a test, and a failing one says how to run it again."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_broker.simulation import Simulation

from tests.support.inner_pytest import run

SOURCE = """
import asyncio
import pytest

@pytest.fixture
def hours():
    return 0.5

@pytest.mark.simulate(seeds=[3, 6, 9])
async def test_time(sim, hours):
    sim.note("begun")
    await asyncio.sleep(3600 * hours)
    assert sim.seed != 6, "six"

@pytest.mark.simulate(seeds=1, within_s=10)
async def test_limit(sim):
    await asyncio.sleep(11)

def test_unmarked(sim):
    pass
"""


@pytest.mark.simulate(seeds=2)
async def test_a_test_is_given_its_simulation(sim: Simulation, tmp_path: Path) -> None:
    assert tmp_path.is_absolute()
    cluster = await sim.cluster(brokers=1, topics={"orders": 1})
    assert cluster.topic_names == ["orders"]


def test_each_seed_is_a_test_and_a_failing_one_says_how_to_run_it_again(tmp_path: Path) -> None:
    done = run(tmp_path, "test_them.py", SOURCE, "-q", "-rA")
    assert "2 failed, 2 passed, 1 error" in done.stdout
    assert "AssertionError: six" in done.stdout
    assert "  begun\n" in done.stdout
    assert "seed 6 again: pytest 'test_them.py::test_time[seed-6]'" in done.stdout
    assert "has not ended within 10 s" in done.stdout
    assert "sim needs @pytest.mark.simulate" in done.stdout


def test_a_mark_needs_an_async_function(tmp_path: Path) -> None:
    source = "import pytest\n@pytest.mark.simulate\ndef test_it():\n    pass\n"
    done = run(tmp_path, "test_it.py", source)
    assert "is an async function with the argument sim" in done.stdout
