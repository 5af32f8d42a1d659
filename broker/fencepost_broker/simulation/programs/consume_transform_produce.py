"""The built-in program ``consume-transform-produce``: orders become invoices, exactly once."""

from __future__ import annotations

import asyncio
from typing import Final

from fencepost_client import Consumer, KafkaError, Producer

from fencepost_broker.simulation.programs.settings import FAULTS_S, INTENSITY, settings_for
from fencepost_broker.simulation.simulation import Simulation

_SOURCE: Final = "orders"
_TARGET: Final = "invoices"
_PARTITIONS: Final = 3
_WORKERS: Final = 3
_REST_S: Final = 0.2
_QUIET_S: Final = 65.0
"""Longer than a dead worker is a member, and than its transaction lives, if a clock is set back."""


async def consume_transform_produce(
    sim: Simulation,
    brokers: int = 3,
    for_s: float = FAULTS_S,
    intensity: float = INTENSITY,
) -> None:
    """Workers make an invoice of each order, while faults happen and workers are killed."""
    topics = dict.fromkeys((_SOURCE, _TARGET), _PARTITIONS)
    cluster = await sim.cluster(brokers, topics, settings_for(brokers))
    is_over = asyncio.Event()
    source = sim.start(_send_orders(sim, cluster.bootstrap, is_over), "orders")
    for number in range(_WORKERS):
        name = f"worker-{number}"
        sim.start(_work(sim, cluster.bootstrap, name), name, restart=True)
    sim.start_faults(intensity, for_s)
    await asyncio.sleep(for_s)
    is_over.set()
    await source
    await sim.quiet(_QUIET_S)
    report = sim.check.exactly_once(source=_SOURCE, target=_TARGET, names="invoice of (.*)")
    assert report.transactions, "nothing was processed"


async def _send_orders(sim: Simulation, bootstrap: str, is_over: asyncio.Event) -> None:
    number = 0
    while not is_over.is_set():
        try:
            async with Producer(bootstrap, history=sim.history) as to:
                while not is_over.is_set():
                    number += 1
                    await to.send_and_wait(_SOURCE, b"%d" % number, partition=number % _PARTITIONS)
                    await asyncio.sleep(_REST_S)
        except KafkaError:
            await asyncio.sleep(_REST_S)  # with the next producer


async def _work(sim: Simulation, bootstrap: str, name: str) -> None:
    while True:
        try:
            await _transform(sim, bootstrap, name)
        except KafkaError:
            await asyncio.sleep(_REST_S)  # with the next producer


async def _transform(sim: Simulation, bootstrap: str, name: str) -> None:
    consumer = Consumer(
        bootstrap,
        group_id="workers",
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=10_000,
        history=sim.history,
    )
    producer = Producer(
        bootstrap,
        transactional_id=name,
        delivery_timeout_ms=30_000,
        request_timeout_ms=5_000,
        transaction_timeout_ms=20_000,
        history=sim.history,
    )
    async with consumer, producer:
        consumer.subscribe([_SOURCE])
        while True:
            records = await consumer.getmany(timeout_ms=1000, max_records=20)
            if not records:
                continue
            async with producer.transaction() as transaction:
                for each in records:
                    invoice = b"invoice of %s" % each.value
                    await transaction.send(_TARGET, invoice, partition=each.partition)
                await transaction.send_offsets(consumer.positions(), consumer.group_metadata())
