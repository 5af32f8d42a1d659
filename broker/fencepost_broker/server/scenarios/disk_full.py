"""The disk of a partition's leader is full."""

from __future__ import annotations

from typing import Protocol

from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import TOPIC, Connection
from fencepost_broker.storage.disk.faults import DiskFull
from fencepost_broker.storage.disk.faulty import DiskFaults


class _InThisProgram(AnyBroker, Protocol):
    disk: DiskFaults


async def _run(broker: _InThisProgram, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        await connection.produce(b"before")
        full = broker.disk.add(DiskFull(topic=TOPIC))
        tell("A producer sends a record; then the disk of the partition's leader is full.")
        while_full = await connection.produce(b"refused")
        end = await connection.end_offset()
        tell(f"The next record is answered with {while_full}; the topic still ends at {end}.")
        full.remove()
        after = await connection.produce(b"after")
        tell(f"There is room again, and the producer sends another one: {after}.")
        return {
            "refused_writes": full.fired,
            "while_full": while_full,
            "end_offset_while_full": end,
            "after": after,
            "end_offset": await connection.end_offset(),
        }


SCENARIO = Scenario(
    name="disk-full-at-the-leader",
    summary="The disk of a partition's leader is full",
    seen="Sends take as long as delivery.timeout.ms and fail; readers read on as if nothing were.",
    clients="All producers: KAFKA_STORAGE_ERROR can be retried, so they retry without a warning."
    " librdkafka up to 1.5.0 fails at once.",
    remedy="Free some room, and watch the disk. In Apache Kafka, the whole log directory goes"
    " offline, other replicas take over (KIP-112), and the broker has to be started again.",
    own_broker="its disk has to be one that fails on purpose",
    kip="KIP-112",
    issues=("confluentinc/librdkafka#3026", "redpanda-data/redpanda#24492"),
    run=_run,
)
