"""What administrators ask of a cluster: its brokers, topics, elections, quorum, features."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from fencepost_protocol.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsRequestCursor,
    TopicRequest,
)
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.unregister_broker import UnregisterBrokerRequest
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from fencepost_protocol.primitives import ZERO_UUID

from tests.support.broker import RunningBroker, running_broker
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

UNASKED = -(1 << 31)
METADATA = "__cluster_metadata"


# -- DescribeCluster -----------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_the_cluster_is_one_broker(version: int) -> None:
    async with running_broker() as broker:
        response = await broker.ask(DescribeClusterRequest(True), version)
        assert (response.error_code, response.error_message, response.endpoint_type) == (0, None, 1)
        assert response.cluster_id == broker.server.identity.cluster_id
        assert response.controller_id == broker.node_id
        (told,) = response.brokers
        assert (told.broker_id, told.host, told.port) == (1, broker.host, broker.port)
        assert (told.rack, told.is_fenced) == (None, False)
        assert response.cluster_authorized_operations == 8096
        response = await broker.ask(DescribeClusterRequest(), version)
        assert response.cluster_authorized_operations == UNASKED
        assert told.broker_epoch == -1, "nobody has asked for it"
        response = await broker.ask(DescribeClusterRequest(include_broker_epochs=True), version)
        assert [each.broker_epoch for each in response.brokers] == [
            broker.server.registration.epoch
        ]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("kind", "code"),
    [(2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (3, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
async def test_a_brokers_port_tells_nothing_of_others(
    version: int, kind: int, code: ErrorCode
) -> None:
    async with running_broker() as broker:
        response = await broker.ask(DescribeClusterRequest(endpoint_type=kind), version)
        assert (response.error_code, response.brokers, response.cluster_id) == (code, [], "")


# -- DescribeTopicPartitions, CreatePartitions ---------------------------------------------------


def summary(response: Any) -> tuple[list[tuple[int, str, list[int]]], tuple[str, int] | None]:
    topics = [
        (topic.error_code, topic.name, [each.partition_index for each in topic.partitions])
        for topic in response.topics
    ]
    cursor = response.next_cursor
    return topics, None if cursor is None else (cursor.topic_name, cursor.partition_index)


ALL = [(0, "b", [0, 1]), (0, "t", [0, 1]), (0, "u", [0, 1, 2])]
INVALID = ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("topics", "limit", "cursor", "answer", "next_cursor"),
    [
        ("", 2000, None, ALL, None),
        ("", 3, None, [(0, "b", [0, 1]), (0, "t", [0])], ("t", 1)),
        ("", 2, None, [(0, "b", [0, 1])], ("t", 0)),
        ("", 2000, ("t", 1), [(0, "t", [1]), (0, "u", [0, 1, 2])], None),
        ("", 2000, ("tt", 1), [(0, "u", [0, 1, 2])], None),
        ("u t z u", 2000, None, [*ALL[1:], (3, "z", [])], None),
        ("u t", 4, None, [(0, "t", [0, 1]), (0, "u", [0, 1])], ("u", 2)),
        ("t z", 2, None, [(0, "t", [0, 1])], ("z", 0)),
        ("t z", 2, ("z", 0), [(3, "z", [])], None),
        ("u t", 1, ("u", 1), [(0, "u", [1])], ("u", 2)),
        ("u t", 2000, ("t", 7), [(0, "t", []), (0, "u", [0, 1, 2])], None),
        ("t", 0, None, [(0, "t", [0])], ("t", 1)),
        ("t", -1, None, [(0, "t", [0])], ("t", 1)),
        ("u t", 2000, ("t", -1), [(INVALID, "u", []), (INVALID, "t", [])], None),
        ("u", 2000, ("b", 1), [(INVALID, "u", [])], None),
        ("t/", 2000, None, [(ErrorCode.INVALID_TOPIC_EXCEPTION, "t/", [])], None),
    ],
)
async def test_topics_come_in_pages(
    topics: str,
    limit: int,
    cursor: tuple[str, int] | None,
    answer: list[Any],
    next_cursor: tuple[str, int] | None,
) -> None:
    async with running_broker(topics={"t": 2, "u": 3, "b": 2}) as broker:
        request = DescribeTopicPartitionsRequest(
            [TopicRequest(name) for name in topics.split()],
            limit,
            None if cursor is None else DescribeTopicPartitionsRequestCursor(*cursor),
        )
        assert summary(await broker.ask(request, 0)) == (answer, next_cursor)


async def test_the_brokers_limit_bounds_the_clients() -> None:
    limit = {"max.request.partition.size.limit": 1}
    async with running_broker(limit, topics={"t": 2}) as broker:
        response = await broker.ask(DescribeTopicPartitionsRequest([], 2000), 0)
        assert summary(response) == ([(0, "t", [0])], ("t", 1))


async def test_what_is_told_of_a_topic() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        (topic,) = (await broker.ask(DescribeTopicPartitionsRequest(), 0)).topics
        assert topic.topic_id == broker.server.table.by_name["t"].topic_id
        assert (topic.is_internal, topic.topic_authorized_operations) == (False, 3576)
        (partition,) = topic.partitions
        assert (partition.error_code, partition.leader_id, partition.leader_epoch) == (0, 1, 0)
        assert (partition.replica_nodes, partition.isr_nodes) == ([1], [1])
        assert (partition.eligible_leader_replicas, partition.last_known_elr) == ([], [])
        assert partition.offline_replicas == []


async def grown(broker: RunningBroker, version: int, *topics: Any, trying: bool = False) -> Any:
    asked = [CreatePartitionsTopic(*each) for each in topics]
    response = await broker.ask(CreatePartitionsRequest(asked, 5000, trying), version)
    return [(each.name, each.error_code) for each in response.results]


@pytest.mark.parametrize("version", [0, 1, 2, 3])
async def test_a_topic_grows(version: int) -> None:
    async with running_broker(topics={"t": 1, "u": 2}) as broker:
        asked = [("t", 3, None), ("u", 2, None), ("missing", 3, None)]
        bad = ErrorCode.INVALID_PARTITIONS
        expected = [("t", 0), ("u", bad), ("missing", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)]
        assert await grown(broker, version, *asked, trying=True) == expected
        assert len(broker.server.table.by_name["t"].partitions) == 1
        assert await grown(broker, version, *asked) == expected
        assert [await broker.produce("t", number, b"x") for number in range(3)] == [0, 0, 0]
        assert await grown(broker, version, ("t", 2, None)) == [("t", bad)]
        manual = ("t", 4, [CreatePartitionsAssignment([77])])
        assert await grown(broker, version, manual) == [("t", ErrorCode.INVALID_REPLICA_ASSIGNMENT)]


# -- UnregisterBroker ----------------------------------------------------------------------------


async def test_a_broker_that_is_forgotten_while_it_runs_introduces_itself_again() -> None:
    async with running_broker() as broker:
        broker.create("t")
        epoch = broker.server.registration.epoch
        answer = await broker.ask(UnregisterBrokerRequest(1), 0)
        assert not answer.error_code
        await until(lambda: broker.server.registration.epoch > epoch)
        assert await broker.produce("t", 0, b"value") == 0
        answer = await broker.ask(UnregisterBrokerRequest(2), 0)
        assert answer.error_code == ErrorCode.BROKER_ID_NOT_REGISTERED


# -- ElectLeaders, UpdateFeatures ----------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_no_election_is_needed(version: int) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        topics = [TopicPartitions("t", [0, 9]), TopicPartitions("missing", [0])]
        response = await broker.ask(ElectLeadersRequest(topic_partitions=topics), version)
        assert response.error_code == 0
        codes = [
            [each.error_code for each in result.partition_result]
            for result in response.replica_election_results
        ]
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert codes == [[ErrorCode.ELECTION_NOT_NEEDED, unknown], [unknown]]


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_features_move(version: int) -> None:
    async with running_broker() as broker:
        before = broker.server.image.last_offset
        update = FeatureUpdateKey("transaction.version", 2)
        response = await broker.ask(UpdateFeaturesRequest(5000, [update]), version)
        assert response.error_code == 0
        names = [each.feature for each in response.results]
        assert names == ([] if version == 2 else ["transaction.version"])
        assert broker.server.image.last_offset > before
        update = FeatureUpdateKey("nothing.of.the.kind", 1)
        response = await broker.ask(UpdateFeaturesRequest(5000, [update]), version)
        assert response.error_code == ErrorCode.INVALID_UPDATE_VERSION


async def test_a_lowered_feature_is_advertised() -> None:
    async with running_broker() as broker:
        for level, upgrade_type in ((2, 1), (1, 2)):
            update = FeatureUpdateKey("transaction.version", level, upgrade_type=upgrade_type)
            response = await broker.ask(UpdateFeaturesRequest(5000, [update]), 2)
            assert response.error_code == 0
        assert broker.server.image.features.levels["transaction.version"] == 1


async def test_preregistration_is_a_feature_that_stays() -> None:
    """KIP-609 over today's wire; nothing of it is in the metadata log, which Kafka reads, too."""
    name = "fencepost.preregistration"
    async with running_broker() as broker:
        told = await broker.ask(ApiVersionsRequest("test", "1"), 3)
        supported = [(each.name, each.min_version, each.max_version)
                     for each in told.supported_features]  # fmt: skip
        assert (name, 1, 1) in supported
        finalized = {each.name: each.max_version_level for each in told.finalized_features}
        assert finalized[name] == 1
        for level, upgrade_type, error in (
            (1, 1, ErrorCode.NONE),
            (1, 2, ErrorCode.NONE),
            (0, 2, ErrorCode.INVALID_UPDATE_VERSION),
            (2, 1, ErrorCode.INVALID_UPDATE_VERSION),
        ):
            update = FeatureUpdateKey(name, level, upgrade_type=upgrade_type)
            response = await broker.ask(UpdateFeaturesRequest(5000, [update]), 2)
            assert response.error_code == error
        assert name not in broker.server.image.features.levels
        assert all(
            name not in [each.name for each in registered.features]
            for registered in broker.server.image.cluster.brokers.values()
        )


