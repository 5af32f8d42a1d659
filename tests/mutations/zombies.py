"""A simulation in which producers, coordinators and consumers send what a broker has to refuse.

A network may deliver a request late or twice, and a process that stood still may go on when another
one has taken its place. Each visit is such a case; the seed draws the order. What the broker
answers is checked at once, and what is committed at the end, by a reader.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from fencepost_broker.config import Value
from fencepost_broker.simulation import Simulation
from fencepost_client import Consumer, TopicPartition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

from tests.mutations.late_members import MEMBER_VISITS
from tests.support.broker import Client
from tests.wire.transaction_harness import Producer, stable_offset

NONE: Final = ErrorCode.NONE
_SETTINGS: Final[Mapping[str, Value]] = {"group.initial.rebalance.delay.ms": 0, "fsync": "always"}
_OLD: Final = 11
"""A Produce version whose clients add partitions by themselves."""

_PLAIN: Final[Any] = {"transactional": False, "name": None, "version": _OLD}
"""A batch of an idempotent producer, of which no coordinator knows."""


class World:
    """The broker, and what must be readable at the end."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.readable = 0
        self._names = 0

    async def producer(self) -> Producer:
        """Return a new producer that is initialized."""
        self._names += 1
        producer = Producer(self.client, f"producer-{self._names}")
        while await producer.start() != NONE:  # noqa: ASYNC110 - it asks for its coordinator
            await asyncio.sleep(0.1)
        return producer


async def _late_batch(world: World) -> None:
    """A batch of an older epoch arrives while the newer one writes."""
    late = await world.producer()
    newer = Producer(world.client, late.name)
    assert await newer.initialize() == NONE
    assert await newer.send() == NONE
    answer = await late.send()
    assert answer, "a batch of an older epoch is taken"
    assert await newer.end() == NONE
    world.readable += 1


async def _late_batch_in_the_log(world: World) -> None:
    """The same without a coordinator that could refuse it: an idempotent producer's."""
    producer = await world.producer()
    assert await producer.send(**_PLAIN, producer_epoch=producer.epoch + 1) == NONE
    assert await producer.send(**_PLAIN, base_sequence=0), "a batch of an older epoch is taken"
    world.readable += 1


async def _twice(world: World) -> None:
    """A batch arrives twice."""
    producer = await world.producer()
    assert await producer.send() == NONE
    assert await producer.send(base_sequence=0) == NONE, "a batch that was sent twice is refused"
    assert await producer.end() == NONE
    world.readable += 1


async def _gap(world: World) -> None:
    """A batch overtakes the one before it."""
    producer = await world.producer()
    assert await producer.send() == NONE
    assert await producer.send(base_sequence=2), "a batch after a gap is taken"
    assert await producer.end() == NONE
    world.readable += 1


async def _gap_in_a_new_epoch(world: World) -> None:
    producer = await world.producer()
    assert await producer.send(**_PLAIN) == NONE
    epoch = producer.epoch + 1
    late = await producer.send(**_PLAIN, producer_epoch=epoch, base_sequence=3)
    assert late, "an epoch begins with sequence 3"
    world.readable += 1


async def _late_begin(world: World) -> None:
    """A batch arrives after its transaction was aborted, from a client that adds partitions."""
    producer = await world.producer()
    assert await producer.add(0) == NONE
    assert await producer.send(version=_OLD) == NONE
    assert await producer.end("abort", 3) == NONE
    assert await producer.send(version=_OLD), "a batch is taken after its transaction"


async def _not_in_the_transaction(world: World) -> None:
    producer = await world.producer()
    assert await producer.send() == NONE
    plain = await producer.send(transactional=False, name=None)
    assert plain, "a batch that is not transactional is taken in a transaction"
    assert await producer.end() == NONE
    world.readable += 1


async def _late_end(world: World) -> None:
    """The end of a fenced producer arrives after the newer one has begun."""
    late = await world.producer()
    newer = Producer(world.client, late.name)
    assert await newer.initialize() == NONE
    assert await newer.send() == NONE
    assert await late.end(version=3), "a fenced producer ends a transaction"
    assert await newer.end("abort") == NONE


async def _late_end_of_another_id(world: World) -> None:
    producer = await world.producer()
    assert await producer.send() == NONE
    stranger = Producer(world.client, producer.name)
    stranger.id, stranger.epoch = producer.id + 1000, producer.epoch
    assert await stranger.end(version=3), "another producer id ends a transaction"
    assert await producer.end("abort") == NONE


async def _late_add(world: World) -> None:
    late = await world.producer()
    newer = Producer(world.client, late.name)
    assert await newer.initialize() == NONE
    assert await late.add(0), "a fenced producer begins a transaction"


async def _other_outcome(world: World) -> None:
    """An abort arrives after the commit."""
    producer = await world.producer()
    assert await producer.add(0) == NONE
    assert await producer.send(version=_OLD) == NONE
    assert await producer.end("commit", 3) == NONE
    again = ErrorCode.CONCURRENT_TRANSACTIONS
    while again == ErrorCode.CONCURRENT_TRANSACTIONS:  # the markers are under way
        await asyncio.sleep(0.1)
        again = await producer.end("commit", 3)
    assert again == NONE, "a repeated commit fails"
    assert await producer.end("abort", 3), "an abort after the commit succeeds"
    world.readable += 1


