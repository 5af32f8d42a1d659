"""A machine on which the commands of a page of the docs are run."""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fencepost_broker.cli.cluster.control_socket import ask_supervisor
from fencepost_broker.cli.cluster.status import Row, status_of

from tests.support.up import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]

PORT = re.compile(r"\b1909\d\b")

SESSION_TIMEOUT_MS = 1500


class Machine:
    """Where a user has installed Fencepost and opens terminals."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.run_dir = folder / f"fencepost-{os.getuid()}"
        self._ports: dict[str, int] = {}
        installed = Path(sys.executable).parent
        assert (installed / "fencepost").exists()
        self._environment = os.environ | {
            "PATH": f"{installed}:{os.environ['PATH']}",
            "TMPDIR": str(folder),
            "FENCEPOST_BROKER_SESSION_TIMEOUT_MS": str(SESSION_TIMEOUT_MS),
            "FENCEPOST_BROKER_HEARTBEAT_INTERVAL_MS": str(SESSION_TIMEOUT_MS // 10),
        }

    def port(self, written: str) -> int:
        """The free port that stands for one of the page's."""
        if written not in self._ports:
            with socket.create_server(("127.0.0.1", 0)) as taken:
                self._ports[written] = taken.getsockname()[1]
        return self._ports[written]

    def _typed(self, command: str) -> list[str]:
        typed = PORT.sub(lambda found: str(self.port(found[0])), command)
        return ["sh", "-c", f"exec {typed}"]

    def run(self, command: str) -> str:
        """What it prints; it has to go well."""
        done = subprocess.run(
            self._typed(command), check=False, capture_output=True, text=True,
            env=self._environment, cwd=self._folder, timeout=PATIENCE_SECONDS,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout

    @contextmanager
    def terminal(self, command: str) -> Iterator[str]:
        """It runs here until Ctrl-C; gives the line that it prints when it is ready."""
        said = self._folder / f"terminal-{time.monotonic_ns()}"
        with said.open("wb") as stderr:
            process = subprocess.Popen(
                self._typed(command), stdout=subprocess.PIPE, stderr=stderr, text=True,
                env=self._environment, cwd=self._folder,
            )  # fmt: skip
        with process:
            try:
                assert process.stdout is not None
                said_so = select.select([process.stdout], [], [], PATIENCE_SECONDS)[0]
                line = process.stdout.readline() if said_so else ""
                assert line.startswith("ready at "), (command, said.read_text())
                yield line
                process.send_signal(signal.SIGINT)
                assert process.wait(PATIENCE_SECONDS) == 0, said.read_text()
            finally:
                process.kill()

    def status(self) -> dict[int, Row]:
        """As `fencepost cluster status` tells it, without a process for each look."""
        told = ask_supervisor(self.run_dir, "list")
        found = asyncio.run(status_of(told["members"], PATIENCE_SECONDS))
        return {each.id: each for each in found.rows}
