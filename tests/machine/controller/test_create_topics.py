"""CreateTopics: what is refused with which code and message, and what is written."""

from __future__ import annotations

import random
from typing import ClassVar

import pytest
from fencepost_broker.controller.machine import Controller
from fencepost_broker.controller.ports import ControllerSettings
from fencepost_broker.metadata.image.changes import ConfigChanged, PartitionChanged, TopicCreated
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from fencepost_protocol.primitives import ZERO_UUID

from tests.machine.controller.cluster import (
    CLUSTER_ID,
    NODE_ID,
    TOO_MANY_RECORDS,
    Cluster,
    SomeRules,
    in_request_twice,
    told,
)

LEGAL = "a topic's name is made of a-z, A-Z, 0-9, . _ and -"


def too_many(partitions: int) -> str:
    return f"a request may create 10000 partitions, and this one asks for {partitions}: split it"


@pytest.fixture
def cluster() -> Cluster:
    return Cluster().up(1)


def topic(
    name: str,
    partitions: int = 1,
    factor: int = 1,
    assignments: dict[int, list[int]] | None = None,
    **configs: str | None,
) -> CreatableTopic:
    return CreatableTopic(
        name,
        partitions,
        factor,
        [CreatableReplicaAssignment(*item) for item in (assignments or {}).items()],
        [CreatableTopicConfig(key.replace("_", "."), configs[key]) for key in configs],
    )


def manual(name: str, assignments: dict[int, list[int]]) -> CreatableTopic:
    return topic(name, -1, -1, assignments)


class TestCreation:
    def test_a_topic_is_there_with_what_was_asked(self, cluster: Cluster) -> None:
        (result,) = cluster.create(topic("t", 2, retention_ms="5"))
        assert told(result) == ("NONE", None)
        assert (result.num_partitions, result.replication_factor) == (2, 1)
        assert {config.name: config.value for config in result.configs}["retention.ms"] == "5"
        made = cluster.image.topics.by_name["t"]
        assert made.topic_id == result.topic_id
        for number in (0, 1):
            partition = made.partitions[number]
            assert partition.replicas == partition.isr == (1,)
            assert (partition.leader, partition.leader_epoch, partition.partition_epoch) == (
                1,
                0,
                0,
            )
            assert partition.directories == cluster.image.cluster.brokers[1].log_dirs
        assert [type(change) for change in cluster.changes] == [
            TopicCreated,
            ConfigChanged,
            PartitionChanged,
            PartitionChanged,
        ]

    def test_minus_one_takes_the_defaults(self) -> None:
        settings = ControllerSettings(
            NODE_ID, CLUSTER_ID, num_partitions=3, default_replication_factor=2
        )
        cluster = Cluster(settings).up(1, 2)
        (result,) = cluster.create(topic("t", -1, -1))
        assert (result.num_partitions, result.replication_factor) == (3, 2)

    def test_validation_alone_writes_nothing(self, cluster: Cluster) -> None:
        (result,) = cluster.create(topic("t", 2), validate_only=True)
        assert told(result) == ("NONE", None)
        assert result.num_partitions == 2
        assert "t" not in cluster.image.topics.by_name

    def test_ids_are_random_uuids(self) -> None:
        cluster = Cluster(check=False).up(1)
        for number in range(100):
            (result,) = cluster.create(topic(f"t{number}"))
            assert (result.topic_id[6] >> 4, result.topic_id[8] >> 6) == (4, 2)
        assert len(cluster.image.topics.by_id) == 100

    def test_an_id_that_begins_with_a_dash_or_is_taken_is_not_used(self) -> None:
        class Unlucky(random.Random):
            draws: ClassVar[list[bytes]] = [b"\xf8" * 16, b"a" * 16, b"a" * 16, b"b" * 16]

            def randbytes(self, n: int) -> bytes:
                assert n == 16
                return self.draws.pop(0)

        cluster = Cluster().up(1)
        cluster.controller = Controller(cluster.image, SomeRules(), Unlucky(), cluster.settings)
        results = cluster.create(topic("t")) + cluster.create(topic("u"))
        assert [chr(result.topic_id[0]) for result in results] == ["a", "b"]

    def test_the_same_seed_makes_the_same_cluster(self) -> None:
        logs = []
        for _ in range(2):
            cluster = Cluster(seed=7).up(1, 2, 3)
            cluster.create(topic("t", 5, 2), topic("u", 1))
            logs.append(cluster.log)
        assert logs[0] == logs[1]

    def test_a_broker_with_several_directories_says_later_which(self, cluster: Cluster) -> None:
        broker = cluster.image.cluster.brokers[1]
        cluster.image.cluster.brokers[1] = broker._replace(log_dirs=(b"a" * 16, b"b" * 16))
        cluster.check = False
        cluster.create(topic("t"))
        assert cluster.image.topics.by_name["t"].partitions[0].directories == (ZERO_UUID,)

    @pytest.mark.parametrize("name", ["a", "A-z_0.9", "x" * 249, "__consumer_offsets", "..."])
    def test_good_names(self, cluster: Cluster, name: str) -> None:
        assert told(cluster.create(topic(name))[0]) == ("NONE", None)


