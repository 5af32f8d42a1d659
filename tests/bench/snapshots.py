"""What snapshots cost: ``python -m tests.bench.snapshots`` prints docs/bench/snapshots.md's tables.

Medians in ms, and how many times faster than starting an empty broker with its topics. Each row is
a broker with so much in it. Then follows a cluster, also in CPU time. The last rows run 100 tests
with each fixture, in a pytest of its own.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from fencepost_broker import Broker, Cluster, Snapshot
from fencepost_broker.server.running import run_loop

from tests.support.broker import Client

ROUNDS: Final = 30
MB: Final = 1 << 20
SIZES: Final = (
    ("empty, 1 topic", 3, 0),
    ("100 partitions", 100, 0),
    ("3 partitions, 100 MB", 3, 100),
)
TESTS: Final = """
import pytest
@pytest.mark.fencepost(topics={"orders": 3})
@pytest.mark.parametrize("number", range(100))
def test_it(FIXTURE, number):
    assert FIXTURE.stats()["topics"].keys() == {"orders"}
"""


async def median_ms(call: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Return the median of how long a call takes."""
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        made = call()
        if isinstance(made, Awaitable):
            await made
        taken.append((time.perf_counter_ns() - begin) / 1e6)
    return statistics.median(taken)


async def measure(name: str, partitions: int, megabytes: int) -> None:
    """Print a row."""

    async def start() -> None:
        broker = Broker(topics={"t": partitions}, log_level="error")
        await broker.start()
        await broker.stop()

    started_ms = await median_ms(start)
    async with Broker(topics={"t": partitions}, log_level="error") as broker:
        async with Client(broker.bootstrap) as client:
            for number in range(megabytes):
                await client.produce("t", number % partitions, bytes(MB - 1000))
        snapshot = broker.snapshot()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "s"
            saved_ms = await median_ms(lambda: snapshot.save(path), 3)
            loaded_ms = await median_ms(lambda: Snapshot.load(path), 3)
        rows = {
            "snapshot": await median_ms(broker.snapshot),
            "restore": await median_ms(lambda: broker.restore(snapshot)),
            "reset": await median_ms(broker.reset),
        }
    cells = [f"{ms:.2f} ({started_ms / ms:.1f} x)" for ms in rows.values()]
    cells += [f"{saved_ms:.0f}", f"{loaded_ms:.0f}"]
    print(f"| {name} | {started_ms:.1f} | {' | '.join(cells)} |")


async def measure_cluster() -> None:
    """Print a row for a cluster: medians of the time and of the CPU time of ``restore``."""
    async with Cluster(topics={"t": 3}) as cluster:
        snapshot = cluster.snapshot()
        wall_ms, cpu_ms = [], []
        for _ in range(ROUNDS):
            began, began_cpu = time.perf_counter_ns(), time.process_time_ns()
            await cluster.restore(snapshot)
            wall_ms.append((time.perf_counter_ns() - began) / 1e6)
            cpu_ms.append((time.process_time_ns() - began_cpu) / 1e6)
    print(f"| {statistics.median(wall_ms):.0f} | {statistics.median(cpu_ms):.0f} |")


def run_tests(fixture: str) -> None:
    """Print how long 100 tests take, by pytest itself, and the first one's setup."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "test_it.py"
        path.write_text(TESTS.replace("FIXTURE", fixture))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=1"]
        printed = [
            subprocess.run([*command, path], cwd=folder, capture_output=True, text=True).stdout
            for _ in range(4)
        ][1:]
    total = [float(match[1]) for each in printed if (match := re.search(r"in ([\d.]+)s", each))]
    first = [float(match[1]) for each in printed if (match := re.search(r"([\d.]+)s setup", each))]
    print(f"| `{fixture}` | {statistics.median(total):.2f} | {statistics.median(first):.2f} |")


async def main() -> int:
    """Measure all."""
    print("| broker | start and stop | snapshot | restore | reset | save | load |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in SIZES:
        await measure(*size)
    print("\n| restore of a cluster, ms | of which CPU, ms |\n| ---: | ---: |")
    await measure_cluster()
    print("\n| fixture | 100 tests, s | of which the first setup, s |\n| --- | ---: | ---: |")
    for fixture in ("fencepost", "fencepost_session"):
        run_tests(fixture)
    return 0


if __name__ == "__main__":
    run_loop(main())
