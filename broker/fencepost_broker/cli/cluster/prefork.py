"""Processes forked in advance: copies of this one that have imported a broker's modules.

Importing is most of a broker's start, and all processes of a cluster import the same modules. So
the process that starts a cluster imports them once and forks a copy for each member, before it has
a loop, a thread or a socket. A copy reads from its standard input which command to run; from then
on it is a process like one that was started with that command, and shares nothing with the others.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, Final

_STANDARD: Final = 3
"""Number of files that a new process has open."""
_OPEN_FILES: Final = Path("/proc/self/fd")
_LINE_BYTES_MAX: Final = 1 << 20


def can_be_made() -> bool:
    """Return whether the system can fork and wait for a child, and this process has one thread.

    macOS can fork, but its libraries may crash in the child.
    """
    return (
        sys.platform == "linux"
        and hasattr(os, "pidfd_open")
        and threading.active_count() == 1
        and None not in (sys.stdin, sys.stdout, sys.stderr)
        and _is_allowed()
    )


def _is_allowed() -> bool:
    """Return whether the kernel supports pidfd; an old or restricted one does not."""
    try:
        ourselves = os.pidfd_open(os.getpid())
        try:
            signal.pidfd_send_signal(ourselves, 0)
        finally:
            os.close(ourselves)
        return any(_OPEN_FILES.iterdir())
    except OSError:
        return False


def make(count: int, modules: Iterable[str], run: Callable[[list[str]], int]) -> list[Spare]:
    """Import the modules and fork ``count`` copies; returns none if memory is short.

    In a copy this does not return: it waits, runs its command, and raises SystemExit.
    """
    for name in modules:
        import_module(name)
    sys.stdout.flush()
    sys.stderr.flush()
    made: list[Spare] = []
    for _ in range(count):
        try:
            one = _made()
        except OSError:
            for each in made:
                each.dismiss()
            return []
        if not isinstance(one, Spare):
            _stand_alone(*one)
            raise SystemExit(_wait_and_run(run))
        made.append(one)
    return made


def _made() -> Spare | tuple[int, int, int]:
    """Fork; returns the copy or, in the copy, its standard input, output and error."""
    ends: list[int] = []
    try:
        for _ in range(_STANDARD):
            ends += os.pipe()
        stdin, to_it, from_it, stdout, errors, stderr = ends
        pid = os.fork()
        if pid == 0:
            return stdin, stdout, stderr
        try:
            descriptor = os.pidfd_open(pid)
        except OSError:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
    except OSError:
        for end in ends:
            os.close(end)
        raise
    for end in (stdin, stdout, stderr):
        os.close(end)
    return Spare(pid, descriptor, to_it, from_it, errors)


def _stand_alone(*standard: int) -> None:
    """Start a session in a copy, and close everything but standard input, output and error."""
    os.setsid()  # Ctrl-C is for its parent
    for number, end in enumerate(standard):
        os.dup2(end, number)
    for number in [int(each.name) for each in _OPEN_FILES.iterdir()]:
        if number >= _STANDARD:
            with suppress(OSError):  # the descriptor of the listing is closed by now
                os.close(number)


def _wait_and_run(run: Callable[[list[str]], int]) -> int:
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece:
            return 0  # it is not needed, or its parent has ended
        line += piece
    command = json.loads(line)
    with suppress(OSError):
        Path("/proc/self/comm").write_text(command["name"], encoding="ascii")
    return run(command["words"])


class Spare:
    """A forked copy, waiting or running, with the interface of ``asyncio.subprocess.Process``."""

    def __init__(self, pid: int, descriptor: int, stdin: int, stdout: int, stderr: int) -> None:
        """``descriptor`` is its pidfd; the other arguments are this process's ends of its pipes."""
        self.pid = pid
        self.returncode: int | None = None
        self._descriptor = descriptor
        self.stdin: BinaryIO = os.fdopen(stdin, "wb", 0)
        self._outputs = (stdout, stderr)
        self._ended: asyncio.Future[int] | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None

    async def run(self, name: str, words: Sequence[str]) -> None:
        """Run a command in the copy; ``name`` is what lists of processes show."""
        with suppress(BrokenPipeError):  # it was killed: that is noticed like any other end
            line = json.dumps({"name": name, "words": list(words)}).encode() + b"\n"
            _write_all(self.stdin.fileno(), line)
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        # Not before the line is written: reaping it closes the pipe that we write to.
        loop.add_reader(self._descriptor, self._reap)
        self.stdout, self.stderr = [await self._reader(each) for each in self._outputs]

    async def _reader(self, output: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=_LINE_BYTES_MAX)
        file: BinaryIO = os.fdopen(output, "rb", 0)
        await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), file
        )
        return reader

    def _reap(self) -> None:
        assert self._ended is not None
        asyncio.get_running_loop().remove_reader(self._descriptor)
        self._ended.set_result(self._collect())

    def _collect(self) -> int:
        _, status = os.waitpid(self.pid, 0)
        self.returncode = os.waitstatus_to_exitcode(status)
        os.close(self._descriptor)
        self.stdin.close()
        return self.returncode

    async def wait(self) -> int:
        """Return the exit code once the process has ended; after a signal, its negative number."""
        assert self._ended is not None
        return await asyncio.shield(self._ended)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.returncode is None:
            signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def dismiss(self) -> None:
        """End a copy that was not needed."""
        self.kill()
        for each in self._outputs:
            os.close(each)
        self._collect()


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
