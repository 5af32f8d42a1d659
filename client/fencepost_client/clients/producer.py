"""``Producer``: records in, acknowledgements out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from time import time_ns
from typing import Any, Final, Unpack

from fencepost_client.clients.base import BaseClient
from fencepost_client.clients.delivery import Deliveries, Delivery
from fencepost_client.clients.sender_loop import SenderLoop
from fencepost_client.clients.transaction import GroupMember, Transaction, abort_at_last
from fencepost_client.config.kafka_names import (
    PRODUCER_NAMES,
    from_kafka_names,
    read_acks,
    read_compression,
)
from fencepost_client.config.settings import PRODUCER, Acks, CompressionName, check_settings
from fencepost_client.errors import (
    ConfigError,
    IllegalStateError,
    RecordTooLargeError,
    TransactionAbortedError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from fencepost_client.metrics import RequestMetrics
from fencepost_client.network.client_settings import ClientSettings, read_bootstrap
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.network.security import SecuritySettings, read_security
from fencepost_client.producer.accumulator import BATCH_SIZE, Accumulator
from fencepost_client.producer.batch import Batch, size_of
from fencepost_client.producer.partitioner import Partitioner, by_murmur2
from fencepost_client.producer.preregistration import FEATURE, Registration
from fencepost_client.producer.record_columns import Columns, as_bytes
from fencepost_client.producer.sender_settings import LINGER_MS, TRANSFORMING_MS, SenderSettings
from fencepost_client.producer.stages import OPEN, Stage
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.types import (
    GroupMetadata,
    Headers,
    OffsetAndMetadata,
    RecordMetadata,
    TopicPartition,
)

_BYTES_BEFORE_A_BREATH: Final = 1 << 17
_FULL_BATCHES_BEFORE_A_BREATH: Final = 8
"""So much in full batches, or so many, and the next ``send`` lets the loop write them."""


class Producer(BaseClient):
    """Sends records, in batches, each exactly once and in order within its partition.

        async with Producer("localhost:9092") as producer:
            delivery = await producer.send("orders", b"value", key=b"key")
            metadata = await delivery                # where the record is now
            await producer.send_and_wait("orders", b"value")

    ``await send(...)`` waits for memory and metadata only, not for the broker. With a
    ``transactional_id`` records are sent within ``async with producer.transaction()``.
    """

    _sender_loop: SenderLoop | None = None

    def __init__(
        self,
        bootstrap_servers: str | Sequence[str],
        *,
        client_id: str = "fencepost-producer",
        acks: Acks = "all",
        enable_idempotence: bool = True,
        transactional_id: str | None = None,
        transaction_timeout_ms: int | None = None,
        compression: CompressionName = "none",
        batch_size: int = BATCH_SIZE,
        linger_ms: int = LINGER_MS,
        buffer_memory: int = 32 << 20,
        max_request_size: int = 1 << 20,
        max_in_flight: int = 5,
        partitioner: Partitioner = by_murmur2,
        delivery_timeout_ms: int = 120_000,
        request_timeout_ms: int = 30_000,
        max_block_ms: int = 60_000,
        retry_backoff_ms: int = 100,
        retry_backoff_max_ms: int = 1_000,
        metadata_max_age_ms: int = 300_000,
        metrics: RequestMetrics | None = None,
        **security: Unpack[SecuritySettings],
    ) -> None:
        check_settings("Producer", PRODUCER, locals())
        client_settings = ClientSettings(
            read_bootstrap(bootstrap_servers),
            client_id=client_id,
            request_timeout_ms=request_timeout_ms,
            api_timeout_ms=max_block_ms,
            retry_backoff_ms=retry_backoff_ms,
            retry_backoff_max_ms=retry_backoff_max_ms,
            metadata_max_age_ms=metadata_max_age_ms,
            security=read_security(**security),
            metrics=metrics,
        )
        super().__init__(client_settings)
        self._settings = SenderSettings(
            acks=read_acks(acks),
            linger_ms=linger_ms,
            delivery_timeout_ms=delivery_timeout_ms,
            request_timeout_ms=request_timeout_ms,
            request_bytes_max=max_request_size,
            in_flight_max=max_in_flight,
            retry_backoff_ms=retry_backoff_ms,
            retry_backoff_max_ms=retry_backoff_max_ms,
            compression=read_compression(compression),
            idempotent=enable_idempotence,
            transactional_id=transactional_id,
        )
        self._settings.check()
        chance = client_settings.chance
        self._accumulator = Accumulator(
            chance, batch_size=batch_size, buffer_memory=buffer_memory, partitioner=partitioner
        )
        self._manager: TransactionManager | None = None
        if transactional_id is not None:
            self._manager = TransactionManager(transactional_id, transaction_timeout_ms, chance)
        self._transaction_timeout_ms = transaction_timeout_ms
        self._consumer: GroupMember | None = None
        self.is_abort_given_up = False
        """Nobody has answered the last attempt to abort what is open; see ``abort_at_last``."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Producer:
        """A producer by Kafka's names: ``{"bootstrap.servers": "localhost:9092"}``."""
        return cls(**from_kafka_names(config, PRODUCER_NAMES))

    @classmethod
    def transactional(
        cls,
        transactional_id: str,
        *,
        consumer: GroupMember,
        bootstrap_servers: str | Sequence[str] | None = None,
        **settings: Any,
    ) -> Producer:
        """A producer that is bound to a consumer: its offsets need no group.

            producer = Producer.transactional("billing-1", consumer=consumer)
            async with producer, producer.transaction() as transaction:
                await transaction.send_offsets(consumer.positions())

        Without ``bootstrap_servers`` it connects where the consumer does. By default its
        ``transaction_timeout_ms`` is 10 s.
        """
        servers = bootstrap_servers or getattr(consumer, "bootstrap_servers", None)
        if servers is None:
            raise ConfigError("bootstrap_servers is missing, and the consumer does not have it")
        settings.setdefault("transaction_timeout_ms", TRANSFORMING_MS)
        made = cls(servers, transactional_id=transactional_id, **settings)
        made._consumer = consumer
        return made

    @property
    def stage(self) -> Stage:
        """Where a transactional producer stands."""
        return self._transactional().stage

    @property
    def transaction_timeout_ms(self) -> int:
        """After this time the coordinator aborts a transaction that has not ended."""
        return self._transactional().timeout_ms

    @property
    def is_started(self) -> bool:
        """Whether ``start`` was called."""
        return self._client is not None

    def prefer_transaction_timeout(self, timeout_ms: int) -> None:
        """Have this timeout from the start on, unless one was set."""
        if self._transaction_timeout_ms is None:
            self._transactional().timeout_ms = timeout_ms

    # -- beginning and end ---------------------------------------------------------------------

    def __del__(self) -> None:
        if self._sender_loop is not None and self._client is not None and not self._client.closed:
            self._sender_loop.warn_unclosed()

    async def start(self) -> None:
        """Connect; a transactional producer also gets its producer id and fences earlier ones."""
        await super().start()

    async def _begin(self, client: NetworkClient) -> None:
        loop = self._sender_loop = SenderLoop(
            client, self._accumulator, self._settings, self._manager
        )
        await client.start()
        if self._manager is not None:
            loop.begin_epoch(await client.run(self._manager.initialize()))

    def _stop(self) -> None:
        if self._sender_loop is not None:
            self._sender_loop.stop()

    async def _exit(self, *, is_failure: bool) -> None:
        await self.close(flush=not is_failure)

    async def close(self, *, flush: bool = True) -> None:
        """Send what waits (``delivery_timeout_ms``), or abort what is open (10 s), and disconnect.

        Raises the error of a record that was not delivered and that nobody asked about.
        """
        if self._client is None or self._client.closed:
            return
        try:
            if self._manager is not None and self._manager.stage in OPEN:
                await abort_at_last(self)
            elif flush:
                await self.flush()
        finally:
            await super().close()

    # -- sending -------------------------------------------------------------------------------

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
        """Hand over a record; it travels with others of its partition.

        Waits while the topic is not known or ``buffer_memory`` is full; when it is cancelled there,
        the record was not taken.

            delivery = await producer.send("orders", b"42", key=b"customer-7")
        """
        if value.__class__ is not bytes and value is not None:
            value = as_bytes("value", value)
        if key.__class__ is not bytes and key is not None:
            key = as_bytes("key", key)
        size = size_of(key, value, headers)
        accumulator = self._accumulator
        sender_loop = self._sender_loop
        if (
            sender_loop is None
            or sender_loop.error is not None
            or self._manager is not None
            or topic not in accumulator.topics
        ):
            await self._may_send(topic)
        try:
            queue = accumulator.queue_for(topic, key, partition)
        except IndexError:
            raise UnknownTopicOrPartitionError(f"There is no {topic}-{partition}.") from None
        if self._manager is not None and self._manager.registration is not None:
            self._manager.registration.check_partition(topic, queue.partition)
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
        """Send a record and wait until it is acknowledged.

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
        """Send many records, as columns: no object is made for a record, and no call.

            deliveries = await producer.send_many("orders", values, keys=keys, partition=0)
            await deliveries

        Keys without a ``partition`` are the exception: each goes where its hash says, one by one.
        Cancelled, it has taken some, from the first on, and these are sent.
        """
        columns = Columns(values, keys)
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
        """As ``send`` finds it, for a record whose key does not decide."""
        try:
            queue = self._accumulator.queue_for(topic, None, partition)
        except IndexError:
            raise UnknownTopicOrPartitionError(f"There is no {topic}-{partition}.") from None
        if self._manager is not None and self._manager.registration is not None:
            self._manager.registration.check_partition(topic, queue.partition)
        batch = queue.open
        if batch is None or batch.size_bytes + size > batch.limit_bytes:
            batch = await self._roomy_batch(topic, None, partition, size)
        return batch

    async def flush(self) -> None:
        """Send everything at once and wait for all outcomes.

        Raises the first error that no ``Delivery`` has told; the others are forgotten.
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
        """The slow path of ``send``: a new batch, when there is memory for it."""
        accumulator = self._accumulator
        client, sender_loop = self._started()
        most = self._settings.request_bytes_max
        if size > most:
            raise RecordTooLargeError(f"The record takes {size} bytes, max_request_size is {most}.")
        full = accumulator.full
        if (
            full >= _FULL_BATCHES_BEFORE_A_BREATH
            or full * accumulator.batch_size >= _BYTES_BEFORE_A_BREATH
        ):
            sender_loop.run()
            await asyncio.sleep(0)
        while not accumulator.has_memory(size):
            await sender_loop.room()
        # Others may have had their turn meanwhile.
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

    # -- transactions --------------------------------------------------------------------------

    def transaction(
        self, *, partitions: Iterable[TopicPartition] | None = None, group_id: str | None = None
    ) -> Transaction:
        """A transaction that is committed at the end of the block and aborted by an exception.

        async with producer.transaction() as transaction:
            await transaction.send("orders", b"42")
            await transaction.send_offsets(offsets, consumer.group_metadata())

        ``partitions`` and ``group_id`` register what it will touch (see ``begin``).
        """
        return Transaction(self, partitions, group_id)

    def begin(
        self, *, partitions: Iterable[TopicPartition] | None = None, group_id: str | None = None
    ) -> None:
        """Begin a transaction.

        With ``partitions`` and ``group_id`` all that it will touch is registered by one request
        (KIP-609), which is under way while the work begins; what is outside is refused then. A
        broker that has no pre-registration, such as Apache Kafka, is ``UnsupportedVersionError``.

            producer.begin(partitions=[TopicPartition("invoices", 0)], group_id="billing")
        """
        client, sender_loop = self._started()
        manager = self._transactional()
        registration = None
        if partitions is not None or group_id is not None:
            registration = Registration(partitions, group_id)
            if not client.connections.feature(FEATURE):
                raise UnsupportedVersionError(
                    "The cluster has no pre-registration (KIP-609): begin without partitions and "
                    "group_id."
                )
        manager.begin(client.connections.feature("transaction.version"), registration)
        self.is_abort_given_up = False
        self._accumulator.allow(registration.partitions if registration is not None else None)
        if registration is not None:
            sender_loop.run()

    async def commit(self) -> None:
        """Send what waits and commit. After a time-out the outcome is open: call it again."""
        manager = self._transactional()
        client, sender_loop = self._started()
        if manager.stage is Stage.IN_TRANSACTION:
            await sender_loop.outcomes()
            # A batch that failed has ended the transaction, which tells why.
            sender_loop.failures.clear()
            await sender_loop.added()
        sender_loop.begin_epoch(await client.run(manager.end(commit=True)))

    async def abort(self) -> None:
        """Drop what waits, and abort."""
        manager = self._transactional()
        client, sender_loop = self._started()
        sender_loop.sender.drop_waiting(
            TransactionAbortedError("The transaction was aborted before it was sent.")
        )
        # What is under way comes back first, or it could be written after the abort.
        await sender_loop.outcomes()
        await sender_loop.returned()
        await sender_loop.added()
        sender_loop.failures.clear()
        sender_loop.begin_epoch(await client.run(manager.end(commit=False)))

    async def send_offsets(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group: GroupMetadata | None = None,
    ) -> None:
        """Commit a consumer's offsets with the transaction (KIP-447).

            await producer.send_offsets(consumer.positions(), consumer.group_metadata())

        The group may be left out where the producer is bound to a consumer (``transactional``).
        """
        if group is None and self._consumer is not None:
            group = self._consumer.group_metadata()
        if not isinstance(group, GroupMetadata):
            raise TypeError(
                f"send_offsets takes consumer.group_metadata(), not {group!r}: a group id alone "
                f"cannot fence a member that lost its partitions (KIP-447)"
            )
        given = {
            where: offset if isinstance(offset, OffsetAndMetadata) else OffsetAndMetadata(offset)
            for where, offset in offsets.items()
        }
        client, sender_loop = self._started()
        await sender_loop.added()
        await client.run(self._transactional().send_offsets(given, group))

    def _transactional(self) -> TransactionManager:
        if self._manager is None:
            raise IllegalStateError("the producer has no transactional_id")
        return self._manager
