"""Hooks for all tests."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from fencepost_broker.network import receive_buffer
from hypothesis import HealthCheck, settings

from tests.support.second_tries import TIME_LIMITS, SecondTries, may_try_again
from tests.support.time_limits import Ending, set_time_limit

receive_buffer.SCRIBBLES = True

# How fast a test is says how busy the machine is: nothing fails for that.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")

if sys.platform == "win32":
    # Benchmarks ask Linux for the CPU time of processes.
    collect_ignore_glob = ["unit/test_bench_*.py"]

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"asyncio": asyncio.new_event_loop}
try:
    import uvloop
except ImportError:  # a platform without it: Windows
    pass
else:
    LOOPS["uvloop"] = uvloop.new_event_loop


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Every async test runs on asyncio's own loop and on uvloop, or on those that are named.

    A test that names its loop has that one.
    """
    marker = item.get_closest_marker("asyncio")
    named = os.environ.get("FENCEPOST_TEST_LOOPS", "")
    if not named or (marker is not None and "loop_factories" in marker.kwargs):
        return LOOPS
    return {name: LOOPS[name] for name in named.split(",")}


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More than there are cores: many tests wait for processes, or for time to pass."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) * 3 // 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--second-try",
        metavar="FILE",
        type=Path,
        help="run a test of several processes once more when it exceeded a time limit; keep in FILE"
        " which did, over runs, and fail for one that did so before",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Ending())
    file = config.getoption("--second-try")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SecondTries(file))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files with tests of processes come first: short ones fill up what is left at the end."""
    of_processes = {item for item in items if has_processes(item)}
    files = {item.path for item in of_processes}
    items.sort(key=lambda item: item.path not in files)
    for item in items:
        if isinstance(item, pytest.Function):
            set_time_limit(item)
        if config.getoption("--second-try") and item in of_processes and may_try_again(item):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=TIME_LIMITS))


def has_processes(item: pytest.Item) -> bool:
    """Whether it starts some, most of which wait in real time."""
    return any(item.get_closest_marker(name) for name in ("slow", "conformance"))
