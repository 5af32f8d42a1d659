"""Copies of a process that wait for a command: what they share, what they tell, how they end.

All of it is in a process of its own, since copies are made where there is but one thread.
"""

from __future__ import annotations

import errno
import json
import subprocess
import sys
import threading
from argparse import Namespace
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from fencepost_broker.cli.cluster import prefork
from fencepost_broker.cli.commands import up_cluster
from fencepost_broker.config import Settings

from tests.support.up import PATIENCE_SECONDS
from tests.support.waiting import polled

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere none are made")
OWNER: Final = """
import asyncio, json, os, signal, sys
from fencepost_broker.cli.cluster import prefork

def run(words):
    files = sorted(os.listdir("/proc/self/fd"), key=int)
    told = {"words": words, "files": files, "group": os.getpgid(0), "pid": os.getpid()}
    told["name"] = open("/proc/self/comm").read().strip()
    print(json.dumps(told), flush=True)
    sys.stderr.write("said\\n")
    if words[0] == "wait":
        assert sys.stdin.read() == ""  # until the owner is gone, or this one is killed
    return 7

async def main(made):
    first, second, unused = made
    await first.run("first", ["end", "now"])
    await second.run("second", ["wait"])
    told = [json.loads(await each.stdout.readline()) for each in (first, second)]
    said = await first.stderr.read()
    code = await first.wait()
    first.kill()  # it has ended: nothing happens
    second.send_signal(signal.SIGKILL)
    killed = await second.wait()
    unused.dismiss()
    print(json.dumps([told, said.decode(), code, killed, unused.returncode]))

opened = os.open(os.devnull, os.O_RDONLY)
assert prefork.can_be_made()
made = prefork.make(3, ["this"], run)
asyncio.run(main(made))
"""
KILLED: Final = """
import asyncio, json, os
from fencepost_broker.cli.cluster import prefork

async def main(made):
    (killed,) = made
    os.kill(killed.pid, 9)
    os.waitid(os.P_PID, killed.pid, os.WEXITED | os.WNOWAIT)
    await killed.run("killed", ["end"])
    print(json.dumps([(await killed.stdout.readline()).decode(), await killed.wait()]))

asyncio.run(main(prefork.make(1, [], lambda words: 0)))
"""
NO_ROOM: Final = """
import errno, os
from fencepost_broker.cli.cluster import prefork

opened, ours = os.pidfd_open, os.getpid()
left = [None, None]

def open_two(pid):
    if not left:
        raise OSError(errno.EMFILE, "too many")
    left.pop()
    return opened(pid)

os.pidfd_open = open_two
before = os.listdir("/proc/self/fd")
assert prefork.make(3, [], lambda words: 0) == []
assert os.getpid() == ours
assert os.listdir("/proc/self/fd") == before
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("nobody is left")
"""
LEFT_ALONE: Final = """
import os
from fencepost_broker.cli.cluster import prefork
made = prefork.make(2, [], lambda words: 0)
print(*(each.pid for each in made), flush=True)
os.kill(os.getpid(), 9)
"""


def owned(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        check=False, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip


def test_a_copy_runs_its_command_and_has_nothing_of_its_owners_but_what_was_imported() -> None:
    done = owned(OWNER)
    assert done.returncode == 0, done.stderr
    told, said, code, killed, dismissed = json.loads(done.stdout.splitlines()[-1])
    assert done.stdout.startswith("The Zen of Python"), "it is imported, and once"
    first: dict[str, Any] = told[0]
    assert (first["words"], first["name"]) == (["end", "now"], "first")
    assert told[1]["name"] == "second"
    for each in told:
        assert each["files"][:3] == ["0", "1", "2"]
        assert len(each["files"]) == 4, "its standard files, and the one that lists them"
        assert each["group"] == each["pid"], "Ctrl-C is not for it"
    assert (said, code, killed, dismissed) == ("said\n", 7, -9, -9)


def test_a_copy_that_was_killed_before_it_was_needed_is_one_that_has_ended() -> None:
    done = owned(KILLED)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["", -9]


def test_copies_end_with_their_owner() -> None:
    """Their standard outputs are pipes of its, so who waits for the owner's output is not held."""
    done = owned(LEFT_ALONE)
    assert done.returncode == -9
    polled(lambda: not any(map(is_there, done.stdout.split())))


def is_there(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_all_are_made_or_none() -> None:
    done = owned(NO_ROOM)
    assert (done.returncode, done.stdout) == (0, "nobody is left\n"), done.stderr


@pytest.mark.parametrize("name", ["os.pidfd_open", "signal.pidfd_send_signal"])
def test_none_are_made_where_the_kernel_refuses(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Python has the name, whatever the kernel is, or a sandbox lets through."""

    def refuse(*_: object) -> NoReturn:
        raise OSError(errno.ENOSYS, "not here")

    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert prefork.can_be_made()
    monkeypatch.setattr(name, refuse)
    assert not prefork.can_be_made()


def test_none_are_made_where_a_copy_cannot_tell_what_it_has_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(prefork, "_OPEN_FILES", tmp_path / "no proc")
    assert not prefork.can_be_made()


@pytest.mark.parametrize("is_possible", [True, False])
@pytest.mark.parametrize("level", ["info", "warning"])
def test_who_asks_for_info_hears_that_none_are_made(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    level: str,
    *,
    is_possible: bool,
) -> None:
    """Where it is not possible at all, and where there is no room for all of them."""
    monkeypatch.setattr(prefork, "can_be_made", lambda: is_possible)
    monkeypatch.setattr(prefork, "make", lambda *_: [])
    assert up_cluster._spares(3, Namespace(log_level=level, faults=None), Settings()) == []
    assert ("cannot be forked" in capsys.readouterr().err) is (level == "info")


def test_none_are_made_where_there_are_threads_or_no_standard_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    assert prefork.can_be_made()
    monkeypatch.setattr(sys, "stdin", None)
    assert not prefork.can_be_made()
    monkeypatch.undo()
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    assert not prefork.can_be_made()
