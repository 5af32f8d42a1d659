"""Second tries of tests that ran out of time (`--second-try=FILE`), and the file that keeps them.

A shared machine may stand still for seconds, so a test of real processes that exceeded a time limit
is run once more. A wrong answer is never run again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

TIME_LIMITS: Final = (r"^TimeoutError: ", r"^TimeoutExpired: ", r"^Failed: Timeout \(>")
"""What the tests' own waits, waits for processes, and pytest-timeout raise."""
NOTHING_LOST: Final = (
    "tests/conformance/streams/",
    "tests/conformance/test_clients_on_a_cluster.py",
    "tests/conformance/test_transforming_clients.py",
    "tests/hostile/",
    "tests/kill/",
    "tests/pipeline/audit/test_spark_sink.py",
    "tests/pipeline/kill/",
    "tests/pipeline/sink/",
    "tests/pipeline/test_worked_pipeline.py",
    "tests/property/",
    "tests/sdk/test_blocking_exactly_once.py",
    "tests/sdk/test_exactly_once.py",
    "tests/sdk/test_exactly_once_crashes.py",
    "tests/sdk/test_examples.py",
    "tests/sdk/test_failover.py",
    "tests/wire/test_coordinators_that_move.py",
    "tests/wire/test_cuts.py",
    "tests/wire/test_cuts_between_processes.py",
)
"""Tests that prove that nothing is lost or doubled: a second try could hide that it was."""
RUNS_KEPT: Final = 10
TESTS_MAX: Final = 12
"""Second tries in one run; if there are more, the broker is slow and not the machine."""


def may_try_again(item: pytest.Item) -> bool:
    """Whether it does not prove that nothing is lost."""
    return not item.nodeid.startswith(NOTHING_LOST)


class SecondTries:
    """A pytest plugin that fails a run when second tries are too frequent."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._first_failures: list[pytest.TestReport] = []
        self._complaints: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect first failures; the plugin that repeats a test calls them reruns."""
        if str(report.outcome) == "rerun":
            self._first_failures.append(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep the names of second tries, and compare them with those of earlier runs."""
        names = sorted({each.nodeid for each in self._first_failures})
        kept: list[list[str]] = json.loads(self._file.read_text()) if self._file.exists() else []
        before = kept[1 - RUNS_KEPT :]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps([*before, names], indent=0) + "\n")
        self._complaints = [
            f"{name} needed a second try before, in the last {RUNS_KEPT} runs"
            for name in names
            if any(name in earlier for earlier in before)
        ]
        if len(names) > TESTS_MAX:
            self._complaints.append(f"{len(names)} tests needed a second try, {TESTS_MAX} may")
        if self._complaints:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print each first failure."""
        for report in self._first_failures:
            terminalreporter.section(f"failed at first: {report.nodeid}")
            terminalreporter.write_line(report.longreprtext)
        for each in self._complaints:
            terminalreporter.write_line(each, red=True)
