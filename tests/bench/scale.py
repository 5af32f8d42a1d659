"""Clusters of many brokers in the simulator: `make bench-scale` writes docs/bench/scale.md.

Virtual time is that of a network without a limit and of brokers whose code takes no time. CPU time
is real: each callback's is counted for the broker or the controller that it belongs to.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from fencepost_broker.simulation import simulate
from fencepost_broker.simulation.cluster import SimulatedCluster
from fencepost_broker.simulation.process import Callback, current_process
from fencepost_client import Admin, NewTopic

from tests.bench.table import markdown_table

SIZES: Final = ((3, 300), (20, 2000), (50, 5000), (99, 9900))
"""Brokers and partitions."""
SETTINGS: Final[dict[str, Any]] = {"auto.leader.rebalance.enable": False}
IN_A_REQUEST: Final = 500
RESTARTS: Final = 5
QUIET_S: Final = 20.0
STEP_S: Final = 0.001
LONG_STEP_S: Final = 0.02
"""While a session times out."""
CONTROLLER: Final = "controller"
HEAD: Final = """\
# Clusters of many brokers

`make bench-scale` runs a controller and many brokers in the
[simulator](../how-to/simulate-a-cluster.md), in one process, with Kafka's default times for
heartbeats (2 s), sessions (9 s) and fetches of replicas (500 ms). Topics have three replicas and no
records. Virtual time has the latencies of the simulator's network and nothing for the CPU; CPU time
is what the code of the controller, and of one broker on average, has used.
[What follows from it](../explanation/scale.md).

