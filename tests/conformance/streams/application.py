"""A Kafka Streams application in processes of its own: word count, as a user would write it.

`java/` has its source, which compiles with every version of Kafka Streams that is tried here, and
that of the one who writes lines and checks the counts.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from tests.conformance.clients.clients import ClientUnavailableError
from tests.support.apache_kafka import build_once

JAVA_DIR: Final = Path(__file__).parent / "java"

NEWEST: Final = "4.3.1"
WITH_BOTH_GUARANTEES: Final = "3.9.2"
"""The last line of versions that knows ``exactly_once`` as well as ``exactly_once_v2``."""
WITH_TASK_PRODUCERS: Final = "2.3.1"
"""From before KIP-447: there is a producer for each task, and nothing else."""

# Bounds for giving up, generous for a machine that is busy with other things.
WAIT_SECONDS: Final = 180.0
CLOSE_SECONDS: Final = 90.0

_JVM_FLAGS: Final = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_SAID_CHARACTERS: Final = 8000

# What every instance is told. Without a cache each count is seen; what was killed is noticed soon;
# there are records of a transaction in the log a good while before its end.
COMMON_SETTINGS: Final[Mapping[str, str]] = {
    "num.stream.threads": "2",
    "replication.factor": "1",
    "commit.interval.ms": "500",
    "producer.linger.ms": "5",
    "cache.max.bytes.buffering": "0",
    "consumer.session.timeout.ms": "6000",
    "consumer.heartbeat.interval.ms": "500",
    "consumer.auto.offset.reset": "earliest",
}


class ProgramFailedError(Exception):
    """A program ended, or did not say what was waited for; with what it said."""


def prepare(version: str) -> list[str]:
    """The beginning of a command with this version of Kafka Streams; builds it on first use."""
    java = _tool("java", "a Java runtime, 17 or later")

    def package(folder: Path) -> None:
        _tool("javac", "a JDK, 17 or later")
        command = [
            _tool("mvn", "Apache Maven"),
            "-q",
            "-B",
            "package",
            f"-Dkafka.version={version}",
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ProgramFailedError(f"{' '.join(command)} in {folder} failed:\n{done.stdout}")

    sources = [path for path in JAVA_DIR.rglob("src/**/*") if path.is_file()]
    names = sorted(path.relative_to(JAVA_DIR).as_posix() for path in sources)
    build_once(JAVA_DIR, ["pom.xml", *names], f"target/{version}", package)
    jars = JAVA_DIR / "target" / version
    return [java, *_JVM_FLAGS, "-cp", os.pathsep.join((str(jars / "streams.jar"), f"{jars}/lib/*"))]


def _tool(command: str, what: str) -> str:
    path = shutil.which(command)
    if path is None:
        raise ClientUnavailableError(f"it needs {what}: there is no '{command}' on the PATH")
    return path


class Program:
    """A process that tells by lines what happens to it."""

    def __init__(self, command: Sequence[str], stderr: Path) -> None:
        self._stderr = stderr
        with stderr.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.lines: list[str] = []
        self._has_ended = False
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """Ends it as a crash would."""
        self._end(signal.SIGKILL)

    def close(self) -> int:
        """Ends it as its user would; gives its exit code."""
        return self._end(signal.SIGTERM)

    def tell(self, line: str) -> None:
        """Writes to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def wait_for(self, wanted: Callable[[list[str]], bool], what: str) -> None:
        """Returns once what it said so far is what is wanted."""
        with self._news:
            self._news.wait_for(lambda: wanted(self.lines) or self._has_ended, WAIT_SECONDS)
            if wanted(self.lines):
                return
        how = "ended" if self._has_ended else f"did not come in {WAIT_SECONDS:.0f} s"
        raise ProgramFailedError(f"{what}: the program {how}; {self.said()}")

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        try:
            code = self._process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            raise ProgramFailedError(f"still there after {WAIT_SECONDS:.0f} s") from None
        self._reader.join()
        return code

    def said(self) -> str:
        """The end of what it said, for people."""
        return "\n".join(["it said:", *self.lines[-20:], self.stderr()[-_SAID_CHARACTERS:]])

    def stderr(self) -> str:
        return self._stderr.read_text(errors="replace")

    def _end(self, number: signal.Signals) -> int:
        self._process.send_signal(number)
        try:
            code = self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise ProgramFailedError(
                f"not closed in {CLOSE_SECONDS:.0f} s; {self.said()}"
            ) from None
        finally:
            self._reader.join()
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                pipe.close()
        return code

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self._news.notify_all()
        with self._news:
            self._has_ended = True
            self._news.notify_all()


class Instance:
    """One instance of the application, which keeps its name and its state when it starts anew."""

    def __init__(self, bootstrap: str, topics: tuple[str, str], folder: Path, name: str) -> None:
        self._arguments = [bootstrap, *topics]
        self._folder = folder
        self.name = name
        self._program: Program | None = None

    @property
    def program(self) -> Program:
        assert self._program is not None
        return self._program

    def start(self, version: str, guarantee: str, **settings: str) -> None:
        """Start it; names of settings have underscores for dots."""
        told = {
            **COMMON_SETTINGS,
            "application.id": "word-count",
            "client.id": self.name,
            "state.dir": str(self._folder / f"state-{self.name}"),
            "processing.guarantee": guarantee,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }
        self._program = Program(
            [
                *(*prepare(version), "fencepost.streams.WordCount", *self._arguments),
                *(f"{name}={value}" for name, value in told.items()),
            ],
            self._folder / f"{self.name}.stderr",
        )

    def wait_until_running(self) -> None:
        self.program.wait_for(
            lambda lines: "state RUNNING" in lines, f"{self.name} is to come to RUNNING"
        )

    def close(self) -> None:
        """End it in an orderly way."""
        self.program.close()
        if "closed" not in self.program.lines:
            raise ProgramFailedError(f"{self.name} did not close; {self.program.said()}")

    def kill(self) -> None:
        self.program.kill()

    def clean_up(self) -> None:
        if self._program is not None:
            self._program.kill()


class Feeder:
    """Who writes lines all the while, reads the counts, and says at the end what is wrong."""

    def __init__(
        self, bootstrap: str, topics: tuple[str, str], folder: Path, lines_per_second: int
    ) -> None:
        self._program = Program(
            [
                *(*prepare(NEWEST), "fencepost.streams.Words", bootstrap, *topics),
                str(lines_per_second),
            ],
            folder / "feeder.stderr",
        )
        self._program.wait_for(lambda lines: "topics" in lines, "both topics are to be made")

    def wait_for_counts(self, more: int) -> None:
        """Returns once so many more counts are there than now (told by the five hundred)."""
        wanted = self._counted(self._program.lines) + more
        self._program.wait_for(
            lambda lines: self._counted(lines) >= wanted, f"{wanted} counts are to be there"
        )

    def finish(self) -> tuple[dict[str, int], list[str]]:
        """Let all be counted that is written: how many of what, and what is wrong."""
        self._program.tell("end")
        self._program.wait_for(
            lambda lines: any(line.startswith("end ") for line in lines), "all is to be counted"
        )
        lines = self._program.lines
        (end,) = (line for line in lines if line.startswith("end "))
        numbers = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", end)}
        wrong = [line.removeprefix("wrong ") for line in lines if line.startswith("wrong ")]
        return numbers, wrong

    def clean_up(self) -> None:
        self._program.kill()

    @staticmethod
    def _counted(lines: list[str]) -> int:
        told = [line.split()[1] for line in lines if line.startswith("counted ")]
        return int(told[-1]) if told else 0
