"""A worker that reads, and writes in transactions, through our own SDK."""

import asyncio
from collections.abc import Sequence
from typing import Any

from fencepost_client import (
    Consumer,
    ConsumerRecord,
    KafkaError,
    Producer,
    TopicPartition,
    Transaction,
    exactly_once,
)

from tests.conformance.clients.python.worker import (
    HEARTBEAT_MS,
    POLL_SECONDS,
    RECORDS_PER_TRANSACTION,
    SESSION_MS,
    Worker,
)

CLASSIC = {"session_timeout_ms": SESSION_MS, "heartbeat_interval_ms": HEARTBEAT_MS}
REBALANCES: dict[str, dict[str, Any]] = {
    "eager": {"partition_assignment_strategy": ["range"], **CLASSIC},
    "cooperative": {"partition_assignment_strategy": ["cooperative-sticky"], **CLASSIC},
    "consumer-protocol": {"group_protocol": "consumer"},
}


class HoldingProducer(Producer):
    """Stands still when the offsets are sent, if the worker is told to."""

    worker: Worker

    async def send_offsets(self, *arguments: Any, **named: Any) -> None:
        await super().send_offsets(*arguments, **named)
        await asyncio.to_thread(self.worker.hold, "offsets")


async def main() -> None:
    worker = Worker()
    consumer = Consumer(
        worker.bootstrap,
        group_id=worker.group,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_poll_records=RECORDS_PER_TRANSACTION,
        fetch_max_wait_ms=50,
        **REBALANCES[worker.rebalance],
    )
    producer = HoldingProducer(
        worker.bootstrap,
        transactional_id=worker.transactional_id,
        transaction_timeout_ms=worker.transaction_timeout_ms,
    )
    producer.worker = worker

    async def transform(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        tell_assigned()
        try:
            for record in records:
                await transaction.send(worker.sink, record.value, partition=record.partition)
            await producer.flush()
        except KafkaError as error:
            worker.aborted(error)
            raise
        await asyncio.to_thread(worker.hold, "written")

    def tell_assigned(_: set[TopicPartition] | None = None) -> None:
        worker.assigned(place.partition for place in consumer.assignment())

    loop = exactly_once(consumer, producer, transform, poll_timeout_ms=round(1000 * POLL_SECONDS))

    async def leave() -> None:
        while not worker.leaving:
            tell_assigned()
            await asyncio.sleep(POLL_SECONDS)
        loop.stop()

    async with consumer, loop:
        consumer.subscribe([worker.source])
        leaving = asyncio.create_task(leave())
        async for done in loop:
            worker.committed(len(done.records))
        await leaving


if __name__ == "__main__":
    asyncio.run(main())