class TestRefusals:
    @pytest.mark.parametrize(
        ("name", "says"),
        [
            ("", "a topic needs a name, and this one is empty"),
            (".", "a topic cannot be called '.'"),
            ("..", "a topic cannot be called '..'"),
            ("a b/c", f"'a b/c' has ' ' in it: {LEGAL}"),
            ("ä", f"'ä' has 'ä' in it: {LEGAL}"),
            ("a\n", f"'a\\n' has '\\n' in it: {LEGAL}"),
            ("x" * 250, "a topic's name has at most 249 characters, this one 250"),
        ],
    )
    def test_bad_names(self, cluster: Cluster, name: str, says: str) -> None:
        (result,) = cluster.create(topic(name))
        assert told(result) == ("INVALID_TOPIC_EXCEPTION", says)
        assert result.topic_id == ZERO_UUID
        assert (result.num_partitions, result.replication_factor) == (-1, -1)

    @pytest.mark.parametrize(
        ("asked", "code", "message"),
        [
            (topic("here"), "TOPIC_ALREADY_EXISTS", "topic here exists already"),
            (topic("here", 0, 0, foo="x"), "TOPIC_ALREADY_EXISTS", "topic here exists already"),
            (topic("a_b"), "INVALID_TOPIC_EXCEPTION", "topic a.b exists, and metrics, which "
             "replace '.' by '_', could not distinguish the two: choose another name"),
            (topic("a.b"), "TOPIC_ALREADY_EXISTS", "topic a.b exists already"),
            (topic("__cluster_metadata"), "INVALID_REQUEST",
             "__cluster_metadata is the controller's own topic"),
            (topic("n", 0), "INVALID_PARTITIONS",
             "the number of partitions must be -1 (the broker's default) or at least 1, not 0"),
            (topic("n", -2), "INVALID_PARTITIONS",
             "the number of partitions must be -1 (the broker's default) or at least 1, not -2"),
            (topic("n", 0, 0), "INVALID_REPLICATION_FACTOR",
             "the replication factor must be -1 (the broker's default) or at least 1, not 0"),
            (topic("n", 1, -2), "INVALID_REPLICATION_FACTOR",
             "the replication factor must be -1 (the broker's default) or at least 1, not -2"),
            (topic("n", 1, 2), "INVALID_REPLICATION_FACTOR", "replication factor 2 needs that "
             "many brokers, and the cluster has 1: ask for fewer, or start more"),
            (topic("n", 0, foo="x"), "INVALID_CONFIG", "there is no topic setting foo"),
            (topic("n", retention_ms="x"), "INVALID_CONFIG",
             "retention.ms=x: it is not a whole number"),
            (topic("n", retention_ms=None, foo="x", flush_ms=None), "INVALID_CONFIG",
             "retention.ms, flush.ms: a setting needs a value: set it or leave it out"),
            (topic("n", 1, -1, {0: [1]}), "INVALID_REQUEST", "assignments determine the number of "
             "partitions: it must be -1, not 1"),
            (topic("n", 1, 1, {0: [1]}), "INVALID_REQUEST", "assignments determine the "
             "replication factor: it must be -1, not 1"),
            (manual("n", {0: [1], 2: [1]}), "INVALID_REPLICA_ASSIGNMENT", "partition 1 has no "
             "assignment: with 2 of them, partitions are numbered 0 to 1"),
            (manual("n", {-1: [1]}), "INVALID_REPLICA_ASSIGNMENT", "partition 0 has no "
             "assignment: with 1 of them, partitions are numbered 0 to 0"),
            (manual("n", {3: [1], 0: []}), "INVALID_REPLICA_ASSIGNMENT",
             "partition 0 is assigned to no broker: name at least one"),
            (manual("n", {0: [1, 1]}), "INVALID_REPLICA_ASSIGNMENT", "partition 0 is assigned to "
             "broker 1 more than once: a broker holds one replica of it"),
            (manual("n", {0: [1], 1: [1, 2]}), "INVALID_REPLICA_ASSIGNMENT", "partition 1 is "
             "assigned to broker 2, which is not registered; registered: broker 1"),
        ],
    )  # fmt: skip
    def test_one_by_one(
        self, cluster: Cluster, asked: CreatableTopic, code: str, message: str
    ) -> None:
        cluster.create(topic("here"), topic("a.b"))
        before = len(cluster.log)
        assert told(cluster.create(asked)[0]) == (code, message)
        assert len(cluster.log) == before

    def test_a_partition_twice(self, cluster: Cluster) -> None:
        asked = manual("n", {})
        asked.assignments = [
            CreatableReplicaAssignment(0, [1]),
            CreatableReplicaAssignment(0, []),
        ]
        message = "partition 0 has two assignments: give it one"
        assert told(cluster.create(asked)[0]) == ("INVALID_REPLICA_ASSIGNMENT", message)

    def test_assignments_of_different_size(self) -> None:
        cluster = Cluster().up(1, 2)
        message = (
            "partition 1 is assigned to broker 1: name as many brokers as for the topic's other "
            "partitions, 2"
        )
        (result,) = cluster.create(manual("n", {0: [1, 2], 1: [1]}))
        assert told(result) == ("INVALID_REPLICA_ASSIGNMENT", message)

    def test_names_given_twice_refuse_each_other_and_stand_last(self, cluster: Cluster) -> None:
        results = cluster.create(topic("d"), topic("e"), topic("d", 2), topic("__cluster_metadata"))
        assert [(result.name, told(result)[0]) for result in results] == [
            ("e", "NONE"),
            ("d", "INVALID_REQUEST"),
            ("__cluster_metadata", "INVALID_REQUEST"),
        ]
        assert results[1].error_message == in_request_twice("topic d")
        assert set(cluster.image.topics.by_name) == {"e"}

    def test_one_refusal_does_not_hinder_the_others(self, cluster: Cluster) -> None:
        results = cluster.create(topic("c"), topic("a", 0), topic("b"))
        assert [(result.name, told(result)[0]) for result in results] == [
            ("c", "NONE"),
            ("a", "INVALID_PARTITIONS"),
            ("b", "NONE"),
        ]

    def test_collisions_within_a_request_pass_as_in_kafka(self, cluster: Cluster) -> None:
        results = cluster.create(topic("q.b"), topic("q_b"))
        assert [told(result)[0] for result in results] == ["NONE", "NONE"]


