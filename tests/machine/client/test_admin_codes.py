"""Every error code that an item's answer can have: asked for again if it may pass, or raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from fencepost_client import Election, KafkaError, NewTopic
from fencepost_client.admin import (
    cluster,
    configs,
    group_offsets,
    groups,
    hanging,
    log_dirs,
    partitions,
    reassignments,
    share_offsets,
    topics,
    transactions,
)
from fencepost_client.errors import error_of
from fencepost_client.requests.procedures import Procedure
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.generated import delete_share_group_offsets as share_deleting
from fencepost_protocol.generated.alter_configs import (
    AlterConfigsResourceResponse as ReplaceConfigsResourceResponse,
)
from fencepost_protocol.generated.alter_configs import AlterConfigsResponse
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from fencepost_protocol.generated.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)
from fencepost_protocol.generated.api_versions import ApiVersionsResponse
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeResponse
from fencepost_protocol.generated.consumer_group_describe import DescribedGroup as ConsumerGroup
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from fencepost_protocol.generated.create_topics import CreatableTopicResult, CreateTopicsResponse
from fencepost_protocol.generated.delete_groups import DeletableGroupResult, DeleteGroupsResponse
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from fencepost_protocol.generated.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from fencepost_protocol.generated.describe_cluster import DescribeClusterResponse
from fencepost_protocol.generated.describe_configs import (
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from fencepost_protocol.generated.describe_groups import DescribedGroup as ClassicGroup
from fencepost_protocol.generated.describe_groups import DescribeGroupsResponse
from fencepost_protocol.generated.describe_log_dirs import DescribeLogDirsResponse
from fencepost_protocol.generated.describe_producers import (
    DescribeProducersResponse,
    PartitionResponse,
    TopicResponse,
)
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
)
from fencepost_protocol.generated.describe_topic_partitions import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseTopic,
)
from fencepost_protocol.generated.describe_transactions import (
    DescribeTransactionsResponse,
    TransactionState,
)
from fencepost_protocol.generated.elect_leaders import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from fencepost_protocol.generated.init_producer_id import InitProducerIdResponse
from fencepost_protocol.generated.leave_group import LeaveGroupResponse, MemberResponse
from fencepost_protocol.generated.list_config_resources import ListConfigResourcesResponse
from fencepost_protocol.generated.list_groups import ListGroupsResponse
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from fencepost_protocol.generated.list_partition_reassignments import (
    ListPartitionReassignmentsResponse,
)
from fencepost_protocol.generated.list_transactions import ListTransactionsResponse
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from fencepost_protocol.generated.share_group_describe import DescribedGroup as ShareGroup
from fencepost_protocol.generated.share_group_describe import ShareGroupDescribeResponse
from fencepost_protocol.generated.streams_group_describe import DescribedGroup as StreamsGroup
from fencepost_protocol.generated.streams_group_describe import StreamsGroupDescribeResponse
from fencepost_protocol.generated.update_features import UpdateFeaturesResponse
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

from tests.machine.client.admin_answers import (
    ZERO,
    backoff,
    brokers,
    coordinators,
    leaders,
    share_altered,
    share_offset,
)
from tests.machine.client.scripts import Script

MEMBER = groups.MemberToRemove("m")
ORDERS = configs.ConfigResource(configs.ResourceKind.TOPIC, "orders")
NEVER_AGAIN = frozenset(ErrorCode)
NO_TOPIC = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})
NOT_THERE = NO_TOPIC | {ErrorCode.UNKNOWN_TOPIC_ID}


@dataclass
class Case:
    """A procedure about one item, and an answer that has a code for it."""

    make: Callable[[], Procedure[Any]]
    reply: Callable[[int], Message]
    final: frozenset[int] = frozenset()
    """Codes that are not asked about again although they may pass."""
    routing: list[Message] = field(default_factory=list)
    no_error: frozenset[int] = frozenset()
    first: list[Message] = field(default_factory=list)
    """What is asked once before all that."""
    elsewhere: frozenset[int] = frozenset()
    """Codes after which somebody else is asked; they have a case of their own."""
    is_whole: bool = False
    """One code for all, so that there are no outcomes."""


def quorum(part_code: int = 0, whole_code: int = 0) -> DescribeQuorumResponse:
    part = DescribeQuorumResponsePartitionData(0, part_code)
    return DescribeQuorumResponse(whole_code, "", [DescribeQuorumResponseTopicData("m", [part])])


def fetched(part_code: int = 0, group_code: int = 0) -> OffsetFetchResponse:
    part = OffsetFetchResponsePartitions(0, 5, -1, "", part_code)
    topic = OffsetFetchResponseTopics("t", partitions=[part])
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", [topic], group_code)])


def offsets_deleted(part_code: int = 0, group_code: int = 0) -> OffsetDeleteResponse:
    topic = OffsetDeleteResponseTopic("t", [OffsetDeleteResponsePartition(0, part_code)])
    return OffsetDeleteResponse(group_code, topics=[] if group_code else [topic])


CASES = {
    "create topics": Case(
        lambda: topics.create_topics([NewTopic("t")], backoff(), 1, validate_only=False),
        lambda code: CreateTopicsResponse(topics=[CreatableTopicResult("t", error_code=code)]),
    ),
    "create partitions": Case(
        lambda: topics.create_partitions({"t": 2}, backoff(), 1, validate_only=False),
        lambda code: CreatePartitionsResponse(results=[CreatePartitionsTopicResult("t", code)]),
        NOT_THERE,
    ),
    "delete topics": Case(
        lambda: topics.delete_topics(["t"], backoff(), 1),
        lambda code: DeleteTopicsResponse(responses=[DeletableTopicResult("t", error_code=code)]),
        NOT_THERE,
    ),
    "describe topics": Case(
        lambda: topics.describe_topics(["t"], backoff()),
        lambda code: DescribeTopicPartitionsResponse(
            topics=[DescribeTopicPartitionsResponseTopic(code, "t")]
        ),
        NEVER_AGAIN,
    ),
    "list offsets": Case(
        lambda: partitions.list_offsets({ZERO: 0}, backoff(), 1, read_committed=False),
        lambda code: ListOffsetsResponse(
            topics=[ListOffsetsTopicResponse("t", [ListOffsetsPartitionResponse(0, code)])]
        ),
        routing=[leaders(1)],
    ),
    "delete records": Case(
        lambda: partitions.delete_records({ZERO: 1}, backoff(), 1),
        lambda code: DeleteRecordsResponse(
            topics=[DeleteRecordsTopicResult("t", [DeleteRecordsPartitionResult(0, 1, code)])]
        ),
        routing=[leaders(1)],
    ),
    "elect leaders": Case(
        lambda: partitions.elect_leaders(Election.PREFERRED, [ZERO], backoff(), 1),
        lambda code: ElectLeadersResponse(
            replica_election_results=[ReplicaElectionResult("t", [PartitionResult(0, code, "m")])]
        ),
        NEVER_AGAIN,
        no_error=frozenset({ErrorCode.ELECTION_NOT_NEEDED}),
    ),
    "move replicas": Case(
        lambda: reassignments.alter_partition_reassignments(
            {ZERO: [1]}, backoff(), 1, allow_replication_factor_change=True
        ),
        lambda code: AlterPartitionReassignmentsResponse(
            responses=[ReassignableTopicResponse("t", [ReassignablePartitionResponse(0, code)])]
        ),
    ),
    "move replicas, as a whole": Case(
        lambda: reassignments.alter_partition_reassignments(
            {ZERO: None}, backoff(), 1, allow_replication_factor_change=False
        ),
        lambda code: AlterPartitionReassignmentsResponse(
            error_code=code,
            responses=[ReassignableTopicResponse("t", [ReassignablePartitionResponse(0)])],
        ),
    ),
    "list reassignments": Case(
        lambda: reassignments.list_partition_reassignments([ZERO], backoff(), 1),
        lambda code: ListPartitionReassignmentsResponse(error_code=code),
        is_whole=True,
    ),
    "describe configs": Case(
        lambda: configs.describe_configs(
            [ORDERS], None, backoff(), synonyms=False, documentation=False
        ),
        lambda code: DescribeConfigsResponse(
            results=[DescribeConfigsResult(code, "m", ORDERS.kind, ORDERS.name)]
        ),
        NO_TOPIC,
    ),
    "alter configs": Case(
        lambda: configs.alter_configs({ORDERS: {"k": "v"}}, backoff(), validate_only=False),
        lambda code: IncrementalAlterConfigsResponse(
            responses=[AlterConfigsResourceResponse(code, "m", ORDERS.kind, ORDERS.name)]
        ),
        NO_TOPIC,
    ),
    "replace configs": Case(
        lambda: configs.replace_configs({ORDERS: {"k": "v"}}, backoff(), validate_only=False),
        lambda code: AlterConfigsResponse(
            responses=[ReplaceConfigsResourceResponse(code, "m", ORDERS.kind, ORDERS.name)]
        ),
        NO_TOPIC,
    ),
    "list config resources": Case(
        lambda: configs.list_config_resources(None, backoff()),
        lambda code: ListConfigResourcesResponse(error_code=code),
        is_whole=True,
    ),
    "describe cluster": Case(
        lambda: cluster.describe_cluster(backoff(), include_fenced=True),
        lambda code: DescribeClusterResponse(error_code=code),
        is_whole=True,
    ),
    "describe features": Case(
        lambda: cluster.describe_features(backoff()),
        lambda code: ApiVersionsResponse(code),
        is_whole=True,
    ),
    "update features": Case(
        lambda: cluster.update_features({"f": 1}, backoff(), 1, validate_only=False),
        lambda code: UpdateFeaturesResponse(error_code=code),
    ),
    "describe quorum": Case(
        lambda: cluster.describe_quorum(backoff()),
        lambda code: quorum(part_code=code),
        is_whole=True,
    ),
    "describe quorum, as a whole": Case(
        lambda: cluster.describe_quorum(backoff()),
        lambda code: quorum(whole_code=code),
        is_whole=True,
    ),
    "describe log dirs": Case(
        lambda: log_dirs.describe_log_dirs([1], None, backoff()),
        lambda code: DescribeLogDirsResponse(error_code=code),
        routing=[brokers(1)],
    ),
    "alter replica log dirs": Case(
        lambda: log_dirs.alter_replica_log_dirs(
            {log_dirs.TopicPartitionReplica("t", 0, 1): "/d"}, backoff()
        ),
        lambda code: AlterReplicaLogDirsResponse(
            results=[
                AlterReplicaLogDirTopicResult("t", [AlterReplicaLogDirPartitionResult(0, code)])
            ]
        ),
        NO_TOPIC | {ErrorCode.REPLICA_NOT_AVAILABLE, ErrorCode.KAFKA_STORAGE_ERROR},
        routing=[brokers(1)],
    ),
    "list groups": Case(
        lambda: groups.list_groups([], [], backoff()),
        lambda code: ListGroupsResponse(error_code=code),
        routing=[brokers(1)],
        first=[brokers(1)],
    ),
    "describe groups": Case(
        lambda: groups.describe_groups(["g"], backoff()),
        lambda code: ConsumerGroupDescribeResponse(groups=[ConsumerGroup(code, group_id="g")]),
        routing=[coordinators({"g": 1})],
        elsewhere=frozenset({ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNSUPPORTED_VERSION}),
    ),
    "describe classic groups": Case(
        lambda: groups.describe_groups(["g"], backoff()),
        lambda code: DescribeGroupsResponse(groups=[ClassicGroup(code, group_id="g")]),
        routing=[coordinators({"g": 1})],
        first=[
            coordinators({"g": 1}),
            ConsumerGroupDescribeResponse(
                groups=[ConsumerGroup(ErrorCode.GROUP_ID_NOT_FOUND, group_id="g")]
            ),
            coordinators({"g": 1}),
            ShareGroupDescribeResponse(
                groups=[ShareGroup(ErrorCode.GROUP_ID_NOT_FOUND, group_id="g")]
            ),
            coordinators({"g": 1}),
            StreamsGroupDescribeResponse(
                groups=[StreamsGroup(ErrorCode.GROUP_ID_NOT_FOUND, group_id="g")]
            ),
        ],
    ),
    "list offsets of share group": Case(
        lambda: share_offsets.list_share_group_offsets("g", [ZERO], backoff()),
        lambda code: share_offset(part_code=code),
        NO_TOPIC,
    ),
    "list offsets of share group, as a whole": Case(
        lambda: share_offsets.list_share_group_offsets("g", [ZERO], backoff()),
        lambda code: share_offset(group_code=code),
        is_whole=True,
    ),
    "alter offsets of share group": Case(
        lambda: share_offsets.alter_share_group_offsets("g", {ZERO: 1}, backoff()),
        lambda code: share_altered(part_code=code),
        NO_TOPIC,
    ),
    "alter offsets of share group, as a whole": Case(
        lambda: share_offsets.alter_share_group_offsets("g", {ZERO: 1}, backoff()),
        lambda code: share_altered(group_code=code),
        NO_TOPIC,
    ),
    "delete offsets of share group": Case(
        lambda: share_offsets.delete_share_group_offsets("g", ["t"], backoff()),
        lambda code: share_deleting.DeleteShareGroupOffsetsResponse(
            responses=[share_deleting.DeleteShareGroupOffsetsResponseTopic("t", error_code=code)]
        ),
        NO_TOPIC,
    ),
    "delete offsets of share group, as a whole": Case(
        lambda: share_offsets.delete_share_group_offsets("g", ["t"], backoff()),
        lambda code: share_deleting.DeleteShareGroupOffsetsResponse(
            0,
            code,
            None,
            [] if code else [share_deleting.DeleteShareGroupOffsetsResponseTopic("t")],
        ),
        NO_TOPIC,
    ),
    "delete groups": Case(
        lambda: groups.delete_groups(["g"], backoff()),
        lambda code: DeleteGroupsResponse(results=[DeletableGroupResult("g", code)]),
        routing=[coordinators({"g": 1})],
    ),
    "remove members": Case(
        lambda: groups.remove_members("g", [MEMBER], "", backoff()),
        lambda code: LeaveGroupResponse(members=[MemberResponse("m", None, code)]),
    ),
    "remove members, as a whole": Case(
        lambda: groups.remove_members("g", [MEMBER], "", backoff()),
        lambda code: LeaveGroupResponse(
            error_code=code, members=[] if code else [MemberResponse("m", None)]
        ),
    ),
    "list group offsets": Case(
        lambda: group_offsets.list_group_offsets("g", [ZERO], backoff(), require_stable=True),
        lambda code: fetched(part_code=code),
    ),
    "list group offsets, as a whole": Case(
        lambda: group_offsets.list_group_offsets("g", [ZERO], backoff(), require_stable=True),
        lambda code: fetched(group_code=code),
        is_whole=True,
    ),
    "alter group offsets": Case(
        lambda: group_offsets.alter_group_offsets("g", {ZERO: 1}, backoff()),
        lambda code: OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic("t", partitions=[OffsetCommitResponsePartition(0, code)])
            ]
        ),
        NO_TOPIC,
    ),
    "delete group offsets": Case(
        lambda: group_offsets.delete_group_offsets("g", [ZERO], backoff()),
        lambda code: offsets_deleted(part_code=code),
        NO_TOPIC,
    ),
    "delete group offsets, as a whole": Case(
        lambda: group_offsets.delete_group_offsets("g", [ZERO], backoff()),
        lambda code: offsets_deleted(group_code=code),
        NO_TOPIC,
    ),
    "list transactions": Case(
        lambda: transactions.list_transactions(transactions.TransactionFilters(), backoff()),
        lambda code: ListTransactionsResponse(error_code=code),
        routing=[brokers(1)],
        first=[brokers(1)],
    ),
    "describe transactions": Case(
        lambda: transactions.describe_transactions(["x"], 0, backoff()),
        lambda code: DescribeTransactionsResponse(transaction_states=[TransactionState(code, "x")]),
        routing=[coordinators({"x": 1})],
    ),
    "describe producers": Case(
        lambda: transactions.describe_producers([ZERO], None, backoff()),
        lambda code: DescribeProducersResponse(
            topics=[TopicResponse("t", [PartitionResponse(0, code)])]
        ),
        routing=[leaders(1)],
    ),
    "describe producers of a replica": Case(
        lambda: transactions.describe_producers([ZERO], 1, backoff()),
        lambda code: DescribeProducersResponse(
            topics=[TopicResponse("t", [PartitionResponse(0, code)])]
        ),
        NO_TOPIC | {ErrorCode.NOT_LEADER_OR_FOLLOWER},
        routing=[brokers(1)],
    ),
    "fence producers": Case(
        lambda: transactions.fence_producers(["x"], 1, backoff()),
        lambda code: InitProducerIdResponse(error_code=code),
        routing=[coordinators({"x": 1})],
    ),
    "abort transaction": Case(
        lambda: hanging.abort_transaction(
            hanging.TransactionMarker(ZERO, 1, 2), 0, backoff(), force=True
        ),
        lambda code: WriteTxnMarkersResponse(
            [
                WritableTxnMarkerResult(
                    1,
                    [
                        WritableTxnMarkerTopicResult(
                            "t", [WritableTxnMarkerPartitionResult(0, code)]
                        )
                    ],
                )
            ]
        ),
        routing=[leaders(1)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_code(name: str) -> None:
    case = CASES[name]
    for code in set(ErrorCode) - case.elsewhere:
        good, bad = [*case.routing, case.reply(0)], [*case.first, *case.routing, case.reply(code)]
        if code == ErrorCode.NONE or code in case.no_error:
            Script(bad).play(case.make())
        elif code in RETRIABLE - case.final:
            script = Script([*bad, *good])
            script.play(case.make())
            assert len(script.asked) == len(bad) + len(good), code
        else:
            with pytest.raises(KafkaError) as raised:
                Script(bad).play(case.make())
            assert raised.value.code == code
            assert type(raised.value) is type(error_of(code))
            assert list(raised.value.outcomes.values()) == ([] if case.is_whole else [raised.value])
