"""``Producer``: sends records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Literal, Unpack

from fencepost_client.clients.record_sender import RecordSender
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
    TransactionAbortedError,
    UnsupportedVersionError,
)
from fencepost_client.metrics import RequestMetrics
from fencepost_client.network.client_settings import ClientSettings, read_bootstrap
from fencepost_client.network.security import SecuritySettings, read_security
from fencepost_client.producer.accumulator import BATCH_SIZE, Accumulator
from fencepost_client.producer.partitioner import Partitioner, by_murmur2
from fencepost_client.producer.preregistration import FEATURE, Registration
from fencepost_client.producer.sender_settings import LINGER_MS, TRANSFORMING_MS, SenderSettings
from fencepost_client.producer.stages import OPEN, Stage
from fencepost_client.producer.transaction_manager import VERSION_2, TransactionManager
from fencepost_client.types import (
    GroupMetadata,
    OffsetAndMetadata,
    PreparedTxnState,
    TopicPartition,
    as_offsets,
)

if TYPE_CHECKING:
    from fencepost_client.clients.history import History


class Producer(RecordSender):
    """Sends records, in batches, each exactly once and in order within its partition.

        async with Producer("localhost:9092") as producer:
            delivery = await producer.send("orders", b"value", key=b"key")
            metadata = await delivery                # where the record is now
            await producer.send_and_wait("orders", b"value")

    ``await send(...)`` waits for memory and metadata only, not for the broker. With a
    ``transactional_id`` records are sent within ``async with producer.transaction()``.
    """

    def __init__(
        self,
        bootstrap_servers: str | Sequence[str],
        *,
        client_id: str = "fencepost-producer",
        acks: Acks = "all",
        enable_idempotence: bool = True,
        transactional_id: str | None = None,
        transaction_timeout_ms: int | None = None,
        transaction_two_phase_commit_enable: bool = False,
        keep_prepared_txn: bool = False,
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
        history: History | None = None,
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
        settings = SenderSettings(
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
        settings.check()
        if transaction_two_phase_commit_enable and transaction_timeout_ms is not None:
            raise ConfigError(
                "transaction_timeout_ms cannot be set with transaction_two_phase_commit_enable: "
                "such a transaction has no timeout"
            )
        chance = client_settings.chance
        accumulator = Accumulator(
            chance, batch_size=batch_size, buffer_memory=buffer_memory, partitioner=partitioner
        )
        manager: TransactionManager | None = None
        if transactional_id is not None:
            manager = TransactionManager(
                transactional_id,
                transaction_timeout_ms,
                chance,
                can_prepare=transaction_two_phase_commit_enable,
                keeps_prepared=keep_prepared_txn,
            )
        super().__init__(client_settings, settings, accumulator, manager)
        if history is not None:
            self._history = history.client(client_id)
        self._transaction_timeout_ms = transaction_timeout_ms
        self._consumer: GroupMember | None = None
        self.is_abort_given_up = False
        """The last abort got no answer; see ``abort_at_last``."""

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Producer:
        """Make a producer with settings by Kafka's names.

        producer = Producer.from_config({"bootstrap.servers": "localhost:9092"})
        """
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
        """Make a transactional producer for a consumer: ``send_offsets`` then needs no group.

            producer = Producer.transactional("billing-1", consumer=consumer)
            async with producer, producer.transaction() as transaction:
                await transaction.send_offsets(consumer.positions())

        Without ``bootstrap_servers`` the producer uses the consumer's. The default of
        ``transaction_timeout_ms`` is 10 s.
        """
        servers = bootstrap_servers or getattr(consumer, "bootstrap_servers", None)
        if servers is None:
            raise ConfigError("bootstrap_servers is missing, and the consumer has none")
        if not settings.get("transaction_two_phase_commit_enable"):
            settings.setdefault("transaction_timeout_ms", TRANSFORMING_MS)
        made = cls(servers, transactional_id=transactional_id, **settings)
        made._consumer = consumer
        return made

    @property
    def stage(self) -> Stage:
        """The stage of a transactional producer."""
        return self._transactional().stage

    @property
    def is_prepared(self) -> bool:
        """Whether a transaction waits for ``complete`` (KIP-939)."""
        return self.stage is Stage.PREPARED

    @property
    def transaction_timeout_ms(self) -> int:
        """The time after which the coordinator aborts an open transaction."""
        return self._transactional().timeout_ms

    @property
    def is_started(self) -> bool:
        """Whether ``start`` was called."""
        return self._client is not None

    def prefer_transaction_timeout(self, timeout_ms: int) -> None:
        """Use this transaction timeout, unless the settings have one; call it before ``start``."""
        if self._transaction_timeout_ms is None:
            self._transactional().timeout_ms = timeout_ms

    # -- beginning and end ---------------------------------------------------------------------

    async def start(self) -> None:
        """Connect; a transactional producer also gets its producer id and fences earlier ones."""
        settings = self._settings
        with self._recorded(
            "open",
            acks="all" if settings.acks < 0 else str(settings.acks),
            idempotent=settings.idempotent,
            transactional_id=settings.transactional_id or "",
        ):
            await super().start()

    async def _exit(self, *, is_failure: bool) -> None:
        await self.close(flush=not is_failure)

    async def close(self, *, flush: bool = True) -> None:
        """Send waiting records, or abort an open transaction, and disconnect.

        Sending takes at most ``delivery_timeout_ms``, an abort 10 s. Raises the error of a record
        that was not delivered, unless its ``Delivery`` was asked before.
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

    # -- transactions --------------------------------------------------------------------------

    def transaction(
        self, *, partitions: Iterable[TopicPartition] | None = None, group_id: str | None = None
    ) -> Transaction:
        """Begin a transaction that commits at the end of the block, and aborts on an exception.

        async with producer.transaction() as transaction:
            await transaction.send("orders", b"42")
            await transaction.send_offsets(offsets, consumer.group_metadata())

        ``partitions`` and ``group_id`` are those of ``begin``.
        """
        return Transaction(self, partitions, group_id)

    def begin(
        self, *, partitions: Iterable[TopicPartition] | None = None, group_id: str | None = None
    ) -> None:
        """Begin a transaction.

        ``partitions`` and ``group_id`` register, with one request (KIP-609), everything that the
        transaction will write to; anything else raises an error then. Raises
        ``UnsupportedVersionError`` for a broker without pre-registration, such as Apache Kafka.

            producer.begin(partitions=[TopicPartition("invoices", 0)], group_id="billing")
        """
        client, sender_loop = self._started()
        manager = self._transactional()
        registration = None
        if partitions is not None or group_id is not None:
            registration = Registration(partitions, group_id)
            if not client.connections.feature(FEATURE):
                raise UnsupportedVersionError(
                    "The cluster does not support pre-registration (KIP-609): begin without "
                    "partitions and group_id."
                )
        manager.begin(client.connections.feature("transaction.version"), registration)
        self.is_abort_given_up = False
        if self._history is not None:
            self._history.begin_transaction()
        self._accumulator.allow(registration.partitions if registration is not None else None)
        if registration is not None:
            sender_loop.run()

    async def commit(self) -> None:
        """Send waiting records and commit. After a timeout, call it again to learn the outcome."""
        manager = self._transactional()
        client, sender_loop = self._started()
        if manager.stage is Stage.IN_TRANSACTION:
            await self._written()
        with self._recorded_end("commit"):
            sender_loop.begin_epoch(await client.run(manager.end(commit=True)))

    async def _written(self) -> None:
        _, sender_loop = self._started()
        await sender_loop.outcomes()
        # A batch that failed has ended the transaction, and the next call raises its error.
        sender_loop.failures.clear()
        await sender_loop.added()

    async def prepare(self) -> PreparedTxnState:
        """Send waiting records, and return what identifies the transaction (KIP-939).

            async with producer.transaction() as transaction:
                await transaction.send("orders", b"42")
                database.execute("UPDATE prepared SET state = ?", [str(await producer.prepare())])
                database.commit()        # decides the outcome of both

        From now on, only ``commit``, ``abort`` and ``complete`` are allowed. The transaction stays
        open until one of them, also after an exception, ``close``, or the end of the program. This
        is ``prepareTransaction`` in Java, and needs ``transaction_two_phase_commit_enable``.
        """
        manager = self._transactional()
        if not manager.can_prepare:
            raise IllegalStateError("prepare needs transaction_two_phase_commit_enable")
        if manager.version < VERSION_2:
            # Transactions of one producer would all have the same epoch, and so the same state.
            raise UnsupportedVersionError("Two-phase commit needs transaction.version 2.")
        if manager.stage is Stage.IN_TRANSACTION:
            await self._written()
        return manager.prepare()

    async def complete(self, state: PreparedTxnState | str) -> None:
        """Commit if ``state`` is that of the prepared transaction, and abort it otherwise.

            async with Producer(
                servers,
                transactional_id="orders-1",
                transaction_two_phase_commit_enable=True,
                keep_prepared_txn=True,
            ) as producer:
                await producer.complete(state_in_the_database)

        Nothing happens if no transaction was open at the start. This is ``completeTransaction`` in
        Java.
        """
        if isinstance(state, str):
            state = PreparedTxnState.parse(state)
        prepared = self._transactional().prepared
        if prepared is None:
            raise IllegalStateError(
                "no transaction is prepared: call prepare, or start with keep_prepared_txn"
            )
        if not prepared.has_transaction:
            return
        if state == prepared:
            await self.commit()
        else:
            await self.abort()

    async def abort(self) -> None:
        """Drop waiting records, and abort."""
        manager = self._transactional()
        client, sender_loop = self._started()
        sender_loop.sender.drop_waiting(
            TransactionAbortedError("The transaction was aborted before the record was sent.")
        )
        # Requests under way end first, or a broker could write their records after the abort.
        await sender_loop.outcomes()
        await sender_loop.returned()
        await sender_loop.added()
        sender_loop.failures.clear()
        with self._recorded_end("abort"):
            sender_loop.begin_epoch(await client.run(manager.end(commit=False)))

    async def send_offsets(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group: GroupMetadata | None = None,
    ) -> None:
        """Commit a consumer's offsets with the transaction (KIP-447).

            await producer.send_offsets(consumer.positions(), consumer.group_metadata())

        A producer that ``transactional`` has made for a consumer needs no ``group``.
        """
        if group is None and self._consumer is not None:
            group = self._consumer.group_metadata()
        if not isinstance(group, GroupMetadata):
            raise TypeError(
                f"send_offsets takes consumer.group_metadata(), not {group!r}: a group id alone "
                f"cannot fence a member that lost its partitions (KIP-447)"
            )
        given = as_offsets(offsets)
        client, sender_loop = self._started()
        await sender_loop.added()
        history = self._history
        with nullcontext() if history is None else history.offsets(group.group_id, given):
            await client.run(self._transactional().send_offsets(given, group))

    def _recorded_end(self, op: Literal["commit", "abort"]) -> AbstractContextManager[None]:
        # Without a transaction, the call raises an error.
        if self._history is None or not self._history.transaction:
            return nullcontext()
        return self._history.operation(op, transaction=self._history.transaction)

    def _transactional(self) -> TransactionManager:
        if self._manager is None:
            raise IllegalStateError("the producer has no transactional_id")
        return self._manager
