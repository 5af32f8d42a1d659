"""The messages that the codecs are measured with: what clients and brokers really send.

A case holds one message in one version. Fields that the version lacks keep their defaults.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from fencepost_protocol.codegen.layout import attribute
from fencepost_protocol.generated import (
    fetch,
    find_coordinator,
    metadata,
    produce,
    txn_offset_commit,
)
from fencepost_protocol.schema import files
from fencepost_protocol.schema.model import Array, Primitive, Struct

TOPIC: Final = "payments.orders"
TOPIC_ID: Final = bytes(range(1, 17))
GROUP: Final = "billing-service"
TRANSACTIONAL_ID: Final = "billing-service-7"
MEMBER: Final = "consumer-billing-service-1-7c1e7a52-0d0f-4b52-9b0a-3f3f6f3c7a11"
RECORDS: Final = bytes(range(256)) * 64
"""16 KB. No codec looks into it."""
IDS_FROM: Final = {"Produce": 13, "Fetch": 13, "Metadata": 10}
"""From which version an API names its topics by their ids, or has the ids too."""


@dataclass(frozen=True, slots=True)
class Case:
    """One message to encode and decode."""

    label: str
    version: int
    message: Any
    brief: bool = True
    """Whether the smoke run takes it."""

    @property
    def name(self) -> str:
        """The schema's name."""
        return str(self.message.NAME)

    def wire(self) -> bytes:
        """The message's bytes, by our own encoder; the tests hold that one against Kafka's."""
        out = bytearray()
        self.message.encode(self.version, out)
        return bytes(out)


def all_cases() -> list[Case]:
    """Every case, in the order of the table.

    Versions 5 of Metadata, 1 of FindCoordinator, 0 of TxnOffsetCommit, 8 of Produce and 11 of Fetch
    are aiokafka's newest.
    """
    return [
        *(Case("Produce request, 16 KB", v, produce_request(v)) for v in (8, 9, 13)),
        *(Case("Produce response", v, produce_response(v)) for v in (8, 9, 13)),
        *(Case("Fetch request", v, fetch_request(v)) for v in (11, 18)),
        *(Case("Fetch response, 1 × 16 KB", v, fetch_response(v, 1)) for v in (11, 18)),
        *(Case("Fetch response, 100 × 16 KB", v, fetch_response(v, 100)) for v in (11, 18)),
        *(Case("Metadata request", v, metadata_request(v)) for v in (5, 8, 12)),
        *(
            Case(f"Metadata response, {_partitions(n)}", v, metadata_response(v, n), n < 1000)
            for n in (1, 100, 10_000)
            for v in (5, 12)
        ),
        *(Case("FindCoordinator request", v, coordinator_request(v)) for v in (1, 2, 6)),
        *(Case("FindCoordinator response", v, coordinator_response(v)) for v in (1, 6)),
        *(Case("TxnOffsetCommit request", v, commit_request(v)) for v in (0, 3)),
        *(Case("TxnOffsetCommit response", v, commit_response(v)) for v in (0, 3)),
    ]


def _partitions(count: int) -> str:
    return "1 partition" if count == 1 else f"{count:,} partitions"


def _topic(api: str, version: int) -> dict[str, Any]:
    """How this version of Produce names its topic."""
    return {"topic_id": TOPIC_ID} if version >= IDS_FROM[api] else {"name": TOPIC}


def produce_request(version: int) -> produce.ProduceRequest:
    """One batch of 16 KB for one partition, from an idempotent producer."""
    partition = produce.PartitionProduceData(index=3, records=RECORDS)
    topic = produce.TopicProduceData(**_topic("Produce", version), partition_data=[partition])
    return produce.ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic])


def produce_response(version: int) -> produce.ProduceResponse:
    """The answer to one partition that took its batch."""
    partition = produce.PartitionProduceResponse(
        index=3,
        base_offset=123_456_789,
        log_append_time_ms=-1,
        log_start_offset=0,
        record_errors=[],
        error_message=None,
    )
    topic = produce.TopicProduceResponse(
        **_topic("Produce", version), partition_responses=[partition]
    )
    return produce.ProduceResponse(responses=[topic])


def _fetch_topic(version: int) -> dict[str, Any]:
    return {"topic_id": TOPIC_ID} if version >= IDS_FROM["Fetch"] else {"topic": TOPIC}


def fetch_request(version: int) -> fetch.FetchRequest:
    """One partition, outside of a fetch session."""
    partition = fetch.FetchPartition(
        partition=3,
        current_leader_epoch=5,
        fetch_offset=123_456_789,
        log_start_offset=-1,
        partition_max_bytes=1_048_576,
    )
    topic = fetch.FetchTopic(**_fetch_topic(version), partitions=[partition])
    return fetch.FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=52_428_800,
        isolation_level=1,
        session_id=0,
        session_epoch=-1,
        topics=[topic],
    )


