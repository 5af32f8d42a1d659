"""Copiers and readers as processes, and what they have said so far; see ``words``."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from tests.conformance.clients.clients import CLIENTS
from tests.kill.matrix.forms import Form, Partitions, Size
from tests.support.up import PATIENCE_SECONDS

ROOT: Final = Path(__file__).parents[3]
SOURCE, SINK, GROUP = "input", "output", "copiers"
SDK, JAVA = "fencepost", "java"
EXPLAINING_S: Final = 5.0
_SHOWN: Final = 16_000


def commands(client: str) -> tuple[list[str], list[str]]:
    """A copier's and a reader's; raises ``ClientUnavailableError``."""
    if client == SDK:
        python = [sys.executable, "-m"]
        return [*python, "tests.kill.matrix.copier"], [*python, "tests.kill.matrix.reader"]
    java = CLIENTS[JAVA].prepare()[:-1]
    return [*java, "fencepost.clients.Copy"], [*java, "fencepost.clients.ReadCommitted"]


class Stage:
    """Where everybody is heard, and a run waits for what it wants to hear."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.moved = 0
        """How often something came further; who waits has patience from there."""
        self.programs: list[Program] = []

    def until(self, is_so: Callable[[], bool], otherwise: str) -> None:
        """Wait as long as something moves."""
        with self.changed:
            moved, deadline = self.moved, time.monotonic() + PATIENCE_SECONDS
            while not is_so():
                for each in self.programs:
                    each.raise_if_failed()
                if moved != self.moved:
                    moved, deadline = self.moved, time.monotonic() + PATIENCE_SECONDS
                if time.monotonic() > deadline:
                    raise AssertionError(self._told(otherwise))
                self.changed.wait(1.0)

    def _told(self, otherwise: str) -> str:
        """What each program said last and, if it can tell, what its tasks wait for."""
        lines = [otherwise, *map(str, self.programs)]
        for each in self.programs:
            each.tell("explain")
        # Java's programs and readers have nothing to tell.
        self.changed.wait_for(lambda: all(map(Program.has_explained, self.programs)), EXPLAINING_S)
        return "\n".join([*lines, *(f"{each.name}:\n{each.errors()}" for each in self.programs)])


class Program:
    """A process that may be ended and started again."""

    def __init__(self, stage: Stage, name: str, command: Sequence[str], folder: Path) -> None:
        self.name = name
        self.may_end = False
        self.is_heard = False
        """Whether it has said anything since it was started."""
        self._stage = stage
        self._command = list(command)
        self._stderr = folder / f"{name}-stderr"
        self._last = ""
        self._process: subprocess.Popen[str] | None = None
        self._listener: threading.Thread | None = None
        stage.programs.append(self)

    def start(self) -> None:
        """Start it; it is heard from then on."""
        self.may_end = self.is_heard = False
        with self._stderr.open("ab") as stderr:
            self._process = subprocess.Popen(
                self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=stderr, text=True,
            )  # fmt: skip
        self._listener = threading.Thread(target=self._listen, args=[self._process], daemon=True)
        self._listener.start()

    def tell(self, word: str) -> None:
        """One line to it, if it still listens."""
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()

    def kill(self) -> None:
        """SIGKILL."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """SIGTERM; gives the exit code."""
        return self._end(signal.SIGTERM)

    def leave(self, word: str) -> int:
        """Tell it to end, and wait."""
        self.may_end = True
        self.tell(word)
        return self._wait()

    def close(self) -> None:
        """End it, whatever it does."""
        if self._process is not None:
            self.kill()

    def _end(self, number: int) -> int:
        assert self._process is not None
        self.may_end = True
        self._process.send_signal(number)
        return self._wait()

    def _wait(self) -> int:
        assert self._process is not None
        assert self._listener is not None
        assert self._process.stdin is not None
        try:
            code = self._process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{self} does not end: {self.errors()}") from error
        self._listener.join()
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        return code

    def raise_if_failed(self) -> None:
        """Nobody ends without being told."""
        if self._process is not None and not self.may_end:
            code = self._process.poll()
            assert code is None, f"{self} ended by itself with {code}: {self.errors()}"

    def has_explained(self) -> bool:
        """Whether it has written what its tasks wait for."""
        return self._last == "explained"

    def errors(self) -> str:
        """The end of what it wrote to standard error."""
        return self._stderr.read_text(errors="replace")[-_SHOWN:]

    def __str__(self) -> str:
        return f"{self.name} (said last: {self._last[:200]!r})"

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                word, *others = line.split()
                with self._stage.changed:
                    self._last, self.is_heard = line.rstrip(), True
                    self._stage.moved += self.heard(word, others)
                    self._stage.changed.notify_all()
        with self._stage.changed:
            self._stage.changed.notify_all()

    def heard(self, word: str, others: list[str]) -> bool:
        """Take in a line, under the stage's lock; says whether something came further."""
        raise NotImplementedError


class Copier(Program):
    """One of them."""

    def __init__(
        self, stage: Stage, command: Sequence[str], bootstrap: str, number: int, form: Form,
        size: Size, folder: Path,
    ) -> None:  # fmt: skip
        options = {
            "group": GROUP,
            "source": SOURCE,
            "sink": SINK,
            "transactional-id": f"copier-{number}",
            "partition": number,
            "records": size.records,
            "pace-ms": size.pace_ms(form),
            "member": str(form.as_member).lower(),
            "session-ms": size.member_session_ms,
            "transaction-timeout-ms": size.transaction_timeout_ms,
        }
        words = [f"--{name}={value}" for name, value in options.items()]
        super().__init__(stage, f"copier-{number}", [*command, bootstrap, *words], folder)
        self.positions: dict[int, int] = {}
        self.begun = self.committed = 0

    def heard(self, word: str, others: list[str]) -> bool:
        if word == "at":
            partition, offset = map(int, others)
            before = self.positions.get(partition, -1)
            self.positions[partition] = max(before, offset)
            return offset > before
        self.begun += word == "begun"
        self.committed += word == "committed"
        return False


class Reader(Program):
    """One of them."""

    def __init__(
        self, stage: Stage, name: str, command: Sequence[str], bootstrap: str, form: Form,
        folder: Path,
    ) -> None:  # fmt: skip
        words = [bootstrap, f"--sink={SINK}", f"--partitions={form.sinks}"]
        super().__init__(stage, name, [*command, *words], folder)
        self.found: Partitions = {}

    def heard(self, word: str, others: list[str]) -> bool:
        assert word == "values", word
        partition, *values = map(int, others)
        self.found.setdefault(partition, []).extend(values)
        return True
