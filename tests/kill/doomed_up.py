"""A broker that can be told at which point it dies; see ``doomed``."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import IO

from tests.kill.doomed import ENVIRONMENT, LOADS_SLOWLY
from tests.support.up import PATIENCE_SECONDS, Up


class DoomedUp(Up):
    """``fencepost up`` with a line to it. Where it listens it listens again after a restart."""

    def __init__(self, port: int, *arguments: str) -> None:
        super().__init__(*arguments)
        self.port = port
        self.of_this_life: list[str] = []
        """Further arguments of the next start."""
        self.loads_slowly = False
        """Whether its coordinators take in their logs a batch at a time, between requests."""
        self._fixed = [sys.executable, "-m", "tests.kill.doomed", "up", "--json", *arguments]

    def _spawn(self) -> IO[str]:
        self._environment[LOADS_SLOWLY] = "1" if self.loads_slowly else ""
        self._command = [*self._fixed, "--port", str(self.port), *self.of_this_life]
        with self._stderr.open("ab") as stderr:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                text=True, env=self._environment,
            )  # fmt: skip
        assert self._process.stdout is not None
        return self._process.stdout

    def order(self, line: str) -> None:
        """Tell it something, and wait until it has understood."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "done\n"

    def wait_for_death(self, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """It dies by its own hand, or by ours."""
        process = self._process
        assert process is not None
        code = process.wait(patience_seconds)
        assert code == -signal.SIGKILL, f"the broker ended with {code}: {self.stderr()[-4000:]}"
        self._forget()

    def start_and_die(self, point: str) -> None:
        """Start it, so that it dies at a point of its recovery."""
        self._environment[ENVIRONMENT] = point
        try:
            self._spawn()
            self.wait_for_death()
        finally:
            del self._environment[ENVIRONMENT]

    def _end(self, number: int) -> int | None:
        process = self._process
        code = super()._end(number)
        if process is not None and process.stdin is not None:
            process.stdin.close()
        return code

    def _forget(self) -> None:
        process, self._process = self._process, None
        assert process is not None
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
