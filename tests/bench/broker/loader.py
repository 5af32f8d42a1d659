"""The native loader from here: which frames it replays, and what it tells."""

from __future__ import annotations

import json
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.bench.broker.build import loader_program
from tests.bench.broker.measure import pinned
from tests.bench.broker.wire import HOST, Asked, WrongAnswerError

RUN_SECONDS_MAX = 300.0


@dataclass(frozen=True, slots=True)
class Load:
    """How much is asked, by how many, and how fast they ask on."""

    requests: int
    connections: int = 4
    depth: int = 1
    seconds_max: int = 2

    @property
    def warm(self) -> int:
        """The answers before the measurement: a tenth."""
        return max(1, self.requests // 10)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the loader has measured."""

    seconds: float
    answers: int
    """In those seconds."""
    answers_in_all: int
    broker_cpu_seconds: float
    own_cpu_seconds: float
    sent_bytes: int
    received_bytes: int
    p50_us: int
    p99_us: int
    max_us: int

    @property
    def per_second(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds

    @property
    def cpu_us(self) -> float:
        """Microseconds of the broker's CPU for an answer."""
        return self.broker_cpu_seconds / self.answers * 1e6

    @property
    def client_share(self) -> float:
        """How busy the loader was; near 1 it has measured itself."""
        return self.own_cpu_seconds / self.seconds

    @property
    def broker_share(self) -> float:
        """How busy the broker was, in cores."""
        return self.broker_cpu_seconds / self.seconds


def replay(
    asked: Sequence[Asked], load: Load, port: int, broker_pid: int, core: int | None = None
) -> Loaded:
    """Let the loader replay frames whose first answers were looked at."""
    with tempfile.NamedTemporaryFile(prefix="frames-") as file:
        for each in asked:
            head = struct.pack("=III", len(each.frame), each.answer_size, each.error_at)
            file.write(head + each.frame)
        file.flush()
        numbers = (load.connections, load.depth, load.warm, load.requests, load.seconds_max)
        words = [HOST, port, *numbers, broker_pid, file.name]
        with pinned(core):
            process = subprocess.run(
                [str(loader_program()), *map(str, words)],
                capture_output=True,
                text=True,
                timeout=RUN_SECONDS_MAX,
                check=False,
            )
    if process.returncode != 0:
        raise WrongAnswerError(process.stderr.strip() or f"loader: ended by {process.returncode}")
    result: dict[str, Any] = json.loads(process.stdout)
    return Loaded(**result)
