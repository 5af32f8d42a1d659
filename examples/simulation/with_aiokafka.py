"""Open issues of aiokafka 0.14: a seed shows each of them, and the timeline how it comes about.

cd examples/simulation
export AIOKAFKA_NO_EXTENSIONS=1
fencepost simulate with_aiokafka:lookups --seeds 20
fencepost simulate with_aiokafka:callbacks --seeds 20
fencepost simulate with_aiokafka:verifications --seeds 20
"""

import asyncio
from collections.abc import Iterable

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from fencepost_broker.simulation import Simulation

PARTITIONS = 4
PREPARES_S = 3.0
"""How long a consumer prepares for its new partitions."""


async def lookups(sim: Simulation) -> None:
    """A lost connection ends a transactional producer (issues 907 and 1004 have the same end).

    Transactions are retried when a connection to the coordinator is lost. But if a connection is
    lost on which the producer asks for a coordinator, the producer is finished: its calls raise
    "Unexpected error during batch delivery".
    """
    cluster = await sim.cluster(brokers=3, topics={"orders": PARTITIONS})
    sim.network.latency_s = (0.03, 0.1)  # far away
    has_begun = asyncio.Event()
    writer = sim.start(write(sim, cluster.bootstrap, has_begun), "writer")
    await has_begun.wait()
    lost = sim.start(lose_connections(sim), "lost")
    while not writer.done():
        await asyncio.sleep(sim.random.uniform(1, 3))
        broker = sim.random.choice(sorted(cluster.brokers))
        sim.note(f"broker {broker} is killed")
        await cluster.kill(broker)
        await asyncio.sleep(sim.random.uniform(0.5, 3))
        await cluster.start_surely(broker)
    lost.cancel()
    await writer


async def lose_connections(sim: Simulation) -> None:
    """Break a connection of the writer now and then."""
    while True:
        await asyncio.sleep(sim.random.uniform(0.05, 0.3))
        ends = [each for each in sim.network.ends if str(each).startswith("writer to ")]
        if ends:
            end = sim.random.choice(ends)
            sim.note(f"a connection is lost: {end}")
            sim.network.reset(end)


async def write(sim: Simulation, bootstrap: str, has_begun: asyncio.Event) -> None:
    """Commit transactions, each with an offset of a group."""
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, transactional_id="writer") as producer:
        for number in range(100):
            async with producer.transaction():
                await producer.send("orders", b"%d" % number, partition=number % PARTITIONS)
                offsets = {TopicPartition("orders", 0): number}
                await producer.send_offsets_to_transaction(offsets, "readers")
            sim.note(f"transaction {number} is committed")
            has_begun.set()


async def verifications(sim: Simulation) -> None:
    """One NETWORK_EXCEPTION for committed offsets ends a transactional producer (issue 1004).

    Kafka 3.7.0 answers it when the group's coordinator cannot ask the transaction's coordinator;
    later versions answer an error that old clients try again. Code 13 has an old name in aiokafka.
    """
    cluster = await sim.cluster(brokers=3, topics={"orders": PARTITIONS})
    number = sim.random.randrange(20)
    cluster.faults.error("NETWORK_EXCEPTION", api="TxnOffsetCommit", skip=number, times=1)
    await sim.start(write(sim, cluster.bootstrap, asyncio.Event()), "writer")


async def callbacks(sim: Simulation) -> None:
    """A consumer reads a new partition before ``on_partitions_assigned`` has returned (issue 738).

    Its docstring says that the callback is called before the consumer starts to fetch.
    """
    cluster = await sim.cluster(brokers=1, topics={"orders": 2})
    async with AIOKafkaProducer(bootstrap_servers=cluster.bootstrap) as producer:
        for number in range(10):
            await producer.send_and_wait("orders", b"%d" % number, partition=number % 2)
    first = sim.start(read_orders(sim, cluster.bootstrap, "first"), "first")
    await asyncio.sleep(sim.random.uniform(5, 15))
    second = sim.start(read_orders(sim, cluster.bootstrap, "second"), "second")
    await asyncio.wait([first, second], timeout=60)


async def read_orders(sim: Simulation, bootstrap: str, name: str) -> None:
    """Read as a member of a group, and prepare for each partition first."""
    ready: set[TopicPartition] = set()

    class Prepares(ConsumerRebalanceListener):  # type: ignore[misc]
        async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
            sim.note(f"{name}: gives up {sorted(each.partition for each in revoked)}")
            ready.clear()

        async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
            sim.note(f"{name}: prepares for {sorted(each.partition for each in assigned)}")
            await asyncio.sleep(PREPARES_S)
            sim.note(f"{name}: is ready")
            ready.update(assigned)

    async with AIOKafkaConsumer(
        bootstrap_servers=bootstrap, group_id="readers", auto_offset_reset="earliest"
    ) as consumer:
        consumer.subscribe(["orders"], listener=Prepares())
        while True:
            for where, records in (await consumer.getmany(timeout_ms=1000)).items():
                sim.note(f"{name}: read {len(records)} records of partition {where.partition}")
                assert where in ready, f"{name} read partition {where.partition} too early"