async def _late_initialize(world: World) -> None:
    late = await world.producer()
    newer = Producer(world.client, late.name)
    for _ in range(2):
        assert await newer.initialize() == NONE
    assert await late.initialize(own=True), "a fenced producer gets a new epoch"


async def _fenced_in_a_transaction(world: World) -> None:
    """A new producer takes over: what the old one has not committed is aborted."""
    late = await world.producer()
    assert await late.send() == NONE
    newer = Producer(world.client, late.name)
    assert await newer.initialize() == NONE
    assert await late.end(version=3), "a fenced producer ends a transaction"
    assert await newer.send() == NONE
    assert await newer.end() == NONE
    world.readable += 1


async def _unlike_ids(world: World) -> None:
    producers = [await world.producer() for _ in range(3)]
    assert len({each.id for each in producers}) == 3, "two producers have an id"


async def _marker(world: World, producer: Producer, **given: int) -> ErrorCode:
    topics = [WritableTxnMarkerTopic("t", [0])]
    epoch = given.get("epoch", producer.epoch)
    marker = WritableTxnMarker(producer.id, epoch, True, topics, given.get("coordinator", 1000))
    marker.transaction_version = given.get("transaction_version", 1)
    answer = await world.client.ask(WriteTxnMarkersRequest([marker]), 2)
    return ErrorCode(answer.markers[0].topics[0].partitions[0].error_code)


async def _late_marker(world: World) -> None:
    """A marker of the transaction before arrives in the next one."""
    producer = await world.producer()
    assert await producer.send() == NONE
    assert await producer.end("abort") == NONE
    assert await producer.send() == NONE
    late = await _marker(world, producer, epoch=producer.epoch - 1)
    assert late, "a marker of an older epoch is taken"
    same = await _marker(world, producer, transaction_version=2)
    assert same, "the repeated marker of version 2 ends the next transaction"
    assert await producer.end("abort") == NONE


async def _marker_of_a_former_coordinator(world: World) -> None:
    producer = await world.producer()
    assert await producer.send() == NONE
    assert await producer.end("abort") == NONE
    assert await _marker(world, producer, coordinator=-1), "a former coordinator's marker is taken"


async def _fetch(world: World, epoch: int = -1, offset: int = 0) -> Any:
    entry = FetchPartition(0, epoch, offset, partition_max_bytes=1 << 20)
    request = FetchRequest(max_wait_ms=0, isolation_level=1, topics=[FetchTopic("t", b"", [entry])])
    answer = await world.client.ask(request, 12)
    return answer.responses[0].partitions[0]


async def _open_is_not_read(world: World) -> None:
    producer = await world.producer()
    start = await stable_offset(world.client)
    assert await producer.send() == NONE
    assert not (await _fetch(world, offset=start)).records, "an open transaction is read"
    assert await stable_offset(world.client) == start, "the last stable offset has moved"
    assert await producer.end("abort") == NONE
    aborted = (await _fetch(world, offset=start)).aborted_transactions
    assert [each.producer_id for each in aborted] == [producer.id], "an aborted one is not named"


async def _another_leader(world: World) -> None:
    """A client knows a leader epoch that this broker does not."""
    told = await _fetch(world, epoch=9)
    assert told.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH, "a later leader's client is answered"
    asked = OffsetForLeaderTopic("t", [OffsetForLeaderPartition(0, 9, 0)])
    end = (await world.client.ask(OffsetForLeaderEpochRequest(topics=[asked]), 4)).topics[0]
    assert end.partitions[0].error_code, "a later leader's client is told the end of an epoch"


VISITS: Final[tuple[Callable[[Any], Awaitable[None]], ...]] = (
    _late_batch,
    _late_batch_in_the_log,
    _twice,
    _gap,
    _gap_in_a_new_epoch,
    _late_begin,
    _not_in_the_transaction,
    _late_end,
    _late_end_of_another_id,
    _late_add,
    _other_outcome,
    _late_initialize,
    _fenced_in_a_transaction,
    _unlike_ids,
    _late_marker,
    _marker_of_a_former_coordinator,
    _open_is_not_read,
    _another_leader,
    *MEMBER_VISITS,
)


async def zombies(sim: Simulation) -> None:
    """Make the visits that the seed draws, then read what is committed."""
    cluster = await sim.cluster(1, {"t": 1}, _SETTINGS)
    async with Client(cluster.bootstrap) as client:
        world = World(client)
        for visit in sim.random.sample(VISITS, len(VISITS)):
            await visit(world)
            sim.note(visit.__name__)
            await asyncio.sleep(sim.random.random())
    found = 0
    async with Consumer(
        cluster.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as consumer:
        where = TopicPartition("t", 0)
        consumer.assign([where])
        end = (await consumer.end_offsets([where]))[where]
        while await consumer.position(where) < end:
            found += len(await consumer.getmany(timeout_ms=500))
    assert found == world.readable, f"{found} records are readable, not {world.readable}"
