"""The checks of a simulation: exactly-once of workers that are killed, and what clients saw."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from fencepost_broker.simulation import Simulation, SimulationError, SimulationFailedError, simulate
from fencepost_broker.simulation.programs import PROGRAMS
from fencepost_broker.simulation.runs import run_seed
from fencepost_client import Consumer, Producer

WITH_AIOKAFKA = """
import asyncio
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

async def worker(bootstrap, partition):
    where = TopicPartition("orders", partition)
    while True:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id=f"t-{partition}")
        consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap, group_id="workers", isolation_level="read_committed",
            auto_offset_reset="earliest", enable_auto_commit=False,
        )
        try:
            async with producer, consumer:
                consumer.assign([where])
                while True:
                    found = (await consumer.getmany(where, timeout_ms=1000)).get(where)
                    if not found:
                        continue
                    async with producer.transaction():
                        for each in found:
                            await producer.send("invoices", each.value, partition=partition)
                        offsets = {where: found[-1].offset + 1}
                        await producer.send_offsets_to_transaction(offsets, "workers")
        except KafkaError:
            await asyncio.sleep(1)

async def program(sim):
    cluster = await sim.cluster(brokers=3, topics={"orders": 2, "invoices": 2})
    for partition in range(2):
        sim.start(worker(cluster.bootstrap, partition), f"worker-{partition}", restart=True)
    async with AIOKafkaProducer(bootstrap_servers=cluster.bootstrap) as producer:
        for number in range(20):
            await producer.send_and_wait("orders", b"%d" % number, partition=number % 2)
            if number in (5, 15):
                sim.kill("worker-1")
            await asyncio.sleep(0.5)
    await sim.quiet()
    report = sim.check.exactly_once(source="orders", target="invoices")
    assert report.operations > 4
"""


async def worker(bootstrap: str, *, commits_first: bool = False) -> None:
    """Make an invoice of each order; ``commits_first`` is at most once."""
    consumer = Consumer(
        bootstrap,
        group_id="workers",
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    async with consumer, Producer(bootstrap, transactional_id=str(uuid4())) as producer:
        consumer.subscribe(["orders"])
        while True:
            orders = await consumer.getmany(timeout_ms=1000)
            if not orders:
                continue
            if commits_first:
                await consumer.commit()
                await asyncio.sleep(0.5)
            async with producer.transaction() as transaction:
                for order in orders:
                    await transaction.send("invoices", order.value)
                if not commits_first:
                    await transaction.send_offsets(consumer.positions(), consumer.group_metadata())


async def program(sim: Simulation) -> None:
    cluster = await sim.cluster(brokers=3, topics={"orders": 3, "invoices": 3})
    for _ in range(4):
        sim.start(worker(cluster.bootstrap), restart=True)
    sim.start_faults(for_s=20)
    async with Producer(cluster.bootstrap) as producer:
        for number in range(50):
            await producer.send_and_wait("orders", b"%d" % number)
            await asyncio.sleep(0.4)
    await sim.quiet()
    report = sim.check.exactly_once(source="orders", target="invoices")
    assert report.operations > 6


def test_workers_that_are_killed_process_each_record_once() -> None:
    [run] = simulate(program, seeds=[0])
    assert run.faults["restart of a process"]


def test_workers_that_commit_first_lose_records_when_they_are_killed() -> None:
    async def wrong(sim: Simulation) -> None:
        cluster = await sim.cluster(brokers=1, topics={"orders": 1, "invoices": 1})
        sim.start(worker(cluster.bootstrap, commits_first=True), "worker", restart=True)
        async with Producer(cluster.bootstrap) as producer:
            for number in range(20):
                await producer.send_and_wait("orders", b"%d" % number)
                await asyncio.sleep(0.2)
            sim.kill("worker")
        await sim.quiet()
        sim.check.exactly_once(source="orders", target="invoices")

    with pytest.raises(SimulationFailedError, match="offsets-without-output"):
        simulate(wrong, seeds=10)


def test_records_that_nobody_processes_are_no_success() -> None:
    async def idle(sim: Simulation) -> None:
        cluster = await sim.cluster(brokers=1, topics={"orders": 1, "invoices": 1})
        async with Producer(cluster.bootstrap) as producer:
            await producer.send_and_wait("orders", b"1")
        sim.check.exactly_once(source="orders", target="invoices")

    assert run_seed(idle, 1).verdict == "AssertionError: 1 records of orders were never processed"


def test_the_built_in_program_judges_consume_transform_produce() -> None:
    [run] = simulate(partial(PROGRAMS["consume-transform-produce"], for_s=6), [3])
    assert run.steps["offsets.after"] > 10


def test_programs_of_aiokafka_are_judged_by_the_logs(tmp_path: Path) -> None:
    (tmp_path / "with_aiokafka.py").write_text(WITH_AIOKAFKA)
    command = [sys.executable, "-m", "fencepost_broker", "simulate", "with_aiokafka:program"]
    done = subprocess.run(
        [*command, "--seeds", "1"],
        cwd=tmp_path,
        env={**os.environ, "AIOKAFKA_NO_EXTENSIONS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_is_sent_and_lost_is_found_by_the_history_of_the_clients() -> None:
    async def careless(sim: Simulation) -> None:
        cluster = await sim.cluster(brokers=1, topics={"orders": 1})
        async with Producer(cluster.bootstrap, history=sim.history) as producer:
            for number in range(20):
                await producer.send_and_wait("orders", b"%d" % number)
        sim.check.clients()
        await cluster.kill(1, power_cut=True)
        await asyncio.sleep(3)
        await cluster.start_broker(1)
        sim.check.clients()

    verdicts = {run_seed(careless, seed).verdict.partition(":")[2][:26] for seed in range(4)}
    assert " not in its log at the end" in verdicts


def test_a_program_that_writes_without_end_is_not_quiet() -> None:
    async def endless(sim: Simulation) -> None:
        cluster = await sim.cluster(brokers=1, topics={"orders": 1})

        async def write() -> None:
            async with Producer(cluster.bootstrap) as producer:
                while True:
                    await producer.send_and_wait("orders", b"1")
                    await asyncio.sleep(20)

        sim.start(write(), "writer")
        await sim.quiet(rest_s=0)
        with pytest.raises(SimulationError, match="still written"):
            await sim.quiet(rest_s=30)

    assert run_seed(endless, 1).verdict == "ok"
