"""What a user with few rights asks Apache Kafka and ours: allowed and denied in one request.

The user is whoever comes from ``USER``; ``ADMIN`` may do everything, ``NOBODY`` nothing. Names that
begin with ``mine`` are the user's, but for ``mine-denied``; ``seen`` may be described.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from fencepost_protocol.apis import Message
from fencepost_protocol.generated import alter_configs as legacy
from fencepost_protocol.generated import alter_replica_log_dirs as moving
from fencepost_protocol.generated import create_partitions as growing
from fencepost_protocol.generated import incremental_alter_configs as incremental
from fencepost_protocol.generated import list_offsets as listing
from fencepost_protocol.generated import offset_commit as committing
from fencepost_protocol.generated import offset_delete as forgetting
from fencepost_protocol.generated import offset_fetch as recalling
from fencepost_protocol.generated import offset_for_leader_epoch as epochs
from fencepost_protocol.generated import txn_offset_commit as pending
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.add_raft_voter import AddRaftVoterRequest
from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_acls import DescribeAclsRequest
from fencepost_protocol.generated.describe_client_quotas import DescribeClientQuotasRequest
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.describe_log_dirs import DescribeLogDirsRequest
from fencepost_protocol.generated.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from fencepost_protocol.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
)
from fencepost_protocol.generated.describe_topic_partitions import TopicRequest as Described
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost_protocol.generated.list_config_resources import ListConfigResourcesRequest
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.remove_raft_voter import RemoveRaftVoterRequest
from fencepost_protocol.generated.sync_group import SyncGroupRequest
from fencepost_protocol.generated.unregister_broker import UnregisterBrokerRequest
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from fencepost_protocol.records.writer import build_batch

ADMIN, USER, NOBODY = "127.0.0.1", "127.0.0.2", "127.0.0.3"
TOPIC, GROUP, CLUSTER, TRANSACTION = 2, 3, 4, 5
LITERAL, PREFIXED = 3, 4
ALL, WRITE, DESCRIBE, TWO_PHASE_COMMIT = 2, 4, 8, 15
DENY, ALLOW = 2, 3
TOPICS = ("mine", "mine-too", "mine-denied", "seen", "shut")
BOTH = ("mine", "shut", "mine-denied", "mine-none", "none", "seen")
"""Topics of which some may be used, some are not there, and some are neither."""


class Case(NamedTuple):
    """A request at a version, from somebody."""

    label: str
    request: Message
    version: int
    host: str = USER


def acl(kind: int, name: str, how: int, host: str, operation: int, effect: int) -> AclCreation:
    return AclCreation(kind, name, how, "User:ANONYMOUS", host, operation, effect)


def rights() -> CreateAclsRequest:
    kinds = (TOPIC, GROUP, TRANSACTION)
    everything = [acl(kind, "*", LITERAL, ADMIN, ALL, ALLOW) for kind in kinds]
    return CreateAclsRequest(
        [
            acl(CLUSTER, "kafka-cluster", LITERAL, ADMIN, ALL, ALLOW),
            *everything,
            *(acl(kind, "mine", PREFIXED, USER, ALL, ALLOW) for kind in kinds),
            *(acl(kind, "mine-denied", LITERAL, USER, ALL, DENY) for kind in kinds),
            *(acl(kind, "seen", LITERAL, USER, DESCRIBE, ALLOW) for kind in kinds),
            *(acl(TRANSACTION, each, LITERAL, USER, WRITE, ALLOW) for each in ("write", "both")),
            *(
                acl(TRANSACTION, each, LITERAL, USER, TWO_PHASE_COMMIT, ALLOW)
                for each in ("prepare", "both")
            ),
        ]
    )


def batch(*, transactional: bool = False) -> bytes:
    if transactional:
        made = build_batch(
            None, [b"v"], 0, transactional=True, producer_id=0, producer_epoch=0, base_sequence=0
        )
        return bytes(made)
    return bytes(build_batch(None, [b"v"], 0))


def cases(ids: dict[str, bytes]) -> Iterator[Case]:
    """``ids`` are those of the topics."""
    yield from _data(ids)
    yield from _metadata(ids)
    yield from _groups()
    yield from _transactions()
    yield from _topics(ids)
    yield from _cluster()


def produce(topics: Sequence[Any], *, acks: int = -1, **more: Any) -> ProduceRequest:
    is_transactional = "transactional_id" in more
    data = PartitionProduceData(0, batch(transactional=is_transactional))
    named_topics = [
        TopicProduceData(each, partition_data=[data])
        if isinstance(each, str)
        else TopicProduceData(topic_id=each, partition_data=[data])
        for each in topics
    ]
    return ProduceRequest(more.get("transactional_id"), acks, 30_000, named_topics)


def fetch(topics: Sequence[Any], **more: Any) -> FetchRequest:
    wanted = [FetchPartition(0, partition_max_bytes=1 << 20)]
    named_topics = [
        FetchTopic(each, partitions=wanted)
        if isinstance(each, str)
        else FetchTopic(topic_id=each, partitions=wanted)
        for each in topics
    ]
    settings = {"max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "session_epoch": -1}
    return FetchRequest(topics=named_topics, **(settings | more))


def _data(ids: dict[str, bytes]) -> Iterator[Case]:
    by_id = [*(ids[each] for each in ("mine", "shut", "mine-denied", "seen")), b"?" * 16]
    for version in (3, 9, 12):
        yield Case(f"produce {version}", produce(BOTH), version)
    yield Case("produce by id", produce(by_id), 13)
    yield Case("produce, none", produce(["shut"]), 9)
    yield Case("transactional, not mine", produce(["mine", "shut"], transactional_id="shut"), 9)
    for version in (4, 12):
        yield Case(f"fetch {version}", fetch(BOTH), version)
    yield Case("fetch by id", fetch(by_id), 16)
    yield Case("begin a session", fetch(BOTH, session_epoch=0), 12)
    for version in (1, 5, 9):
        topics = [
            listing.ListOffsetsTopic(each, [listing.ListOffsetsPartition(0, -1, -1)])
            for each in BOTH
        ]
        yield Case(f"list offsets {version}", listing.ListOffsetsRequest(topics=topics), version)
    wanted = [
        epochs.OffsetForLeaderTopic(each, [epochs.OffsetForLeaderPartition(0, -1, 0)])
        for each in BOTH
    ]
    for version in (2, 4):
        request = epochs.OffsetForLeaderEpochRequest(topics=wanted)
        yield Case(f"offset for epoch {version}", request, version)
    producers = [TopicRequest(each, [0, 1]) for each in BOTH]
    yield Case("describe producers", DescribeProducersRequest(producers), 0)
    records = [DeleteRecordsTopic(each, [DeleteRecordsPartition(0, 0)]) for each in BOTH]
    yield Case("delete records", DeleteRecordsRequest(records, 10_000), 2)


def _metadata(ids: dict[str, bytes]) -> Iterator[Case]:
    topics = [MetadataRequestTopic(name=each) for each in BOTH]
    for host in (USER, NOBODY):
        for version in (4, 8, 12):
            request = MetadataRequest(topics, allow_auto_topic_creation=False)
            yield Case(f"metadata {version} of {host}", request, version, host)
        for version in (0, 1, 4, 12):
            every = MetadataRequest([] if version == 0 else None)
            yield Case(f"all metadata {version} of {host}", every, version, host)
    for version in (0, 1):  # in version 0, to ask for none is to ask for all
        denied = MetadataRequest([MetadataRequestTopic(name="shut")])
        yield Case(f"metadata {version}, none", denied, version)
    only = MetadataRequest([MetadataRequestTopic(name="shut")], allow_auto_topic_creation=False)
    yield Case("metadata, none", only, 12)
    asked = MetadataRequest(topics, False, True, True)
    yield Case("metadata with operations", asked, 8)
    yield Case("metadata with operations, of an admin", asked, 8, ADMIN)
    yield Case("metadata with topics' operations", MetadataRequest(topics, False, False, True), 12)
    by_id = [MetadataRequestTopic(ids[each], None) for each in ("mine", "shut", "seen")]
    yield Case("metadata by id", MetadataRequest(by_id, False), 12)
    create = [MetadataRequestTopic(name=each) for each in ("auto", "mine-denied")]
    yield Case("auto-create", MetadataRequest(create, True), 12)
    described = [Described(each) for each in BOTH]
    yield Case("describe partitions", DescribeTopicPartitionsRequest(described), 0)
    yield Case("describe all partitions", DescribeTopicPartitionsRequest([]), 0)
    yield Case("no partitions", DescribeTopicPartitionsRequest([Described("shut")]), 0)


GROUPS = ("mine", "shut", "mine-none", "mine-denied", "seen")


def _groups() -> Iterator[Case]:
    for kind in (0, 1):
        for version in (0, 1, 3):
            for key in ("mine", "shut"):
                request = FindCoordinatorRequest(key, kind)
                yield Case(f"find {key} {kind} {version}", request, max(version, kind), USER)
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=list(GROUPS))
        yield Case(f"find some {kind}", request, 4)
    yield Case("find shared", FindCoordinatorRequest(key_type=2, coordinator_keys=["mine:x:0"]), 6)
    protocols = [JoinGroupRequestProtocol("range", b"")]
    join = JoinGroupRequest("shut", 10_000, 10_000, "", None, "consumer", protocols)
    for version in (0, 4, 9):
        yield Case(f"join {version}", join, version)
    for version in (0, 5):
        yield Case(f"sync {version}", SyncGroupRequest("shut", 1, "m"), version)
    yield Case("heartbeat", HeartbeatRequest("shut", 1, "m"), 4)
    yield Case("leave", LeaveGroupRequest("shut", "m"), 0)
    yield Case("leave with others", LeaveGroupRequest("shut", members=[MemberIdentity("m")]), 5)
    for version in (0, 5, 6):
        yield Case(f"describe groups {version}", DescribeGroupsRequest(list(GROUPS)), version)
    yield Case("describe groups with operations", DescribeGroupsRequest(list(GROUPS), True), 5)
    yield Case("describe no group", DescribeGroupsRequest(["shut"]), 5)
    for host in (ADMIN, USER, NOBODY):
        yield Case(f"list groups of {host}", ListGroupsRequest(), 4, host)
    yield from _offsets()
    beat = ConsumerGroupHeartbeatRequest("shut", "m" * 22, 0, rebalance_timeout_ms=60_000)
    beat.subscribed_topic_names, beat.topic_partitions = ["mine"], []
    yield Case("consumer heartbeat", beat, 1)
    other = ConsumerGroupHeartbeatRequest("mine-48", "m" * 22, 0, rebalance_timeout_ms=60_000)
    other.subscribed_topic_names, other.topic_partitions = ["mine", "shut"], []
    yield Case("consumer heartbeat, topic", other, 1)
    for include in (False, True):
        describe = ConsumerGroupDescribeRequest(["mine-848", "shut", "mine-none"], include)
        yield Case(f"consumer group describe {include}", describe, 1)
    yield Case("delete groups", DeleteGroupsRequest(["mine-none", "shut", "mine-denied"]), 2)


def _offsets() -> Iterator[Case]:
    for group in ("mine", "shut"):
        topics = [
            committing.OffsetCommitRequestTopic(
                each, partitions=[committing.OffsetCommitRequestPartition(0, 1)]
            )
            for each in BOTH
        ]
        for version in (2, 8):
            request = committing.OffsetCommitRequest(group, topics=topics)
            yield Case(f"commit {group} {version}", request, version)
        forget = [
            forgetting.OffsetDeleteRequestTopic(each, [forgetting.OffsetDeleteRequestPartition(0)])
            for each in BOTH
        ]
        yield Case(f"delete offsets {group}", forgetting.OffsetDeleteRequest(group, forget), 0)
        for version in (1, 2, 7):
            wanted = [recalling.OffsetFetchRequestTopic(each, [0]) for each in BOTH]
            recall = recalling.OffsetFetchRequest(group, wanted)
            yield Case(f"fetch offsets {group} {version}", recall, version)
        yield Case(f"all offsets {group}", recalling.OffsetFetchRequest(group, None), 7)
    several = [recalling.OffsetFetchRequestTopics(each, partition_indexes=[0]) for each in BOTH]
    shut = [recalling.OffsetFetchRequestTopics("shut", partition_indexes=[0])]
    groups = [
        recalling.OffsetFetchRequestGroup("mine", topics=several),
        recalling.OffsetFetchRequestGroup("shut", topics=several),
        recalling.OffsetFetchRequestGroup("mine-too", topics=None),
        recalling.OffsetFetchRequestGroup("mine-none", topics=shut),
    ]
    yield Case("offsets of groups", recalling.OffsetFetchRequest(groups=groups), 8)


def _transactions() -> Iterator[Case]:
    for host in (USER, NOBODY):
        yield Case(f"idempotent {host}", InitProducerIdRequest(None, 1000), 4, host)
    yield Case("begin", InitProducerIdRequest("shut", 1000), 4)
    for name in ("mine", "mine-denied", "write", "prepare", "both", "shut"):
        for prepares in (False, True):
            begin = InitProducerIdRequest(name, 1000, enable2_pc=prepares)
            yield Case(f"begin {name} {prepares=}", begin, 6)
    topics = [AddPartitionsToTxnTopic(each, [0, 7]) for each in BOTH]
    for transactional_id in ("mine", "shut"):
        request = AddPartitionsToTxnRequest([], transactional_id, 0, 0, topics)
        yield Case(f"add partitions {transactional_id}", request, 3)
        offsets = AddOffsetsToTxnRequest(transactional_id, 0, 0, "shut")
        yield Case(f"add offsets {transactional_id}", offsets, 3)
        for group in ("mine", "shut"):
            wanted = [
                pending.TxnOffsetCommitRequestTopic(
                    each, [pending.TxnOffsetCommitRequestPartition(0, 1)]
                )
                for each in ("shut", "mine-denied")
            ]
            commit = pending.TxnOffsetCommitRequest(transactional_id, group, 0, 0, topics=wanted)
            yield Case(f"commit {group} in {transactional_id}", commit, 3)
    for version in (1, 5):
        yield Case(f"end {version}", EndTxnRequest("shut", 0, 0, True), version)
    one = AddPartitionsToTxnTransaction("mine", 0, 0, True, topics[:1])
    yield Case("as brokers", AddPartitionsToTxnRequest([one]), 5)
    ids = ["mine-none", "shut", "mine-open"]
    yield Case("describe transactions", DescribeTransactionsRequest(ids), 0)
    for host in (ADMIN, USER, NOBODY):
        yield Case(f"list transactions of {host}", ListTransactionsRequest(), 1, host)
    marker = WritableTxnMarker(0, 0, True, [WritableTxnMarkerTopic("mine", [0])], 0)
    yield Case("markers", WriteTxnMarkersRequest([marker]), 1)


def _topics(ids: dict[str, bytes]) -> Iterator[Case]:
    for version in (4, 7):
        new = [CreatableTopic(f"{each}-{version}", 1, 1) for each in ("mine-new", "new")]
        yield Case(f"create topics {version}", CreateTopicsRequest(new, 10_000), version)
    twice = [CreatableTopic("new", 1, 1), CreatableTopic("new", 1, 1)]
    yield Case("create twice", CreateTopicsRequest(twice, 10_000), 7)
    more = [growing.CreatePartitionsTopic(each, 2, None) for each in BOTH]
    yield Case("create partitions", growing.CreatePartitionsRequest(more, 10_000), 3)
    names = ["mine-new-4", "shut", "mine-denied", "none", "mine-none", "seen"]
    yield Case("delete topics", DeleteTopicsRequest(topic_names=names, timeout_ms=10_000), 5)
    states = [DeleteTopicState(each) for each in ("mine-new-7", "shut", "none", "seen")]
    states += [DeleteTopicState(None, ids[each]) for each in ("mine-denied", "seen", "shut")]
    yield Case("delete by id", DeleteTopicsRequest(states, timeout_ms=10_000), 6)
    resources = [(2, each) for each in BOTH] + [(4, "1"), (8, "1"), (32, "mine"), (32, "shut")]
    asked = [DescribeConfigsResource(*each, ["retention.ms"]) for each in resources]
    yield Case("describe configs", DescribeConfigsRequest(asked), 4)
    altered = [
        legacy.AlterConfigsResource(*each, [legacy.AlterableConfig("retention.ms", "7")])
        for each in (*resources[:6], (4, "1"), (32, "shut"))
    ]
    yield Case("alter configs", legacy.AlterConfigsRequest(altered, True), 2)
    changed = [
        incremental.AlterConfigsResource(
            *each, [incremental.AlterableConfig("retention.ms", 0, "7")]
        )
        for each in (*resources[:6], (4, "1"), (8, "1"), (32, "shut"))
    ]
    yield Case("change configs", incremental.IncrementalAlterConfigsRequest(changed, True), 1)
    for version in (0, 1):
        yield Case(f"config resources {version}", ListConfigResourcesRequest([]), version)


def _cluster() -> Iterator[Case]:
    yield Case("versions", ApiVersionsRequest("test", "1"), 3, NOBODY)
    for host in (ADMIN, USER):
        for include in (False, True):
            request = DescribeClusterRequest(include)
            yield Case(f"describe cluster {host} {include}", request, 0, host)
    for version in (1, 3):
        yield Case(f"log dirs {version}", DescribeLogDirsRequest(None), version)
    move = moving.AlterReplicaLogDir("/x", [moving.AlterReplicaLogDirTopic("mine", [0])])
    yield Case("move", moving.AlterReplicaLogDirsRequest([move]), 2)
    for version in (0, 2):
        elect = ElectLeadersRequest(0, [TopicPartitions("mine", [0])])
        yield Case(f"elect {version}", elect, version)
    yield Case("elect everywhere", ElectLeadersRequest(0, None), 2)
    to = [ReassignableTopic("mine", [ReassignablePartition(0, [1])])]
    yield Case("reassign", AlterPartitionReassignmentsRequest(topics=to), 0)
    yield Case("reassignments", ListPartitionReassignmentsRequest(topics=None), 0)
    yield Case("quotas", DescribeClientQuotasRequest(), 1)
    entity = [AlterClientQuotasRequestEntityData("user", "u")]
    entry = AlterClientQuotasRequestEntryData(entity, [OpData("producer_byte_rate", 1.0)])
    yield Case("alter quotas", AlterClientQuotasRequest([entry]), 1)
    yield Case("users", DescribeUserScramCredentialsRequest([UserName("u")]), 0)
    gone = AlterUserScramCredentialsRequest([ScramCredentialDeletion("u", 1)])
    yield Case("alter users", gone, 0)
    partitions = [DescribeQuorumRequestPartitionData(0)]
    quorum = DescribeQuorumRequest(
        [DescribeQuorumRequestTopicData("__cluster_metadata", partitions)]
    )
    yield Case("quorum", quorum, 0)
    features = UpdateFeaturesRequest(1000, [FeatureUpdateKey("group.version", 1, False, 1)])
    for version in (1, 2):
        yield Case(f"features {version}", features, version)
    yield Case("unregister", UnregisterBrokerRequest(9), 0)
    yield Case("add a voter", AddRaftVoterRequest(None, 1000, 9), 1)
    yield Case("remove a voter", RemoveRaftVoterRequest(None, 9), 0)
    yield Case("acls", DescribeAclsRequest(1, None, 1, None, None, 1, 1), 3)
    yield Case("create acls", CreateAclsRequest([acl(TOPIC, "x", LITERAL, "*", ALL, ALLOW)] * 2), 3)
    every = DeleteAclsFilter(1, None, 1, None, None, 1, 1)
    yield Case("delete acls", DeleteAclsRequest([every] * 2), 3)
