"""A cooperative group whose coordinators, leaders and controller stand still or die.

Most faults last longer than a session: other brokers take over, and those that stood still wake
with an old memory. No commit may be refused with INVALID_TXN_STATE, no worker may stay without its
share of the partitions, and the death of a coordinator on a slow network may not hold up the group.

    REBALANCE_ROUNDS=6 REBALANCE_SEEDS=100 .venv/bin/pytest tests/wire/test_simulated_rebalances.py
"""

from __future__ import annotations

import asyncio
import os

from fencepost_broker.server.embedded.cluster import CONTROLLER_ID
from fencepost_broker.simulation import Simulation, simulate
from fencepost_broker.simulation.cluster import SimulatedCluster
from fencepost_broker.simulation.programs.settings import settings_for
from fencepost_client import Consumer, KafkaError, Producer
from fencepost_protocol.errors import ErrorCode

SOURCE, TARGET = "orders", "invoices"
PARTITIONS = 6
WORKERS = 3
ROUNDS = int(os.environ.get("REBALANCE_ROUNDS", "3"))
SEEDS = int(os.environ.get("REBALANCE_SEEDS", "1"))
SESSION_S = 3.0
"""The session of a broker."""
MEMBER_S = 10.0
"""The session of a member."""
HELD_UP_S = 30.0
"""A broker's session, a member's, a rebalance, and a request that times out."""


class Worker:
    """Copies orders in transactions, with a new consumer and producer after each error."""

    def __init__(self, sim: Simulation, bootstrap: str, name: str) -> None:
        self._sim = sim
        self._bootstrap = bootstrap
        self.name = name
        self.consumer: Consumer | None = None
        self.committed_s = sim.now_s

    async def run(self) -> None:
        while True:
            try:
                await self._work()
            except KafkaError as error:
                if error.code == ErrorCode.INVALID_TXN_STATE:
                    raise AssertionError(f"{self.name} is refused") from error
                self._sim.note(f"{self.name}: {error.name}")
                await asyncio.sleep(0.2)

    async def _work(self) -> None:
        self.consumer = Consumer(
            self._bootstrap,
            group_id="workers",
            partition_assignment_strategy=["cooperative-sticky"],
            isolation_level="read_committed",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            session_timeout_ms=int(MEMBER_S * 1000),
            history=self._sim.history,
        )
        producer = Producer(
            self._bootstrap,
            transactional_id=self.name,
            request_timeout_ms=5_000,
            delivery_timeout_ms=30_000,
            transaction_timeout_ms=20_000,
            history=self._sim.history,
        )
        async with self.consumer as consumer, producer:
            consumer.subscribe([SOURCE])
            while True:
                orders = await consumer.getmany(timeout_ms=500, max_records=20)
                if orders:
                    async with producer.transaction() as transaction:
                        for each in orders:
                            await transaction.send(TARGET, each.value, partition=each.partition)
                        positions, group = consumer.positions(), consumer.group_metadata()
                        await transaction.send_offsets(positions, group)
                self.committed_s = self._sim.now_s


async def send(sim: Simulation, bootstrap: str, is_over: asyncio.Event) -> None:
    number = 0
    while not is_over.is_set():
        try:
            async with Producer(bootstrap, history=sim.history) as to:
                while not is_over.is_set():
                    number += 1
                    await to.send_and_wait(SOURCE, b"%d" % number, partition=number % PARTITIONS)
                    await asyncio.sleep(0.1)
        except KafkaError:
            await asyncio.sleep(0.2)


async def stand_still(sim: Simulation, cluster: SimulatedCluster, node_id: int) -> None:
    for_s = SESSION_S * (0.5 + sim.random.random() * 1.5)
    sim.note(f"node {node_id} stands still for {for_s:.1f} s")
    cluster.pause(node_id)
    await asyncio.sleep(for_s)
    cluster.resume(node_id)


async def one_fault(sim: Simulation, cluster: SimulatedCluster) -> None:
    """Let a broker stand still, or the controller while a worker restarts, or a broker die."""
    kind = sim.random.choice(("broker", "controller", "death"))
    broker = sim.random.choice(sorted(cluster.brokers))
    if kind == "broker":
        await stand_still(sim, cluster, broker)
    elif kind == "controller":
        still = sim.start(stand_still(sim, cluster, CONTROLLER_ID), "still")
        await asyncio.sleep(0.2)
        sim.kill(f"worker-{sim.random.randrange(WORKERS)}")
        await still
    else:
        sim.note(f"broker {broker} dies, and the network is slow")
        sim.network.latency_s = (0.05, 0.3)
        await cluster.kill(broker)
        await asyncio.sleep(2 * SESSION_S)
        sim.network.latency_s = (0.0001, 0.002)
        await cluster.start_surely(broker)
    await asyncio.sleep(sim.random.random() * SESSION_S)


async def program(sim: Simulation) -> None:
    topics = {SOURCE: PARTITIONS, TARGET: PARTITIONS}
    cluster = await sim.cluster(3, topics, settings_for(3))
    is_over = asyncio.Event()
    sending = sim.start(send(sim, cluster.bootstrap, is_over), "orders")
    workers = [Worker(sim, cluster.bootstrap, f"worker-{each}") for each in range(WORKERS)]
    running = [sim.start(each.run, each.name, restart=True) for each in workers]
    for _ in range(ROUNDS):
        begun_s = sim.now_s
        await one_fault(sim, cluster)
        held_up_s = max(begun_s, sim.now_s) - max(each.committed_s for each in workers)
        assert held_up_s < HELD_UP_S, f"nobody has committed for {held_up_s:.1f} s"
    is_over.set()
    await sending
    await asyncio.sleep(2 * HELD_UP_S)
    for failed in (each for each in running if each.done()):
        await failed
    for each in workers:
        assert each.consumer is not None
        assert len(each.consumer.assignment()) == PARTITIONS // WORKERS, f"{each.name} waits"
        assert sim.now_s - each.committed_s < HELD_UP_S, f"{each.name} stands still"
    await sim.quiet()
    sim.check.exactly_once(source=SOURCE, target=TARGET)


def test_a_cooperative_group_goes_on_after_each_fault() -> None:
    simulate(program, SEEDS)
