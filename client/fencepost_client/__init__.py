"""The asyncio client SDK.

async with Producer("localhost:9092") as producer:
    await producer.send("orders", b"42", key=b"customer-7")

Names are imported on first use, so that a producer does not import the messages of Admin.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fencepost_client.admin.cluster import (
        BrokerDescription,
        ClusterDescription,
        Feature,
        FeatureLevel,
        Features,
        LevelChange,
        Listener,
        QuorumDescription,
        QuorumReplica,
    )
    from fencepost_client.admin.configs import (
        Append,
        ConfigEntry,
        ConfigResource,
        ConfigSource,
        ConfigSynonym,
        ConfigType,
        ResourceKind,
        Subtract,
    )
    from fencepost_client.admin.delegation_tokens import DelegationToken
    from fencepost_client.admin.groups import (
        GroupDescription,
        GroupListing,
        GroupMember,
        MemberToRemove,
    )
    from fencepost_client.admin.hanging import HangingTransaction, TransactionMarker
    from fencepost_client.admin.log_dirs import LogDirDescription, ReplicaLog, TopicPartitionReplica
    from fencepost_client.admin.partitions import (
        EARLIEST_LOCAL,
        EARLIEST_PENDING_UPLOAD,
        LATEST_TIERED,
        MAX_TIMESTAMP,
        Election,
        ListedOffset,
    )
    from fencepost_client.admin.quotas_and_users import (
        DeletePassword,
        QuotaEntity,
        QuotaName,
        ScramMechanism,
        SetPassword,
    )
    from fencepost_client.admin.reassignments import Reassignment
    from fencepost_client.admin.share_offsets import SharePartitionOffset
    from fencepost_client.admin.streams_groups import (
        StreamsMember,
        StreamsSubtopology,
        StreamsTask,
        StreamsTasks,
        StreamsTopology,
    )
    from fencepost_client.admin.topics import (
        CreatedTopic,
        NewPartitions,
        NewTopic,
        PartitionDescription,
        TopicDescription,
        TopicListing,
    )
    from fencepost_client.admin.transactions import (
        MissingMarker,
        ParkedRequest,
        ProducerDescription,
        ProducerIdentity,
        TransactionDescription,
        TransactionExplanation,
        TransactionListing,
    )
    from fencepost_client.clients.admin import Admin
    from fencepost_client.clients.batch_producer import BatchProducer
    from fencepost_client.clients.consumer import Consumer
    from fencepost_client.clients.delivery import Deliveries, Delivery
    from fencepost_client.clients.exactly_once import (
        Committed,
        TransactionalSource,
        exactly_once,
    )
    from fencepost_client.clients.history import History
    from fencepost_client.clients.producer import Producer
    from fencepost_client.clients.share_consumer import ShareConsumer
    from fencepost_client.clients.transaction import Transaction
    from fencepost_client.consumer.list_offsets import EARLIEST, LATEST
    from fencepost_client.consumer.record_batch import Column, EncodedBatch, RecordBatch
    from fencepost_client.consumer.share_records import ShareRecord
    from fencepost_client.consumer.share_session import AcknowledgeType
    from fencepost_client.errors import (
        AbortableTransactionError,
        AuthenticationError,
        AuthorizationError,
        CommitFailedError,
        ConfigError,
        DeliveryTimedOutError,
        FatalError,
        FencedError,
        FencedInstanceIdError,
        GroupIdNotFoundError,
        IllegalStateError,
        InvalidGroupIdError,
        KafkaError,
        LogTruncatedError,
        MalformedAnswerError,
        NetworkError,
        NoBrokerError,
        NonEmptyGroupError,
        OffsetOutOfRangeError,
        ProducerFencedError,
        RecordTooLargeError,
        RequestTimedOutError,
        RetriableError,
        TlsError,
        TopicAlreadyExistsError,
        TransactionAbortedError,
        TransactionalIdNotFoundError,
        TransactionKeptOpenError,
        TransactionTimedOutError,
        UnknownTopicOrPartitionError,
        UnsupportedSaslMechanismError,
        UnsupportedVersionError,
    )
    from fencepost_client.metrics import (
        Histogram,
        RequestHook,
        RequestMetrics,
        RequestOutcome,
        SentRequest,
    )
    from fencepost_client.producer.shared_transaction import OpenTransaction
    from fencepost_client.prometheus import prometheus_text
    from fencepost_client.types import (
        ConsumerRecord,
        GroupMetadata,
        Headers,
        OffsetAndMetadata,
        PreparedTxnState,
        RecordMetadata,
        TopicPartition,
    )

_HOMES: Final = {
    "fencepost_client.clients.admin": ("Admin",),
    "fencepost_client.clients.consumer": ("Consumer",),
    "fencepost_client.clients.delivery": ("Deliveries", "Delivery"),
    "fencepost_client.clients.exactly_once": (
        "Committed",
        "TransactionalSource",
        "exactly_once",
    ),
    "fencepost_client.clients.batch_producer": ("BatchProducer",),
    "fencepost_client.clients.producer": ("Producer",),
    "fencepost_client.clients.share_consumer": ("ShareConsumer",),
    "fencepost_client.clients.transaction": ("Transaction",),
    "fencepost_client.producer.shared_transaction": ("OpenTransaction",),
    "fencepost_client.admin.delegation_tokens": ("DelegationToken",),
    "fencepost_client.admin.quotas_and_users": (
        "DeletePassword",
        "QuotaEntity",
        "QuotaName",
        "ScramMechanism",
        "SetPassword",
    ),
    "fencepost_client.admin.cluster": (
        "BrokerDescription",
        "ClusterDescription",
        "Feature",
        "FeatureLevel",
        "Features",
        "LevelChange",
        "Listener",
        "QuorumDescription",
        "QuorumReplica",
    ),
    "fencepost_client.admin.configs": (
        "Append",
        "ConfigEntry",
        "ConfigResource",
        "ConfigSource",
        "ConfigSynonym",
        "ConfigType",
        "ResourceKind",
        "Subtract",
    ),
    "fencepost_client.admin.groups": (
        "GroupDescription",
        "GroupListing",
        "GroupMember",
        "MemberToRemove",
    ),
    "fencepost_client.admin.hanging": (
        "HangingTransaction",
        "TransactionMarker",
    ),
    "fencepost_client.admin.log_dirs": (
        "LogDirDescription",
        "ReplicaLog",
        "TopicPartitionReplica",
    ),
    "fencepost_client.admin.partitions": (
        "EARLIEST_LOCAL",
        "EARLIEST_PENDING_UPLOAD",
        "Election",
        "LATEST_TIERED",
        "ListedOffset",
        "MAX_TIMESTAMP",
    ),
    "fencepost_client.admin.reassignments": ("Reassignment",),
    "fencepost_client.admin.share_offsets": ("SharePartitionOffset",),
    "fencepost_client.admin.streams_groups": (
        "StreamsMember",
        "StreamsSubtopology",
        "StreamsTask",
        "StreamsTasks",
        "StreamsTopology",
    ),
    "fencepost_client.admin.topics": (
        "CreatedTopic",
        "NewPartitions",
        "NewTopic",
        "PartitionDescription",
        "TopicDescription",
        "TopicListing",
    ),
    "fencepost_client.admin.transactions": (
        "MissingMarker",
        "ParkedRequest",
        "ProducerDescription",
        "ProducerIdentity",
        "TransactionDescription",
        "TransactionExplanation",
        "TransactionListing",
    ),
    "fencepost_client.consumer.list_offsets": (
        "EARLIEST",
        "LATEST",
    ),
    "fencepost_client.consumer.record_batch": (
        "Column",
        "EncodedBatch",
        "RecordBatch",
    ),
    "fencepost_client.consumer.share_records": ("ShareRecord",),
    "fencepost_client.consumer.share_session": ("AcknowledgeType",),
    "fencepost_client.errors": (
        "AbortableTransactionError",
        "AuthenticationError",
        "AuthorizationError",
        "CommitFailedError",
        "ConfigError",
        "DeliveryTimedOutError",
        "FatalError",
        "FencedError",
        "FencedInstanceIdError",
        "GroupIdNotFoundError",
        "IllegalStateError",
        "InvalidGroupIdError",
        "KafkaError",
        "LogTruncatedError",
        "MalformedAnswerError",
        "NetworkError",
        "NoBrokerError",
        "NonEmptyGroupError",
        "OffsetOutOfRangeError",
        "ProducerFencedError",
        "RecordTooLargeError",
        "RequestTimedOutError",
        "RetriableError",
        "TlsError",
        "TopicAlreadyExistsError",
        "TransactionAbortedError",
        "TransactionKeptOpenError",
        "TransactionTimedOutError",
        "TransactionalIdNotFoundError",
        "UnknownTopicOrPartitionError",
        "UnsupportedSaslMechanismError",
        "UnsupportedVersionError",
    ),
    "fencepost_client.clients.history": ("History",),
    "fencepost_client.metrics": (
        "Histogram",
        "RequestHook",
        "RequestMetrics",
        "RequestOutcome",
        "SentRequest",
    ),
    "fencepost_client.prometheus": ("prometheus_text",),
    "fencepost_client.types": (
        "ConsumerRecord",
        "GroupMetadata",
        "Headers",
        "OffsetAndMetadata",
        "PreparedTxnState",
        "RecordMetadata",
        "TopicPartition",
    ),
}
"""The module of each name, as above, for use at run time."""
_HOME_OF: Final = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name on its first use (PEP 562)."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return found


def __dir__() -> list[str]:
    """All public names."""
    return __all__


__all__ = [
    "EARLIEST",
    "EARLIEST_LOCAL",
    "EARLIEST_PENDING_UPLOAD",
    "LATEST",
    "LATEST_TIERED",
    "MAX_TIMESTAMP",
    "AbortableTransactionError",
    "AcknowledgeType",
    "Admin",
    "Append",
    "AuthenticationError",
    "AuthorizationError",
    "BatchProducer",
    "BrokerDescription",
    "ClusterDescription",
    "Column",
    "CommitFailedError",
    "Committed",
    "ConfigEntry",
    "ConfigError",
    "ConfigResource",
    "ConfigSource",
    "ConfigSynonym",
    "ConfigType",
    "Consumer",
    "ConsumerRecord",
    "CreatedTopic",
    "DelegationToken",
    "DeletePassword",
    "Deliveries",
    "Delivery",
    "DeliveryTimedOutError",
    "Election",
    "EncodedBatch",
    "FatalError",
    "Feature",
    "FeatureLevel",
    "Features",
    "FencedError",
    "FencedInstanceIdError",
    "GroupDescription",
    "GroupIdNotFoundError",
    "GroupListing",
    "GroupMember",
    "GroupMetadata",
    "HangingTransaction",
    "Headers",
    "Histogram",
    "History",
    "IllegalStateError",
    "InvalidGroupIdError",
    "KafkaError",
    "LevelChange",
    "ListedOffset",
    "Listener",
    "LogDirDescription",
    "LogTruncatedError",
    "MalformedAnswerError",
    "MemberToRemove",
    "MissingMarker",
    "NetworkError",
    "NewPartitions",
    "NewTopic",
    "NoBrokerError",
    "NonEmptyGroupError",
    "OffsetAndMetadata",
    "OffsetOutOfRangeError",
    "OpenTransaction",
    "ParkedRequest",
    "PartitionDescription",
    "PreparedTxnState",
    "Producer",
    "ProducerDescription",
    "ProducerFencedError",
    "ProducerIdentity",
    "QuorumDescription",
    "QuorumReplica",
    "QuotaEntity",
    "QuotaName",
    "Reassignment",
    "RecordBatch",
    "RecordMetadata",
    "RecordTooLargeError",
    "ReplicaLog",
    "RequestHook",
    "RequestMetrics",
    "RequestOutcome",
    "RequestTimedOutError",
    "ResourceKind",
    "RetriableError",
    "ScramMechanism",
    "SentRequest",
    "SetPassword",
    "ShareConsumer",
    "SharePartitionOffset",
    "ShareRecord",
    "StreamsMember",
    "StreamsSubtopology",
    "StreamsTask",
    "StreamsTasks",
    "StreamsTopology",
    "Subtract",
    "TlsError",
    "TopicAlreadyExistsError",
    "TopicDescription",
    "TopicListing",
    "TopicPartition",
    "TopicPartitionReplica",
    "Transaction",
    "TransactionAbortedError",
    "TransactionDescription",
    "TransactionExplanation",
    "TransactionKeptOpenError",
    "TransactionListing",
    "TransactionMarker",
    "TransactionTimedOutError",
    "TransactionalIdNotFoundError",
    "TransactionalSource",
    "UnknownTopicOrPartitionError",
    "UnsupportedSaslMechanismError",
    "UnsupportedVersionError",
    "exactly_once",
    "prometheus_text",
]