# -- DescribeQuorum ------------------------------------------------------------------------------


def quorum_of(*topics: tuple[str, list[int]]) -> DescribeQuorumRequest:
    return DescribeQuorumRequest(
        [
            DescribeQuorumRequestTopicData(
                name, [DescribeQuorumRequestPartitionData(number) for number in numbers]
            )
            for name, numbers in topics
        ]
    )


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_the_quorum_is_one_voter(version: int) -> None:
    async with running_broker() as broker:
        response = await broker.ask(quorum_of((METADATA, [0])), version)
        assert (response.error_code, response.error_message) == (0, "")
        (partition,) = response.topics[0].partitions
        end = broker.server.image.next_offset
        assert (partition.error_code, partition.leader_id, partition.high_watermark) == (0, 1, end)
        (voter,) = partition.current_voters
        assert (voter.replica_id, voter.log_end_offset, partition.observers) == (1, end, [])
        assert (voter.last_fetch_timestamp > 0) == (version >= 1)
        assert voter.replica_directory_id == ZERO_UUID
        assert [node.node_id for node in response.nodes] == ([1] if version >= 2 else [])


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize(
    "topics",
    [[], [("t", [0])], [(METADATA, [1])], [(METADATA, [])], [(METADATA, [0]), ("t", [0])]],
)
async def test_only_the_metadata_log_has_a_quorum(
    version: int, topics: list[tuple[str, list[int]]]
) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        response = await broker.ask(quorum_of(*topics), version)
        assert response.error_code == 0
        answered = [
            (topic.topic_name, [each.partition_index for each in topic.partitions])
            for topic in response.topics
        ]
        assert answered == topics
        codes = {each.error_code for topic in response.topics for each in topic.partitions}
        assert codes <= {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
