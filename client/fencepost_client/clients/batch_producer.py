"""``BatchProducer``: sends encoded batches, also in a transaction of another process."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.records.compression import Compression

from fencepost_client.admin.transactions import describe_producers
from fencepost_client.clients.base import BaseClient
from fencepost_client.clients.delivery import Delivery
from fencepost_client.clients.sender_loop import SenderLoop
from fencepost_client.errors import (
    AuthorizationError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from fencepost_client.network.client_settings import ClientSettings
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.producer.accumulator import Accumulator
from fencepost_client.producer.sender_settings import SenderSettings
from fencepost_client.producer.shared_transaction import OpenTransaction, SharedTransactionManager
from fencepost_client.types import TopicPartition

BUFFER_BYTES: Final = 32 << 20


class BatchProducer(BaseClient):
    """Sends batches that were encoded elsewhere, each exactly once and in order.

        async with BatchProducer(settings, transaction) as producer:
            await producer.send("orders", 0, build_batch(None, values, now_ms, transactional=True))
            await producer.flush()      # all batches are acknowledged: the transaction may commit

    With an ``OpenTransaction`` it writes with the producer id and epoch of that transaction.
    Sequences begin with 0 in each partition, so a partition must have only one writer in a
    transaction, and that writer must use one object. Without an ``OpenTransaction`` it gets its own
    producer id. As in ``Producer``, batches that are too large for the broker are sent in halves,
    and batches without an answer are sent again.

    ``client``, a connected one that no other producer uses meanwhile, stays open at the end;
    without it the producer has connections of its own.
    """

    def __init__(
        self,
        settings: ClientSettings,
        transaction: OpenTransaction | None = None,
        *,
        compression: Compression = Compression.NONE,
        delivery_timeout_ms: int = 120_000,
        buffer_bytes: int = BUFFER_BYTES,
        client: NetworkClient | None = None,
    ) -> None:
        self.transaction = transaction
        self._client_settings = settings
        self._settings = SenderSettings(
            linger_ms=0,
            delivery_timeout_ms=delivery_timeout_ms,
            request_timeout_ms=settings.request_timeout_ms,
            retry_backoff_ms=settings.retry_backoff_ms,
            retry_backoff_max_ms=settings.retry_backoff_max_ms,
            compression=compression,  # for halves; whole batches are sent as they are
            transactional_id=transaction.transactional_id if transaction is not None else None,
        )
        self._settings.check()
        self._manager: SharedTransactionManager | None = None
        if transaction is not None:
            self._manager = SharedTransactionManager(transaction, settings.chance)
        self._accumulator = Accumulator(settings.chance, batch_size=0, buffer_memory=buffer_bytes)
        self._sender_loop: SenderLoop | None = None
        self._lent = client

    async def start(self) -> None:
        """Connect, unless there is a client already."""
        if self._lent is None:
            await super().start()
        else:
            self._client = self._lent
            self._send_by(self._lent)

    async def _begin(self, client: NetworkClient) -> None:
        self._send_by(client)
        await client.start()

    def _send_by(self, client: NetworkClient) -> None:
        loop = self._sender_loop = SenderLoop(
            client, self._accumulator, self._settings, self._manager
        )
        if self._manager is not None:
            loop.sender.begin_epoch(self._manager.identity)

    async def close(self) -> None:
        """Close the connections; records that were not flushed may be written or not."""
        if self._lent is None:
            await super().close()
        else:
            self._stop()
            self._lent.on_change = lambda: None

    def _stop(self) -> None:
        if self._sender_loop is not None:
            self._sender_loop.stop()

    async def partition_count(self, topic: str) -> int:
        """The number of partitions of a topic; waits while the topic is being created."""
        client = self._connected()
        count = (await client.metadata.topic(topic)).partition_count
        self._accumulator.set_partitions(topic, count)
        return count

    async def topic_id(self, topic: str) -> bytes | None:
        """The id of a topic in the last metadata, or ``None``."""
        client = self._connected()
        return client.metadata.topic_id(topic)

    async def has_writer(self, topic: str, partition: int) -> bool:
        """Whether the partition has records of this transaction (KIP-664).

        False also if the broker does not support the question, or refuses it.
        """
        client = self._connected()
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
        """Send a batch. Its sequence is set here; it must say itself whether it is transactional.

        Waits while ``buffer_bytes`` are unacknowledged.
        """
        sender_loop = self._sending()
        if topic not in self._accumulator.topics:
            await self.partition_count(topic)
        queues = self._accumulator.topics[topic].queues
        if not 0 <= partition < len(queues):
            raise UnknownTopicOrPartitionError(
                f"Partition {topic}-{partition} does not exist: the topic has {len(queues)} "
                f"partitions."
            )
        if self._manager is not None:
            self._manager.check_in_transaction()
        while not self._accumulator.has_memory(len(batch)):
            await sender_loop.room()
        client = self._connected()
        encoded = self._accumulator.add_encoded(queues[partition], batch, client.now_ms())
        sender_loop.opened(encoded)
        return Delivery(encoded, 0)

    async def flush(self) -> None:
        """Wait for the outcomes of all batches; raises the first error."""
        sender_loop = self._sending()
        await sender_loop.outcomes()
        for batch in sender_loop.failures:
            if batch.error is not None:
                raise batch.error

    def _sending(self) -> SenderLoop:
        self._connected()
        assert self._sender_loop is not None
        return self._sender_loop
