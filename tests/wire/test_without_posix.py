"""Programs without what only POSIX has: uvloop, pread, pwrite, fork, handlers of signals.

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
import asyncio, os, sys
for module in ("uvloop", "resource"):
    sys.modules[module] = None
for name in ("pread", "pwrite", "preadv", "pwritev", "posix_fallocate", "fork", "register_at_fork"):
    delattr(os, name)
def refuse(*_):
    raise NotImplementedError
asyncio.SelectorEventLoop.add_signal_handler = refuse
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
def broker(folder: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [*WITHOUT, "up", "--port", "0", "--json", "--topic", "orders:1", "--data-dir", folder],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["bootstrap"]
        process.send_signal(signal.SIGINT)  # Ctrl-C, which Windows has, too
        assert process.wait(TIME_LIMIT_S) == 130
    finally:
        process.kill()
        process.communicate()


def test_a_broker_and_its_commands_without_what_only_posix_has(tmp_path: Path) -> None:
    with broker(tmp_path) as bootstrap:
        run("produce", "-b", bootstrap, "-t", "orders", "-q", given="one\ntwo\n")
    with broker(tmp_path) as bootstrap:
        assert run("consume", "-b", bootstrap, "-t", "orders", "-e") == "one\ntwo\n"
    assert "loop         asyncio's own" in run("doctor", "--port", "0")
