"""Compaction removes records, and their offsets are missing."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import TOPIC, Connection

_FETCH: Final = 11
_FETCH_BYTES: Final = 1 << 20
_RUNS: Final = 100
"""How often compaction may look until it has compacted the topic."""


async def _run(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        for value in (b"open", b"paid", b"shipped"):
            await connection.produce(value, key=b"order-1")
            broker.clock.advance(seconds=2)
        await connection.produce(b"open", key=b"order-2")
        tell("A topic gets three records with one key, and one with another key.")
        written = await _offsets(connection)
        kept = written
        for _ in range(_RUNS):
            broker.clock.advance(minutes=1)
            kept = await _offsets(connection)
            if len(kept) < len(written):
                break
        end = await connection.end_offset()
        tell(f"Compaction keeps the last record of each key, and its offset: {kept} of {end}.")
        return {
            "records_before": len(written),
            "records": len(kept),
            "first_offset": kept[0],
            "end_offset": end,
        }


async def _offsets(connection: Connection) -> list[int]:
    """Return the offsets of all records."""
    wanted = FetchTopic(TOPIC, partitions=[FetchPartition(0, partition_max_bytes=_FETCH_BYTES)])
    answer = await connection.ask(FetchRequest(max_wait_ms=0, topics=[wanted]), _FETCH)
    records = answer.responses[0].partitions[0].records
    return [each.offset for _, batch in split_batches(records) for each in iter_records(batch)]


SCENARIO = Scenario(
    name="gaps-by-compaction",
    summary="Compaction leaves gaps between offsets",
    seen="A program waits for an offset that no record has, or reports records as lost.",
    clients="Programs that add 1 to an offset or count offsets: Apache Beam and Druid once did.",
    remedy="Take the consumer's position; expect the next offset to be any larger one.",
    issues=("apache/beam#3461", "apache/druid#5404"),
    topics=("orders:1:cleanup.policy=compact:segment.ms=1000:min.cleanable.dirty.ratio=0",),
    run=_run,
)
