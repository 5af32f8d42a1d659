"""``fencepost up --exit-with-parent``: a broker ends with the process that has started it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fencepost_broker.cli.commands import parent

from tests.support.up import is_gone, until_gone

STARTER = """
import subprocess, sys, time
subprocess.Popen([sys.executable, "-m", "fencepost_broker", "up", *sys.argv[1:]])
time.sleep(600)
"""
"""A test runner that starts a broker and never stops it."""


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A process that has started a broker, and all processes of the broker."""
    with subprocess.Popen(
        [sys.executable, "-c", STARTER, "--port", "0", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as starter:
        assert starter.stdout is not None
        told = json.loads(starter.stdout.readline())
        pids = [told["pid"], *(each["pid"] for each in told.get("members", []))]
        try:
            assert not any(map(is_gone, pids))
            starter.kill()
            starter.wait()
            yield starter, pids
        finally:
            for pid in pids:
                if not is_gone(pid):
                    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("brokers", [(), ("--brokers", "2")], ids=["one", "cluster"])
def test_a_broker_ends_with_the_killed_process_that_started_it(
    brokers: tuple[str, ...], tmp_path: Path
) -> None:
    words = [*brokers, "--run-dir", str(tmp_path / "run")] if brokers else []
    with started("--exit-with-parent", *words) as (_, pids):
        until_gone(pids)


def test_without_the_option_a_broker_goes_on() -> None:
    with started() as (_, [pid]):
        assert not is_gone(pid)


def test_where_processes_have_no_descriptors_their_ids_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    ids = iter([7, 7, 7, 7])
    monkeypatch.setattr(os, "getppid", lambda: next(ids, 1))
    descriptor = parent.parent_descriptor()
    try:
        assert os.read(descriptor, 1) == b""  # waits until the other end is closed
    finally:
        os.close(descriptor)


def test_a_parent_that_has_ended_already_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = iter([os.getpid()])
    monkeypatch.setattr(os, "getppid", lambda: next(ids, 1))
    with pytest.raises(ValueError, match="has already ended"):
        parent.parent_descriptor()


@pytest.mark.parametrize(("given", "told"), [("77", "not an open file descriptor"), ("x", "'x'")])
def test_a_descriptor_that_is_closed_is_told(given: str, told: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "fencepost_broker", "up", "--until-closed", given],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 2
    assert told in ran.stderr
    assert "Traceback" not in ran.stderr
