# Generated from the asyncio classes by fencepost_client.clients.blocking.codegen. Do not edit.
"""``fencepost_client.blocking``: the classes, without ``async``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fencepost_client.admin.cluster import ClusterDescription, FeatureLevel, Features, Listener, QuorumDescription
from fencepost_client.admin.configs import Change, ConfigEntry, ConfigResource, ResourceKind
from fencepost_client.admin.delegation_tokens import DelegationToken
from fencepost_client.admin.groups import GroupDescription, GroupListing, MemberToRemove
from fencepost_client.admin.hanging import HangingTransaction, TransactionMarker
from fencepost_client.admin.log_dirs import LogDirDescription, TopicPartitionReplica
from fencepost_client.admin.partitions import Election, ListedOffset
from fencepost_client.admin.quotas_and_users import DeletePassword, QuotaEntity, QuotaName, ScramMechanism, SetPassword
from fencepost_client.admin.reassignments import Reassignment
from fencepost_client.admin.share_offsets import SharePartitionOffset
from fencepost_client.admin.topics import CreatedTopic, NewPartitions, NewTopic, TopicDescription, TopicListing
from fencepost_client.admin.transactions import ProducerDescription, ProducerIdentity, TransactionDescription, TransactionListing
from fencepost_client.clients import consumer, producer, share_consumer, transaction
from fencepost_client.clients.admin import admin
from fencepost_client.clients.admin.transactions import _OLDER_THAN_MS
from fencepost_client.clients.blocking.delivery import Deliveries, Delivery
from fencepost_client.clients.blocking.face import Face, OnChange, ReadingFace, in_caller, subject_of
from fencepost_client.clients.transaction import GroupMember
from fencepost_client.config.settings import AcknowledgementMode, Acks, AcquireMode, CompressionName, GroupProtocol, IsolationLevel, OffsetReset
from fencepost_client.consumer.classic_member import DEFAULT_ASSIGNORS
from fencepost_client.consumer.record_batch import EncodedBatch, RecordBatch
from fencepost_client.consumer.share_records import ShareRecord
from fencepost_client.consumer.share_session import AcknowledgeType
from fencepost_client.errors import KafkaError
from fencepost_client.metrics import RequestMetrics
from fencepost_client.network.security import SecuritySettings
from fencepost_client.producer.accumulator import BATCH_SIZE
from fencepost_client.producer.partitioner import Partitioner, by_murmur2
from fencepost_client.producer.sender_settings import LINGER_MS
from fencepost_client.producer.stages import Stage
from fencepost_client.types import ConsumerRecord, GroupMetadata, Headers, OffsetAndMetadata, PreparedTxnState, RecordMetadata, TopicPartition
from types import TracebackType
from typing import Any, Self, TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from fencepost_client.clients.history import History


class Transaction(Face[transaction.Transaction]):
    """One transaction; see ``Producer.transaction``."""

    def __enter__(self) -> Self:
        self._wait(self._subject.__aenter__)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._wait(self._subject.__aexit__, kind, error, traceback)

    def send(self, topic: str, value: bytes | None=None, *, key: bytes | None=None, partition: int | None=None, headers: Headers=(), timestamp_ms: int | None=None) -> Delivery:
        """Add a record to a batch of its partition.

        Waits while the topic is unknown or ``buffer_memory`` is full. If it is cancelled while it
        waits, the record is not sent.

            delivery = producer.send("orders", b"42", key=b"customer-7")
        """
        return Delivery(self._wait(self._subject.send, topic, value, key=key, partition=partition, headers=headers, timestamp_ms=timestamp_ms), self._reach())

    def send_many(self, topic: str, values: Iterable[bytes | None], *, keys: Iterable[bytes | None] | None=None, partition: int | None=None, timestamp_ms: int | None=None) -> Deliveries:
        """Send many records as columns, without an object or a call for each record.

            deliveries = producer.send_many("orders", values, keys=keys, partition=0)
            deliveries.result()

        With keys and without a ``partition``, records are added one by one, each to the partition
        of its key. If it is cancelled, the records that were added before are sent.
        """
        return Deliveries(self._wait(self._subject.send_many, topic, values, keys=keys, partition=partition, timestamp_ms=timestamp_ms), self._reach())

    def send_offsets(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group: GroupMetadata | None=None) -> None:
        """Commit a consumer's offsets with the transaction (KIP-447).

            producer.send_offsets(consumer.positions(), consumer.group_metadata())

        A producer that ``transactional`` has made for a consumer needs no ``group``.
        """
        self._wait(self._subject.send_offsets, offsets, group)


class Producer(Face[producer.Producer]):
    """Sends records, in batches, each exactly once and in order within its partition.

        with Producer("localhost:9092") as producer:
            delivery = producer.send("orders", b"value", key=b"key")
            metadata = delivery.result()                # where the record is now
            producer.send_and_wait("orders", b"value")

    ``send(...)`` waits for memory and metadata only, not for the broker. With a
    ``transactional_id`` records are sent within ``with producer.transaction()``.
    """

    def __init__(self, bootstrap_servers: str | Sequence[str], *, client_id: str='fencepost-producer', acks: Acks='all', enable_idempotence: bool=True, transactional_id: str | None=None, transaction_timeout_ms: int | None=None, transaction_two_phase_commit_enable: bool=False, keep_prepared_txn: bool=False, compression: CompressionName='none', batch_size: int=BATCH_SIZE, linger_ms: int=LINGER_MS, buffer_memory: int=32 << 20, max_request_size: int=1 << 20, max_in_flight: int=5, partitioner: Partitioner=by_murmur2, delivery_timeout_ms: int=120000, request_timeout_ms: int=30000, max_block_ms: int=60000, retry_backoff_ms: int=100, retry_backoff_max_ms: int=1000, metadata_max_age_ms: int=300000, metrics: RequestMetrics | None=None, history: History | None=None, **security: Unpack[SecuritySettings]) -> None:
        self._subject = producer.Producer(bootstrap_servers, client_id=client_id, acks=acks, enable_idempotence=enable_idempotence, transactional_id=transactional_id, transaction_timeout_ms=transaction_timeout_ms, transaction_two_phase_commit_enable=transaction_two_phase_commit_enable, keep_prepared_txn=keep_prepared_txn, compression=compression, batch_size=batch_size, linger_ms=linger_ms, buffer_memory=buffer_memory, max_request_size=max_request_size, max_in_flight=max_in_flight, partitioner=partitioner, delivery_timeout_ms=delivery_timeout_ms, request_timeout_ms=request_timeout_ms, max_block_ms=max_block_ms, retry_backoff_ms=retry_backoff_ms, retry_backoff_max_ms=retry_backoff_max_ms, metadata_max_age_ms=metadata_max_age_ms, metrics=metrics, history=history, **security)
        self._portal = None

    @property
    def bootstrap_servers(self) -> list[str]:
        """The addresses that are asked first."""
        return self._subject.bootstrap_servers

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._end(self._subject.__aexit__, kind, error, traceback)

    def start(self) -> None:
        """Connect; a transactional producer also gets its producer id and fences earlier ones."""
        self._begin(self._subject.start)

    def close(self, *, flush: bool=True) -> None:
        """Send waiting records, or abort an open transaction, and disconnect.

        Sending takes at most ``delivery_timeout_ms``, an abort 10 s. Raises the error of a record
        that was not delivered, unless its ``Delivery`` was asked before.
        """
        self._end(self._subject.close, flush=flush)

    def send(self, topic: str, value: bytes | None=None, *, key: bytes | None=None, partition: int | None=None, headers: Headers=(), timestamp_ms: int | None=None) -> Delivery:
        """Add a record to a batch of its partition.

        Waits while the topic is unknown or ``buffer_memory`` is full. If it is cancelled while it
        waits, the record is not sent.

            delivery = producer.send("orders", b"42", key=b"customer-7")
        """
        return Delivery(self._wait(self._subject.send, topic, value, key=key, partition=partition, headers=headers, timestamp_ms=timestamp_ms), self._reach())

    def send_and_wait(self, topic: str, value: bytes | None=None, *, key: bytes | None=None, partition: int | None=None, headers: Headers=(), timestamp_ms: int | None=None) -> RecordMetadata:
        """Send a record and wait for its acknowledgement.

        print((producer.send_and_wait("orders", b"42")).offset)
        """
        return self._wait(self._subject.send_and_wait, topic, value, key=key, partition=partition, headers=headers, timestamp_ms=timestamp_ms)

    def send_many(self, topic: str, values: Iterable[bytes | None], *, keys: Iterable[bytes | None] | None=None, partition: int | None=None, timestamp_ms: int | None=None) -> Deliveries:
        """Send many records as columns, without an object or a call for each record.

            deliveries = producer.send_many("orders", values, keys=keys, partition=0)
            deliveries.result()

        With keys and without a ``partition``, records are added one by one, each to the partition
        of its key. If it is cancelled, the records that were added before are sent.
        """
        return Deliveries(self._wait(self._subject.send_many, topic, values, keys=keys, partition=partition, timestamp_ms=timestamp_ms), self._reach())

    def flush(self) -> None:
        """Send all records now and wait for their outcomes.

        Raises the first error that no ``Delivery`` has reported; it drops the others.
        """
        self._wait(self._subject.flush)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Producer:
        """Make a producer with settings by Kafka's names.

        producer = Producer.from_config({"bootstrap.servers": "localhost:9092"})
        """
        return cls._around(producer.Producer.from_config(config))

    @classmethod
    def transactional(cls, transactional_id: str, *, consumer: GroupMember, bootstrap_servers: str | Sequence[str] | None=None, **settings: Any) -> Producer:
        """Make a transactional producer for a consumer: ``send_offsets`` then needs no group.

            producer = Producer.transactional("billing-1", consumer=consumer)
            with producer, producer.transaction() as transaction:
                transaction.send_offsets(consumer.positions())

        Without ``bootstrap_servers`` the producer uses the consumer's. The default of
        ``transaction_timeout_ms`` is 10 s.
        """
        return cls._around(producer.Producer.transactional(transactional_id, consumer=subject_of(consumer), bootstrap_servers=bootstrap_servers, **settings))

    @property
    def stage(self) -> Stage:
        """The stage of a transactional producer."""
        return self._subject.stage

    @property
    def is_prepared(self) -> bool:
        """Whether a transaction waits for ``complete`` (KIP-939)."""
        return self._subject.is_prepared

    @property
    def transaction_timeout_ms(self) -> int:
        """The time after which the coordinator aborts an open transaction."""
        return self._subject.transaction_timeout_ms

    @property
    def is_started(self) -> bool:
        """Whether ``start`` was called."""
        return self._subject.is_started

    def prefer_transaction_timeout(self, timeout_ms: int) -> None:
        """Use this transaction timeout, unless the settings have one; call it before ``start``."""
        self._do(self._subject.prefer_transaction_timeout, timeout_ms)

    def transaction(self, *, partitions: Iterable[TopicPartition] | None=None, group_id: str | None=None) -> Transaction:
        """Begin a transaction that commits at the end of the block, and aborts on an exception.

        with producer.transaction() as transaction:
            transaction.send("orders", b"42")
            transaction.send_offsets(offsets, consumer.group_metadata())

        ``partitions`` and ``group_id`` are those of ``begin``.
        """
        return Transaction._around(self._do(self._subject.transaction, partitions=partitions, group_id=group_id), self._reach())

    def begin(self, *, partitions: Iterable[TopicPartition] | None=None, group_id: str | None=None) -> None:
        """Begin a transaction.

        ``partitions`` and ``group_id`` register, with one request (KIP-609), everything that the
        transaction will write to; anything else raises an error then. Raises
        ``UnsupportedVersionError`` for a broker without pre-registration, such as Apache Kafka.

            producer.begin(partitions=[TopicPartition("invoices", 0)], group_id="billing")
        """
        self._do(self._subject.begin, partitions=partitions, group_id=group_id)

    def commit(self) -> None:
        """Send waiting records and commit. After a timeout, call it again to learn the outcome."""
        self._wait(self._subject.commit)

    def prepare(self) -> PreparedTxnState:
        """Send waiting records, and return what identifies the transaction (KIP-939).

            with producer.transaction() as transaction:
                transaction.send("orders", b"42")
                database.execute("UPDATE prepared SET state = ?", [str(producer.prepare())])
                database.commit()        # decides the outcome of both

        From now on, only ``commit``, ``abort`` and ``complete`` are allowed. The transaction stays
        open until one of them, also after an exception, ``close``, or the end of the program. This
        is ``prepareTransaction`` in Java, and needs ``transaction_two_phase_commit_enable``.
        """
        return self._wait(self._subject.prepare)

    def complete(self, state: PreparedTxnState | str) -> None:
        """Commit if ``state`` is that of the prepared transaction, and abort it otherwise.

            with Producer(
                servers,
                transactional_id="orders-1",
                transaction_two_phase_commit_enable=True,
                keep_prepared_txn=True,
            ) as producer:
                producer.complete(state_in_the_database)

        Nothing happens if no transaction was open at the start. This is ``completeTransaction`` in
        Java.
        """
        self._wait(self._subject.complete, state)

    def abort(self) -> None:
        """Drop waiting records, and abort."""
        self._wait(self._subject.abort)

    def send_offsets(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group: GroupMetadata | None=None) -> None:
        """Commit a consumer's offsets with the transaction (KIP-447).

            producer.send_offsets(consumer.positions(), consumer.group_metadata())

        A producer that ``transactional`` has made for a consumer needs no ``group``.
        """
        self._wait(self._subject.send_offsets, offsets, group)


class Consumer(ReadingFace[consumer.Consumer, ConsumerRecord]):
    """Reads records, by itself or as a member of a group.

        with Consumer("localhost:9092", group_id="billing") as consumer:
            consumer.subscribe(["orders"])
            for record in consumer:
                print(record.topic, record.partition, record.offset, record.value)

    Calls for records also take part in rebalances and, with ``enable_auto_commit``, commit
    positions. Records that an earlier call has returned count as processed then.
    """

    def __init__(self, bootstrap_servers: str | Sequence[str], *, client_id: str='fencepost-consumer', client_rack: str='', group_id: str | None=None, group_instance_id: str | None=None, group_protocol: GroupProtocol='classic', group_remote_assignor: str | None=None, isolation_level: IsolationLevel='read_uncommitted', auto_offset_reset: OffsetReset='latest', enable_auto_commit: bool=True, auto_commit_interval_ms: int=5000, max_poll_records: int=500, max_poll_interval_ms: int=300000, session_timeout_ms: int=45000, heartbeat_interval_ms: int=3000, partition_assignment_strategy: Sequence[str]=DEFAULT_ASSIGNORS, fetch_min_bytes: int=1, fetch_max_bytes: int=50 << 20, fetch_max_wait_ms: int=500, max_partition_fetch_bytes: int=1 << 20, request_timeout_ms: int=30000, default_api_timeout_ms: int=60000, retry_backoff_ms: int=100, retry_backoff_max_ms: int=1000, metadata_max_age_ms: int=300000, metrics: RequestMetrics | None=None, history: History | None=None, **security: Unpack[SecuritySettings]) -> None:
        self._subject = consumer.Consumer(bootstrap_servers, client_id=client_id, client_rack=client_rack, group_id=group_id, group_instance_id=group_instance_id, group_protocol=group_protocol, group_remote_assignor=group_remote_assignor, isolation_level=isolation_level, auto_offset_reset=auto_offset_reset, enable_auto_commit=enable_auto_commit, auto_commit_interval_ms=auto_commit_interval_ms, max_poll_records=max_poll_records, max_poll_interval_ms=max_poll_interval_ms, session_timeout_ms=session_timeout_ms, heartbeat_interval_ms=heartbeat_interval_ms, partition_assignment_strategy=partition_assignment_strategy, fetch_min_bytes=fetch_min_bytes, fetch_max_bytes=fetch_max_bytes, fetch_max_wait_ms=fetch_max_wait_ms, max_partition_fetch_bytes=max_partition_fetch_bytes, request_timeout_ms=request_timeout_ms, default_api_timeout_ms=default_api_timeout_ms, retry_backoff_ms=retry_backoff_ms, retry_backoff_max_ms=retry_backoff_max_ms, metadata_max_age_ms=metadata_max_age_ms, metrics=metrics, history=history, **security)
        self._portal = None

    @property
    def bootstrap_servers(self) -> list[str]:
        """The addresses that are asked first."""
        return self._subject.bootstrap_servers

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._end(self._subject.__aexit__, kind, error, traceback)

    def start(self) -> None:
        """Connect."""
        self._begin(self._subject.start)

    def close(self, *, commit: bool=True) -> None:
        """Commit positions if that is automatic, leave the group, and close the connections.

        Each step takes some seconds at most. Raises an error if the positions were not committed
        in that time.
        """
        self._end(self._subject.close, commit=commit)

    def assignment(self) -> set[TopicPartition]:
        """The partitions that this consumer reads."""
        return self._do(self._subject.assignment)

    def getmany(self, *, timeout_ms: int=0, max_records: int | None=None) -> list[ConsumerRecord]:
        """Return records that are there, or wait for the first ones; none after ``timeout_ms``.

        records = consumer.getmany(timeout_ms=1000)
        """
        return self._wait(self._subject.getmany, timeout_ms=timeout_ms, max_records=max_records)

    def fetch_batches(self, *, timeout_ms: int=0, max_records: int | None=None) -> list[RecordBatch]:
        """Return whole batches as columns, without an object for each record; see ``getmany``.

            for batch in consumer.fetch_batches(timeout_ms=1000):
                total += sum(len(value) for value in batch.values)

        The last batch is complete, so there may be more than ``max_records``.
        """
        return self._wait(self._subject.fetch_batches, timeout_ms=timeout_ms, max_records=max_records)

    def fetch_encoded(self, *, timeout_ms: int=0, max_bytes: int=8 << 20, until: Mapping[TopicPartition, int] | None=None) -> list[EncodedBatch]:
        """Return batches as they are in the log, for programs that decode them.

            where, end = TopicPartition("orders", 0), 1_000
            while consumer.positions()[where] < end:
                for batch in consumer.fetch_encoded(timeout_ms=1000, until={where: end}):
                    decode(batch.data, batch.from_offset)

        Returns as soon as all positions in ``until`` are reached, if need be without a batch,
        because markers and aborted records move a position and are not returned. The last batch
        is complete, so there may be more than ``max_bytes``.
        """
        return self._wait(self._subject.fetch_encoded, timeout_ms=timeout_ms, max_bytes=max_bytes, until=until)

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata, *, until: int | None=None) -> None:
        """Read on from this offset; one with a leader epoch is checked first (KIP-320).

            consumer.seek(TopicPartition("orders", 0), 100)

        ``until`` is the end of a range: until the next ``seek``, no more records from that offset
        on are fetched than come with the last batch of the range.
        """
        self._do(self._subject.seek, partition, offset, until=until)

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Read on from the first offset of these partitions, or of all assigned ones."""
        self._do(self._subject.seek_to_beginning, *partitions)

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Read on from the end of these partitions, or of all assigned ones."""
        self._do(self._subject.seek_to_end, *partitions)

    def pause(self, *partitions: TopicPartition) -> None:
        """Return no records of these partitions until ``resume``."""
        self._do(self._subject.pause, *partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        """End the pause of these partitions."""
        self._do(self._subject.resume, *partitions)

    def position(self, partition: TopicPartition) -> int:
        """The offset of the next record of a partition."""
        return self._wait(self._subject.position, partition)

    def positions(self) -> dict[TopicPartition, int]:
        """All known positions, as ``commit`` and ``send_offsets`` take them."""
        return self._do(self._subject.positions)

    def lag(self) -> dict[TopicPartition, int]:
        """The number of offsets after each position, by the last answer of its broker.

            if sum(consumer.lag().values()) > 10_000:
                ...

        It counts up to the last record that this consumer may see. Partitions without an answer
        are left out.
        """
        return self._do(self._subject.lag)

    def topic_id(self, topic: str) -> bytes | None:
        """The id of a topic (KIP-516) in the last metadata, or ``None``.

        A topic that was deleted and created again has a new id.
        """
        return self._do(self._subject.topic_id, topic)

    def beginning_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The first offset of each partition."""
        return self._wait(self._subject.beginning_offsets, partitions)

    def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset after the last record that this consumer may see, of each partition."""
        return self._wait(self._subject.end_offsets, partitions)

    def offsets_for_times(self, times_ms: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """The first offset with this timestamp or a later one; -1 if there is none."""
        return self._wait(self._subject.offsets_for_times, times_ms)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Consumer:
        """Make a consumer with settings by Kafka's names; an unknown name raises an error.

        consumer = Consumer.from_config({"bootstrap.servers": "localhost:9092", "group.id": "g"})
        """
        return cls._around(consumer.Consumer.from_config(config))

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these partitions, without a group.

        consumer.assign([TopicPartition("orders", 0)])
        """
        self._do(self._subject.assign, partitions)

    def subscribe(self, topics: Iterable[str]=(), *, regex: str | None=None, on_assigned: OnChange | None=None, on_revoked: OnChange | None=None, on_lost: OnChange | None=None) -> None:
        """Share these topics with the other members of the group.

        consumer.subscribe(["orders", "payments"], on_revoked=flush)
        consumer.subscribe(regex="orders-.*")

        A regular expression must match the whole name. In a classic group it has Python's syntax;
        the consumer looks for matching topics every ``metadata_max_age_ms``, except internal ones.
        With ``group_protocol="consumer"`` it has RE2's syntax, and the broker resolves it.

        The callables run during calls for records, with the partitions that a rebalance brings
        and takes, in the thread that asks. ``on_revoked`` can still commit. ``on_lost``, or ``on_revoked``
        without it, is called for partitions that the group has taken from this member while it
        was out of the group.
        """
        self._do(self._subject.subscribe, topics, regex=regex, on_assigned=in_caller(on_assigned), on_revoked=in_caller(on_revoked), on_lost=in_caller(on_lost))

    def unsubscribe(self) -> None:
        """Leave the group, or give up the assigned partitions, without a commit.

            consumer.unsubscribe()

        It does not wait for a rebalance that is under way; neither do calls for records then.
        """
        self._wait(self._subject.unsubscribe)

    def group_metadata(self) -> GroupMetadata:
        """The identity of this consumer in its group, for ``Producer.send_offsets``."""
        return self._do(self._subject.group_metadata)

    def committed(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of the group; waits for open transactions to end (KIP-447)."""
        return self._wait(self._subject.committed, partitions)

    def commit(self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None=None) -> None:
        """Commit positions, or the given offsets: those of the next records to read.

        consumer.commit({TopicPartition("orders", 0): record.offset + 1})
        """
        self._wait(self._subject.commit, offsets)

    def check_exactly_once(self) -> None:
        """Raise an error for settings with which ``exactly_once`` could lose or double records."""
        self._do(self._subject.check_exactly_once)

    def generation_id(self) -> int:
        """The generation of the group; -1 while this consumer is not a member."""
        return self._do(self._subject.generation_id)

    def fetch_offsets(self, all_partitions: bool=True) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of all assigned partitions, or of those without a position.

        Waits while one of the offsets is part of an open transaction, with any isolation level.
        """
        return self._wait(self._subject.fetch_offsets, all_partitions)

    def block_on_rebalance(self, timeout_ms: int) -> None:
        """Take part in a rebalance, if the group has one."""
        self._wait(self._subject.block_on_rebalance, timeout_ms)


class ShareConsumer(ReadingFace[share_consumer.ShareConsumer, ShareRecord]):
    """Reads records as a member of a share group: members share partitions, record by record.

        with ShareConsumer("localhost:9092", group_id="mails") as consumer:
            consumer.subscribe(["orders"])
            for record in consumer:
                send_mail(record.value)

    A record is locked for this member for the time of a lock (30 s, by the group's settings). The
    next call for records accepts those that the call before it has returned. With
    ``share_acknowledgement_mode="explicit"``, ``acknowledge`` says for each record whether it is
    accepted, released or rejected, before the next call for records.
    """

    def __init__(self, bootstrap_servers: str | Sequence[str], *, group_id: str, client_id: str='fencepost-share-consumer', client_rack: str='', share_acknowledgement_mode: AcknowledgementMode='implicit', share_acquire_mode: AcquireMode='batch_optimized', max_poll_records: int=500, fetch_min_bytes: int=1, fetch_max_bytes: int=50 << 20, fetch_max_wait_ms: int=500, request_timeout_ms: int=30000, default_api_timeout_ms: int=60000, retry_backoff_ms: int=100, retry_backoff_max_ms: int=1000, metadata_max_age_ms: int=300000, metrics: RequestMetrics | None=None, **security: Unpack[SecuritySettings]) -> None:
        self._subject = share_consumer.ShareConsumer(bootstrap_servers, group_id=group_id, client_id=client_id, client_rack=client_rack, share_acknowledgement_mode=share_acknowledgement_mode, share_acquire_mode=share_acquire_mode, max_poll_records=max_poll_records, fetch_min_bytes=fetch_min_bytes, fetch_max_bytes=fetch_max_bytes, fetch_max_wait_ms=fetch_max_wait_ms, request_timeout_ms=request_timeout_ms, default_api_timeout_ms=default_api_timeout_ms, retry_backoff_ms=retry_backoff_ms, retry_backoff_max_ms=retry_backoff_max_ms, metadata_max_age_ms=metadata_max_age_ms, metrics=metrics, **security)
        self._portal = None

    @property
    def bootstrap_servers(self) -> list[str]:
        """The addresses that are asked first."""
        return self._subject.bootstrap_servers

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._end(self._subject.__aexit__, kind, error, traceback)

    def start(self) -> None:
        """Connect."""
        self._begin(self._subject.start)

    def close(self, *, accept: bool=True) -> None:
        """Acknowledge what was returned if that is implicit, release the rest, and leave the group.

        Without ``accept``, records that were returned and not acknowledged are released.
        """
        self._end(self._subject.close, accept=accept)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ShareConsumer:
        """Make a share consumer with settings by Kafka's names.

        ShareConsumer.from_config({"bootstrap.servers": "localhost:9092", "group.id": "g"})
        """
        return cls._around(share_consumer.ShareConsumer.from_config(config))

    def subscribe(self, topics: Iterable[str]) -> None:
        """Read these topics, together with the other members of the group.

        consumer.subscribe(["orders", "payments"])
        """
        self._do(self._subject.subscribe, topics)

    def unsubscribe(self) -> None:
        """Leave the group; records that were not acknowledged are released."""
        self._wait(self._subject.unsubscribe)

    def assignment(self) -> set[TopicPartition]:
        """The partitions that this member fetches now; others may fetch the same."""
        return self._do(self._subject.assignment)

    @property
    def acquisition_lock_timeout_ms(self) -> int | None:
        """How long records are locked for this member; ``None`` before the first answer."""
        return self._subject.acquisition_lock_timeout_ms

    def getmany(self, *, timeout_ms: int=0, max_records: int | None=None) -> list[ShareRecord]:
        """Return acquired records, or wait for the first ones; none after ``timeout_ms``.

            records = consumer.getmany(timeout_ms=1000)

        Implicitly, this accepts all records that were returned before.
        """
        return self._wait(self._subject.getmany, timeout_ms=timeout_ms, max_records=max_records)

    def acknowledge(self, record: ShareRecord, kind: AcknowledgeType=AcknowledgeType.ACCEPT) -> None:
        """Say what became of a record; the next call for records or ``commit`` sends it.

            consumer.acknowledge(record, AcknowledgeType.RELEASE)

        A record whose lock is renewed has to be acknowledged later.
        """
        self._do(self._subject.acknowledge, record, kind)

    def commit(self) -> dict[TopicPartition, KafkaError]:
        """Send all acknowledgements, and wait until they are written.

            failed = consumer.commit()

        Implicitly, this accepts all records that were returned. The result has the partitions with
        acknowledgements that were refused since the last call, for example after the end of a lock:
        these records are delivered again.
        """
        return self._wait(self._subject.commit)


class Admin(Face[admin.Admin]):
    """Creates, changes, describes and deletes.

    with Admin("localhost:9092") as admin:
        admin.create_topics([NewTopic("orders", partitions=3)])
        print(admin.describe_topics(["orders"]))

    A call for several items does as much as possible, and then raises the first error;
    ``error.outcomes`` has the result or the error of each item.
    """

    def __init__(self, bootstrap_servers: str | Sequence[str], *, client_id: str='fencepost-admin', request_timeout_ms: int=30000, default_api_timeout_ms: int=60000, retry_backoff_ms: int=100, retry_backoff_max_ms: int=1000, metadata_max_age_ms: int=300000, metrics: RequestMetrics | None=None, **security: Unpack[SecuritySettings]) -> None:
        self._subject = admin.Admin(bootstrap_servers, client_id=client_id, request_timeout_ms=request_timeout_ms, default_api_timeout_ms=default_api_timeout_ms, retry_backoff_ms=retry_backoff_ms, retry_backoff_max_ms=retry_backoff_max_ms, metadata_max_age_ms=metadata_max_age_ms, metrics=metrics, **security)
        self._portal = None

    @property
    def bootstrap_servers(self) -> list[str]:
        """The addresses that are asked first."""
        return self._subject.bootstrap_servers

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._end(self._subject.__aexit__, kind, error, traceback)

    def start(self) -> None:
        """Connect."""
        self._begin(self._subject.start)

    def close(self) -> None:
        """Close the connections."""
        self._end(self._subject.close)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Make an admin with settings by Kafka's names; an unknown name raises an error.

        admin = Admin.from_config({"bootstrap.servers": "localhost:9092"})
        """
        return cls._around(admin.Admin.from_config(config))

    def create_topics(self, topics: Iterable[NewTopic], *, validate_only: bool=False) -> dict[str, CreatedTopic]:
        """Create topics, as many as possible; raises the first error after that.

        admin.create_topics([NewTopic("orders", 3, configs={"retention.ms": "60000"})])
        """
        return self._wait(self._subject.create_topics, topics, validate_only=validate_only)

    def create_partitions(self, counts: Mapping[str, int | NewPartitions], *, validate_only: bool=False) -> None:
        """Increase the number of partitions of topics.

        admin.create_partitions({"orders": 6})
        """
        self._wait(self._subject.create_partitions, counts, validate_only=validate_only)

    def delete_topics(self, topics: Iterable[str | bytes]) -> None:
        """Delete topics and their records, by name or by id.

        admin.delete_topics(["orders"])
        """
        self._wait(self._subject.delete_topics, topics)

    def list_topics(self, *, include_internal: bool=False) -> dict[str, TopicListing]:
        """All topics, by name.

        names = list(admin.list_topics())
        """
        return self._wait(self._subject.list_topics, include_internal=include_internal)

    def describe_topics(self, names: Iterable[str] | None=None) -> dict[str, TopicDescription]:
        """Describe topics, these or all.

        partitions = (admin.describe_topics(["orders"]))["orders"].partitions
        """
        return self._wait(self._subject.describe_topics, names)

    def list_offsets(self, times: Mapping[TopicPartition, int], *, read_committed: bool=False) -> dict[TopicPartition, ListedOffset]:
        """The offset for a timestamp in ms, or for a special position.

        Special positions are ``EARLIEST``, ``LATEST`` (the last stable offset with
        ``read_committed``), ``MAX_TIMESTAMP``, ``EARLIEST_LOCAL``, ``LATEST_TIERED`` and
        ``EARLIEST_PENDING_UPLOAD``.

        ends = admin.list_offsets({TopicPartition("orders", 0): LATEST})
        """
        return self._wait(self._subject.list_offsets, times, read_committed=read_committed)

    def delete_records(self, before_offsets: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Delete the records before an offset (-1: all); returns the new first offsets.

        admin.delete_records({TopicPartition("orders", 0): 1000})
        """
        return self._wait(self._subject.delete_records, before_offsets)

    def elect_leaders(self, partitions: Iterable[TopicPartition] | None=None, election: Election=Election.PREFERRED) -> dict[TopicPartition, bool]:
        """Elect leaders of these partitions, or of all that need one; whether each changed.

        admin.elect_leaders([TopicPartition("orders", 0)])
        """
        return self._wait(self._subject.elect_leaders, partitions, election)

    def alter_partition_reassignments(self, replicas: Mapping[TopicPartition, Sequence[int] | None], *, allow_replication_factor_change: bool=True) -> None:
        """Move replicas to these brokers, the preferred leader first; ``None`` cancels a move.

        It returns when the move has begun; ``list_partition_reassignments`` shows when it is done.

        admin.alter_partition_reassignments({TopicPartition("orders", 0): [2, 3]})
        """
        self._wait(self._subject.alter_partition_reassignments, replicas, allow_replication_factor_change=allow_replication_factor_change)

    def list_partition_reassignments(self, partitions: Iterable[TopicPartition] | None=None) -> dict[TopicPartition, Reassignment]:
        """The partitions whose replicas are moving, of these or of all.

        moving = admin.list_partition_reassignments()
        """
        return self._wait(self._subject.list_partition_reassignments, partitions)

    def describe_configs(self, resources: Iterable[ConfigResource], names: Sequence[str] | None=None, *, synonyms: bool=False, documentation: bool=False) -> dict[ConfigResource, dict[str, ConfigEntry]]:
        """The settings of resources, by name; all settings, or those with the given names.

        orders = ConfigResource(ResourceKind.TOPIC, "orders")
        entry = (admin.describe_configs([orders]))[orders]["retention.ms"]
        print(entry.value, entry.source.name)
        """
        return self._wait(self._subject.describe_configs, resources, names, synonyms=synonyms, documentation=documentation)

    def alter_configs(self, changes: Mapping[ConfigResource, Mapping[str, Change]], *, validate_only: bool=False) -> None:
        """Change settings and keep all others; ``None`` restores the default.

        orders = ConfigResource(ResourceKind.TOPIC, "orders")
        admin.alter_configs({orders: {"retention.ms": "60000", "segment.ms": None,
                                            "cleanup.policy": Append("compact")}})
        """
        self._wait(self._subject.alter_configs, changes, validate_only=validate_only)

    def replace_configs(self, configs: Mapping[ConfigResource, Mapping[str, bool | float | str]], *, validate_only: bool=False) -> None:
        """Set all settings of resources; those that are not given get their defaults.

        admin.replace_configs({ConfigResource(ResourceKind.TOPIC, "orders"): {}})
        """
        self._wait(self._subject.replace_configs, configs, validate_only=validate_only)

    def list_config_resources(self, kinds: Iterable[ResourceKind] | None=None) -> list[ConfigResource]:
        """The resources that have settings, of these kinds or of all.

        admin.list_config_resources([ResourceKind.GROUP])
        """
        return self._wait(self._subject.list_config_resources, kinds)

    def list_groups(self, *, states: Sequence[str]=(), types: Sequence[str]=()) -> list[GroupListing]:
        """The groups of the cluster, all or those in these states and of these types.

        for group in admin.list_groups(states=["Empty"], types=["classic"]):
            print(group.group_id)
        """
        return self._wait(self._subject.list_groups, states=states, types=types)

    def describe_groups(self, group_ids: Iterable[str]) -> dict[str, GroupDescription]:
        """Groups of all types, with their members and assignments.

        for member in (admin.describe_groups(["billing"]))["billing"].members:
            print(member.client_id, member.assignment)
        """
        return self._wait(self._subject.describe_groups, group_ids)

    def delete_groups(self, group_ids: Iterable[str]) -> None:
        """Delete groups without members, and their offsets.

        admin.delete_groups(["billing"])
        """
        self._wait(self._subject.delete_groups, group_ids)

    def remove_group_members(self, group_id: str, members: Iterable[MemberToRemove] | None=None, *, reason: str='removed by an administrator') -> None:
        """Remove members from a group, these or all; members that still run join again.

        admin.remove_group_members("billing", [MemberToRemove(group_instance_id="pod-1")])
        """
        self._wait(self._subject.remove_group_members, group_id, members, reason=reason)

    def list_group_offsets(self, group_id: str, partitions: Iterable[TopicPartition] | None=None, *, require_stable: bool=False) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of a group, in these partitions or all.

        ``require_stable`` waits for offsets that are part of an open transaction.

        lag = end - (admin.list_group_offsets("billing"))[partition].offset
        """
        return self._wait(self._subject.list_group_offsets, group_id, partitions, require_stable=require_stable)

    def list_offsets_of_groups(self, group_ids: Iterable[str], *, require_stable: bool=False) -> dict[str, dict[TopicPartition, OffsetAndMetadata]]:
        """The committed offsets of several groups, by one request for each coordinator.

        for group_id, offsets in (admin.list_offsets_of_groups(["billing", "audit"])).items():
            print(group_id, offsets)
        """
        return self._wait(self._subject.list_offsets_of_groups, group_ids, require_stable=require_stable)

    def alter_group_offsets(self, group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata | int]) -> None:
        """Set the offsets of a group without members.

        admin.alter_group_offsets("billing", {TopicPartition("orders", 0): 1000})
        """
        self._wait(self._subject.alter_group_offsets, group_id, offsets)

    def delete_group_offsets(self, group_id: str, partitions: Iterable[TopicPartition]) -> None:
        """Delete offsets of a group in partitions of topics that no member subscribes to.

        admin.delete_group_offsets("billing", [TopicPartition("orders", 0)])
        """
        self._wait(self._subject.delete_group_offsets, group_id, partitions)

    def list_share_group_offsets(self, group_id: str, partitions: Iterable[TopicPartition] | None=None) -> dict[TopicPartition, SharePartitionOffset]:
        """The start offsets and the lag of a share group, in these partitions or all.

        for partition, offset in (admin.list_share_group_offsets("mailers")).items():
            print(partition, offset.start_offset, offset.lag)
        """
        return self._wait(self._subject.list_share_group_offsets, group_id, partitions)

    def alter_share_group_offsets(self, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Set the start offsets of a share group without members.

        admin.alter_share_group_offsets("mailers", {TopicPartition("mails", 0): 0})
        """
        self._wait(self._subject.alter_share_group_offsets, group_id, offsets)

    def delete_share_group_offsets(self, group_id: str, topics: Iterable[str]) -> None:
        """Delete the state of topics; a share group without members begins there anew.

        admin.delete_share_group_offsets("mailers", ["mails"])
        """
        self._wait(self._subject.delete_share_group_offsets, group_id, topics)

    def list_transactions(self, *, states: Sequence[str]=(), producer_ids: Sequence[int]=(), longer_than_ms: int | None=None, pattern: str | None=None) -> list[TransactionListing]:
        """The transactional ids of the cluster that match all filters.

        for each in admin.list_transactions(states=["Ongoing"], longer_than_ms=60_000):
            print(each.transactional_id)
        """
        return self._wait(self._subject.list_transactions, states=states, producer_ids=producer_ids, longer_than_ms=longer_than_ms, pattern=pattern)

    def describe_transactions(self, transactional_ids: Iterable[str]) -> dict[str, TransactionDescription]:
        """Describe transactions by their transactional ids.

        print((admin.describe_transactions(["billing-1"]))["billing-1"].partitions)
        """
        return self._wait(self._subject.describe_transactions, transactional_ids)

    def describe_producers(self, partitions: Iterable[TopicPartition] | None=None, *, broker_id: int | None=None) -> dict[TopicPartition, tuple[ProducerDescription, ...]]:
        """The active producers of partitions, by the leaders or by the given broker.

        for producer in (admin.describe_producers([partition]))[partition]:
            print(producer.producer_id, producer.start_offset)
        """
        return self._wait(self._subject.describe_producers, partitions, broker_id=broker_id)

    def fence_producers(self, transactional_ids: Iterable[str]) -> dict[str, ProducerIdentity]:
        """Fence the producers of ids and abort their transactions; returns the new identities.

        admin.fence_producers(["billing-1"])
        """
        return self._wait(self._subject.fence_producers, transactional_ids)

    def force_terminate_transaction(self, transactional_id: str) -> None:
        """Abort the open transaction of an id and fence its producer, as ``fence_producers`` does.

        It is meant for a prepared transaction that no producer will complete (KIP-939).

        admin.force_terminate_transaction("billing-1")
        """
        self._wait(self._subject.force_terminate_transaction, transactional_id)

    def find_hanging_transactions(self, partitions: Iterable[TopicPartition] | None=None, *, broker_id: int | None=None, older_than_ms: int=_OLDER_THAN_MS) -> list[HangingTransaction]:
        """Open transactions in these partitions, or in all, that no coordinator will end.

        It leaves out transactions that are younger than ``older_than_ms``, which should be the
        cluster's transaction.max.timeout.ms. With a broker, it looks at the replicas there.

        for hanging in admin.find_hanging_transactions():
            admin.abort_transaction(hanging.marker)
        """
        return self._wait(self._subject.find_hanging_transactions, partitions, broker_id=broker_id, older_than_ms=older_than_ms)

    def abort_transaction(self, marker: TransactionMarker, *, force: bool=False) -> None:
        """End a hanging transaction in a partition, with an abort marker.

        Raises ``TransactionKeptOpenError`` if a coordinator will end the transaction, which could
        then be committed in other partitions. ``force`` writes the marker all the same.

        admin.abort_transaction(hanging.marker)
        """
        self._wait(self._subject.abort_transaction, marker, force=force)

    def describe_cluster(self, *, include_fenced: bool=False) -> ClusterDescription:
        """The id of the cluster, and its brokers.

        print([broker.host for broker in (admin.describe_cluster()).brokers])
        """
        return self._wait(self._subject.describe_cluster, include_fenced=include_fenced)

    def describe_features(self) -> Features:
        """The features of the cluster, and the levels that a broker supports.

        level = (admin.describe_features()).features["transaction.version"].level
        """
        return self._wait(self._subject.describe_features)

    def update_features(self, levels: Mapping[str, int | FeatureLevel], *, validate_only: bool=False) -> None:
        """Set levels of features, all or none; a downgrade must be allowed explicitly.

        admin.update_features(
            {"transaction.version": FeatureLevel(1, LevelChange.SAFE_DOWNGRADE)}
        )
        """
        self._wait(self._subject.update_features, levels, validate_only=validate_only)

    def describe_quorum(self) -> QuorumDescription:
        """The voters and observers of the metadata quorum, and their log end offsets.

        print((admin.describe_quorum()).leader_id)
        """
        return self._wait(self._subject.describe_quorum)

    def add_raft_voter(self, voter_id: int, directory_id: bytes, listeners: Iterable[Listener], *, cluster_id: str | None=None) -> None:
        """Give a controller a vote in the metadata quorum (KIP-853), in Kafka 3.9 and later.

        A static quorum, as a Fencepost has it, refuses with UNSUPPORTED_VERSION. With
        ``cluster_id``, a cluster with another id refuses, too.

        admin.add_raft_voter(3, directory_id, [Listener("CONTROLLER", "kafka-3", 9093)])
        """
        self._wait(self._subject.add_raft_voter, voter_id, directory_id, listeners, cluster_id=cluster_id)

    def remove_raft_voter(self, voter_id: int, directory_id: bytes, *, cluster_id: str | None=None) -> None:
        """Take the vote from a controller (KIP-853); ``describe_quorum`` tells its directory id.

        [voter] = (admin.describe_quorum()).voters
        admin.remove_raft_voter(voter.replica_id, voter.directory_id)
        """
        self._wait(self._subject.remove_raft_voter, voter_id, directory_id, cluster_id=cluster_id)

    def describe_log_dirs(self, broker_ids: Iterable[int] | None=None, partitions: Iterable[TopicPartition] | None=None) -> dict[int, dict[str, LogDirDescription]]:
        """The log directories of brokers, or of all brokers, with their partitions.

        for path, folder in (admin.describe_log_dirs())[1].items():
            print(path, sum(log.size_bytes for log in folder.replicas.values()))
        """
        return self._wait(self._subject.describe_log_dirs, broker_ids, partitions)

    def alter_replica_log_dirs(self, paths: Mapping[TopicPartitionReplica, str]) -> None:
        """Move replicas to other log directories of their brokers; the copy ends later.

        admin.alter_replica_log_dirs({TopicPartitionReplica("orders", 0, 1): "/data2"})
        """
        self._wait(self._subject.alter_replica_log_dirs, paths)

    def alter_client_quotas(self, changes: Mapping[QuotaEntity, Mapping[str, float | None]], *, validate_only: bool=False) -> None:
        """Set quotas and keep all others; ``None`` removes one.

        loader = QuotaEntity(client_id="loader")
        admin.alter_client_quotas(
            {loader: {"producer_byte_rate": 1_000_000, "consumer_byte_rate": None}}
        )
        """
        self._wait(self._subject.alter_client_quotas, changes, validate_only=validate_only)

    def describe_client_quotas(self, *, user: str | QuotaName | None=None, client_id: str | QuotaName | None=None, ip: str | QuotaName | None=None, strict: bool=False) -> dict[QuotaEntity, dict[str, float]]:
        """The quotas of entities, all or those with the given names.

        ``strict`` leaves out entities with further names: with ``user`` alone, those of a user and
        a client id.

        for entity, quotas in (admin.describe_client_quotas(user=QuotaName.ANY)).items():
            print(entity, quotas.get("producer_byte_rate"))
        """
        return self._wait(self._subject.describe_client_quotas, user=user, client_id=client_id, ip=ip, strict=strict)

    def alter_user_scram_credentials(self, changes: Mapping[str, SetPassword | DeletePassword]) -> None:
        """Set and delete passwords of users, by mechanism. The client salts and hashes them.

        admin.alter_user_scram_credentials(
            {"alice": SetPassword(ScramMechanism.SCRAM_SHA_512, "alice-secret")}
        )
        """
        self._wait(self._subject.alter_user_scram_credentials, changes)

    def describe_user_scram_credentials(self, users: Iterable[str] | None=None) -> dict[str, dict[ScramMechanism, int]]:
        """The SCRAM mechanisms of users, or of all users, with their iterations.

        "alice" in admin.describe_user_scram_credentials()
        """
        return self._wait(self._subject.describe_user_scram_credentials, users)

    def create_delegation_token(self, *, owner: str | None=None, renewers: Iterable[str]=(), max_lifetime_ms: int=-1) -> DelegationToken:
        """Make a token with which others log in as this client's user, or as ``owner``.

        ``max_lifetime_ms`` is at most ``delegation.token.max.lifetime.ms``, which is the default.

        token = admin.create_delegation_token(renewers=["scheduler"])
        """
        return self._wait(self._subject.create_delegation_token, owner=owner, renewers=renewers, max_lifetime_ms=max_lifetime_ms)

    def renew_delegation_token(self, hmac: bytes, *, for_ms: int=-1) -> int:
        """Renew a token; return when it expires, in ms since 1970.

        Without ``for_ms`` it is renewed for ``delegation.token.expiry.time.ms``.

        admin.renew_delegation_token(token.hmac)
        """
        return self._wait(self._subject.renew_delegation_token, hmac, for_ms=for_ms)

    def expire_delegation_token(self, hmac: bytes, *, in_ms: int=-1) -> int:
        """Remove a token, or let it expire later; return when it expires, in ms since 1970.

        admin.expire_delegation_token(token.hmac)
        """
        return self._wait(self._subject.expire_delegation_token, hmac, in_ms=in_ms)

    def describe_delegation_tokens(self, owners: Iterable[str] | None=None) -> list[DelegationToken]:
        """The tokens of some users, or all that this client's user may see.

        [token.token_id for token in admin.describe_delegation_tokens()]
        """
        return self._wait(self._subject.describe_delegation_tokens, owners)
