"""A machine on which somebody follows a page: a folder, terminals, and a Python prompt.

Blocks are run in order, and share the folder and the names of the prompt. What differs from the
page: ports are free ones, brokers notice dead ones sooner, and `pip install` does nothing.
"""

from __future__ import annotations

import asyncio
import builtins
import inspect
import os
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import pytest

from tests.docs.pages import Block
from tests.support.up import PATIENCE_SECONDS

DEFAULT_PORT: Final = "9092"
_SESSION_TIMEOUT_MS: Final = 1500
_DONE: Final = frozenset({0})
_KILLED: Final = frozenset({128 + signal.SIGKILL, -signal.SIGKILL})
"""The shell says the one, and the other if the command took its place."""
_PORT: Final = re.compile(r"\b(?:9092|1909\d)\b")
_ADDRESSED: Final = re.compile(
    r"(fencepost (?:tap|topics|groups|configs|transactions|produce|consume|bench)\b[^|<>#;&]*)"
)
"""A command that looks for a broker, up to the end of its arguments."""


class StoppedError(BaseException):
    """Ends an endless block once it has printed what the page says."""


class Terminal:
    """One page's machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports: dict[str, str] = {}
        self._brokers: list[subprocess.Popen[str]] = []
        self._names: dict[str, Any] = {}
        self._prompt = asyncio.Runner()
        installed = Path(sys.executable).parent
        assert (installed / "fencepost").exists()
        self._environment = os.environ | {
            "PATH": f"{installed}:{os.environ['PATH']}",
            "TMPDIR": str(folder),
            "FENCEPOST_BROKER_SESSION_TIMEOUT_MS": str(_SESSION_TIMEOUT_MS),
            "FENCEPOST_BROKER_HEARTBEAT_INTERVAL_MS": str(_SESSION_TIMEOUT_MS // 10),
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._stop_brokers()
        finally:
            for each in self._brokers:
                each.kill()
                each.wait()
            self._prompt.close()

    def run(self, block: Block) -> None:
        """Do what a reader does with the block."""
        text = _PORT.sub(lambda found: self._port(found[0]), block.text)
        if block.file:
            with (self._folder / block.file).open("a" if block.is_added else "w") as file:
                file.write(text)
        elif block.language == "console":
            self._type(text)
        elif block.is_test:
            (self._folder / "test_block.py").write_text(text)
            self._run("pytest -q test_block.py", "1 passed")
        else:
            self._evaluate(text, block.stops_at)

    # -- terminals -----------------------------------------------------------------------------

    def _type(self, text: str) -> None:
        is_first = True
        for each in re.split(r"^\$ ", text.replace("\\\n", ""), flags=re.MULTILINE)[1:]:
            command, _, shown = each.partition("\n")
            if re.match(r"fencepost up\b", command):
                if is_first:
                    self._stop_brokers()
                is_first = False
                self._start(command)
            elif re.match(r"fencepost proxy\b", command):
                self._start(command)
            elif not command.startswith("pip install "):
                program = command.split()[0]
                if shutil.which(program, path=self._environment["PATH"]) is None:
                    pytest.skip(f"{program} is not installed")
                self._run(self._addressed(command), shown)

    def _start(self, command: str) -> None:
        """Run a broker, a cluster or a proxy, in a terminal of its own."""
        has_port = re.search(r"--port|listeners=", command)
        port = "" if has_port else f" --port {self._port(DEFAULT_PORT)}"
        with (self._folder / f"terminal-{len(self._brokers)}").open("wb") as stderr:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command.partition(' #')[0]}{port}"],
                stdout=subprocess.PIPE, stderr=stderr, text=True,
                env=self._environment, cwd=self._folder,
            )  # fmt: skip
        self._brokers.append(process)
        assert process.stdout is not None
        is_told = select.select([process.stdout], [], [], PATIENCE_SECONDS)[0]
        line = process.stdout.readline() if is_told else ""
        assert line.startswith("ready at "), (command, line, Path(stderr.name).read_text())

    def _stop_brokers(self) -> None:
        """Press Ctrl-C in each of their terminals."""
        for each in self._brokers:
            each.send_signal(signal.SIGINT)
        for each in self._brokers:
            assert each.wait(PATIENCE_SECONDS) == 0
            assert each.stdout is not None
            each.stdout.close()
        self._brokers.clear()

    def _run(self, command: str, shown: str) -> None:
        """Run a command, which has to succeed and to print what the page shows."""
        wanted = [_shape(line) for line in shown.splitlines()]
        exit_codes = _DONE
        if wanted and wanted[-1] == "Killed":
            wanted.pop()
            exit_codes = _KILLED
        may_repeat = command.startswith("fencepost cluster status")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            told = self._told(command, exit_codes)
            if _are_within(wanted, [_shape(line) for line in told.splitlines()]):
                return
            assert may_repeat, (command, "printed", told, "and not", shown)
            assert time.monotonic() < deadline, (command, "printed", told, "and not", shown)

    def _told(self, command: str, exit_codes: frozenset[int]) -> str:
        """Give what the command prints; it has to exit with one of these."""
        with subprocess.Popen(
            ["bash", "-o", "pipefail", "-c", command], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=self._environment, cwd=self._folder,
        ) as process:  # fmt: skip
            try:
                told, errors = process.communicate(timeout=PATIENCE_SECONDS)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                raise
        assert process.returncode in exit_codes, (command, told, errors)
        return told

    def _addressed(self, command: str) -> str:
        """Say where the broker is, unless the page does."""
        address = f"127.0.0.1:{self._port(DEFAULT_PORT)}"

        def add(found: re.Match[str]) -> str:
            if re.search(r"--bootstrap|--data-dir|127\.0\.0\.1:", found[0]):
                return found[0]
            option = "" if found[0].startswith("fencepost tap") else "--bootstrap "
            return f"{found[0].rstrip()} {option}{shlex.quote(address)} "

        return _ADDRESSED.sub(add, command)

    def _port(self, written: str) -> str:
        """Give the free port that stands for one of the page's."""
        if written not in self._ports:
            with socket.create_server(("127.0.0.1", 0)) as taken:
                self._ports[written] = str(taken.getsockname()[1])
        return self._ports[written]

    # -- the Python prompt ---------------------------------------------------------------------

    def _evaluate(self, text: str, stops_at: str) -> None:
        """Run it as at the prompt of `python -m asyncio`."""
        printed: list[str] = []

        def show(*values: object, **options: Any) -> None:
            builtins.print(*values, **options)
            printed.append(" ".join(map(str, values)))
            if stops_at and stops_at in printed[-1]:
                raise StoppedError

        self._names["print"] = show
        code = compile(text, "<block>", "exec", flags=PyCF_ALLOW_TOP_LEVEL_AWAIT)

        async def evaluated() -> bool:
            try:
                running = eval(code, self._names)
                if inspect.iscoroutine(running):
                    await running
            except StoppedError:
                return True
            return False

        is_stopped = self._prompt.run(evaluated())
        assert is_stopped == bool(stops_at), (stops_at, printed)


def _shape(line: str) -> str:
    """Give the line without what differs from run to run: numbers, and the width of columns."""
    return re.sub(r"\s+", " ", re.sub(r"\d+(\.\d+)*", "0", line)).strip()


def _are_within(wanted: list[str], printed: list[str]) -> bool:
    """Whether the lines are part of what was printed, in that order."""
    rest = iter(printed)
    return all(any(each in line for line in rest) for each in wanted)
