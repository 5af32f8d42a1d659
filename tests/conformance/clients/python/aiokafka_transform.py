"""A worker that reads, and writes in transactions, through aiokafka.

aiokafka sends offsets without the group's generation (TxnOffsetCommit v0): the broker cannot tell a
member from one that was thrown out. So each partition has a transactional id of its own, and who
gets the partition fences whoever had it, before it looks where to go on.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError, ProducerFenced

from tests.conformance.clients.python.worker import (
    HEARTBEAT_MS,
    POLL_SECONDS,
    RECORDS_PER_TRANSACTION,
    SESSION_MS,
    Worker,
)


class Transformer(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, worker: Worker, consumer: Any, admin: Any) -> None:
        self._worker = worker
        self._consumer = consumer
        self._admin = admin
        self._producers: dict[Any, Any] = {}
        # Rebalances happen beside the loop below: not within a transaction.
        self._transforming = asyncio.Lock()

    async def on_partitions_revoked(self, revoked: Iterable[Any]) -> None:
        async with self._transforming:
            producers, self._producers = self._producers, {}
            await asyncio.gather(*(one.stop() for one in producers.values()))

    async def on_partitions_assigned(self, assigned: Iterable[Any]) -> None:
        places = list(assigned)
        producers = await asyncio.gather(*map(self._start_producer, places))
        # Now the members before can commit nothing more. What the consumer itself has read of the
        # group's offsets may be older than that.
        await self._rewind(places)
        self._producers = dict(zip(places, producers, strict=True))
        self._worker.assigned(place.partition for place in places)

    async def _start_producer(self, place: Any) -> Any:
        producer = AIOKafkaProducer(
            bootstrap_servers=self._worker.bootstrap,
            transactional_id=f"{self._worker.transactional_id}-{place.partition}",
            transaction_timeout_ms=self._worker.transaction_timeout_ms,
        )
        await producer.start()
        return producer

    async def _rewind(self, places: Sequence[Any]) -> None:
        """Goes back to what is committed.

        It asks for these partitions alone: others of the group may be in a transaction, for which
        an old version of OffsetFetch gets an error instead of offsets, and aiokafka's admin client
        does not ask again.
        """
        offsets = await self._admin.list_consumer_group_offsets(
            self._worker.group, partitions=places
        )
        for place in places:
            committed = offsets.get(place)
            self._consumer.seek(place, 0 if committed is None else max(committed.offset, 0))

    async def run(self) -> None:
        while not self._worker.leaving:
            fetched = await self._consumer.getmany(
                timeout_ms=round(1000 * POLL_SECONDS), max_records=RECORDS_PER_TRANSACTION
            )
            producers = self._producers
            async with self._transforming:
                for place, records in fetched.items():
                    # Records of a partition that went, or is about to come, are not ours to write.
                    if self._producers is producers and place in producers:
                        await self._transform(place, records)

    async def _transform(self, place: Any, records: list[Any]) -> None:
        producer = self._producers[place]
        try:
            await producer.begin_transaction()
            for record in records:
                await producer.send(self._worker.sink, record.value, partition=place.partition)
            await producer.flush()
            self._worker.hold("written")
            await producer.send_offsets_to_transaction(
                {place: records[-1].offset + 1}, self._worker.group
            )
            self._worker.hold("offsets")
            await producer.commit_transaction()
        except KafkaError as error:
            self._worker.aborted(error)
            if isinstance(error, ProducerFenced):
                del self._producers[place]  # another has the partition: a rebalance is under way
                await producer.stop()
            else:
                await producer.abort_transaction()
                await self._rewind([place])
        else:
            self._worker.committed(len(records))

    async def stop(self) -> None:
        await asyncio.gather(*(one.stop() for one in self._producers.values()))


async def main() -> None:
    worker = Worker()
    assert worker.rebalance == "eager", "aiokafka has no other"
    consumer = AIOKafkaConsumer(
        bootstrap_servers=worker.bootstrap,
        group_id=worker.group,
        partition_assignment_strategy=[RangePartitionAssignor],
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=HEARTBEAT_MS,
        fetch_max_wait_ms=50,
    )
    admin = AIOKafkaAdminClient(bootstrap_servers=worker.bootstrap)
    await admin.start()
    await consumer.start()
    transformer = Transformer(worker, consumer, admin)
    consumer.subscribe([worker.source], listener=transformer)
    await transformer.run()
    await consumer.stop()
    await transformer.stop()
    await admin.close()


if __name__ == "__main__":
    asyncio.run(main())
