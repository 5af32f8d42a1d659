"""``BatchProducer``: batches that are encoded already, also into a transaction of others."""

from __future__ import annotations

from types import TracebackType
from typing import Final, Self

from fencepost_protocol.records.compression import Compression

from fencepost_client.adapters.client import Client
from fencepost_client.adapters.client_settings import ClientSettings
from fencepost_client.adapters.delivery import Delivery
from fencepost_client.adapters.pump import Pump
from fencepost_client.admin.transactions import describe_producers
from fencepost_client.errors import (
    AuthorizationError,
    IllegalStateError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from fencepost_client.producer.accumulator import Accumulator
from fencepost_client.producer.settings import SenderSettings
from fencepost_client.producer.shared import OpenTransaction, SharedTransactionManager
from fencepost_client.types import TopicPartition

BUFFER_BYTES: Final = 32 << 20


class BatchProducer:
    """Sends batches that were encoded elsewhere, each exactly once and in order.

        async with BatchProducer(settings, transaction) as producer:
            await producer.send("orders", 0, build_batch(None, values, now_ms, transactional=True))
            await producer.flush()      # all is acknowledged; whoever began may commit

    With an ``OpenTransaction`` it writes under the producer id and epoch of whoever has begun that.
    Sequences begin with 0 in each partition: a partition has one writer in a transaction, which
    sends all it has by one object. Without one it gets a producer id of its own. Batches that the
    broker finds too large are sent in halves, and what got no answer is sent again, as by a
    ``Producer``.
    """

    def __init__(
        self,
        settings: ClientSettings,
        transaction: OpenTransaction | None = None,
        *,
        compression: Compression = Compression.NONE,
        delivery_timeout_ms: int = 120_000,
        buffer_bytes: int = BUFFER_BYTES,
    ) -> None:
        self.transaction = transaction
        self._client_settings = settings
        self._settings = SenderSettings(
            linger_ms=0,
            delivery_timeout_ms=delivery_timeout_ms,
            request_timeout_ms=settings.request_timeout_ms,
            retry_backoff_ms=settings.retry_backoff_ms,
            retry_backoff_max_ms=settings.retry_backoff_max_ms,
            compression=compression,  # of halves: whole batches come as they are
            transactional_id=transaction.transactional_id if transaction is not None else None,
        )
        self._settings.check()
        self._manager: SharedTransactionManager | None = None
        if transaction is not None:
            self._manager = SharedTransactionManager(transaction, settings.chance)
        self._accumulator = Accumulator(settings.chance, batch_size=0, buffer_memory=buffer_bytes)
        self._client: Client | None = None
        self._pump: Pump | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def start(self) -> None:
        """Connect."""
        client = self._client = Client(self._client_settings)
        self._pump = Pump(client, self._accumulator, self._settings, self._manager)
        if self._manager is not None:
            self._pump.sender.begin_epoch(self._manager.identity)
        try:
            await client.start()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the connections; what was not flushed may be written or not."""
        if self._client is not None and self._pump is not None:
            await self._client.close()
            self._pump.stop()

    async def partition_count(self, topic: str) -> int:
        """How many partitions a topic has; waits for it while it is being created."""
        client, _ = self._started()
        count = (await client.topic(topic)).partition_count
        self._accumulator.set_partitions(topic, count)
        return count

    async def topic_id(self, topic: str) -> bytes | None:
        """The id of a topic as the cluster told it last; one that is made anew has another."""
        client, _ = self._started()
        return client.topic_id(topic)

    async def has_writer(self, topic: str, partition: int) -> bool:
        """Whether somebody has written to the partition in this transaction (KIP-664).

        A broker that does not tell, or not to this principal, counts as nobody.
        """
        client, _ = self._started()
        if self.transaction is None:
            return False
        where = TopicPartition(topic, partition)
        try:
            found = await client.run(describe_producers([where], None, client.backoff()))
        except (AuthorizationError, UnsupportedVersionError):
            return False
        ours = self.transaction.producer_id, self.transaction.producer_epoch
        return any(
            (each.producer_id, each.producer_epoch) == ours and each.last_sequence is not None
            for each in found[where]
        )

    async def send(self, topic: str, partition: int, batch: bytearray) -> Delivery:
        """Hand over a batch, which has to say whether it is transactional; it is numbered here.

        Waits while ``buffer_bytes`` are on their way.
        """
        _, pump = self._started()
        if topic not in self._accumulator.topics:
            await self.partition_count(topic)
        queues = self._accumulator.topics[topic].queues
        if not 0 <= partition < len(queues):
            raise UnknownTopicOrPartitionError(
                f"There is no {topic}-{partition}: the topic has {len(queues)} partitions."
            )
        if self._manager is not None:
            self._manager.check_in_transaction()
        while not self._accumulator.has_memory(len(batch)):
            await pump.room()
        client, _ = self._started()
        encoded = self._accumulator.add_encoded(queues[partition], batch, client.now_ms())
        pump.opened(encoded)
        return Delivery(encoded, 0)

    async def flush(self) -> None:
        """Wait for all outcomes; raises the first error."""
        _, pump = self._started()
        await pump.outcomes()
        for batch in pump.failures:
            if batch.error is not None:
                raise batch.error

    def _started(self) -> tuple[Client, Pump]:
        if self._client is None or self._pump is None:
            raise IllegalStateError("the producer is not started: `async with BatchProducer(...)`")
        return self._client, self._pump
