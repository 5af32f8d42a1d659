"""Processes that are made before it is known what they are to be: copies of this one (``fork``).

Most of a broker's start is importing, and the processes of a cluster import the same. So whoever
starts a cluster imports it once and makes a copy of itself for each process, before there is a
loop, a thread or a socket. A copy waits at its standard input for the command that it is to run,
and from then on is a process like one that was started with these words; there is nothing that it
shares with the others.
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
"""So many files are open in a process that was just started."""
_OPEN_FILES: Final = Path("/proc/self/fd")
_LINE_BYTES_MAX: Final = 1 << 20


def can_be_made() -> bool:
    """Whether this system lets us copy a process and wait for the copy, and we are but one thread.

    macOS can fork, but its libraries may crash in the copy.
    """
    return (
        sys.platform == "linux"
        and hasattr(os, "pidfd_open")
        and threading.active_count() == 1
        and None not in (sys.stdin, sys.stdout, sys.stderr)
        and _is_allowed()
    )


def _is_allowed() -> bool:
    """Whether the kernel does what Python has a name for: it may be old, or told not to."""
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
    """Import what the copies need, and make them; none if there is no room for all of them.

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
    """A copy; in the copy itself, what is to be its standard input, output and error."""
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
    """In a copy: be its own session, with nothing open but standard input, output and error."""
    os.setsid()  # Ctrl-C is for who started it
    for number, end in enumerate(standard):
        os.dup2(end, number)
    for number in [int(each.name) for each in _OPEN_FILES.iterdir()]:
        if number >= _STANDARD:
            with suppress(OSError):  # the listing's own is closed by now
                os.close(number)


def _wait_and_run(run: Callable[[list[str]], int]) -> int:
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 1 << 16)
        if not piece:
            return 0  # it is not needed, or who made it is gone
        line += piece
    command = json.loads(line)
    with suppress(OSError):
        Path("/proc/self/comm").write_text(command["name"], encoding="ascii")
    return run(command["words"])


class Spare:
    """A copy, first waiting, then running: to its maker like an ``asyncio.subprocess.Process``."""

    def __init__(self, pid: int, descriptor: int, stdin: int, stdout: int, stderr: int) -> None:
        """``descriptor`` is the process's; the others are our ends of its pipes."""
        self.pid = pid
        self.returncode: int | None = None
        self._descriptor = descriptor
        self._stdin = stdin
        self._outputs = (stdout, stderr)
        self._ended: asyncio.Future[int] | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None

    async def run(self, name: str, words: Sequence[str]) -> None:
        """Have it run a command; it is called so where processes are listed."""
        with suppress(BrokenPipeError):  # somebody has killed it: that is seen like any other end
            line = json.dumps({"name": name, "words": list(words)}).encode() + b"\n"
            _write_all(self._stdin, line)
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        # Not before the line is written: whoever reaps it closes what we write to.
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
        os.close(self._stdin)
        return self.returncode

    async def wait(self) -> int:
        """Its exit code, once it has ended; a signal's number below zero."""
        assert self._ended is not None
        return await asyncio.shield(self._ended)

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.returncode is None:
            signal.pidfd_send_signal(self._descriptor, number)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def dismiss(self) -> None:
        """It was never needed: it ends at once."""
        self.kill()
        for each in self._outputs:
            os.close(each)
        self._collect()


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
