"""Clients that are not ours, each in a process of its own, timed from their "begin" to their "end".

What they do stands in `librdkafka_client.py` and `go/clients.go`.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Final

from tests.bench.broker.build import go_program, librdkafka_python
from tests.bench.broker.measure import cpu_seconds, pinned
from tests.bench.broker.peers import REPOSITORY_DIR
from tests.bench.broker.wire import WrongAnswerError

GIVE_UP_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of a client."""

    records: int
    """Between the two lines."""
    seconds: float
    broker_cpu_seconds: float
    client_cpu_seconds: float
    told: Mapping[str, float]
    """What the client has measured itself."""


def librdkafka() -> list[str]:
    """How to start librdkafka."""
    return [librdkafka_python(), "-m", "tests.bench.broker.librdkafka_client"]


def franz_go() -> list[str]:
    """How to start franz-go."""
    return [str(go_program())]


CLIENTS: Final[Mapping[str, Callable[[], list[str]]]] = {
    "librdkafka": librdkafka,
    "franz-go": franz_go,
}


def run_client(client: str, words: list[str], broker_pid: int, core: int | None) -> Ran:
    """Start a client and measure between the two lines that it prints."""
    command = [*CLIENTS[client](), *words]
    with tempfile.TemporaryFile("w+") as stderr:
        with pinned(core):
            process = subprocess.Popen(
                command,
                cwd=REPOSITORY_DIR,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        too_late = threading.Timer(GIVE_UP_SECONDS, process.kill)
        too_late.start()
        try:
            assert process.stdout is not None
            ran = _between(process.stdout, broker_pid, process.pid)
            if process.wait() == 0 and ran is not None:
                return ran
        finally:
            too_late.cancel()
            process.kill()
            process.communicate()
        stderr.seek(0)
        said = stderr.read()[-2000:].strip()
        raise WrongAnswerError(f"{client} ended with {process.returncode}: {said}")


def _between(lines: IO[str], broker_pid: int, client_pid: int) -> Ran | None:
    if lines.readline().split() != ["begin"]:
        return None
    begin = _clocks(broker_pid, client_pid)
    line = lines.readline()
    end = _clocks(broker_pid, client_pid)
    if not line.startswith("end"):
        return None
    told = json.loads(line.removeprefix("end"))
    seconds, broker, client = (after - before for before, after in zip(begin, end, strict=True))
    return Ran(int(told.pop("records")), seconds, broker, client, told)


def _clocks(broker_pid: int, client_pid: int) -> tuple[float, float, float]:
    broker = cpu_seconds(broker_pid) if broker_pid else 0.0
    return time.perf_counter(), broker, cpu_seconds(client_pid)
