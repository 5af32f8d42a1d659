"""Topics and partitions by scripted answers: what goes over the wire, and what comes of it."""

from __future__ import annotations

import pytest
from fencepost_client import (
    Election,
    FatalError,
    KafkaError,
    NewPartitions,
    NewTopic,
    TopicPartition,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from fencepost_client.admin.partitions import delete_records, elect_leaders
from fencepost_client.admin.topics import (
    create_partitions,
    create_topics,
    delete_topics,
    describe_topics,
    list_topics,
)
from fencepost_client.requests.procedures import Moved
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from fencepost_protocol.generated.create_topics import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from fencepost_protocol.generated.delete_topics import DeletableTopicResult, DeleteTopicsResponse
from fencepost_protocol.generated.describe_topic_partitions import (
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponseCursor,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from fencepost_protocol.generated.elect_leaders import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from fencepost_protocol.generated.metadata import MetadataResponse, MetadataResponseTopic

from tests.machine.client.admin_answers import ONE, ZERO, backoff, leaders
from tests.machine.client.scripts import Script

TOPIC_ID = b"0123456789abcdef"


def test_a_topic_is_made_by_hand_or_by_numbers() -> None:
    made = CreatableTopicResult("a", TOPIC_ID, 0, None, 0, 2, 1, [CreatableTopicConfigs("k", "v")])
    script = Script([CreateTopicsResponse(topics=[made, CreatableTopicResult("b")])])
    wanted = [NewTopic("a", 2, configs={"k": "v"}), NewTopic("b", assignments={0: [1, 2], 1: [2]})]
    found = script.play(create_topics(wanted, backoff(), 5, validate_only=True))
    assert (found["a"].topic_id, found["a"].partitions, found["a"].configs) == (
        TOPIC_ID,
        2,
        {"k": "v"},
    )
    (request,) = script.asked
    assert request.validate_only
    assert request.timeout_ms == 5
    assert [each.broker_ids for each in request.topics[1].assignments] == [[1, 2], [2]]


def test_settings_of_a_new_topic_may_be_numbers() -> None:
    script = Script([CreateTopicsResponse(topics=[CreatableTopicResult("a")])])
    wanted = [NewTopic("a", configs={"retention.ms": 5, "preallocate": True})]
    script.play(create_topics(wanted, backoff(), 5, validate_only=False))
    (request,) = script.asked
    assert [each.value for each in request.topics[0].configs] == ["5", "true"]


def test_a_topic_that_is_given_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="topic 'n' is given twice"):
        create_topics([NewTopic("n", 1), NewTopic("n", 2)], backoff(), 5, validate_only=False)


def test_topics_grow_by_numbers_or_by_hand() -> None:
    reply = CreatePartitionsResponse(
        results=[CreatePartitionsTopicResult(name) for name in ("a", "b", "c")]
    )
    script = Script([reply])
    counts: dict[str, int | NewPartitions] = {
        "a": 3,
        "b": NewPartitions(2, [[1]]),
        "c": NewPartitions(4),
    }
    script.play(create_partitions(counts, backoff(), 5, validate_only=False))
    a, b, c = script.asked[0].topics
    assert (a.count, a.assignments, c.count, c.assignments) == (3, None, 4, None)
    assert (b.count, b.assignments[0].broker_ids) == (2, [1])


@pytest.mark.parametrize("version", [5, 6])
def test_topics_are_deleted_by_name(version: int) -> None:
    script = Script(
        [DeleteTopicsResponse(responses=[DeletableTopicResult("a")])], version_max=version
    )
    script.play(delete_topics(["a"], backoff(), 5))
    (request,) = script.asked
    assert request.topic_names == (["a"] if version < 6 else [])
    assert [topic.name for topic in request.topics] == ([] if version < 6 else ["a"])


def test_topics_are_deleted_by_id_where_the_broker_can() -> None:
    answer = DeleteTopicsResponse(responses=[DeletableTopicResult("a", TOPIC_ID)])
    script = Script([answer])
    script.play(delete_topics([TOPIC_ID], backoff(), 5))
    assert script.asked[0].topics[0].name is None
    with pytest.raises(UnsupportedVersionError, match="by id"):
        Script([], version_max=5).play(delete_topics(["a", TOPIC_ID], backoff(), 5))


def page(
    *topics: tuple[str, list[int]], after: tuple[str, int] | None = None, code: int = 0
) -> DescribeTopicPartitionsResponse:
    return DescribeTopicPartitionsResponse(
        topics=[
            DescribeTopicPartitionsResponseTopic(
                code,
                name,
                TOPIC_ID,
                partitions=[
                    DescribeTopicPartitionsResponsePartition(
                        0, number, 1, 0, [1, 2], [1], [2], None, [3]
                    )
                    for number in numbers
                ],
            )
            for name, numbers in topics
        ],
        next_cursor=after and DescribeTopicPartitionsResponseCursor(*after),
    )


def test_topics_are_described_page_by_page() -> None:
    script = Script(
        [page(("a", [0, 1]), ("b", [0]), after=("b", 1)), page(("b", [1, 2]), ("c", []))]
    )
    found = script.play(describe_topics(["c", "b", "a"], backoff()))
    assert list(found) == ["c", "b", "a"]
    assert [part.partition for part in found["b"].partitions] == [0, 1, 2]
    part = found["a"].partitions[1]
    assert (part.replicas, part.eligible_leader_replicas, part.offline_replicas) == (
        (1, 2),
        (2,),
        (3,),
    )
    assert script.asked[1].cursor.partition_index == 1
    assert Script([page(("a", [0]))]).play(describe_topics(None, backoff()))["a"].name == "a"


def test_pages_that_do_not_go_on_are_an_error() -> None:
    stuck = page(("a", [0]), after=("a", 1))
    with pytest.raises(KafkaError, match="repeats a page"):
        Script([stuck, stuck]).play(describe_topics(["a"], backoff()))


def test_an_old_broker_describes_by_metadata() -> None:
    not_yet = MetadataResponse(topics=[MetadataResponseTopic(5, "t")])
    script = Script([UnsupportedVersionError("no pages"), not_yet, leaders(1, 2)])
    found = script.play(describe_topics(["t"], backoff()))
    assert [part.leader for part in found["t"].partitions] == [1, 2]
    script = Script([UnsupportedVersionError("no pages"), leaders(code=3)])
    with pytest.raises(UnknownTopicOrPartitionError):
        script.play(describe_topics(["t"], backoff()))


def test_topics_are_listed() -> None:
    answer = MetadataResponse(
        topics=[
            MetadataResponseTopic(0, "b", TOPIC_ID),
            MetadataResponseTopic(0, "__internal", TOPIC_ID, is_internal=True),
            MetadataResponseTopic(0, "a", TOPIC_ID),
        ]
    )
    assert list(Script([answer]).play(list_topics(backoff(), include_internal=False))) == ["a", "b"]
    assert len(Script([answer]).play(list_topics(backoff(), include_internal=True))) == 3


def test_records_are_deleted_at_each_leader() -> None:
    def reply(number: int) -> DeleteRecordsResponse:
        part = DeleteRecordsPartitionResult(number, 7 + number)
        return DeleteRecordsResponse(topics=[DeleteRecordsTopicResult("t", [part])])

    script = Script([leaders(1, 2), reply(0), reply(1)])
    assert script.play(delete_records({ZERO: 7, ONE: -1}, backoff(), 5)) == {ZERO: 7, ONE: 8}
    assert script.asked[2].topics[0].partitions[0].offset == -1


def test_elections_say_who_was_elected() -> None:
    def reply(*codes: int, whole: int = 0) -> ElectLeadersResponse:
        parts = [PartitionResult(number, code) for number, code in enumerate(codes)]
        return ElectLeadersResponse(0, whole, [ReplicaElectionResult("t", parts)])

    script = Script(
        [reply(whole=ErrorCode.NOT_CONTROLLER), reply(0, ErrorCode.ELECTION_NOT_NEEDED)]
    )
    found = script.play(elect_leaders(Election.UNCLEAN, [ZERO, ONE], backoff(), 5))
    assert found == {ZERO: True, ONE: False}
    assert script.asked[0].election_type == 1
    assert script.count(Moved) == 1
    everywhere = Script([reply()])
    assert everywhere.play(elect_leaders(Election.PREFERRED, None, backoff(), 5)) == {}
    assert everywhere.asked[0].topic_partitions is None
    with pytest.raises(FatalError):
        Script([reply(whole=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)]).play(
            elect_leaders(Election.PREFERRED, None, backoff(), 5)
        )
    with pytest.raises(UnsupportedVersionError):
        Script([], version_max=0).play(
            elect_leaders(Election.UNCLEAN, [TopicPartition("t", 0)], backoff(), 5)
        )
