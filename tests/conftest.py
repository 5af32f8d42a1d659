"""Hooks for all tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

import pytest
from fencepost_broker.network import receive_buffer
from hypothesis import HealthCheck, settings

receive_buffer.SCRIBBLES = True

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


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """More than there are cores: many tests wait for processes, or for time to pass."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) * 3 // 2


SECOND_TRIES = 12
"""Of some 1,700 tests of processes; more of them in one run are no accident."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--second-try",
        action="store_true",
        help="run a test of several processes once more when it fails, and name it",
    )


def is_of_processes(item: pytest.Item) -> bool:
    """Whether it starts some, most of which wait in real time."""
    return any(item.get_closest_marker(name) for name in ("slow", "conformance"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Files with tests of processes come first: short ones fill up what is left at the end.

    Real processes wait in real time, also while a shared machine stands still for seconds: they
    may have a second try. Tests of one process have no such excuse, and what proves that nothing
    is lost has one for time limits alone.
    """
    slow_files = {item.path for item in items if is_of_processes(item)}
    items.sort(key=lambda item: item.path not in slow_files)
    if config.getoption("--second-try"):
        for item in filter(is_of_processes, items):
            only = ["Timeout", "timed out", "stay behind"] if "kill" in item.path.parts else None
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=only))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: Any) -> None:
    """A second try makes anew what the tests of its file share, say the answers of a Kafka.

    Else it would look at the same answers once more.
    """
    if getattr(item, "execution_count", 1) > 1:
        for definition in chain.from_iterable(item._fixtureinfo.name2fixturedefs.values()):
            if definition.scope == "module":
                definition.finish(item._request)


def failed_at_first(config: pytest.Config) -> list[pytest.TestReport]:
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    return terminal.stats.get("rerun", []) if terminal else []


def pytest_sessionfinish(session: pytest.Session) -> None:
    """What fails at first everywhere is broken, although each passed in the end."""
    if len(failed_at_first(session.config)) > SECOND_TRIES:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Why they failed: a second try hides nothing."""
    again = failed_at_first(config)
    for report in again:
        terminalreporter.section(f"failed at first: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
    if len(again) > SECOND_TRIES:
        terminalreporter.write_line(
            f"{len(again)} tests needed a second try, and at most {SECOND_TRIES} may", red=True
        )
