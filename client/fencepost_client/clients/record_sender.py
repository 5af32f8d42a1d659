"""Sending records: how a record gets into a batch.

This half of ``Producer`` has batches and their outcomes; the other has settings and transactions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from time import time_ns
from typing import Final

from fencepost_client.clients.base import BaseClient
from fencepost_client.clients.delivery import Deliveries, Delivery
from fencepost_client.clients.sender_loop import SenderLoop
from fencepost_client.errors import (
    RecordTooLargeError,
    UnknownTopicOrPartitionError,
)
from fencepost_client.network.client_settings import ClientSettings
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.producer.accumulator import Accumulator
from fencepost_client.producer.batch import RECORD_OVERHEAD_MAX, Batch, size_of_headers
from fencepost_client.producer.record_columns import Columns, as_bytes, as_headers
from fencepost_client.producer.sender_settings import SenderSettings
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.types import (
    Headers,
    RecordMetadata,
    whole_number,
)

_BYTES_BEFORE_A_BREATH: Final = 1 << 17
_FULL_BATCHES_BEFORE_A_BREATH: Final = 8
"""With so much in full batches, or so many, the next ``send`` lets the loop write them."""


class RecordSender(BaseClient):
    """The open batches of a producer, and the loop that sends them."""

    _sender_loop: SenderLoop | None = None

    def __init__(
        self,
        client_settings: ClientSettings,
        settings: SenderSettings,
        accumulator: Accumulator,
        manager: TransactionManager | None,
    ) -> None:
        super().__init__(client_settings)
        self._settings = settings
        self._accumulator = accumulator
        self._manager = manager

    def __del__(self) -> None:
        if self._sender_loop is not None and self._client is not None and not self._client.closed:
            self._sender_loop.warn_unclosed()

    async def _begin(self, client: NetworkClient) -> None:
        loop = self._sender_loop = SenderLoop(
            client, self._accumulator, self._settings, self._manager, self._history
        )
        await client.start()
        if self._manager is not None:
            loop.begin_epoch(await client.run(self._manager.initialize()))
            # A transaction that was kept ends without a begin.
            self._manager.version = client.connections.feature("transaction.version")

    def _stop(self) -> None:
        if self._sender_loop is not None:
            self._sender_loop.stop()

    async def send(
        self,
        topic: str,
        value: bytes | None = None,
        *,
        key: bytes | None = None,
        partition: int | None = None,
        headers: Headers = (),
        timestamp_ms: int | None = None,
    ) -> Delivery:
        """Add a record to a batch of its partition.

        Waits while the topic is unknown or ``buffer_memory`` is full. If it is cancelled while it
        waits, the record is not sent.

            delivery = await producer.send("orders", b"42", key=b"customer-7")
        """
        # A call less for each record is worth a line here.
        size = RECORD_OVERHEAD_MAX
        if value is not None:
            if value.__class__ is not bytes:
                value = as_bytes("value", value)
            size += len(value)
        if key is not None:
            if key.__class__ is not bytes:
                key = as_bytes("key", key)
            size += len(key)
        if headers:
            headers = as_headers(headers)
            size += size_of_headers(headers)
        if timestamp_ms is not None:
            timestamp_ms = whole_number("timestamp_ms", timestamp_ms)
        accumulator, manager, sender_loop = self._accumulator, self._manager, self._sender_loop
        if (
            sender_loop is None
            or sender_loop.error is not None
            or manager is not None
            or topic not in accumulator.topics
        ):
            await self._may_send(topic)
        if key is None and partition is None:
            queue = accumulator.topics[topic].sticky
        else:
            try:
                queue = accumulator.queue_for(topic, key, partition)
            except IndexError:
                raise UnknownTopicOrPartitionError(
                    f"Partition {topic}-{partition} does not exist."
                ) from None
        if manager is not None and manager.registration is not None:
            manager.registration.check_partition(topic, queue.partition)
        batch = queue.open
        if batch is None or batch.size_bytes + size > batch.limit_bytes:
            batch = await self._roomy_batch(topic, key, partition, size)
        batch.size_bytes += size
        if timestamp_ms is None:
            timestamp_ms = time_ns() // 1_000_000
        return Delivery(batch, batch.append(key, value, timestamp_ms, headers))

    async def send_and_wait(
        self,
        topic: str,
        value: bytes | None = None,
        *,
        key: bytes | None = None,
        partition: int | None = None,
        headers: Headers = (),
        timestamp_ms: int | None = None,
    ) -> RecordMetadata:
        """Send a record and wait for its acknowledgement.

        print((await producer.send_and_wait("orders", b"42")).offset)
        """
        delivery = await self.send(
            topic, value, key=key, partition=partition, headers=headers, timestamp_ms=timestamp_ms
        )
        if self._sender_loop is not None and not self._settings.linger_ms:
            self._sender_loop.run_if_alone()
        return await delivery

    async def send_many(
        self,
        topic: str,
        values: Iterable[bytes | None],
        *,
        keys: Iterable[bytes | None] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Deliveries:
        """Send many records as columns, without an object or a call for each record.

            deliveries = await producer.send_many("orders", values, keys=keys, partition=0)
            await deliveries

        With keys and without a ``partition``, records are added one by one, each to the partition
        of its key. If it is cancelled, the records that were added before are sent.
        """
        columns = Columns(values, keys)
        if timestamp_ms is not None:
            timestamp_ms = whole_number("timestamp_ms", timestamp_ms)
        taken = Deliveries()
        if columns.keys is not None and partition is None:
            for key, value in zip(columns.keys, columns.values, strict=True):
                taken.append(await self.send(topic, value, key=key, timestamp_ms=timestamp_ms))
            return taken
        if timestamp_ms is None:
            timestamp_ms = time_ns() // 1_000_000
        await self._may_send(topic)
        while columns.left:
            batch = await self._batch_for(topic, partition, columns.next_size)
            some_keys, some_values, size = columns.take(batch.limit_bytes - batch.size_bytes)
            first = batch.extend(some_keys, some_values, timestamp_ms)
            batch.size_bytes += size
            taken.add(batch, first, len(some_values))
        return taken

    async def _batch_for(self, topic: str, partition: int | None, size: int) -> Batch:
        """The batch for a record without a key."""
        try:
            queue = self._accumulator.queue_for(topic, None, partition)
        except IndexError:
            raise UnknownTopicOrPartitionError(
                f"Partition {topic}-{partition} does not exist."
            ) from None
        if self._manager is not None and self._manager.registration is not None:
            self._manager.registration.check_partition(topic, queue.partition)
        batch = queue.open
        if batch is None or batch.size_bytes + size > batch.limit_bytes:
            batch = await self._roomy_batch(topic, None, partition, size)
        return batch

    async def flush(self) -> None:
        """Send all records now and wait for their outcomes.

        Raises the first error that no ``Delivery`` has reported; it drops the others.
        """
        _, sender_loop = self._started()
        await sender_loop.outcomes()
        failures = list(sender_loop.failures)
        sender_loop.failures.clear()
        for batch in failures:
            if not batch.reported and batch.error is not None:
                raise batch.error

    async def _may_send(self, topic: str) -> None:
        client, sender_loop = self._started()
        if sender_loop.error is not None:
            raise sender_loop.error
        if self._manager is not None:
            self._manager.check_in_transaction()
            if self._manager.registration is not None:
                self._manager.registration.check_topic(topic)
        if topic not in self._accumulator.topics:
            known = await client.metadata.topic(topic)
            self._accumulator.set_partitions(topic, known.partition_count)

    async def _roomy_batch(
        self, topic: str, key: bytes | None, partition: int | None, size: int
    ) -> Batch:
        """The slow path of ``send``: wait for memory, and open a batch."""
        accumulator = self._accumulator
        client, sender_loop = self._started()
        most = self._settings.request_bytes_max
        if size > most:
            raise RecordTooLargeError(f"The record has {size} bytes; max_request_size is {most}.")
        full = accumulator.full
        if (
            full >= _FULL_BATCHES_BEFORE_A_BREATH
            or full * accumulator.batch_size >= _BYTES_BEFORE_A_BREATH
        ):
            sender_loop.run()
            await asyncio.sleep(0)
        while not accumulator.has_memory(size):
            await sender_loop.room()
        # Other tasks may have changed all of this meanwhile.
        await self._may_send(topic)
        queue = accumulator.queue_for(topic, key, partition)
        batch = queue.open
        if batch is not None and batch.size_bytes + size <= batch.limit_bytes:
            return batch
        if key is None and partition is None:
            accumulator.close_batch(queue)
            queue = accumulator.next_sticky(topic)
            batch = queue.open
            if batch is not None and batch.size_bytes + size <= batch.limit_bytes:
                return batch
        batch = accumulator.open_batch(queue, size, client.now_ms())
        sender_loop.opened(batch)
        return batch

    def _started(self) -> tuple[NetworkClient, SenderLoop]:
        client = self._connected()
        assert self._sender_loop is not None
        return client, self._sender_loop
