"""The built-in program ``transactions``: writers commit and abort."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Final

from fencepost_client import Consumer, KafkaError, Producer, TopicPartition

from fencepost_broker.simulation.faults import KINDS
from fencepost_broker.simulation.programs.settings import FAULTS_S, INTENSITY, settings_for
from fencepost_broker.simulation.simulation import Simulation

_TOPICS: Final = ("orders", "invoices")
_PARTITIONS: Final = 2
_WRITERS: Final = 2
_REST_S: Final = 0.2
_ABORT_CHANCE: Final = 0.2
_GOES_ON_S: Final = 2.0
"""How long writers go on after the faults."""
_QUIET_S: Final = 5.0
"""How long nothing is written at the end, after the last transaction was ended."""


class _AbortError(Exception):
    """The program aborts this transaction."""


class _Writer:
    """Commits and aborts transactions over all partitions, and notes what became of each."""

    def __init__(self, sim: Simulation, name: str) -> None:
        self._sim = sim
        self._name = name
        self.committed: list[bytes] = []
        self.aborted: list[bytes] = []
        self.unknown: list[bytes] = []
        """Neither was acknowledged."""

    async def run(self, bootstrap: str, is_over: asyncio.Event) -> None:
        number = 0
        while not is_over.is_set():
            try:
                async with self._producer(bootstrap) as producer:
                    while not is_over.is_set():
                        number += 1
                        await self._transaction(producer, b"%s-%d" % (self._name.encode(), number))
                        await asyncio.sleep(_REST_S)
            except KafkaError:
                await asyncio.sleep(0.2)  # with the next producer

    def _producer(self, bootstrap: str) -> Producer:
        return Producer(
            bootstrap,
            transactional_id=self._name,
            delivery_timeout_ms=30_000,
            request_timeout_ms=5_000,
            transaction_timeout_ms=20_000,
        )

    async def _transaction(self, producer: Producer, value: bytes) -> None:
        aborts = self._sim.random.random() < _ABORT_CHANCE
        self.unknown.append(value)
        try:
            async with producer.transaction() as transaction:
                for topic in _TOPICS:
                    for partition in range(_PARTITIONS):
                        await transaction.send(topic, value, partition=partition)
                if aborts:
                    await producer.flush()  # so that there is something to abort
                    raise _AbortError  # noqa: TRY301 - as the programs of users do
        except _AbortError:
            self.aborted.append(self.unknown.pop())
        else:
            self.committed.append(self.unknown.pop())


async def transactions(
    sim: Simulation,
    brokers: int = 3,
    for_s: float = FAULTS_S,
    intensity: float = INTENSITY,
    kinds: Iterable[str] = KINDS,
) -> None:
    """Writers commit and abort while faults happen; then every partition is read and compared."""
    topics = dict.fromkeys(_TOPICS, _PARTITIONS)
    cluster = await sim.cluster(brokers, topics, settings_for(brokers))
    is_over = asyncio.Event()
    writers = [_Writer(sim, f"writer-{number}") for number in range(_WRITERS)]
    tasks = [
        sim.start(each.run(cluster.bootstrap, is_over), f"writer-{number}")
        for number, each in enumerate(writers)
    ]
    sim.start_faults(intensity, for_s, kinds)
    await sim.quiet(rest_s=0)
    await asyncio.sleep(_GOES_ON_S)
    is_over.set()
    for task in tasks:
        await task
    await sim.quiet(_QUIET_S)  # transactions without a producer time out
    _check(writers, await _read(cluster.bootstrap))


async def _read(bootstrap: str) -> dict[TopicPartition, list[bytes]]:
    """Return what is committed in each partition."""
    found: dict[TopicPartition, list[bytes]] = {
        TopicPartition(topic, number): [] for topic in _TOPICS for number in range(_PARTITIONS)
    }
    async with Consumer(
        bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        consumer.assign(list(found))
        ends = await consumer.end_offsets(list(found))
        while any([await consumer.position(each) < end for each, end in ends.items()]):
            for record in await consumer.getmany(timeout_ms=500):
                where = TopicPartition(record.topic, record.partition)
                found[where].append(bytes(record.value or b""))
    return found


def _check(writers: list[_Writer], read: Mapping[TopicPartition, list[bytes]]) -> None:
    committed = {each for writer in writers for each in writer.committed}
    aborted = {each for writer in writers for each in writer.aborted}
    unknown = {each for writer in writers for each in writer.unknown}
    found = {where: set(values) for where, values in read.items()}
    for where, values in read.items():
        doubled = sorted({each for each in values if values.count(each) > 1})
        lost = sorted(committed - found[where])
        seen = sorted(aborted & found[where])
        strange = sorted(found[where] - committed - aborted - unknown)
        for what, which in (
            ("twice", doubled), ("lost", lost), ("aborted and read", seen), ("never sent", strange),
        ):  # fmt: skip
            assert not which, f"{where.topic}-{where.partition}: {what}: {which[:5]}"
    first, *others = found.values()
    torn = sorted(first.union(*others) - first.intersection(*others))
    assert not torn, f"in some partitions only: {torn[:5]}"
    assert committed, "no transaction was committed"