"""


class CpuTimes:
    """CPU seconds by process of the simulation."""

    def __init__(self) -> None:
        self.used: Counter[str] = Counter()

    def count(self) -> None:
        """Count what callbacks use from now on."""
        Callback.run = self._counted(Callback.run)  # type: ignore[assignment,method-assign]

    def _counted(self, run: Callable[[Any], None]) -> Callable[[Any], None]:
        def counted(handle: Any) -> None:
            begin = time.thread_time_ns()
            run(handle)
            process = handle._context.get(current_process) if handle._context else None
            self.used[process.name if process else ""] += time.thread_time_ns() - begin

        return counted

    def take(self, brokers: int) -> tuple[float, float]:
        """Return what the controller and a broker have used since the last call."""
        controller = self.used.pop(CONTROLLER, 0)
        others = sum(used for name, used in self.used.items() if name.startswith("broker-"))
        self.used.clear()
        return controller / 1e9, others / 1e9 / brokers


def images(cluster: SimulatedCluster) -> list[Any]:
    """Return what each running broker knows of the cluster."""
    found = []
    for broker in cluster.brokers.values():
        assert broker._process is not None
        found.append(broker._process.server.image)
    return found


async def virtual_ms(sim: Any, is_so: Callable[[], bool], step_s: float = STEP_S) -> float:
    """Return how long it took until it was so."""
    begin = sim.now_s
    while not is_so():  # noqa: ASYNC110 - images tell no one
        await asyncio.sleep(step_s)
    return float(sim.now_s - begin) * 1000


def led_by(image: Any, broker_id: int) -> list[tuple[bytes, int]]:
    """Return the partitions that a broker leads."""
    return [
        (topic_id, number)
        for topic_id, topic in image.topics.by_id.items()
        for number, partition in topic.partitions.items()
        if partition.leader == broker_id
    ]


def have_moved(image: Any, places: list[tuple[bytes, int]], broker_id: int) -> bool:
    """Whether others lead these partitions."""
    topics = image.topics.by_id
    return all(topics[topic].partitions[number].leader != broker_id for topic, number in places)


async def measure(sim: Any, brokers: int, partitions: int) -> dict[str, Any]:
    """Return a row."""
    cpu = CpuTimes()
    cpu.count()
    told: dict[str, Any] = {"brokers": brokers, "partitions": partitions}
    cluster = await sim.cluster(brokers=brokers, settings=SETTINGS)
    told["start"] = cpu.take(brokers)
    async with Admin(cluster.bootstrap) as admin:
        topics = [
            NewTopic(f"t{number}", min(IN_A_REQUEST, partitions - number), 3)
            for number in range(0, partitions, IN_A_REQUEST)
        ]
        for topic in topics[:-1]:
            await admin.create_topics([topic])
        await asyncio.sleep(QUIET_S)
        cpu.take(brokers)
        last = topics[-1].name
        asked = asyncio.ensure_future(admin.create_topics([topics[-1]]))
        told["propagation ms"] = await virtual_ms(
            sim, lambda: all(last in image.topics.by_name for image in images(cluster))
        )
        await asked
    await asyncio.sleep(2)
    told["creation"] = cpu.take(brokers)
    told["created"] = topics[-1].partitions
    await asyncio.sleep(QUIET_S)
    cpu.take(brokers)
    await asyncio.sleep(QUIET_S)
    told["quiet"] = [each / QUIET_S for each in cpu.take(brokers)]
    told["memory MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu.take(brokers)
    victim = brokers
    moved = led_by(images(cluster)[0], victim)
    await cluster.kill(victim)
    told["kill ms"] = await virtual_ms(
        sim, lambda: any(have_moved(each, moved, victim) for each in images(cluster)), LONG_STEP_S
    )
    told["kill all ms"] = told["kill ms"] + await virtual_ms(
        sim, lambda: all(have_moved(each, moved, victim) for each in images(cluster))
    )
    told["kill"], told["moved"] = cpu.take(brokers), len(moved)
    await cluster.start_surely(victim)
    await asyncio.sleep(QUIET_S)
    cpu.take(brokers)
    begin = sim.now_s
    for broker_id in range(1, min(RESTARTS, brokers) + 1):
        await cluster.stop_broker(broker_id)
        await cluster.start_surely(broker_id)
        await asyncio.sleep(1)
    told["restarts"] = min(RESTARTS, brokers)
    told["restart s"] = (sim.now_s - begin) / told["restarts"] - 1
    told["restart"] = [each / told["restarts"] for each in cpu.take(brokers)]
    return told


def run_size(brokers: int, partitions: int) -> None:
    """Print a row as JSON."""

    async def program(sim: Any) -> None:
        print(json.dumps(await measure(sim, brokers, partitions)), flush=True)

    simulate(program, [1], within_s=1e6)


def moving(row: dict[str, Any], at: int) -> float:
    """Return CPU seconds for each leader that moved, beside what heartbeats take meanwhile."""
    used = row["kill"][at] - row["quiet"][at] * row["kill all ms"] / 1000
    return float(used / row["moved"])


def restarting(row: dict[str, Any], at: int) -> float:
    """Return CPU seconds for each restart, beside what heartbeats take meanwhile."""
    return float(row["restart"][at] - row["quiet"][at] * (row["restart s"] + 1))


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page."""
    head = ["brokers, partitions", *(f"{r['brokers']}, {r['partitions']:,}" for r in rows)]

    def line(name: str, show: Callable[[dict[str, Any]], str]) -> list[str]:
        return [name, *(show(row) for row in rows)]

    virtual = [
        line("a new topic is known to all brokers, ms", lambda r: f"{r['propagation ms']:.0f}"),
        line("a killed broker's partitions have leaders, ms", lambda r: f"{r['kill ms']:.0f}"),
        line("all brokers know these, ms", lambda r: f"{r['kill all ms']:.0f}"),
        line("a broker stops in order and starts, s", lambda r: f"{r['restart s']:.2f}"),
        line("all brokers, one by one, s", lambda r: f"{r['restart s'] * r['brokers']:.0f}"),
    ]
    each = [
        line(f"{who}: {name}", lambda r, at=at, of=of: f"{of(r, at) * 1e6:,.0f}")  # type: ignore[misc]
        for name, of in (
            (
                "the start of each broker, us",
                lambda r, at: r["start"][at] / (1 if at else r["brokers"]),
            ),
            ("a new partition, us", lambda r, at: r["creation"][at] / r["created"]),
            ("a second without clients, us", lambda r, at: r["quiet"][at]),
            ("a leader that moves after a kill, us", moving),
            ("the restart of a broker, us", restarting),
        )
        for at, who in enumerate(("controller", "each broker"))
        if not (at and of is moving)  # it is less than what heartbeats vary by
    ]
    memory = line("memory of all nodes together, MB", lambda r: f"{r['memory MB']:,.0f}")
    return (
        HEAD
        + "Virtual time:\n\n"
        + markdown_table(head, virtual)
        + "\n\nCPU time, and memory:\n\n"
        + markdown_table(head, [*each, memory])
        + f"\n\nFor the restarts, {RESTARTS} brokers (or all of three) were stopped and started."
        + f" {datetime.now(UTC):%Y-%m-%d}, Linux {platform.machine()}, CPython"
        + f" {platform.python_version()}, on a machine that others used too.\n"
    )


def main() -> int:
    """Measure all sizes, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", nargs=2, type=int, metavar=("BROKERS", "PARTITIONS"))
    parser.add_argument("--largest", type=int, default=1000, help="leave out more brokers")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.size:
        run_size(*options.size)
        return 0
    rows = []
    for brokers, partitions in SIZES:
        if brokers <= options.largest:
            words = [
                sys.executable,
                "-m",
                "tests.bench.scale",
                "--size",
                str(brokers),
                str(partitions),
            ]
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
            print(done.stdout, end="", flush=True)
            rows.append(json.loads(done.stdout))
    text = page(rows)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
