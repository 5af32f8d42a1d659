"""Errors for a part of a request: what is taken out, what is left, how answers are joined."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from fencepost_broker.faults.acts import merge, refusal
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

from tests.machine.faults.harness import Rules

CODE = ErrorCode.NOT_LEADER_OR_FOLLOWER


def refused(message: Message, version: int, **match: Any) -> tuple[Any, bool]:
    """The answer with the error, and whether anything is left of the request."""
    rules = Rules()
    rule = rules.add(match=match, act={"type": "error", "code": CODE.name})
    arrived = rules.arrived(message, version)
    found = refusal(rule, arrived)
    found.answer.encode(version, bytearray())  # it can be sent
    return found.answer, found.carries_on


def produce() -> ProduceRequest:
    topics = {"t": [0, 1], "u": [0]}
    data = [
        TopicProduceData(
            name, partition_data=[PartitionProduceData(each, b"x") for each in numbers]
        )
        for name, numbers in topics.items()
    ]
    return ProduceRequest(None, -1, 1, data)


def entries(topics: list[Any], name: str, partitions: str, index: str) -> list[tuple[str, int]]:
    return [
        (getattr(topic, name), getattr(each, index))
        for topic in topics
        for each in getattr(topic, partitions)
    ]


@pytest.mark.parametrize(
    ("match", "taken", "left"),
    [
        ({"topic": "t"}, [("t", 0), ("t", 1)], [("u", 0)]),
        ({"topic": "t", "partition": 1}, [("t", 1)], [("t", 0), ("u", 0)]),
        ({"partition": 0}, [("t", 0), ("u", 0)], [("t", 1)]),
        ({}, [("t", 0), ("t", 1), ("u", 0)], None),
    ],
)
def test_the_elements_of_the_match_alone_are_refused(
    match: dict[str, Any], taken: list[Any], left: list[Any] | None
) -> None:
    message = produce()
    answer, is_left = refused(message, 9, api="Produce", **match)
    found = entries(answer.responses, "name", "partition_responses", "index")
    assert found == taken
    codes = {each.error_code for topic in answer.responses for each in topic.partition_responses}
    assert codes == {CODE}
    assert is_left is (left is not None)
    if left is not None:
        assert entries(message.topic_data, "name", "partition_data", "index") == left


def test_nothing_is_left_if_all_is_taken() -> None:
    message = ProduceRequest(None, -1, 1, produce().topic_data[:1])
    assert not refused(message, 9, topic="t")[1]


def test_with_apply_the_request_stays_whole() -> None:
    rules = Rules()
    act = {"type": "error", "code": CODE.name, "apply": True}
    rule = rules.add(match={"topic": "t"}, act=act)
    message = produce()
    assert refusal(rule, rules.arrived(message, 9)).carries_on
    assert message == produce()


def test_lists_in_lists() -> None:
    transactions = [
        AddPartitionsToTxnTransaction("x", topics=[AddPartitionsToTxnTopic("t", [0, 1])]),
        AddPartitionsToTxnTransaction("y", topics=[AddPartitionsToTxnTopic("u", [0])]),
    ]
    message = AddPartitionsToTxnRequest(transactions)
    answer, is_left = refused(message, 5, api="AddPartitionsToTxn", topic="t", partition=1)
    [transaction] = answer.results_by_transaction
    assert transaction.transactional_id == "x"
    [topic] = transaction.topic_results
    assert [(each.partition_index, each.partition_error_code)
            for each in topic.results_by_partition] == [(1, CODE)]  # fmt: skip
    assert is_left
    assert [each.topics[0].partitions for each in message.transactions] == [[0], [0]]


def test_elements_that_are_names() -> None:
    answer, is_left = refused(
        CreateTopicsRequest([CreatableTopic("t", 1, 1), CreatableTopic("u", 1, 1)]), 7, topic="u"
    )
    assert [(each.name, each.error_code) for each in answer.topics] == [("u", CODE)]
    assert is_left


def test_a_group_whose_topics_are_all_taken_is_taken() -> None:
    groups = [
        OffsetFetchRequestGroup(name, topics=[OffsetFetchRequestTopics("t", partition_indexes=[0])])
        for name in "gh"
    ]
    answer, is_left = refused(OffsetFetchRequest(groups=groups), 9, topic="t")
    assert [each.group_id for each in answer.groups] == ["g", "h"]
    assert not is_left


def test_a_fetch_keeps_its_session_and_does_not_wait() -> None:
    rules = Rules()
    rules.states.sessions[9] = [("t", 0), ("t", 1)]
    rule = rules.add(match={"topic": "t"}, act={"type": "error", "code": CODE.name})
    message = FetchRequest(max_wait_ms=500, session_id=9, session_epoch=3)
    answer, _, carries_on = refusal(rule, rules.arrived(message, 12))
    assert carries_on
    assert message.max_wait_ms == 0
    assert [(topic.topic, each.partition_index, each.error_code)
            for topic in answer.responses for each in topic.partitions] == [
        ("t", 0, CODE), ("t", 1, CODE),
    ]  # fmt: skip


def test_a_fetch_by_id_is_answered_by_id() -> None:
    rules = Rules()
    topic_id = bytes(range(16))
    rules.states.names[topic_id] = "t"
    rule = rules.add(match={"topic": "t", "partition": 1},
                     act={"type": "error", "code": CODE.name})  # fmt: skip
    topic = FetchTopic("", topic_id, [FetchPartition(0), FetchPartition(1)])
    answer, *_ = refusal(rule, rules.arrived(FetchRequest(topics=[topic]), 17))
    [told] = answer.responses
    assert (told.topic_id, [each.partition_index for each in told.partitions]) == (topic_id, [1])


def delete_records(*entries: tuple[str, int, int]) -> Any:
    from fencepost_protocol.generated.delete_records import (
        DeleteRecordsPartitionResult,
        DeleteRecordsResponse,
        DeleteRecordsTopicResult,
    )

    answer = DeleteRecordsResponse()
    for name, number, code in entries:
        partition = DeleteRecordsPartitionResult(number, 0, code)
        merge(answer, DeleteRecordsResponse(0, [DeleteRecordsTopicResult(name, [partition])]))
    return answer


def test_answers_are_joined_by_what_their_elements_are_about() -> None:
    answer = delete_records(("t", 0, 0), ("u", 0, 0), ("t", 1, 0))
    assert [topic.name for topic in answer.topics] == ["t", "u"]
    merge(answer, delete_records(("t", 1, 6), ("v", 0, 6)))
    found = {
        (topic.name, each.partition_index): each.error_code
        for topic in answer.topics
        for each in topic.partitions
    }
    assert found == {("t", 0): 0, ("t", 1): 6, ("u", 0): 0, ("v", 0): 6}


def test_a_request_is_not_changed_by_a_rule_for_other_topics() -> None:
    message = DeleteRecordsRequest([DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 1)])], 1)
    before = deepcopy(message)
    rules = Rules()
    rules.add(match={"topic": "u"}, act={"type": "error", "code": CODE.name})
    assert rules.fired(message) == []
    assert message == before
