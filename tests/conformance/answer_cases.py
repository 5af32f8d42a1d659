"""What brokers are asked one request at a time, mostly what makes no sense."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

from fencepost_protocol.apis import Message
from fencepost_protocol.generated import add_partitions_to_txn as added
from fencepost_protocol.generated import alter_replica_log_dirs as log_dirs
from fencepost_protocol.generated import alter_share_group_offsets as shared
from fencepost_protocol.generated import describe_topic_partitions as described
from fencepost_protocol.generated import offset_commit as committed
from fencepost_protocol.generated import offset_delete as offset_deleted
from fencepost_protocol.generated import txn_offset_commit as txn_committed
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.list_config_resources import ListConfigResourcesRequest
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.conformance.controller_peer import presence

Case: TypeAlias = tuple[str, Message, int]

MADE_UP = {
    "brokers",
    "cluster_id",
    "configs",
    "nodes",
    "producer_id",
    "replica_directory_id",
    "throttle_time_ms",
    "topic_id",
    "unknown_tagged_fields",
}
"""What each side has of its own; which settings there are is another test's affair."""

TOPICS = CreateTopicsRequest(
    [
        CreatableTopic("t", 1, 1),
        CreatableTopic("c", 1, 1, [], [CreatableTopicConfig("cleanup.policy", "compact")]),
    ],
    10_000,
)
TOPIC, BROKER, METRICS, GROUP = 2, 4, 16, 32
PLACES = (("t", 0), ("t", 9), ("t", -1), ("nope", 0), ("a b", 0), ("", 0), ("c", 0))


def cases() -> Iterator[Case]:
    yield from administrators()
    yield from repetitions()
    for topic, partition in PLACES:
        at = f"{topic!r}, {partition}"
        for offset in (0, -1, 5, -2):
            deleted = DeleteRecordsTopic(topic, [DeleteRecordsPartition(partition, offset)])
            yield f"DeleteRecords {at} {offset}", DeleteRecordsRequest([deleted], 5000), 2
        yield (
            f"DescribeProducers {at}",
            DescribeProducersRequest([TopicRequest(topic, [partition])]),
            0,
        )
        for when in (-1, -2, -7, 5):
            for epoch in (-1, 0, 7):
                listed = ListOffsetsTopic(topic, [ListOffsetsPartition(partition, epoch, when)])
                label = f"ListOffsets {at} {when} epoch {epoch}"
                yield label, ListOffsetsRequest(-1, 0, [listed], 5000), 9
        for epoch in (-1, 0, 7):
            believed = OffsetForLeaderPartition(partition, epoch, 0)
            ended = OffsetForLeaderTopic(topic, [believed])
            label = f"OffsetForLeaderEpoch {at} epoch {epoch}"
            yield label, OffsetForLeaderEpochRequest(-1, [ended]), 4
        for version in (1, 3, 6, 7, 8, 9, 11):
            for when in range(-7, 0):
                listed = ListOffsetsTopic(topic, [ListOffsetsPartition(partition, -1, when)])
                label = f"ListOffsets v{version} {at} {when}"
                yield label, ListOffsetsRequest(-1, 0, [listed], 5000), version
        moved = log_dirs.AlterReplicaLogDirTopic(topic, [partition])
        elsewhere = log_dirs.AlterReplicaLogDir("/nowhere", [moved])
        for times in (1, 2):
            move = log_dirs.AlterReplicaLogDirsRequest([elsewhere] * times)
            yield f"AlterReplicaLogDirs {at} {times}", move, 2


