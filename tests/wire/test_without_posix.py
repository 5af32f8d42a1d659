"""Programs without what only POSIX has: uvloop, pread, pwrite, fork, handlers of signals, pipes in
the loop, Unix sockets, signals that pause a process.

It is no Windows: paths, locks of files and the proactor loop are still those of this system.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fencepost_broker.cli.cluster.control_socket import ask_supervisor
from fencepost_client.commands.errors import NotDoneError

TAKE_AWAY = """
import asyncio, os, signal, subprocess, sys
import fencepost_broker.storage.disk.directory_lock  # it knows the system's locks
for module in ("uvloop", "resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[module] = None
for name in (
    "pread", "pwrite", "preadv", "pwritev", "posix_fallocate", "fork", "register_at_fork",
    "pidfd_open", "getuid",
):
    delattr(os, name)
for name in ("SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP"):
    delattr(signal, name)
for name in ("open_unix_connection", "start_unix_server"):
    delattr(asyncio, name)
# Both would look for SIGKILL.
subprocess.Popen.kill = lambda process: os.kill(process.pid, 9)
asyncio.base_subprocess.BaseSubprocessTransport.kill = lambda transport: transport.send_signal(9)
def refuse(*_):
    raise NotImplementedError
loop = asyncio.SelectorEventLoop
loop.add_signal_handler = loop.add_reader = loop.remove_reader = refuse
"""
"""What each process does at its start, and those that it starts, too."""
FENCEPOST = (sys.executable, "-m", "fencepost_broker")
TIME_LIMIT_S = 120


@pytest.fixture(autouse=True)
def _without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(TAKE_AWAY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def run(*words: str, given: str = "") -> str:
    done = subprocess.run(
        [*FENCEPOST, *words],
        input=given, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def broker(folder: Path, *more: str) -> Iterator[str]:
    words = ["up", "--port", "0", "--json", "--topic", "orders:1", "--data-dir", str(folder)]
    process = subprocess.Popen(
        [*FENCEPOST, *words, *more],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["bootstrap"]
        if more:
            process.communicate(timeout=TIME_LIMIT_S)  # closes its standard input
            assert process.returncode == 0
        else:
            process.send_signal(signal.SIGINT)  # Ctrl-C, which Windows has, too
            assert process.wait(TIME_LIMIT_S) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_broker_and_its_commands_without_what_only_posix_has(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with broker(folder) as bootstrap:
        run("produce", "-b", bootstrap, "-t", "orders", "-q", given="one\ntwo\n")
    with broker(folder, "--until-closed", "0") as bootstrap:
        assert run("consume", "-b", bootstrap, "-t", "orders", "-e") == "one\ntwo\n"
    assert ", 2 records, 0 transactions" in run("audit", str(folder))
    assert "loop         asyncio's own" in run("doctor", "--port", "0")


def test_a_cluster_without_what_only_posix_has(tmp_path: Path) -> None:
    found = tmp_path / "run"
    words = ["up", "--brokers", "2", "--combined", "--topic", "orders:2", "--json"]
    words += ["--run-dir", str(found)]
    cluster = subprocess.Popen(
        [*FENCEPOST, *words, "--exit-with-parent"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert cluster.stdout is not None
        bootstrap = json.loads(cluster.stdout.readline())["bootstrap"]
        with pytest.raises(NotDoneError, match="this system cannot pause a process"):
            ask_supervisor(found, "pause", 2)
        ask_supervisor(found, "kill", 2)
        ask_supervisor(found, "start", 2)
        told = ask_supervisor(found, "stop", 2)
        assert [each["state"] for each in told["members"]] == ["up", "down"]
        run("produce", "-b", bootstrap, "-t", "orders", "-q", given="one\n")
        assert run("consume", "-b", bootstrap, "-t", "orders", "-e") == "one\n"
        cluster.communicate(timeout=TIME_LIMIT_S)  # closes its standard input
        assert cluster.returncode == 0
        assert [each.name for each in found.iterdir()] == ["lock"]
    finally:
        cluster.kill()
        cluster.communicate()


def test_the_end_of_a_parent_is_not_seen_without_a_pipe() -> None:
    refused = subprocess.run(
        [*FENCEPOST, "up", "--port", "0", "--exit-with-parent"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
    )  # fmt: skip
    assert refused.returncode == 2
    assert "standard input must be a pipe" in refused.stderr