class TestLimits:
    def test_partitions_of_all_topics_together(self) -> None:
        cluster = Cluster(check=False).up(1)
        results = cluster.create(topic("a", 6000), topic("b b", 6000))
        assert [told(each) for each in results] == [("POLICY_VIOLATION", too_many(12_000))] * 2

    def test_records_of_all_topics_together(self) -> None:
        cluster = Cluster(check=False).up(1)
        results = cluster.create(topic("a", 5000), topic("b", 4999))
        assert [told(each) for each in results] == [("POLICY_VIOLATION", TOO_MANY_RECORDS)] * 2
        results = cluster.create(topic("a", 4999), topic("b", 4999))
        assert [told(each)[0] for each in results] == ["NONE", "NONE"]

    def test_what_is_refused_anyway_does_not_count(self) -> None:
        cluster = Cluster(check=False).up(1)
        results = cluster.create(topic("a", 9999), topic("b", 1, 5))
        assert [told(each)[0] for each in results] == ["NONE", "INVALID_REPLICATION_FACTOR"]

    def test_nonsense_numbers_do_not_make_room(self) -> None:
        cluster = Cluster(check=False).up(1)
        results = cluster.create(topic("a", 10_001), topic("b", -10_000))
        assert told(results[0]) == ("POLICY_VIOLATION", too_many(10_001))
        (result,) = cluster.create(topic("a", (1 << 31) - 1))
        assert told(result) == ("POLICY_VIOLATION", too_many((1 << 31) - 1))


class TestSeveralBrokers:
    def test_who_is_fenced_is_no_leader_and_not_in_sync(self) -> None:
        cluster = Cluster().up(1, 2)
        cluster.heartbeat(2, fence=True)
        assert told(cluster.create(manual("n", {0: [2, 1]}))[0]) == ("NONE", None)
        partition = cluster.image.topics.by_name["n"].partitions[0]
        assert (partition.replicas, partition.isr, partition.leader) == ((2, 1), (1,), 1)

    def test_an_assignment_to_fenced_brokers_alone(self) -> None:
        cluster = Cluster().up(1, 2)
        cluster.heartbeat(2, fence=True)
        (result,) = cluster.create(manual("n", {0: [2]}))
        assert told(result) == (
            "INVALID_REPLICA_ASSIGNMENT",
            "partition 0 would have no leader: it is assigned to broker 2, none of which is up",
        )

    def test_no_broker_that_can_lead(self) -> None:
        cluster = Cluster()
        cluster.register(1)
        (result,) = cluster.create(topic("n"))
        assert told(result) == (
            "INVALID_REPLICATION_FACTOR",
            "every broker is fenced, so none can lead: wait until one is up",
        )

    def test_the_only_one_is_about_to_go(self) -> None:
        cluster = Cluster().up(1)
        cluster.topic("t")
        broker = cluster.image.cluster.brokers[1]
        cluster.image.cluster.brokers[1] = broker._replace(in_controlled_shutdown=True)
        cluster.check = False
        (result,) = cluster.create(topic("n"))
        assert told(result) == (
            "INVALID_REPLICATION_FACTOR",
            "every broker is fenced or shutting down, so none can lead: wait until one is up",
        )
