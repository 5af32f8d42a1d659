"""What a replicated record and a transaction cost a cluster, in counts.

    python -m tests.bench.replication --out docs/bench/replication.md
    python -m tests.bench.replication --count       # the counts alone, as JSON

Controller, brokers and client run in the simulator, so that counts are the same in each run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from fencepost_broker.replication.follower import LeaderFetcher
from fencepost_broker.simulation import Simulation, simulate
from fencepost_broker.simulation.process import current_process
from fencepost_client import Producer

from tests.bench.table import markdown_table

PAGE: Final = Path(__file__).parents[2] / "docs" / "bench" / "replication.md"
BROKERS: Final = 3
PARTITIONS: Final = 6
RECORDS: Final = 10
TRANSACTIONS: Final = 10
IN_A_TRANSACTION: Final = 4
REST_S: Final = 0.2
QUIET_S: Final = 5.0
APART: Final = ("/fencepost_broker/simulation/", "/asyncio/", "/tests/")
"""Code that does not run in a real broker, or is not its own."""
LEADER, FOLLOWER, BURST, FETCHES, IN_TRANSACTION = (
    "bytecodes of the leader, for a record",
    "bytecodes of each follower, for a record",
    "bytecodes of each broker, for a record in each of six partitions",
    "Fetch requests of followers, for a record",
    "Fetch requests of followers, for a transaction over four partitions",
)


class Bytecodes:
    """Bytecodes by process of the simulation."""

    def __init__(self) -> None:
        self.by_process: Counter[str] = Counter()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count what runs meanwhile."""
        self.by_process.clear()
        sys.settrace(self._trace)
        try:
            yield
        finally:
            sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if event == "call":
            if any(each in frame.f_code.co_filename for each in APART):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            process = current_process.get(None)
            if process is not None:
                self.by_process[process.name] += 1
        return self._trace


class Fetches:
    """Answers to followers' Fetch requests."""

    def __init__(self) -> None:
        self.answers = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count what followers get meanwhile."""
        self.answers = 0
        answered = LeaderFetcher.answered

        def count(*arguments: Any) -> Any:
            self.answers += 1
            return answered(*arguments)

        LeaderFetcher.answered = count  # type: ignore[assignment,method-assign]
        try:
            yield
        finally:
            LeaderFetcher.answered = answered  # type: ignore[method-assign]


async def send(producer: Producer, partitions: int) -> None:
    """Send a record to each partition, and wait for all replicas."""
    sent = [await producer.send("orders", bytes(100), partition=n) for n in range(partitions)]
    for delivery in sent:
        await delivery


async def transact(producer: Producer) -> None:
    """Commit a record in each of some partitions."""
    async with producer.transaction() as transaction:
        for number in range(IN_A_TRANSACTION):
            await transaction.send("orders", bytes(100), partition=number)
    await asyncio.sleep(REST_S)


def count() -> dict[str, float]:
    """Run a cluster without faults."""
    found: dict[str, float] = {}

    async def program(sim: Simulation) -> None:
        cluster = await sim.cluster(BROKERS, {"orders": PARTITIONS})
        bytecodes, fetches = Bytecodes(), Fetches()
        async with Producer(cluster.bootstrap) as producer:
            for _ in range(5):
                await send(producer, PARTITIONS)
            await asyncio.sleep(QUIET_S)
            with bytecodes.counted(), fetches.counted():
                for _ in range(RECORDS):
                    await send(producer, 1)
            leader, *followers = sorted(
                (number for name, number in bytecodes.by_process.items() if "broker" in name),
                reverse=True,
            )
            found[LEADER] = leader / RECORDS
            found[FOLLOWER] = max(followers) / RECORDS
            found[FETCHES] = fetches.answers / RECORDS
            with bytecodes.counted():
                for _ in range(RECORDS):
                    await send(producer, PARTITIONS)
            found[BURST] = max(bytecodes.by_process[f"broker-{n + 1}"] for n in range(BROKERS))
            found[BURST] /= RECORDS
        async with Producer(cluster.bootstrap, transactional_id="payments") as producer:
            await transact(producer)
            await asyncio.sleep(QUIET_S)
            with fetches.counted():
                for _ in range(TRANSACTIONS):
                    await transact(producer)
            found[IN_TRANSACTION] = fetches.answers / TRANSACTIONS

    list(simulate(program, [1]))
    return found


def page(found: dict[str, float]) -> str:
    """Return the page, with the counts in its table."""
    table = markdown_table(
        ["what", "count"], [[what, f"{number:,.5g}"] for what, number in found.items()]
    )
    return Path(__file__).with_name("replication_page.md").read_text("utf-8").format(table=table)


def main() -> None:
    """Count, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.replication")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--count", action="store_true", help="print the counts as JSON")
    options = parser.parse_args()
    found = count()
    if options.count:
        print(json.dumps(found))
    if options.out:
        options.out.write_text(page(found), encoding="utf-8")


if __name__ == "__main__":
    main()
