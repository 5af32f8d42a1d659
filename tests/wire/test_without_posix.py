"""Programs without what only POSIX has: uvloop, pread, pwrite, fork, handlers of signals, pipes in
the loop.

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

TAKE_AWAY = """
import asyncio, os, signal, sys
import fencepost_broker.storage.disk.directory_lock  # it knows the system's locks
for module in ("uvloop", "resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[module] = None
for name in ("pread", "pwrite", "preadv", "pwritev", "posix_fallocate", "fork", "register_at_fork"):
    delattr(os, name)
for name in ("SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP"):
    delattr(signal, name)
def refuse(*_):
    raise NotImplementedError
loop = asyncio.SelectorEventLoop
loop.add_signal_handler = loop.add_reader = loop.remove_reader = refuse
from fencepost_broker.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


WITHOUT = (sys.executable, "-c", TAKE_AWAY)
TIME_LIMIT_S = 120


def run(*words: str, given: str = "") -> str:
    done = subprocess.run(
        [*WITHOUT, *words],
        input=given, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def broker(folder: Path, *more: str) -> Iterator[str]:
    words = ["up", "--port", "0", "--json", "--topic", "orders:1", "--data-dir", str(folder)]
    process = subprocess.Popen(
        [*WITHOUT, *words, *more],
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
            assert process.wait(TIME_LIMIT_S) == 130
    finally:
        process.kill()
        process.communicate()


def test_a_broker_and_its_commands_without_what_only_posix_has(tmp_path: Path) -> None:
    with broker(tmp_path) as bootstrap:
        run("produce", "-b", bootstrap, "-t", "orders", "-q", given="one\ntwo\n")
    with broker(tmp_path, "--until-closed", "0") as bootstrap:
        assert run("consume", "-b", bootstrap, "-t", "orders", "-e") == "one\ntwo\n"
    assert ", 2 records, 0 transactions" in run("audit", str(tmp_path))
    assert "loop         asyncio's own" in run("doctor", "--port", "0")