def fetch_response(version: int, count: int) -> fetch.FetchResponse:
    """``count`` partitions of one topic, each with 16 KB of records."""
    partitions = [
        fetch.PartitionData(
            partition_index=index,
            high_watermark=123_456_800,
            last_stable_offset=123_456_800,
            log_start_offset=0,
            aborted_transactions=[],
            preferred_read_replica=-1,
            records=RECORDS,
        )
        for index in range(count)
    ]
    topic = fetch.FetchableTopicResponse(**_fetch_topic(version), partitions=partitions)
    return fetch.FetchResponse(responses=[topic])


def metadata_request(version: int) -> metadata.MetadataRequest:
    """One topic by its name."""
    return metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name=TOPIC)])


def metadata_response(version: int, count: int) -> metadata.MetadataResponse:
    """Three brokers and one topic of ``count`` partitions with three replicas each."""
    brokers = [
        metadata.MetadataResponseBroker(
            node_id=node, host=f"broker-{node}.kafka.example.net", port=9092, rack=f"rack-{node}"
        )
        for node in (1, 2, 3)
    ]
    partitions = [
        metadata.MetadataResponsePartition(
            partition_index=index,
            leader_id=index % 3 + 1,
            leader_epoch=5 if version >= 7 else -1,
            replica_nodes=[1, 2, 3],
            isr_nodes=[1, 2, 3],
        )
        for index in range(count)
    ]
    topic = metadata.MetadataResponseTopic(
        name=TOPIC,
        topic_id=TOPIC_ID if version >= IDS_FROM["Metadata"] else bytes(16),
        partitions=partitions,
    )
    return metadata.MetadataResponse(
        brokers=brokers, cluster_id="Fencepost-cluster-0001", controller_id=1, topics=[topic]
    )


def coordinator_request(version: int) -> find_coordinator.FindCoordinatorRequest:
    """The coordinator of one consumer group."""
    if version >= 4:
        return find_coordinator.FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP])
    return find_coordinator.FindCoordinatorRequest(key=GROUP, key_type=0)


def coordinator_response(version: int) -> find_coordinator.FindCoordinatorResponse:
    """One coordinator that was found."""
    where: dict[str, Any] = {"node_id": 2, "host": "broker-2.kafka.example.net", "port": 9092}
    if version >= 4:
        found = find_coordinator.Coordinator(key=GROUP, error_message=None, **where)
        return find_coordinator.FindCoordinatorResponse(coordinators=[found])
    return find_coordinator.FindCoordinatorResponse(error_message=None, **where)


def commit_request(version: int) -> txn_offset_commit.TxnOffsetCommitRequest:
    """One partition's offset; from version 3 with the consumer's generation and member id."""
    partition = txn_offset_commit.TxnOffsetCommitRequestPartition(
        partition_index=3,
        committed_offset=123_456_789,
        committed_leader_epoch=5 if version >= 2 else -1,
    )
    topic = txn_offset_commit.TxnOffsetCommitRequestTopic(name=TOPIC, partitions=[partition])
    member: dict[str, Any] = {"generation_id": 17, "member_id": MEMBER} if version >= 3 else {}
    return txn_offset_commit.TxnOffsetCommitRequest(
        transactional_id=TRANSACTIONAL_ID,
        group_id=GROUP,
        producer_id=4_000_017,
        producer_epoch=2,
        topics=[topic],
        **member,
    )


def commit_response(version: int) -> txn_offset_commit.TxnOffsetCommitResponse:
    """One partition whose offset is pending now."""
    partition = txn_offset_commit.TxnOffsetCommitResponsePartition(partition_index=3)
    topic = txn_offset_commit.TxnOffsetCommitResponseTopic(name=TOPIC, partitions=[partition])
    return txn_offset_commit.TxnOffsetCommitResponse(topics=[topic])


def values(message: Any, name: str, version: int) -> list[Any]:
    """What a message says, as nested lists: the form in which all contenders' are compared.

    ``message`` may be one of ours or a dictionary by our attributes. Tagged fields are left out:
    no case sets one.
    """
    schema = files.load(name)

    def of_struct(structure: Struct, held: Any) -> list[Any]:
        return [
            of_field(
                field.type,
                held[attribute(field)]
                if isinstance(held, dict)
                else getattr(held, attribute(field)),
            )
            for field in structure.fields
            if version in field.versions and field.tag is None
        ]

    def of_field(kind: Any, held: Any) -> Any:
        if held is None:
            return None
        if isinstance(kind, Array):
            return [of_field(kind.element, element) for element in held]
        if isinstance(kind, Primitive):
            return bytes(held) if isinstance(held, memoryview | bytearray) else held
        return of_struct(schema.structs[kind.name], held)

    return of_struct(schema.root, message)
