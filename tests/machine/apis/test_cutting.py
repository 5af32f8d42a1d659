"""Large requests in parts, and one response of the responses to the parts."""

from __future__ import annotations

from typing import Any

from fencepost_broker.apis.cutting import ELEMENTS_OF_A_PART, Cut, join, parts_of
from fencepost_broker.apis.registry import SERVED
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import alter_replica_log_dirs as moving
from fencepost_protocol.generated import describe_log_dirs as described
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.index import ApiKey

MANY = 2 * ELEMENTS_OF_A_PART + 50


def cut_of(key: ApiKey) -> Cut:
    (cut,) = (each.large for each in SERVED if each.key is key)
    assert cut is not None
    return cut


def test_only_the_first_part_explains_its_transactions() -> None:
    ids = [str(number) for number in range(MANY)]
    cut = cut_of(ApiKey.DESCRIBE_TRANSACTIONS)
    for explain, switches in ((True, [True, False, False]), (False, [False] * 3)):
        parts = parts_of(DescribeTransactionsRequest(ids, explain), 0, cut)
        assert [each.message.explain for each in parts] == switches
        assert [each for part in parts for each in part.message.transactional_ids] == ids
        assert len(parts[0].message.transactional_ids) == ELEMENTS_OF_A_PART
    few = DescribeTransactionsRequest(ids[:ELEMENTS_OF_A_PART], explain=True)
    assert parts_of(few, 0, cut) == []


def test_a_log_directory_has_the_topics_of_all_parts_and_the_error_of_any() -> None:
    topics = [described.DescribableLogDirTopic(str(number), [0]) for number in range(MANY)]
    cut = cut_of(ApiKey.DESCRIBE_LOG_DIRS)
    parts = parts_of(described.DescribeLogDirsRequest(topics), 4, cut)
    for failing in range(-1, len(parts)):
        answers: list[tuple[Any, Any]] = []
        for at, part in enumerate(parts):
            code = ErrorCode.KAFKA_STORAGE_ERROR if at == failing else ErrorCode.NONE
            told = [described.DescribeLogDirsTopic(each.topic) for each in part.message.topics]
            result = described.DescribeLogDirsResult(code, "/dir", told)
            answers.append((part, described.DescribeLogDirsResponse(results=[result])))
        (directory,) = join(answers, cut).results
        assert [each.name for each in directory.topics] == [each.topic for each in topics]
        assert bool(directory.error_code) == (failing >= 0)


def test_a_topic_of_many_partitions_is_one_topic_of_the_response_again() -> None:
    asked = moving.AlterReplicaLogDirsRequest(
        [
            moving.AlterReplicaLogDir(path, [moving.AlterReplicaLogDirTopic("t", [*range(MANY)])])
            for path in ("/a", "/b")
        ]
    )
    cut = cut_of(ApiKey.ALTER_REPLICA_LOG_DIRS)
    answers: list[tuple[Any, Any]] = []
    for part in parts_of(asked, 2, cut):
        results = [
            moving.AlterReplicaLogDirTopicResult(
                topic.name,
                [moving.AlterReplicaLogDirPartitionResult(number) for number in topic.partitions],
            )
            for directory in part.message.dirs
            for topic in directory.topics
        ]
        answers.append((part, moving.AlterReplicaLogDirsResponse(results=results)))
    assert len(answers) == 6
    found = [
        [partition.partition_index for partition in topic.partitions]
        for topic in join(answers, cut).results
    ]
    assert found == [[*range(MANY)]] * 2