def repetitions() -> Iterator[Case]:
    """The same partition twice, in one topic and in two; and none at all."""
    ends = ListOffsetsPartition(0, -1, -1)
    epoch = OffsetForLeaderPartition(0, -1, 0)
    for times in ((0,), (2,), (1, 1)):
        listed = [ListOffsetsTopic("t", [ends] * each) for each in times]
        yield f"ListOffsets {times}", ListOffsetsRequest(-1, 0, listed, 5000), 9
        ended = [OffsetForLeaderTopic("t", [epoch] * each) for each in times]
        yield f"OffsetForLeaderEpoch {times}", OffsetForLeaderEpochRequest(-1, ended), 4
        known = [TopicRequest("t", [0] * each) for each in times]
        yield f"DescribeProducers {times}", DescribeProducersRequest(known), 0
    data = PartitionProduceData(0, bytes(build_batch(None, [b"v"], 0)))
    for name in ("t", "nope", "a b", ""):
        for times in ((0,), (2,), (1, 1), (0, 1)):
            if name == "t" and any(times):
                continue  # a record would be there for the next run
            sent = [TopicProduceData(name, partition_data=[data] * each) for each in times]
            for version in (8, 12):
                label = f"Produce v{version} {name!r} {times}"
                yield label, ProduceRequest(None, -1, 5000, sent), version
    for name in ("t", "nope"):
        for places in ((), (0,), (0, 0), (0, 9, 0, 9)):
            for is_apart in (False, True):
                entries = [FetchPartition(each, partition_max_bytes=1000) for each in places]
                asked = [FetchTopic(name, partitions=entries)]
                if is_apart:
                    asked = [FetchTopic(name, partitions=[each]) for each in entries]
                for version in (4, 12):
                    label = f"Fetch v{version} {name!r} {places} {is_apart}"
                    wanted = FetchRequest(max_wait_ms=0, min_bytes=0, topics=asked)
                    yield label, wanted, version
    for offsets in ((), (0, 5), (5, 0)):
        deleted = [DeleteRecordsPartition(0, offset) for offset in offsets]
        together = [DeleteRecordsTopic("t", deleted)]
        yield f"DeleteRecords {offsets}", DeleteRecordsRequest(together, 5000), 2
        apart = [DeleteRecordsTopic("t", [each]) for each in deleted]
        yield f"DeleteRecords {offsets} apart", DeleteRecordsRequest(apart, 5000), 2


GROUP_ID, TRANSACTIONAL_ID = "g", "x"
ORDERS: tuple[tuple[tuple[str, tuple[int, ...]], ...], ...] = (
    (),
    (("t", ()),),
    (("t", ()), ("nope", ())),
    (("t", (0, 0)),),
    (("t", (0,)), ("t", (0,))),
    (("t", (0, 9, 0, -1)),),
    (("t", (0,)), ("nope", (0,)), ("c", (0,))),
    (("nope", (1, 0)), ("t", (0,)), ("nope", (1,))),
    (("t", (9,)), ("t", (0,)), ("c", (0,)), ("t", (0,))),
    (("t", (0,)), ("c", (0, 9)), ("t", (9,)), ("t", (0,)), ("", (0,))),
    (("c", (0, 9)), ("t", (0,)), ("t", (0,))),
)
"""Topics and partitions, of which some do not exist and some stand there twice."""


def cases_of_coordinators() -> Iterator[Case]:
    """What only brokers are asked that coordinate the group and the transactional id."""
    yield from repetitions_of_offsets()
    yield from repetitions_of_share_groups()


def repetitions_of_share_groups() -> Iterator[Case]:
    for order in ORDERS:
        if any(-1 in numbers for _, numbers in order):
            continue  # Kafka fails on it: UNKNOWN_SERVER_ERROR
        topics = [
            shared.AlterShareGroupOffsetsRequestTopic(
                name, [shared.AlterShareGroupOffsetsRequestPartition(each) for each in numbers]
            )
            for name, numbers in order
        ]
        alter = shared.AlterShareGroupOffsetsRequest("shares", topics)
        yield f"AlterShareGroupOffsets {order}", alter, 0
    protocols = [JoinGroupRequestProtocol("range", b"")]
    join = JoinGroupRequest("shares", 10_000, 10_000, "m", None, "consumer", protocols)
    yield "JoinGroup of a share group", join, 9
    for keys in (["g"], ["", "g:x:0"]):
        find = FindCoordinatorRequest(key_type=2, coordinator_keys=keys)
        yield f"FindCoordinator of no share partition {keys}", find, 6


