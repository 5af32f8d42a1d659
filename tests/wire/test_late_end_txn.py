"""An EndTxn that arrives in the next transaction.

A client whose EndTxn is not answered sends it again on another connection. If the first one was
only slow, it may arrive when the next transaction is open. Under transaction version 1 both have
the same epoch, so the coordinator ends the wrong one, and the checker finds what was aborted and
read. Under version 2 each transaction has an epoch of its own (KIP-890).
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path

from fencepost_broker.simulation import Simulation, simulate
from fencepost_broker.simulation.runs import run_seed
from fencepost_client import Consumer, History, KafkaError, Producer, TopicPartition

TOPIC = "orders"
WAY = ("writer", "broker-1")
PARTITIONS = 2
TRANSACTIONS = 8
REQUEST_S = 1.0
LATE_S = (REQUEST_S, 4 * REQUEST_S)


class _AbortError(Exception):
    """The program aborts this transaction."""


async def write(sim: Simulation, bootstrap: str, history: History) -> None:
    """Commit and abort transactions; sometimes the request for their end is slow."""
    number = 0
    while number < TRANSACTIONS:
        try:
            async with Producer(
                bootstrap,
                transactional_id="writer",
                request_timeout_ms=int(1000 * REQUEST_S),
                delivery_timeout_ms=30_000,
                history=history,
            ) as producer:
                while number < TRANSACTIONS:
                    number += 1
                    await transaction(sim, producer, number)
        except KafkaError:
            await asyncio.sleep(REQUEST_S)  # with the next producer


async def transaction(sim: Simulation, producer: Producer, number: int) -> None:
    """Write to each partition, one after the other, and commit or abort."""
    try:
        async with producer.transaction() as opened:
            for partition in range(PARTITIONS):
                await opened.send(TOPIC, b"%d-%d" % (number, partition), partition=partition)
                await producer.flush()
                await asyncio.sleep(REQUEST_S)
            if sim.random.random() < 0.5:
                sim.network.slow(*WAY, LATE_S)
                loop = asyncio.get_running_loop()
                loop.call_later(REQUEST_S / 10, partial(sim.network.slow, *WAY, None))
            if sim.random.random() < 0.5:
                raise _AbortError  # noqa: TRY301 - as the programs of users do
    except _AbortError:
        pass


async def read(bootstrap: str, history: History) -> None:
    """Read what is committed."""
    partitions = [TopicPartition(TOPIC, number) for number in range(PARTITIONS)]
    async with Consumer(
        bootstrap,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        history=history,
    ) as consumer:
        consumer.assign(partitions)
        ends = await consumer.end_offsets(partitions)
        while any([await consumer.position(each) < ends[each] for each in partitions]):
            await consumer.getmany(timeout_ms=500)


async def program(sim: Simulation, version: int, history: History | None = None) -> None:
    told = history or sim.history
    settings = {"features": (f"transaction.version:{version}",)}
    cluster = await sim.cluster(1, {TOPIC: PARTITIONS}, settings)
    await sim.start(write(sim, cluster.bootstrap, told), "writer")
    await sim.quiet()
    await read(cluster.bootstrap, told)
    sim.check.clients()


def test_version_1_reads_what_was_aborted() -> None:
    run = run_seed(partial(program, version=1), 0)
    assert "G1a" in run.verdict, run.verdict


def test_version_2_refuses_it() -> None:
    simulate(partial(program, version=2), 2)


def test_the_command_finds_it_in_the_history_of_the_clients(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    with History(path) as history:
        run_seed(partial(program, version=1, history=history), 0)
    command = [sys.executable, "-m", "fencepost_broker", "check", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "G1a" in done.stdout
