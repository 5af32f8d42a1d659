"""One client library in a process of its own: does one job, and tells in JSON what it took.

    python -m tests.bench.client.worker aiokafka '{"kind": "consume", "bootstrap": …}'

It runs in whatever environment has the library, so nothing of ours is imported before it is asked
for. CPU time is that of the process with all its threads.
"""

from __future__ import annotations

import importlib
import json
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, perf_counter_ns, process_time
from typing import Any

_STAMP = struct.Struct(">qq")
GIVE_UP_SECONDS = 60.0


@dataclass(frozen=True)
class Job:
    """What to do."""

    kind: str
    """The function of the library's module: produce, consume, latency, transactions, memory."""
    bootstrap: str
    topic: str
    size: int = 100
    count: int = 0
    way: str = ""
    """Which of the library's ways to do it, where there are several."""
    rate: int = 1_000
    seconds: float = 0.0
    clients: int = 0


@contextmanager
def measured(told: dict[str, float], count: int) -> Iterator[None]:
    """How long so many records take, and what they cost."""
    cpu, begin = process_time(), perf_counter()
    yield
    told["seconds"] = perf_counter() - begin
    told["cpu_us"] = (process_time() - cpu) / count * 1e6
    told["rate"] = count / told["seconds"]


class Latencies:
    """From the call that sends a record to its arrival at the application, in one process."""

    def __init__(self, job: Job) -> None:
        self.count = int(job.rate * job.seconds)
        self.warm_up = self.count // 5
        """So many at the beginning do not count."""
        self._begin = perf_counter()
        self._rate = job.rate
        self._filler = bytes(job.size - _STAMP.size)
        self._found: list[int] = []
        self._cpu = process_time()

    def begin(self) -> None:
        """From now on so many a second."""
        self._begin = perf_counter()
        self._cpu = process_time()

    def wait_seconds(self, index: int) -> float:
        """How long to wait before this one is sent; not positive if it is time."""
        return self._begin + index / self._rate - perf_counter()

    def record(self, index: int) -> bytes:
        """The value, with the time."""
        return _STAMP.pack(index, perf_counter_ns()) + self._filler

    def arrived(self, value: bytes) -> bool:
        """A record is there; says whether it was the last one."""
        index, sent_ns = _STAMP.unpack_from(value)
        if index >= self.warm_up:
            self._found.append(perf_counter_ns() - sent_ns)
        return bool(index == self.count - 1)

    def told(self) -> dict[str, float]:
        """Percentiles in milliseconds, and CPU per record."""
        cpu_us = (process_time() - self._cpu) / self.count * 1e6
        found = sorted(self._found)
        return {
            "p50_ms": found[len(found) // 2] / 1e6,
            "p99_ms": found[len(found) * 99 // 100] / 1e6,
            "cpu_us": cpu_us,
        }


def own_kilobytes() -> float:
    """What this process holds that no file stands behind."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("RssAnon:"):
            return float(line.split()[1])
    raise RuntimeError("/proc/self/status has no RssAnon: this runs on Linux only")


def main(library: str, job: str) -> None:
    """Do it."""
    module: Any = importlib.import_module(f"tests.bench.client.with_{library}")
    wanted = Job(**json.loads(job))
    told: dict[str, float] = getattr(module, wanted.kind)(wanted)
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
