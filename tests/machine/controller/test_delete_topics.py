"""DeleteTopics by name and by id, and CreatePartitions."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from fencepost_protocol.primitives import ZERO_UUID, uuid_text

from tests.machine.controller.cluster import TOO_MANY_RECORDS, Cluster, in_request_twice, told


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster().up(1)
    for name in ("a", "b", "c"):
        cluster.topic(name, 2)
    return cluster


def delete(cluster: Cluster, *topics: str | bytes | tuple[str | None, bytes]) -> list[Any]:
    states = []
    for each in topics:
        if isinstance(each, str):
            states.append(DeleteTopicState(each))
        elif isinstance(each, bytes):
            states.append(DeleteTopicState(None, each))
        else:
            states.append(DeleteTopicState(*each))
    responses: list[Any] = cluster.ask(DeleteTopicsRequest(topics=states)).responses
    return responses


class TestDelete:
    def test_by_name_as_old_versions_do(self, cluster: Cluster) -> None:
        response = cluster.ask(DeleteTopicsRequest(topic_names=["a", "nope", "b"]))
        assert [(each.name, told(each)) for each in response.responses] == [
            ("a", ("NONE", None)),
            ("nope", ("UNKNOWN_TOPIC_OR_PARTITION", "there is no topic nope")),
            ("b", ("NONE", None)),
        ]
        assert set(cluster.image.topics.by_name) == {"c"}
        for version in range(DeleteTopicsResponse.MIN_VERSION, 7):
            response.encode(version, bytearray())  # what a version does not have is left out

    def test_by_name_and_by_id(self, cluster: Cluster) -> None:
        ids = {name: topic.topic_id for name, topic in cluster.image.topics.by_name.items()}
        results = delete(cluster, "a", ids["b"])
        assert [(each.name, each.topic_id) for each in results] == [
            ("a", ids["a"]),
            ("b", ids["b"]),
        ]
        assert set(cluster.image.topics.by_name) == {"c"}

    def test_an_unknown_id(self, cluster: Cluster) -> None:
        (result,) = delete(cluster, b"x" * 16)
        message = "there is no topic with id eHh4eHh4eHh4eHh4eHh4eA"
        assert told(result) == ("UNKNOWN_TOPIC_ID", message)
        assert (result.name, result.topic_id) == (None, b"x" * 16)

    def test_neither_and_both(self, cluster: Cluster) -> None:
        topic_id = cluster.image.topics.by_name["a"].topic_id
        neither, both = delete(cluster, ZERO_UUID, ("a", topic_id))
        message = "a topic to delete has no name and no id: give one of them"
        assert told(neither) == ("INVALID_REQUEST", message)
        message = (
            f"a topic to delete has a name (a) and an id ({uuid_text(topic_id)}): give one of them"
        )
        assert told(both) == ("INVALID_REQUEST", message)
        assert (both.name, both.topic_id) == ("a", topic_id)
        assert "a" in cluster.image.topics.by_name

    def test_twice(self, cluster: Cluster) -> None:
        topic_id = cluster.image.topics.by_name["b"].topic_id
        results = delete(cluster, "a", "a", topic_id, topic_id, "zz", "zz")
        assert [told(each) for each in results] == [
            ("INVALID_REQUEST", in_request_twice("topic a")),
            ("INVALID_REQUEST", in_request_twice(f"topic id {uuid_text(topic_id)}")),
            ("INVALID_REQUEST", in_request_twice("topic zz")),
        ]
        assert set(cluster.image.topics.by_name) == {"a", "b", "c"}

    @pytest.mark.parametrize("name_first", [True, False])
    def test_once_by_name_and_once_by_id(self, cluster: Cluster, name_first: bool) -> None:
        topic_id = cluster.image.topics.by_name["a"].topic_id
        (result,) = delete(cluster, *(("a", topic_id) if name_first else (topic_id, "a")))
        message = in_request_twice("topic a (by its name and by its id)")
        assert told(result) == ("INVALID_REQUEST", message)
        assert (result.name, result.topic_id) == ("a", topic_id)
        assert "a" in cluster.image.topics.by_name


def grow(
    cluster: Cluster,
    name: str,
    count: int,
    assignments: list[list[int]] | None = None,
    *,
    validate_only: bool = False,
) -> tuple[str, str | None]:
    manual = None
    if assignments is not None:
        manual = [CreatePartitionsAssignment(brokers) for brokers in assignments]
    asked = CreatePartitionsTopic(name, count, manual)
    response = cluster.ask(CreatePartitionsRequest([asked], validate_only=validate_only))
    return told(response.results[0])


class TestCreatePartitions:
    def test_more_of_them(self, cluster: Cluster) -> None:
        assert grow(cluster, "a", 4) == ("NONE", None)
        partitions = cluster.image.topics.by_name["a"].partitions
        assert list(partitions) == [0, 1, 2, 3]
        assert partitions[3].replicas == partitions[3].isr == (1,)

    def test_validation_alone_writes_nothing(self, cluster: Cluster) -> None:
        assert grow(cluster, "a", 4, validate_only=True) == ("NONE", None)
        assert len(cluster.image.topics.by_name["a"].partitions) == 2

    def test_by_hand(self, cluster: Cluster) -> None:
        assert grow(cluster, "a", 3, [[1]]) == ("NONE", None)

    def test_the_replication_factor_is_the_topics(self) -> None:
        cluster = Cluster().up(1, 2, 3)
        cluster.topic("t", 1, 2)
        assert grow(cluster, "t", 5) == ("NONE", None)
        for partition in cluster.image.topics.by_name["t"].in_order():
            assert len(set(partition.replicas)) == 2
        message = (
            "partition 5 is assigned to broker 1: name as many brokers as for the topic's other "
            "partitions, 2"
        )
        assert grow(cluster, "t", 6, [[1]]) == ("INVALID_REPLICA_ASSIGNMENT", message)

    @pytest.mark.parametrize(
        ("name", "count", "assignments", "code", "message"),
        [
            ("nope", 3, None, "UNKNOWN_TOPIC_OR_PARTITION", None),
            ("", 3, None, "UNKNOWN_TOPIC_OR_PARTITION", None),
            ("a", 2, None, "INVALID_PARTITIONS", "topic a has 2 partitions, and partitions can "
             "only be added: ask for more than that, not for 2"),
            ("a", 1, None, "INVALID_PARTITIONS", "topic a has 2 partitions, and partitions can "
             "only be added: ask for more than that, not for 1"),
            ("a", -1, None, "INVALID_PARTITIONS", "topic a has 2 partitions, and partitions can "
             "only be added: ask for more than that, not for -1"),
            ("a", 3, [], "INVALID_REPLICA_ASSIGNMENT", "new partitions: 1, assignments: 0; "
             "assign every new partition, or none"),
            ("a", 3, [[1], [1]], "INVALID_REPLICA_ASSIGNMENT", "new partitions: 1, assignments: 2; "
             "assign every new partition, or none"),
            ("a", 3, [[7]], "INVALID_REPLICA_ASSIGNMENT", "partition 2 is assigned to broker 7, "
             "which is not registered; registered: broker 1"),
            ("a", 3, [[]], "INVALID_REPLICA_ASSIGNMENT",
             "partition 2 is assigned to no broker: name at least one"),
            ("a", 10_003, None, "POLICY_VIOLATION", TOO_MANY_RECORDS),
            ("a", (1 << 31) - 1, None, "POLICY_VIOLATION", TOO_MANY_RECORDS),
        ],
    )  # fmt: skip
    def test_refusals(
        self,
        cluster: Cluster,
        name: str,
        count: int,
        assignments: list[list[int]] | None,
        code: str,
        message: str | None,
    ) -> None:
        before = len(cluster.log)
        assert grow(cluster, name, count, assignments) == (code, message)
        assert len(cluster.log) == before

    def test_a_name_twice(self, cluster: Cluster) -> None:
        asked = [CreatePartitionsTopic(name, 5, None) for name in ("a", "b", "a")]
        results = cluster.ask(CreatePartitionsRequest(asked)).results
        assert [(each.name, told(each)) for each in results] == [
            ("a", ("INVALID_REQUEST", in_request_twice("topic a"))),
            ("b", ("NONE", None)),
        ]
        assert len(cluster.image.topics.by_name["a"].partitions) == 2

    def test_the_limit_is_of_all_topics_together(self) -> None:
        cluster = Cluster(check=False).up(1)
        cluster.topic("a")
        cluster.topic("b")
        asked = [CreatePartitionsTopic(name, 6000, None) for name in ("a", "b")]
        results = cluster.ask(CreatePartitionsRequest(asked)).results
        assert [told(each)[0] for each in results] == ["NONE", "POLICY_VIOLATION"]

    def test_all_brokers_fenced(self, cluster: Cluster) -> None:
        cluster.heartbeat(1, fence=True)
        message = "every broker is fenced, so none can lead: wait until one is up"
        assert grow(cluster, "a", 3) == ("INVALID_REPLICATION_FACTOR", message)
        message = (
            "partition 2 would have no leader: it is assigned to broker 1, none of which is up"
        )
        assert grow(cluster, "a", 3, [[1]]) == ("INVALID_REPLICA_ASSIGNMENT", message)