def repetitions_of_offsets() -> Iterator[Case]:
    for order in ORDERS:
        topics = [
            committed.OffsetCommitRequestTopic(
                name, partitions=[committed.OffsetCommitRequestPartition(n, 5) for n in numbers]
            )
            for name, numbers in order
        ]
        for version in (2, 9):
            commit = committed.OffsetCommitRequest(GROUP_ID, topics=topics)
            yield f"OffsetCommit v{version} {order}", commit, version
        deleted = [
            offset_deleted.OffsetDeleteRequestTopic(
                name, [offset_deleted.OffsetDeleteRequestPartition(n) for n in numbers]
            )
            for name, numbers in order
        ]
        for group_id in (GROUP_ID, "nobody", ""):
            delete = offset_deleted.OffsetDeleteRequest(group_id, deleted)
            yield f"OffsetDelete {group_id!r} {order}", delete, 0
        pending = [
            txn_committed.TxnOffsetCommitRequestTopic(
                name, [txn_committed.TxnOffsetCommitRequestPartition(n, 5) for n in numbers]
            )
            for name, numbers in order
        ]
        for version in (2, 5):
            in_transaction = txn_committed.TxnOffsetCommitRequest(
                TRANSACTIONAL_ID, GROUP_ID, 5, 0, topics=pending
            )
            yield f"TxnOffsetCommit v{version} {order}", in_transaction, version
        wanted = [added.AddPartitionsToTxnTopic(name, list(numbers)) for name, numbers in order]
        for version in (0, 3):
            add = added.AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=TRANSACTIONAL_ID,
                v3_and_below_producer_id=5,
                v3_and_below_producer_epoch=0,
                v3_and_below_topics=wanted,
            )
            yield f"AddPartitionsToTxn v{version} {order}", add, version


def administrators() -> Iterator[Case]:
    for version in (1, 4):
        for kind, names in (
            (TOPIC, ("t", "nope", "a b", "")),
            (BROKER, ("1", "7", "x", "")),
            (METRICS, ("m", "")),
            (GROUP, ("g", "")),
            (0, ("x",)),
            (3, ("x",)),
            (99, ("x",)),
        ):
            for name in names:
                resource = DescribeConfigsResource(kind, name, ["no.such.setting"])
                label = f"DescribeConfigs v{version} {kind} {name!r}"
                yield label, DescribeConfigsRequest([resource]), version
    for kind in (0, 1, 2, 3):
        for version in (1, 2):
            label = f"DescribeCluster v{version} {kind}"
            yield label, DescribeClusterRequest(endpoint_type=kind), version
    for topic, partition in (("__cluster_metadata", 1), ("t", 0)):
        for version in (0, 1, 2):
            part = DescribeQuorumRequestPartitionData(partition)
            asked = [DescribeQuorumRequestTopicData(topic, [part])]
            label = f"DescribeQuorum v{version} {topic} {partition}"
            yield label, DescribeQuorumRequest(asked), version
    for kinds in ([0], [99], [TOPIC, 99], [METRICS], [GROUP]):
        yield f"ListConfigResources {kinds}", ListConfigResourcesRequest(kinds), 1
    yield "InitProducerId, an empty id", InitProducerIdRequest("", 1000), 5
    for name in ("t", "nope", "a b"):
        yield f"Metadata {name!r}", MetadataRequest([MetadataRequestTopic(name=name)], False), 12
    for topics, cursor in (
        (["t", "nope"], None),
        (["t"], described.DescribeTopicPartitionsRequestCursor("c", 0)),
        (["t"], described.DescribeTopicPartitionsRequestCursor("t", -1)),
        ([], described.DescribeTopicPartitionsRequestCursor("zz", 0)),
    ):
        asked_for = [described.TopicRequest(name) for name in topics]
        label = f"DescribeTopicPartitions {topics} from {cursor}"
        yield label, described.DescribeTopicPartitionsRequest(asked_for, 5, cursor), 0


IN_ANY_ORDER = {"results_by_topic_v3_and_below", "results_by_partition"}
"""Kafka's order is the one of hashes."""


def plain(value: Any) -> Any:
    """An answer as dictionaries and lists, without what its side made up."""
    if not is_dataclass(value):
        return [plain(each) for each in value] if isinstance(value, list) else value
    found: dict[str, Any] = {}
    for field in fields(value):
        content = getattr(value, field.name)
        if field.name == "error_code":
            found[field.name] = ErrorCode(content).name
        elif field.name == "error_message":
            found[field.name] = presence(content)
        elif field.name in IN_ANY_ORDER:
            found[field.name] = sorted(plain(content), key=str)
        elif field.name not in MADE_UP:
            found[field.name] = plain(content)
    return found
